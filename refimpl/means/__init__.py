"""Private mean estimators, one file each."""

from tailproof.refimpl.means.clipped import clipped_mean
from tailproof.refimpl.means.iterative_updating import iterative_updating_mean
from tailproof.refimpl.means.median_of_means import truncated_median_of_means
from tailproof.refimpl.means.peeling import peel, peeled_mean
from tailproof.refimpl.means.simple_clipping import simple_clipping_mean
from tailproof.refimpl.means.soft_truncation import soft_truncated_mean
from tailproof.refimpl.means.trimmed import trimmed_mean
from tailproof.refimpl.means.truncated import truncated_mean

__all__ = [
    "clipped_mean",
    "iterative_updating_mean",
    "peel",
    "peeled_mean",
    "simple_clipping_mean",
    "soft_truncated_mean",
    "trimmed_mean",
    "truncated_mean",
    "truncated_median_of_means",
]
