"""opendp: every measurement, the transformations before them and the combinators after them, with what their maps claim.

Exact rows are computed in `laws_opendp.py`, the others run it.  Its noise has its own source of randomness, which no seed
governs: what is found by runs differs a little from run to run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from harness import Case, Outcome, Run, at_most, by_runs, exactly
from laws_noise import Array, worst
from laws_opendp import (
    UPPER,
    WHOLE,
    Make,
    Pairs,
    amplified,
    amplified_gaussian,
    answers,
    bits,
    bounded_geometric,
    canonical,
    choices,
    composed_curves,
    compositions,
    converted,
    counts,
    gaussian_grid,
    gaussian_integers,
    gumbel,
    laplace_grid,
    laplace_numbers,
    multiplied,
    new_keys,
    new_keys_on_line,
    noise,
    noisy_count,
    noisy_max,
    noisy_mean,
    noisy_sum,
    prelude,
    quantiles,
    resized_means,
    resized_sum,
    response,
    selected_candidate,
    selector,
    statistic,
    texts,
    threshold_measure,
    trees,
    vector_noise,
)

from tailproof.refimpl.claims import ADD_REMOVE, ZCDP, ApproxDP, Claim, PureDP
from tailproof.verification.adapters import claim_of_opendp, from_opendp

# --- runs ------------------------------------------------------------------------------------------------------------------


def mapped(make: Make, distance: Any, run: Run, pair: tuple[Any, Any], *, budget: int) -> Callable[[Case], Outcome]:
    """Runs, of a measurement whose map says what is claimed."""

    def test(case: Case) -> Outcome:
        said = np.ravel(make().map(distance))
        claimed = [case.claim.rho] if isinstance(case.claim, ZCDP) else [case.claim.epsilon]  # type: ignore[union-attr]
        claimed += [case.claim.delta] if isinstance(case.claim, ApproxDP) else []
        assert np.allclose(said, claimed, rtol=1e-6, atol=0), (said, claimed)
        return by_runs(run, pair, budget=budget)(case)

    return test


def calling(make: Make, shown: Callable[[Any], Any] = float) -> Run:
    """The measurement is made once; `shown` turns a release into numbers."""
    kept: list[Any] = []

    def run(value: Any, rng: np.random.Generator) -> Any:  # noqa: ARG001
        if not kept:
            kept.append(make())
        return shown(kept[0](value))

    return run


def projection() -> Any:
    dp = prelude()
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    return dp.m.make_alp_queryable(domain, metric, scale=1.0, total_limit=24, value_limit=24)


def selecting() -> Any:
    dp = prelude()
    scored = dp.m.make_user_measurement(
        dp.atom_domain(T=float, nan=False),
        dp.absolute_distance(T=float),
        dp.max_divergence(),
        lambda x: (x + float(np.random.default_rng().laplace(scale=2.0)), "candidate"),
        lambda d: d / 2,
        TO="(f64, ExtrinsicObject)",
    )
    return dp.c.make_select_private_candidate(scored, stop_probability=0.1, threshold=0.5)


def imputed_variance() -> Any:
    """Ten records, of which those that are NaN get a number at random."""
    dp = prelude()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=True), size=10), dp.symmetric_distance()
    return (
        dp.t.make_impute_uniform_float(*space, bounds=(0.0, 1.0))
        >> dp.t.then_clamp((0.0, 1.0))
        >> dp.t.then_variance()
        >> dp.m.then_laplace(scale=0.1)
    )


def clamped_sum() -> Any:
    dp = prelude()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    return dp.t.make_clamp(*space, bounds=(-1.0, 2.0)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=2.0)


def noisy_bits() -> Any:
    dp = prelude()
    return dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5)


def categories() -> Any:
    return prelude().m.make_randomized_response(["a", "b", "c"], prob=0.7)


def tree_quantiles() -> Any:
    """A histogram, its tree, noise, and quantiles of what is left when it is made consistent."""
    dp = prelude()
    edges, space = (
        [0.0, 0.25, 0.5, 0.75, 1.0],
        (dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()),
    )
    bins = dp.t.make_find_bin(*space, edges=edges[1:-1])
    return (
        bins
        >> dp.t.then_count_by_categories(categories=list(range(4)), null_category=False)
        >> dp.t.then_b_ary_tree(leaf_count=4, branching_factor=2)
        >> dp.m.then_laplace(scale=3.0)
        >> dp.t.make_consistent_b_ary_tree(branching_factor=2)
        >> dp.t.make_quantiles_from_counts(edges, alphas=[0.25, 0.5])
    )


def key_told(make: Make) -> Run:
    return calling(make, lambda release: float("a" in release))


def by_adapter(make: Make, claimed: PureDP) -> Run:
    """Through `tailproof.verification.adapters`, which must read this claim from the measurement's map."""
    kept: list[Any] = []

    def run(value: Any, rng: np.random.Generator) -> Any:
        if not kept:
            made = make()
            read = claim_of_opendp(made, claimed.neighbouring)
            assert isinstance(read, PureDP)
            assert math.isclose(read.epsilon, claimed.epsilon, rel_tol=1e-6)
            kept.append(from_opendp(made))
        return kept[0](value, rng)

    return run


def numbers(release: Any) -> Array:
    return np.nan_to_num(np.array(release, dtype=np.float64), nan=-9.0, posinf=9.0, neginf=-9.0)


def runs() -> list[Case]:
    ten = [0.0] * 10, [0.0] * 9 + [1.0]
    tulap = noise("make_canonical_noise", float, d_in=1.0, d_out=(1.0, 0.01))
    scores = [1, 0, 0], [0, 1, 1]
    top = partial(selector, "make_noisy_top_k", 4.0, k=2)
    least = partial(selector, "make_noisy_max", 2.0, negate=True)
    concentrated = partial(selector, "make_noisy_max", 2.0, concentrated=True)
    key = partial(threshold_measure, "make_laplace_threshold", float, 1.0, 2.0)
    rows: list[tuple[str, str, Claim, Callable[[Case], Outcome], str]] = [
        (
            "make_canonical_noise",
            "floats, (1, 0.01)",
            ApproxDP(1.0, 0.01),
            mapped(tulap, 1.0, calling(tulap), (0.0, 1.0), budget=10000),
            "0 and 1",
        ),
        (
            "make_noisy_top_k",
            "two of three, scale 4, ℓ∞ 1",
            PureDP(1.0),
            mapped(top, 1, calling(top, numbers), scores, budget=10000),
            "(1, 0, 0) and (0, 1, 1)",
        ),
        (
            "make_noisy_max",
            "the least, scale 2, ℓ∞ 1",
            PureDP(1.0),
            mapped(least, 1, calling(least), scores, budget=10000),
            "(1, 0, 0) and (0, 1, 1)",
        ),
        (
            "make_noisy_max",
            "zCDP, scale 2, ℓ∞ 1",
            ZCDP(0.125),
            mapped(concentrated, 1, calling(concentrated), scores, budget=10000),
            "(1, 0, 0) and (0, 1, 1)",
        ),
        (
            "make_randomized_response",
            "three categories, truth 0.7, or none of them",
            PureDP(math.log(0.7 / 0.15)),
            mapped(categories, 1, calling(categories, lambda c: float(ord(c))), ("a", "z"), budget=10000),
            "a, and a value that is no category",
        ),
        (
            "make_laplace_threshold",
            "floats, scale 1, threshold 2",
            ApproxDP(1.0, math.exp(-1) / 2),
            mapped(key, (1, 1.0, 1.0), key_told(key), ({}, {"a": 1.0}), budget=4000),
            "nothing, or a key with count 1",
        ),
        (
            "make_alp_queryable",
            "scale 1, a count that grows",
            PureDP(1.0),
            mapped(
                projection,
                (1, 1, 1),
                calling(projection, lambda queryable: float(queryable("a"))),
                ({"a": 1}, {"a": 2}),
                budget=10000,
            ),
            "a key with count 1 or 2",
        ),
        (
            "make_select_private_candidate",
            "scores with noise for 1/2, stop 0.1",
            PureDP(1.0),
            mapped(
                selecting,
                1.0,
                calling(selecting, lambda one: -9.0 if one is None else float(one[0])),
                (0.0, 1.0),
                budget=6000,
            ),
            "0 and 1",
        ),
        (
            "make_variance",
            "ten in (0, 1), NaN imputed at random, one replaced",
            PureDP(1.0),
            mapped(imputed_variance, 2, calling(imputed_variance), ([0.0] * 10, [0.0] * 9 + [math.nan]), budget=6000),
            "ten zeros, one becomes NaN",
        ),
        (
            "make_variance",
            "ten in (0, 1), one replaced",
            PureDP(1.0),
            mapped(imputed_variance, 2, calling(imputed_variance), ten, budget=10000),
            "ten zeros, one becomes 1",
        ),
        (
            "make_clamp",
            "to (-1, 2), summed, through the adapter",
            PureDP(1.5),
            mapped(clamped_sum, 1, by_adapter(clamped_sum, PureDP(1.5, ADD_REMOVE)), ([5.0] * 4, [5.0] * 5), budget=10000),
            "four records at 5, or five",
        ),
        (
            "make_b_ary_tree",
            "quantiles of a histogram's tree, scale 3",
            PureDP(1.0),
            mapped(tree_quantiles, 1, calling(tree_quantiles, numbers), ([0.9] * 3, [0.9] * 3 + [0.1]), budget=8000),
            "three records at 0.9, or another at 0.1",
        ),
    ]
    return [Case("opendp", subject, setting, claim, test, witness) for subject, setting, claim, test, witness in rows]


# --- cases -----------------------------------------------------------------------------------------------------------------


def _row(subject: str, setting: str, pairs: Pairs, witness: str, **more: str) -> Case:
    test = at_most(lambda: worst(pairs()), lambda: 1.0)
    return Case("opendp", subject, setting, PureDP(1.0), test, witness, stated=more.pop("stated", UPPER), **more)


def kept_cases() -> list[Case]:
    half, zeros, one = [0.5] * 10, [0.0] * 10, [0.0] * 9 + [1.0]
    rows: list[tuple[str, str, Claim, Make, tuple[Any, Any], str]] = [
        ("make_laplace", "floats, scale 1", PureDP(1.0), noise("make_laplace", float, scale=1.0), (0.0, 1.0), "0 and 1"),
        ("make_laplace", "integers, scale 1", PureDP(1.0), noise("make_laplace", int, scale=1.0), (0, 1), "0 and 1"),
        (
            "make_geometric",
            "scale 1, in [0, 2]",
            PureDP(1.0),
            noise("make_geometric", int, scale=1.0, bounds=(0, 2)),
            (0, 1),
            "0 and 1",
        ),
        ("make_gaussian", "floats, scale 2", ZCDP(0.125), noise("make_gaussian", float, scale=2.0), (0.0, 1.0), "0 and 1"),
        ("make_gaussian", "integers, scale 2", ZCDP(0.125), noise("make_gaussian", int, scale=2.0), (0, 1), "0 and 1"),
        ("make_randomized_response_bool", "truth 1/(1 + 1/e)", PureDP(1.0), response, (False, True), "no and yes"),
        (
            "make_noisy_max",
            "scale 2, ℓ∞ 1",
            PureDP(1.0),
            noisy_max,
            ([1.0, 0.0, 0.0], [0.0, 1.0, 1.0]),
            "(1, 0, 0) and (0, 1, 1)",
        ),
        ("make_sum", "in (0, 1), a record added", PureDP(1.0), noisy_sum, (half, [*half, 1.0]), "ten records, or eleven"),
        ("make_mean", "ten in (0, 1), one replaced", PureDP(1.0), noisy_mean, (zeros, one), "ten zeros, one becomes 1"),
        ("make_count", "a record added", PureDP(1.0), noisy_count, ([1] * 4, [1] * 5), "four records, or five"),
    ]
    return [
        Case("opendp", subject, setting, claim, by_runs(calling(make), pair, budget=10000), witness)
        for subject, setting, claim, make, pair, witness in rows
    ]


def exact_noise() -> list[Case]:
    rounded, seven = "numbers that are rounded away from each other", "(3, -4) and (0, 0)"
    crash = "with δ = 0 a draw ends the whole process"
    return [
        _row("make_laplace", "integers, scale 0.01 to 1e6, d_in 1, 2, 10", lambda: laplace_numbers(int), "shifted by d_in"),
        _row("make_laplace", "floats, scale 0.01 to 1e6, d_in 1, 2, 10", lambda: laplace_numbers(float), "shifted by d_in"),
        _row("make_laplace", "floats, k = -10, -1, 0, 3, scale 0.2, 1, 10", laplace_grid, rounded),
        _row("make_gaussian", "integers, scale 0.3, 1, 10, d_in 1, 2, 5", gaussian_integers, "shifted by d_in"),
        _row("make_gaussian", "floats, k = -10, -1, 0, 3, scale 0.5, 1, 10", gaussian_grid, rounded),
        _row("make_laplace, make_gaussian", "vectors, scale 0.2, 1, 10", vector_noise, seven),
        _row("make_geometric", "scale 0.3, 1, 10, in [0, 1], [0, 2], [0, 5]", bounded_geometric, "all neighbours inside"),
        _row("make_canonical_noise", "ε = 0.1, 1, 5, δ = 0.001, 0.1", canonical, "0, and 1/2 or 1", note=crash),
    ]


def exact_choices() -> list[Case]:
    moves, rises = "scores that move by at most 1, with ties", "scores that rise by at most 1, with ties"
    found = [
        _row("make_randomized_response", "2, 3, 10 answers, truth 0.51 to 1 - 1e-9", answers, "two answers"),
        _row("make_randomized_response_bitvec", "weight 1, 4, 100, f = 0.01, 0.5, 0.99", bits, "without a common bit"),
    ]
    for name, concentrated, monotonic in product(("make_noisy_max", "make_noisy_top_k"), (False, True), (False, True)):
        words = f"{'zCDP' if concentrated else 'pure'}{', monotonic' if monotonic else ''}, scale 0.5, 2, 20"
        settings: dict[str, Any] = {"concentrated": concentrated, "monotonic": monotonic}
        if name == "make_noisy_top_k":
            settings |= {"k": 2, "negate": monotonic}
            words += f", {'last' if monotonic else 'first'} two of three"
        found.append(
            _row(name, words, lambda n=name, s=settings: choices(n, **s), rises if monotonic else moves),
        )
    found.append(_row("make_report_noisy_max_gumbel", "scale 0.5, 2, 20", gumbel, moves))
    for sized, concentrated in product((False, True), (False, True)):
        words = f"{'zCDP' if concentrated else 'pure'}, α = 0 to 0.9, {'one replaced' if sized else 'one added'}"
        found.append(
            _row(
                "make_private_quantile",
                words,
                lambda s=sized, c=concentrated: quantiles(sized=s, concentrated=c),
                "records at candidates and between, all alike, none",
            )
        )
    found.append(
        _row(
            "make_select_private_candidate",
            "stop 0, 0.1, 0.9, five thresholds",
            selected_candidate,
            "scores of 0 and 1",
            note="it stops with probability 1 - exp(1/ln(1 - p)) instead of p, which the claim allows",
        )
    )
    return found


def exact_transformations() -> list[Case]:
    searched, far = "data at the bounds and between, sizes 1, 2, 10, 300", "bounds up to 1e300, and 1 apart at 1e15"
    return [
        _row("make_sum", f"floats, one added, {far}", lambda: statistic("make_sum", sized=False), searched),
        _row("make_sum", f"floats, one replaced, {far}", lambda: statistic("make_sum", sized=True), searched),
        _row(
            "make_sum",
            "integers, one added, 32 bits full",
            lambda: statistic("make_sum", sized=False, ranges=WHOLE),
            searched,
        ),
        _row(
            "make_sum",
            "integers, one replaced, 32 bits full",
            lambda: statistic("make_sum", sized=True, ranges=WHOLE),
            searched,
        ),
        _row("make_mean", f"one replaced, {far}", lambda: statistic("make_mean", sized=True), searched),
        *(
            _row(
                "make_variance",
                f"ddof {ddof}, one replaced, {far}",
                lambda d=ddof: statistic("make_variance", sized=True, ddof=d),
                searched,
            )
            for ddof in (0, 1)
        ),
        _row(
            "make_resize", "then make_mean, 0 to 55 records to 1, 3 or 50", resized_means, "records at one bound, one more"
        ),
        _row("make_cast", "texts imputed, clamped, summed", texts, "nan, inf, 1e400, -0 and no number, added"),
        _row("make_count_by_categories", "ℓ1 and ℓ2, make_count, make_count_distinct", counts, "records of each kind added"),
        _row("make_b_ary_tree", "ℓ1, 4 to 64 leaves", lambda: trees(1), "one more in one leaf, or in all"),
        _row("make_lipschitz_float_mul", "factors 3, 0.1, 0.001, up to 1e15", multiplied, "numbers 1 apart"),
    ]


def exact_combinators() -> list[Case]:
    return [
        _row("make_composition", "adaptive ones, odometers and filters, too", compositions, "integers 5 and 6"),
        _row("make_population_amplification", "pure, 1 of 2, 10 of 100, 10 of 10", amplified, "zeros, one becomes 1"),
        _row("make_population_amplification", "approximate, 1 of 2, 10 of 100", amplified_gaussian, "zeros, one becomes 1"),
        _row("make_zCDP_to_approxDP", "and the other conversions, scale 0.5 to 30", converted, "values 1 apart; answers"),
        _row(
            "make_zCDP_to_approxDP", "of 1 to 100 randomised responses", composed_curves, "δ at its ε", stated="δ/stated ≤ 1"
        ),
    ]


def violated_ones() -> list[Case]:
    threshold, known = "opendp_threshold.py", "also issue {} of opendp"
    one_key, steps = "nothing, or a key with count 1", "integers, scale 0.5 to 3, threshold 3 to 20"
    found = [
        _row(
            "make_laplace_threshold",
            f"δ of a new key, {steps}",
            lambda: new_keys("make_laplace_threshold"),
            one_key,
            stated="δ/stated ≤ 1",
            script=threshold,
            note=known.format(2922),
        ),
        _row(
            "make_gaussian_threshold",
            f"δ of a new key, {steps}",
            lambda: new_keys("make_gaussian_threshold"),
            one_key,
            stated="δ/stated ≤ 1",
            script=threshold,
            note=known.format(2922),
        ),
        _row(
            "make_laplace_threshold",
            "δ of one or two new keys, floats, the finest grid",
            new_keys_on_line,
            one_key,
            stated="δ/stated ≤ 1",
        ),
        _row(
            "make_b_ary_tree",
            "ℓ2, 4 to 64 leaves",
            lambda: trees(2),
            "one more in every leaf",
            script="opendp_b_ary_tree.py",
            note=known.format(2924),
        ),
    ]
    for epsilon in (1.0, 3.0):
        found.append(
            Case(
                "opendp",
                "make_resize",
                f"ordered, then the sum of 40 integers, ε = {epsilon:g}",
                PureDP(epsilon),
                exactly(lambda e=epsilon: resized_sum(e)),
                "twenty low ones, twenty high ones, and one more or not",
                script="opendp_resize.py",
                note=f"{known.format(2927)}; sums of 32 bits depend on the order",
            )
        )
    found.append(
        Case(
            "opendp",
            "make_randomized_response_bitvec",
            "weight 1, f = 0.5, vectors of one byte and of two",
            PureDP(math.log(9)),
            mapped(noisy_bits, 1, calling(noisy_bits, lambda b: float(len(b))), (b"\x01", b"\x01\x00"), budget=600),
            "one byte, or two",
            script="opendp_bitvec.py",
            note=f"{known.format(2930)}; the domain has no parameter for the length",
        )
    )
    return found


def cases() -> list[Case]:
    return [
        *kept_cases(),
        *exact_noise(),
        *exact_choices(),
        *exact_transformations(),
        *exact_combinators(),
        *violated_ones(),
        *runs(),
    ]
