"""dp-accounting 0.6.0, rdp.RdpAccountant(neighboring_relation=REPLACE_ONE)

Claim: GaussianDpEvent "returns sum_i v_i + z.  If the norms of the values are bounded ||v_i|| <= C, the noise_multiplier is
    defined as s / C", LaplaceDpEvent likewise for the ℓ1 norm; `get_epsilon` is an upper bound of ε when one record is
    replaced.
Data: numbers, one of which is C and becomes −C in the neighbour; the others are 0.  The sum moves by 2C.
Cause: the accountant takes C for the sensitivity whatever the relation is, for these two events and for samples without
    replacement. (The PLD accountant takes 2C for the Gaussian and refuses the others; issue 378 of
    google/differential-privacy reports the first.)
Measured: the exact δ at the ε that is stated for δ = 1e-5, by quadrature of the two densities.
Usage: python dp_accounting_replace_one.py
"""

import dp_accounting as dpa
import numpy as np
from scipy.stats import laplace, norm

DELTA = 1e-5
RATE = 0.9  # 900 of 1000 records are drawn
REPLACE = dpa.NeighboringRelation.REPLACE_ONE
AT = np.linspace(-60.0, 60.0, 1_200_001)


def sampled(sign: float) -> np.ndarray:
    return (1 - RATE) * norm.pdf(AT, 0, 2) + RATE * norm.pdf(AT, sign, 2)


def delta(here: np.ndarray, there: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(0.0, here - np.exp(epsilon) * there).sum() * (AT[1] - AT[0]))


SUBJECTS = {
    "Gaussian, s = 2C": (dpa.GaussianDpEvent(2.0), norm.pdf(AT, 1, 2), norm.pdf(AT, -1, 2)),
    "Laplace, s = C": (dpa.LaplaceDpEvent(1.0), laplace.pdf(AT, 1, 1), laplace.pdf(AT, -1, 1)),
    "Gaussian, s = 2C, 900 of 1000 records": (
        dpa.SampledWithoutReplacementDpEvent(1000, 900, dpa.GaussianDpEvent(2.0)),
        sampled(1.0),
        sampled(-1.0),
    ),
}


def main() -> None:
    violated = []
    for name, (event, here, there) in SUBJECTS.items():
        stated = float(dpa.rdp.RdpAccountant(neighboring_relation=REPLACE).compose(event).get_epsilon(DELTA))
        found = delta(here, there, stated)
        violated.append(found > 2 * DELTA)
        print(f"{name}: stated epsilon {stated:.4f}; exact delta there {found:.3g}, claimed {DELTA:g}")
    print("verdict:", "violated" if all(violated) else "consistent")


if __name__ == "__main__":
    main()
