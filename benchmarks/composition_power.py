"""Which δ does the check of compositions see?  Ten Gaussian releases of a sum, and a claim (1, δ).

    python benchmarks/composition_power.py

Printed for each δ: the true δ that is refuted in half of all checks by 300 coins (one for each transcript, exact binomial bound),
and by 300 weighted transcripts, with how much less noise than the claim needs that is.  (The check draws more than 300 where the
composition of the releases exceeds the claim.)
"""

from __future__ import annotations

import argparse
import math
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.special import betaincinv

from tailproof.refimpl.catalogue import Setting
from tailproof.refimpl.channel import L2, Channel
from tailproof.refimpl.claims import GDP, ApproxDP, gaussian_delta, gaussian_mu
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import composition
from tailproof.verification.subject import Subject

STEPS, RUNS, EPSILON = 10, composition.RUNS, 1.0


def ten_sums(data: FloatArray, channel: Channel, *, scale: float) -> Any:
    law = Gaussian(np.clip(data, 0, 1).sum(axis=0), scale)
    return [channel.release(f"{step}", law, sensitivity=L2(1.0), spend=GDP(1 / scale)) for step in range(STEPS)]


def by_coins(delta: float) -> float:
    """With the fewest heads that refute, in half of all checks."""
    heads = next(h for h in range(1, RUNS) if composition.binomial_lower(h, RUNS, composition.FALSE_ALARM) > delta)
    return float(betaincinv(heads, RUNS - heads + 1, 0.5))


def refuted(delta: float, share: float, seed: int) -> bool:
    scale = share * math.sqrt(STEPS) / gaussian_mu(EPSILON, delta)
    subject = Subject("ten sums", ten_sums, Setting(2, 1, {"scale": scale}), 0, ApproxDP(EPSILON, delta))
    found = composition.check_composition(subject, np.array([[1.0], [0.0]]), np.zeros((2, 1)), seed)
    return found.exceeds and found.conclusive


def half(delta: float, checks: int) -> float:
    """The largest share of the noise that is refuted in half of all checks, by bisection."""
    low, high = 0.5, 1.0
    for _ in range(6):
        middle = (low + high) / 2
        found = sum(refuted(delta, middle, seed) for seed in range(checks))
        low, high = (middle, high) if 2 * found > checks else (low, middle)
    return low


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", type=int, default=11, help="of each amount of noise")
    checks = parser.parse_args().checks
    print("claimed δ   by 300 coins   by 300 weighted transcripts")
    for delta in (1e-3, 1e-4, 1e-5):
        with patch.object(composition, "PROOF", 0), patch.object(composition, "_composed", lambda *_: None):
            share = half(delta, checks)
        seen = gaussian_delta(gaussian_mu(EPSILON, delta) / share, EPSILON)
        print(f"{delta:g}   {by_coins(delta):.2g}   {seen:.2g} ({100 * (1 - share):.0f} % less noise)", flush=True)


if __name__ == "__main__":
    main()
