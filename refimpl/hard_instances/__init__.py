"""Hard instances of the papers' lower bounds, as data that any algorithm can be run on: one file per paper."""

from tailproof.refimpl.hard_instances.decoding import (
    Budget,
    hardest_chance,
    member_error_lower,
    pair_error_lower,
    spike_failure_lower,
)
from tailproof.refimpl.hard_instances.p0 import Growth, GrowthSigns, GrowthSpikes
from tailproof.refimpl.hard_instances.p3 import (
    MeanSpikes,
    QuadraticSpikes,
    convex_family,
    dense_means,
    sparse_means,
    spike_or_nothing,
)
from tailproof.refimpl.hard_instances.p4 import Family, PackingFamily, SignFamily, excess_risk
from tailproof.refimpl.hard_instances.packing import packing, sign_code, sparse_code, weight_code

__all__ = [
    "Budget",
    "Family",
    "Growth",
    "GrowthSigns",
    "GrowthSpikes",
    "MeanSpikes",
    "PackingFamily",
    "QuadraticSpikes",
    "SignFamily",
    "convex_family",
    "dense_means",
    "excess_risk",
    "hardest_chance",
    "member_error_lower",
    "packing",
    "pair_error_lower",
    "sign_code",
    "sparse_code",
    "sparse_means",
    "spike_failure_lower",
    "spike_or_nothing",
    "weight_code",
]
