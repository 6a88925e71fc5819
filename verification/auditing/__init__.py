"""Black-box audits: what outputs alone tell about a privacy claim, with exact finite-sample confidence.

A fair coin picks one of two neighbouring data sets, the subject runs on it, and a predictor learned from other runs guesses the
coin from the output, or passes.  Every privacy claim bounds how often such a guess can be right.
"""

from tailproof.verification.auditing.admissible import Admissible
from tailproof.verification.auditing.audit import audit
from tailproof.verification.auditing.programs import CommandRunner
from tailproof.verification.auditing.result import AuditResult
from tailproof.verification.auditing.runner import Runner

__all__ = ["Admissible", "AuditResult", "CommandRunner", "Runner", "audit"]
