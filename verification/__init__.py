"""The harness: checks from (algorithm, claim) to a finding."""
