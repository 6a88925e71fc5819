"""Reference implementations of differentially private algorithms for heavy-tailed data."""

from refimpl.channel import L1, L2, Bound, Channel, LInf, Release, ReplayDiverged, Smooth, Transcript, ledger, replay, run
from refimpl.claims import ADD_REMOVE, GDP, REPLACE_ONE, ZCDP, ApproxDP, Claim, PureDP, UnprovedClaim, UnsoundConversion
from refimpl.domains import Ball, Box, Ellipsoid, L1Ball, Localised, Polytope
from refimpl.laws import LLN, Finite, Gaussian, L2Laplace, Laplace, NoisyArgmax
from refimpl.losses import L4, Absolute, Affine, Hinge, Logistic, Quadratic, RecordQuadratic, ReLU, Ridge, Squared
from refimpl.validation import InputError

__all__ = [
    "ADD_REMOVE",
    "GDP",
    "L1",
    "L2",
    "L4",
    "LLN",
    "REPLACE_ONE",
    "ZCDP",
    "Absolute",
    "Affine",
    "ApproxDP",
    "Ball",
    "Bound",
    "Box",
    "Channel",
    "Claim",
    "Ellipsoid",
    "Finite",
    "Gaussian",
    "Hinge",
    "InputError",
    "L1Ball",
    "L2Laplace",
    "LInf",
    "Laplace",
    "Localised",
    "Logistic",
    "NoisyArgmax",
    "Polytope",
    "PureDP",
    "Quadratic",
    "ReLU",
    "RecordQuadratic",
    "Release",
    "ReplayDiverged",
    "Ridge",
    "Smooth",
    "Squared",
    "Transcript",
    "UnprovedClaim",
    "UnsoundConversion",
    "ledger",
    "replay",
    "run",
]
