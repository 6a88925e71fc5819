"""What the rays of records start from, whatever the set: boxes, ellipsoids and polytopes have them in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tailproof.refimpl.losses import GlmLoss
from tailproof.refimpl.validation import FloatArray

Part: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Case:
    """Records with a minimiser on the boundary, by rows."""

    loss: GlmLoss
    mu: float
    lipschitz: float
    point: FloatArray  # w
    features: FloatArray
    targets: FloatArray
    norms: FloatArray
    margins: FloatArray  # ⟨x, w⟩
    signs: FloatArray  # of φ' there
    steepest: FloatArray  # ‖x‖·|φ'| there
