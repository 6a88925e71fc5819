"""Fitting a model to people's records: columns, optimisers, plans, the card of a model, and estimators as scikit-learn has them.

Nothing is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tailproof import _lazy

if TYPE_CHECKING:
    from tailproof.verification.fitting.card import Card
    from tailproof.verification.fitting.columns import Categorical, Numeric
    from tailproof.verification.fitting.estimators import PrivateClassifier, PrivateRegressor

__all__ = ["Card", "Categorical", "Numeric", "PrivateClassifier", "PrivateRegressor"]

__getattr__, __dir__ = _lazy.names(
    __name__,
    __all__,
    {
        "tailproof.verification.fitting.card": "Card",
        "tailproof.verification.fitting.columns": "Categorical Numeric",
        "tailproof.verification.fitting.estimators": "PrivateClassifier PrivateRegressor",
    },
)
