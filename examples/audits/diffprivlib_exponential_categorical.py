"""diffprivlib 0.6.6, mechanisms.ExponentialCategorical and mechanisms.ExponentialHierarchical

Claim: "privacy parameter ε", for utilities that are "strictly positive", and for every hierarchy.
Data: a leaf alone in its branch, and one that shares its branch; and six values with utilities from 0.01 to 1.
Cause: weights are exp(−ε·u/(2Δ)), where u is the utility of the pair and Δ the largest one.  If their sums agree for all
    values the factor 2 is left away.  But then the sums for exp(−ε·u/Δ) must agree, and they are others: a tree may be
    balanced for ε/2 and not for ε.  The loss is ε plus the logarithm of a quotient of sums.  This takes an ε that fits.
Measured: the probabilities from which the mechanism draws, and how often it draws (up to six standard deviations).
Usage: python diffprivlib_exponential_categorical.py [runs]
"""

import math
import sys

from diffprivlib.mechanisms import ExponentialCategorical, ExponentialHierarchical

# The sums are 1 + 5x² + 4x³ and 1 + x + 2x² + 6x³, which agree at x = 1/2.
HIERARCHY = [[["a"], ["b"], ["c"], ["d"], ["e"], ["f"]], [["g", "h"], ["i", "j"]]]


def six_values(epsilon: float) -> list[tuple[str, str, float]]:
    low, high = math.exp(-epsilon / 2), math.exp(-0.005 * epsilon)
    middle, between = (low + high) / 2, (high + 3 * low) / 4
    x = {("a", "b"): low, ("c", "d"): low, ("e", "f"): high}
    x |= {("a", other): middle for other in "cdef"}
    x |= {("b", "c"): high, ("b", "d"): high, ("b", "e"): low, ("b", "f"): low}
    x |= {(one, other): between for one in "cd" for other in "ef"}
    return [(*pair, -2 * math.log(value) / epsilon) for pair, value in x.items()]


def law(made: ExponentialCategorical, value: str) -> dict[str, float]:
    return {other: made._get_prob(value, other) / made._normalising_constant[value] for other in made._domain_values}


def shown(name: str, made: ExponentialCategorical, pair: tuple[str, str], runs: int) -> bool:
    """The output is the first of the two."""
    here, there = (law(made, value) for value in pair)
    assert abs(sum(here.values()) - 1) < 1e-12
    loss = math.log(here[pair[0]] / there[pair[0]])
    drawn = [sum(made.randomise(value) == pair[0] for _ in range(runs)) for value in pair]
    agrees = all(
        abs(count - runs * p) <= 6 * math.sqrt(runs * p * (1 - p)) + 1
        for count, p in zip(drawn, (here[pair[0]], there[pair[0]]), strict=True)
    )
    print(f"{name}: exact loss {loss:.4f}, claimed {made.epsilon:.4f}; drawn {drawn} of {runs}, as computed: {agrees}")
    return loss > made.epsilon * 1.01 and agrees


def main(runs: int) -> None:
    tree = ExponentialHierarchical(epsilon=6 * math.log(2), hierarchy=HIERARCHY, random_state=0)
    found = [shown("hierarchy", tree, ("a", "g"), runs)]
    for epsilon in (1.0, 5.0):
        made = ExponentialCategorical(epsilon=epsilon, utility_list=six_values(epsilon), random_state=0)
        found.append(shown("six values", made, ("a", "b"), runs))
    print("verdict:", "violated" if all(found) else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20000)
