"""diffprivlib 0.6.6, mechanisms.GaussianAnalytic(epsilon=…, delta=…, sensitivity=1)

Claim: (ε, δ)-differential privacy for epsilon "in (0, ∞]" and delta "in (0, 1]", by the calibration of Balle and Wang.
Data: the values 0 and 1, at the distance of the sensitivity.
Cause: the normal distribution function is computed as (1 + erf(x/√2))/2.  Below −8 nothing is left of it, above not many
    digits, and e^ε times such a number is subtracted.  Small δ and large ε are concerned: with ε up to 5 and δ from 1e-6
    the scale is right.
Measured: the exact δ(ε) = Φ(1/2σ − εσ) − e^ε·Φ(−1/2σ − εσ) at the scale σ that it computes, from the logarithms of both
    terms, and again by quadrature of the density's excess.
Usage: python diffprivlib_gaussian_analytic.py
"""

import math

import numpy as np
from diffprivlib.mechanisms import GaussianAnalytic
from scipy.integrate import quad
from scipy.special import log_ndtr

SETTINGS = ((20.0, 1e-9), (14.0, 1e-12), (10.0, 1e-14), (1.0, 1e-18))


def exact(sigma: float, epsilon: float) -> float:
    first = float(log_ndtr(0.5 / sigma - epsilon * sigma))
    second = epsilon + float(log_ndtr(-0.5 / sigma - epsilon * sigma))
    return math.exp(first) * -math.expm1(second - first)


def by_quadrature(sigma: float, epsilon: float) -> float:
    """∫(p − e^ε q) over the half line where it is positive, both relative to p at its start."""
    start = epsilon * sigma - 0.5 / sigma  # in standard deviations
    integral = quad(lambda t: math.exp(-t * start - t * t / 2) * -math.expm1(-t / sigma), 0, np.inf, epsabs=0)[0]
    return math.exp(-start * start / 2) / math.sqrt(2 * math.pi) * integral


def main() -> None:
    violated = []
    for epsilon, delta in SETTINGS:
        sigma = float(GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=1)._scale)
        found, again = exact(sigma, epsilon), by_quadrature(sigma, epsilon)
        violated.append(min(found, again) > 1.5 * delta)
        print(f"epsilon {epsilon:g}, delta {delta:g}: sigma {sigma:.6f}, exact delta {found:.3g} (quadrature {again:.3g})")
    print("verdict:", "violated" if all(violated) else "consistent")


if __name__ == "__main__":
    main()
