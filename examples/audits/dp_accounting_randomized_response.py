"""dp-accounting 0.6.0, pld.PLDAccountant with RandomizedResponseDpEvent

Claim: `compose(event, count)` accounts for the event "count" times ("The number of times to compose the event"), and so does
    SelfComposedDpEvent(event, count); `get_epsilon(delta)` is then an upper bound of ε.
Data: bits, one of which is answered `times` times by randomised response with ε = 1 and is flipped in the neighbour.
Cause: for this event `_maybe_compose` composes the distribution of one privacy loss, without `.self_compose(count)`.
Measured: the exact δ at the ε that is stated for δ = 1e-6, a sum over the number of answers that are true; for comparison,
    the ε that the same accountant states when it composes the event in a loop, and that of the RDP accountant.
Usage: python dp_accounting_randomized_response.py
"""

import math

import dp_accounting as dpa
from scipy.stats import binom

DELTA = 1e-6
EVENT = dpa.RandomizedResponseDpEvent(2 / (1 + math.e), 2)  # the truth with probability e/(1 + e)
REPLACE = dpa.NeighboringRelation.REPLACE_ONE


def exact_delta(times: int, epsilon: float) -> float:
    truth = math.e / (1 + math.e)
    return math.fsum(
        max(0.0, binom.pmf(k, times, truth) - math.exp(epsilon) * binom.pmf(k, times, 1 - truth)) for k in range(times + 1)
    )


def main() -> None:
    violated = []
    for times in (5, 40):
        counted = dpa.pld.PLDAccountant(REPLACE).compose(EVENT, times).get_epsilon(DELTA)
        nested = dpa.pld.PLDAccountant(REPLACE).compose(dpa.SelfComposedDpEvent(EVENT, times)).get_epsilon(DELTA)
        looped = dpa.pld.PLDAccountant(REPLACE)
        for _ in range(times):
            looped.compose(EVENT)
        other = dpa.rdp.RdpAccountant(neighboring_relation=REPLACE).compose(EVENT, times).get_epsilon(DELTA)
        found = exact_delta(times, max(counted, nested))
        violated.append(found > 2 * DELTA)
        print(f"{times} times: stated {counted:.4f}, nested {nested:.4f}", end="; ")
        print(f"in a loop {looped.get_epsilon(DELTA):.4f}, RDP {other:.4f}")
        print(f"    exact delta at the epsilon that is stated: {found:.3g}, claimed {DELTA:g}")
    print("verdict:", "violated" if all(violated) else "consistent")


if __name__ == "__main__":
    main()
