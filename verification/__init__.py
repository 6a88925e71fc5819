"""The harness: checks from (algorithm, claim) to a finding."""

from verification.assertions import ClaimRefuted, assert_private
from verification.auditing import Admissible, AuditResult, audit
from verification.auditing.witnesses import replay_audit
from verification.mechanism_checks import check_mechanism
from verification.pair_checks import PAIR_CHECKS, Measurement
from verification.report import Finding
from verification.sensitivity import Attained, search_sensitivity
from verification.subject import Subject, subject_of, worst_pairs

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
    "search_sensitivity",
    "subject_of",
    "worst_pairs",
]
