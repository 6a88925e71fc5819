"""Tailproof checks claims of differential privacy.

    import tailproof

    result = tailproof.audit(mechanism, "pure(eps=1)", columns=1)   # search for a counterexample, from outputs alone
    tailproof.assert_private(mechanism, "pure(eps=1)", columns=1)   # the same, as an assertion in a test
    tailproof.check_mechanism(mechanism, "pure(eps=1)")             # checks for the common mistakes, one test each
    tailproof.theorem("P2.T4"), tailproof.papers()                  # a theorem as a value; the five papers, cited
    tailproof.PrivateRegressor().fit([[0.0], [1.0]], [0.0, 1.0])    # a linear model under pure differential privacy

The names below are the stable public interface: they keep their meaning within a major version, and none is removed.  The packages
`tailproof.refimpl`, `tailproof.bounds` and `tailproof.verification` hold more; what is not named here may change with any release.

Nothing is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tailproof import _lazy

if TYPE_CHECKING:
    from tailproof.bounds import compare, errata, theorem, theorems
    from tailproof.bounds.citations import papers
    from tailproof.bounds.statements import Statement
    from tailproof.refimpl import (
        GDP,
        L2,
        ZCDP,
        ApproxDP,
        Channel,
        Gaussian,
        InputError,
        L2Laplace,
        Laplace,
        PureDP,
        replay,
        run,
    )
    from tailproof.verification import AuditResult, assert_private, audit, check_mechanism, strategies
    from tailproof.verification.fitting import Categorical, Numeric, PrivateClassifier, PrivateRegressor
    from tailproof.verification.verify import verify

__all__ = [
    "GDP",
    "L2",
    "ZCDP",
    "ApproxDP",
    "AuditResult",
    "Categorical",
    "Channel",
    "Gaussian",
    "InputError",
    "L2Laplace",
    "Laplace",
    "Numeric",
    "PrivateClassifier",
    "PrivateRegressor",
    "PureDP",
    "Statement",
    "assert_private",
    "audit",
    "check_mechanism",
    "compare",
    "errata",
    "papers",
    "replay",
    "run",
    "strategies",
    "theorem",
    "theorems",
    "verify",
]

__getattr__, __dir__ = _lazy.names(
    __name__,
    __all__,
    {
        "tailproof.bounds": "compare errata theorem theorems",
        "tailproof.bounds.citations": "papers",
        "tailproof.bounds.statements": "Statement",
        "tailproof.refimpl": "GDP L2 ZCDP ApproxDP Channel Gaussian InputError L2Laplace Laplace PureDP replay run",
        "tailproof.verification": "AuditResult assert_private audit check_mechanism strategies",
        "tailproof.verification.fitting": "Categorical Numeric PrivateClassifier PrivateRegressor",
        "tailproof.verification.verify": "verify",
    },
)
