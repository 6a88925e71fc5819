"""Seeds go by frozen keys: whoever rewords a name keeps its key, and no number moves."""

from pathlib import Path

from tailproof.verification.mutants import MUTANTS
from tailproof.verification.sandwich_pairs import PAIRS
from tailproof.verification.sweep_cases import CASES

FROZEN = Path(__file__).with_name("seed_keys.txt")


def keys() -> list[str]:
    found = [f"mutant {mutant.algorithm}: {mutant.seed_key}" for mutant in MUTANTS]
    found += [f"sweep {case.seed_key}" for case in CASES]
    return found + [f"sandwich {pair.seed_key}" for pair in PAIRS]


def test_a_key_that_was_published_stays() -> None:
    """A new trial or mutant adds a line to the file; a line that is there is never changed."""
    missing = set(FROZEN.read_text(encoding="utf-8").splitlines()) ^ set(keys())
    assert not missing, "give what was renamed its first_name, or add what is new to seed_keys.txt"


def test_keys_differ() -> None:
    assert len(set(keys())) == len(keys())
