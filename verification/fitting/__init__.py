"""Fitting a model to people's records: columns, optimisers, plans, the card of a model, and estimators as scikit-learn has them."""
