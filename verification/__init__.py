"""The harness: checks from (algorithm, claim) to a finding.  Nothing is imported before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tailproof import _lazy

if TYPE_CHECKING:
    from tailproof.verification.assertions import ClaimRefuted, assert_private
    from tailproof.verification.auditing.admissible import Admissible
    from tailproof.verification.auditing.audit import audit
    from tailproof.verification.auditing.result import AuditResult
    from tailproof.verification.auditing.witnesses import replay_audit
    from tailproof.verification.mechanism_checks import check_mechanism
    from tailproof.verification.pair_checks import PAIR_CHECKS, Measurement
    from tailproof.verification.report import Finding
    from tailproof.verification.sensitivity import Attained, search_sensitivity
    from tailproof.verification.subject import Subject, subject_of, worst_pairs
    from tailproof.verification.transcripts.suite import replay_check

__all__ = [
    "PAIR_CHECKS",
    "Admissible",
    "Attained",
    "AuditResult",
    "ClaimRefuted",
    "Finding",
    "Measurement",
    "Subject",
    "assert_private",
    "audit",
    "check_mechanism",
    "replay_audit",
    "replay_check",
    "search_sensitivity",
    "subject_of",
    "worst_pairs",
]

__getattr__, __dir__ = _lazy.names(
    __name__,
    __all__,
    {
        "tailproof.verification.assertions": "ClaimRefuted assert_private",
        "tailproof.verification.auditing": "Admissible AuditResult audit",
        "tailproof.verification.auditing.witnesses": "replay_audit",
        "tailproof.verification.mechanism_checks": "check_mechanism",
        "tailproof.verification.pair_checks": "PAIR_CHECKS Measurement",
        "tailproof.verification.report": "Finding",
        "tailproof.verification.sensitivity": "Attained search_sensitivity",
        "tailproof.verification.subject": "Subject subject_of worst_pairs",
        "tailproof.verification.transcripts.suite": "replay_check",
    },
)
