"""The harness: checks from (algorithm, claim) to a finding."""

from verification.auditing import AuditResult, audit
from verification.pair_checks import PAIR_CHECKS, Measurement
from verification.report import Finding
from verification.sensitivity import Attained, search_sensitivity
from verification.subject import Subject, subject_of, worst_pairs

__all__ = [
    "PAIR_CHECKS",
    "Attained",
    "AuditResult",
    "Finding",
    "Measurement",
    "Subject",
    "audit",
    "search_sensitivity",
    "subject_of",
    "worst_pairs",
]
