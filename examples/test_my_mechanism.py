"""Two mechanisms in a user's own test suite; one of them is broken on purpose.  Run: pytest examples/test_my_mechanism.py"""

import numpy as np

from tailproof.verification import assert_private


def noisy_mean(data, rng):
    """The mean of numbers in [0, 1]: one record moves it by at most 1/n."""
    return np.clip(data, 0, 1).mean() + rng.laplace(scale=1 / len(data))


def unclipped_mean(data, rng):
    """The same without the clipping: one large number moves it as far as it likes."""
    return data.mean() + rng.laplace(scale=1 / len(data))


def test_noisy_mean():
    assert_private(noisy_mean, "pure(eps=1)", columns=1)


def test_unclipped_mean():
    assert_private(unclipped_mean, "pure(eps=1)", columns=1)
