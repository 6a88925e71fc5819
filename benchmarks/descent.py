"""Gradient descent over private means: what a step costs, and thresholding against clipping.

    python benchmarks/descent.py speed [--json FILE]
    python benchmarks/descent.py thresholding [--runs 100] [--json FILE]
    python benchmarks/descent.py rates [--runs 20] [--json FILE]

`speed`: for all optimisers, at their tuned presets, the time of a run, and that of a step as a multiple of the time of the
per-record gradients it needs, `loss.gradients` of as many records in the order of the data: squared loss, n = 10⁴ records in
d = 20 dimensions (P3.A5: d = 2000, s* = 5), ε = 1, δ = 10⁻⁵.  "A step" is the whole run, but for the checks of the data, over
all its gradients, so that a run of few steps charges them with its set-up.  "A further one" is what a step more costs: the
difference to a run of four times the steps on batches of the same size (of four times the data, repeated, where every record is
used once), over the difference of their gradients.  Rows without multiples make no gradient steps of a number that is known
beforehand.  Rows with a multiple above 3 come again for n = 10⁵, and if it is above 3 there too for n = 10⁶: what is constant per
step fades, what is done to every entry or record stays.  The last line says what some of that costs by itself.  Before anything
is timed, memory is taken and given back once: from then on the C library keeps what is freed, and no pass pays for fresh pages
or is spared them by chance.

Order statistics, and with them P1.A3, depend on the processor.  numpy's partition for AVX-512 takes six times as long as that for
AVX2 on AMD's Zen 4, where it stores what it compares in microcode; `NPY_DISABLE_CPU_FEATURES="AVX512_ICL X86_V4" python
benchmarks/descent.py speed --only P1 --json benchmarks/descent_avx2.json` shows the latter.  Selection by counting (pivots from a
sample, certified by exact counts) would avoid it, at the price of much more code under a sensitivity that privacy rests on.

P2.A1 with iterative updating has a cost per step that does not depend on n: each of the ten inner steps of a step searches for the
set of group means to leave out, which for 20 groups takes about 160 nearest-point problems in 20 dimensions of some 0.05 ms.
That is most of a tenth of a second for a step, where its gradients take less than half a millisecond for n = 10⁴; for n = 10⁶ both
take about as long.

`thresholding` (P3 Remark 2): P3's medians of means set entries beyond τ to 0, those of Kamath, Liu and Zhang (2022) set them to ±τ.
Both have the same sensitivity, hence the same noise.  Root mean square errors of three steps on disjoint batches of losses
½‖w − x‖², whose minimiser is the mean, each rule at its best τ of a grid, in units of u^{1/(1+v)}; with 95 % intervals.

`rates`: the excess risk at the published parameters along n, with 95 % intervals, beside the theorem's rate with all constants 1,
for losses ½‖w − x‖² on the unit ball in d = 3 dimensions, x of independent entries of Student's law around a mean of norm ½.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr

from tailproof.refimpl import approx_dp
from tailproof.refimpl.approx_dp import (
    accelerated,
    approximation,
    dp_sco,
    iterated,
    iterated_accelerated,
    localised,
    median_descent,
    private_gradient_descent,
    sample_aggregate,
    sgd,
    soft_descent,
    sparse,
    sparse_optimisation,
    trimmed_descent,
)
from tailproof.refimpl.approx_dp.budget import WeakDelta
from tailproof.refimpl.approx_dp.framework import sco_framework
from tailproof.refimpl.approx_dp.mean_descent import published_parameters, tuned_parameters
from tailproof.refimpl.channel import Channel, run
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import Quadratic, Squared
from tailproof.refimpl.means import trimmed
from tailproof.refimpl.means.median_of_means import truncated_median_of_means
from tailproof.refimpl.problems import DataLaw, Pareto, Shifted, StudentT
from tailproof.refimpl.universe import table

PRIVATE = {"epsilon": 1.0, "delta": 1e-5}
TARGET = 3.0  # a step should cost no more passes over its gradients than this
LONGER = 4
SIZES = (10_000, 100_000, 1_000_000)
TAUS = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


def seconds(*calls: Callable[[], Any], repeats: int = 40) -> list[float]:
    """The least processor time of each in several turns (fewer of long ones): taken in turns, they see the same machine."""
    best = [math.inf] * len(calls)
    for turn in range(repeats):
        if turn > 2 and turn * sum(best) > 2:
            break
        for number, call in enumerate(calls):
            start = time.process_time()
            call()
            best[number] = min(best[number], time.process_time() - start)
    return best


Work = list[tuple[int, int]]  # (steps, records of each)


@dataclass(frozen=True)
class Subject:
    """A row of the table: the gradients that it needs are `work`; `longer` are parameters with `LONGER` times the steps, of the
    same sizes, for which `more_records` says whether they need as many times the records."""

    id: str
    what: str
    function: Any
    given: dict[str, Any]
    work: Work = field(default_factory=list)
    longer: dict[str, Any] | None = None
    more_records: bool = False


def subjects(n: int, d: int) -> Iterator[Subject]:
    claim: dict[str, Any] = PRIVATE
    smooth: dict[str, Any] = {"dimension": d, "smoothness": 60.0, "moment_bound": 3.0, "moment_order": 4.0, **claim}
    risk: dict[str, Any] = {"dimension": d, "diameter": 2.0, "moment_bound": 3.0, **claim}
    central: dict[str, Any] = {**risk, "smoothness": 1.0, "moment_order": 4.0, "noise": "central"}

    def of_steps(
        name: str, what: str, function: Any, given: dict[str, Any], *, size: int = n, disjoint: bool = False
    ) -> Subject:
        longer = {**given, "steps": LONGER * given["steps"]}
        return Subject(name, what, function, given, [(given["steps"], size)], longer, more_records=disjoint)

    def of_phases(phases: Iterable[Any]) -> Work:
        return [(phase.steps, phase.size) for phase in phases]

    def prolonged(phases: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(replace(phase, steps=LONGER * phase.steps) for phase in phases)

    phases = localised.tuned_phases(n, diameter=2.0, **smooth)
    given: dict[str, Any] = {"phases": phases, "smoothness": 60.0}
    yield Subject("P0.A3", "tuned", approx_dp.lnc_gm, given, of_phases(phases), {**given, "phases": prolonged(phases)})
    for name, function, stages in (
        ("P0.A4", approx_dp.private_stochastic_approximation, approximation.tuned_stages(n, radius=1.0, **smooth)),
        ("P0.A5", approx_dp.iterated_lnc_gm, iterated.tuned_stages(n, theta_bar=2.0, radius=1.0, **smooth)),
    ):
        work = [one for stage in stages for one in of_phases(stage.phases)]
        longer = tuple(replace(stage, phases=prolonged(stage.phases)) for stage in stages)
        given = {"stages": stages, "smoothness": 60.0}
        yield Subject(name, "tuned", function, given, work, {**given, "stages": longer})
    given = accelerated.published_parameters(n, **central)
    yield of_steps("P0.A6", "central noise", approx_dp.pnca_sgd, given, size=n // given["steps"], disjoint=True)
    parts = iterated_accelerated.published_parts(n, theta_bar=2.0, **central)
    work = [(part.steps, part.size // part.steps) for part in parts]
    given = {"parts": parts, "noise": "central"}
    longer_parts = [replace(part, size=LONGER * part.size, steps=LONGER * part.steps) for part in parts]
    longer_given = {**given, "parts": longer_parts}
    yield Subject("P0.A7", "central noise", approx_dp.iterated_pnca_sgd, given, work, longer_given, more_records=True)
    given = sgd.tuned_parameters(n, **risk)
    yield of_steps("P0.B", "tuned", approx_dp.dp_sgd, given, size=given["batch"])
    yield Subject("P0.R3", "tuned, certified", approx_dp.localised_extension, {"phases": phases})

    given = sample_aggregate.tuned_parameters(n, d, **claim, diameter=2.0, spread=math.sqrt(3 * d))
    yield Subject("P1.A1", f"tuned, {given['blocks']} blocks", approx_dp.sample_and_aggregate, given)
    given = {**trimmed_descent.tuned_parameters(n, curvature_upper=1.0), "lower": -5.0, "upper": 5.0}
    yield of_steps("P1.A3", "tuned", approx_dp.trimmed_mean_descent, _same_smoothness(given, d))
    given = {**given, **trimmed_descent.experiment_parameters(n), "steps": 20}
    yield of_steps("P1.A3", "the paper's experiments", approx_dp.trimmed_mean_descent, _same_smoothness(given, d))
    for sampling in ("full", "disjoint"):
        given = soft_descent.tuned_parameters(n, d, **claim, curvature_upper=1.0, second_moment=5.0, sampling=sampling)
        batches: dict[str, Any] = {"size": n // given["steps"], "disjoint": True} if sampling == "disjoint" else {}
        yield of_steps("P1.A4", f"tuned, {sampling}", approx_dp.soft_truncation_descent, given, **batches)
    for mean in ("trimmed", "soft"):
        given = {"mean": mean, "steps": 30, "step_size": 0.5}
        yield of_steps("P1 C", f"{mean}, not private", _without_channel(approx_dp.robust_gradient_descent), given)

    moments = {"moment_order": 2.0, "moment_bound": 3.0}
    public = {**claim, **moments, "smoothness": 1.0}
    yield of_steps("P2.A1", "clipping, published", private_gradient_descent, published_parameters(n, d, **public).keywords())
    for estimator in ("clipping", "updating"):
        given = tuned_parameters(n, d, **public, diameter=2.0, estimator=estimator).keywords()
        yield of_steps("P2.A1", f"{estimator}, tuned", private_gradient_descent, given)

    law = {"epsilon": claim["epsilon"], "moment_order": 2.0}
    for name, of_medians in (
        ("convex, published", median_descent.published_convex(n, d, **law, gradient_bound=1.0, diameter=2.0)),
        (
            "strong, published",
            median_descent.published_strong(n, d, **law, moment_bound=3.0, strong_convexity=1.0, smoothness=1.0),
        ),
        ("convex, tuned", median_descent.tuned_parameters(n, d, **public, diameter=2.0, convexity="convex")),
        ("strong, tuned", median_descent.tuned_parameters(n, d, **public, diameter=2.0, convexity="strong")),
    ):
        batches = {"size": n // of_medians.steps, "disjoint": True} if of_medians.convexity == "strong" else {}
        yield of_steps("P3.A2", name, dp_sco, of_medians.keywords(), **batches)


def _same_smoothness(given: dict[str, Any], d: int) -> dict[str, Any]:
    """t, whose default falls with the number of steps, given as it is for these: longer runs then do the same in a step."""
    rho = trimmed.privacy(**PRIVATE, iterations=given["steps"]).rho
    return {**given, "smoothness": math.sqrt(2 * rho / d) / 4}


def sparse_subjects(n: int, d: int) -> Iterator[Subject]:
    law = {"true_sparsity": 5, "moment_order": 1.5, "moment_bound": 2.0, "smoothness": 1.0}
    tuned = sparse.tuned_parameters(n, d, **PRIVATE, **law).keywords()
    for steps in (1, 10):
        given, longer = {**tuned, "steps": steps}, {**tuned, "steps": LONGER * steps}
        what = f"d = {d}, s* = 5, {steps} steps"
        yield Subject("P3.A5", what, sparse_optimisation, given, [(steps, n // steps)], longer, more_records=True)


def speed(only: str = "") -> list[dict[str, Any]]:
    warnings.simplefilter("ignore", WeakDelta)  # that 10⁻⁵ is not below 1/n for n = 10⁵ changes no time
    rows, d = [], 20
    np.ones(31 << 17).sum()  # 31 MiB, just below the largest size that glibc adapts to
    for n in SIZES:
        rng = np.random.default_rng(0)
        features = rng.standard_normal((n, d))
        data = np.column_stack([features, features @ np.full(d, 0.2) + rng.standard_t(3, size=n) / 2])
        slow = {(row["id"], row["what"]) for row in rows if row["n"] == n // 10 and not _within_target(row)}
        for subject in subjects(n, d):
            if subject.id.startswith(only) and (n == SIZES[0] or (subject.id, subject.what) in slow):
                rows.append(_cost(subject, data, {"domain": "ball:1"}))
    if "P3.A5".startswith(only):
        n, wide = 10_000, 2000
        features = rng.standard_normal((n, wide))
        data = np.column_stack([features, features[:, :5].sum(axis=1) + rng.standard_t(2.5, size=n)])
        rows += [_cost(subject, data, {}) for subject in sparse_subjects(n, wide)]
    return [*rows, _primitives(10_000, d), _primitives(100_000, d)]


def _within_target(row: dict[str, Any]) -> bool:
    return all((row[column] or 0.0) <= TARGET for column in ("step_over_gradients", "further_step_over_gradients"))


def _without_channel(function: Any) -> Any:
    def mechanism(data: np.ndarray, _: Channel, **given: Any) -> Any:
        return function(data, **{name: value for name, value in given.items() if name not in PRIVATE})

    return mechanism


def _cost(subject: Subject, data: np.ndarray, extra: dict[str, Any]) -> dict[str, Any]:
    loss, start = Squared(), np.zeros(data.shape[1] - 1)
    more = np.tile(data, (LONGER, 1)) if subject.more_records else data

    def passes(size: int) -> Callable[[], None]:
        def some() -> None:
            for _ in range(10):  # tables kept alive together would cost page faults that a step does not have
                loss.gradients(start, data[:size])

        return some

    def checks(records: np.ndarray) -> Callable[[], Any]:  # once per run
        return lambda: (table(records, loss), loss.split(records))

    def once(records: np.ndarray, given: dict[str, Any]) -> Callable[[], np.ndarray]:
        how = {"loss": loss, **PRIVATE, **extra, **given}
        return lambda: run(subject.function, records, np.random.default_rng(0), **how)[0]

    work, steps = subject.work, sum(steps for steps, _ in subject.work)
    calls = [once(data, subject.given), checks(data)]
    if subject.longer is not None:
        calls += [once(more, subject.longer), checks(more)]
    total, setup, *others = seconds(*calls, *(passes(size) for _, size in work))
    needed = sum(steps * spent / 10 for (steps, _), spent in zip(work, others[-len(work) :], strict=True))
    row = {
        "id": subject.id,
        "what": subject.what,
        "n": len(data),
        "steps": steps or None,
        "seconds": round(total, 3),
        "step_over_gradients": round((total - setup) / needed, 2) if work else None,
        "further_step_over_gradients": None,
        "risk_left": round(loss.mean_value(calls[0](), data) / loss.mean_value(start, data), 3),
    }
    shown = ""
    if subject.longer is not None:
        further = (others[0] - others[1] - (total - setup)) / ((LONGER - 1) * needed)
        row["further_step_over_gradients"] = round(further, 2)
        shown = f"a step {row['step_over_gradients']:6.2f} × its gradients, a further one {further:6.2f} ×"
    print(
        f"{subject.id:6} {subject.what:26} n = {len(data):6} {steps or '':5} steps {total:7.3f} s  {shown:53}"
        f"  {row['risk_left']:.3f} of the risk at 0 left"
    )
    return row


def _primitives(n: int, d: int) -> dict[str, Any]:
    """What cannot be avoided, in the same unit: both order statistics of every column, one error function of every entry, a
    random order of all records and a look at them in that order."""
    loss, rng = Squared(), np.random.default_rng(1)
    data = rng.standard_normal((n, d + 1))
    entries = loss.gradients(np.zeros(d), data)
    columns, m, order = np.ascontiguousarray(entries.T), n // 4, rng.permutation(n)

    def order_statistics() -> None:
        parts = np.array(columns)
        parts.partition(m, axis=1)
        parts[:, m + 1 :].partition(n - 2 * m - 2, axis=1)

    calls: dict[str, Callable[[], Any]] = {
        "columns one after another": lambda: np.ascontiguousarray(entries.T),
        "two order statistics": order_statistics,
        "sort": lambda: np.sort(columns, axis=1),
        "ndtr": lambda: ndtr(entries),
        "exp": lambda: np.exp(entries),
        "random order": lambda: rng.permutation(n),
        "records in random order": lambda: data.take(order, axis=0),
    }
    ten, *spent = seconds(lambda: [loss.gradients(np.zeros(d), data) for _ in range(10)], *calls.values())
    found = {what: round(10 * cost / ten, 2) for what, cost in zip(calls, spent, strict=True)}
    print(
        f"n = {n}, of all entries, in passes over the gradients:",
        ", ".join(f"{what} {cost}" for what, cost in found.items()),
    )
    return {"id": "primitives", "n": n, "over_gradients": found}


def clamped(rows: np.ndarray, channel: Channel, *, truncation: float, **parameters: Any) -> np.ndarray:
    """Entries beyond ±τ to ±τ, which thresholding then leaves as they are."""
    return truncated_median_of_means(np.clip(rows, -truncation, truncation), channel, truncation=truncation, **parameters)


def thresholding(runs: int) -> list[dict[str, Any]]:
    d, n = 5, 20_000
    laws: list[tuple[DataLaw, float]] = [
        (Shifted(StudentT(1.4), 0.3), 0.3),
        (Shifted(StudentT(3.0), 0.3), 1.0),
        (Pareto(1.4), 0.3),
        (Pareto(2.2), 1.0),
    ]
    rows = []
    print(f"d = {d}, n = {n}, ε = 1, δ = 1e-5, {runs} runs; error of the best τ, in units of u^(1/(1+v))")
    for law, v in laws:
        unit = law.absolute_moment(1 + v) ** (1 / (1 + v))
        found = {}
        for name, rule in (("thresholding", truncated_median_of_means), ("clipping", clamped)):
            errors = {tau: _errors(rule, law, unit, tau, n, d, runs) for tau in TAUS}
            tau = min(errors, key=lambda tau: float(np.mean(errors[tau] ** 2)))
            square = errors[tau] ** 2
            half = 1.96 * float(np.std(square)) / math.sqrt(runs)
            low, high = (math.sqrt(max(0.0, float(np.mean(square)) + side * half)) for side in (-1, 1))
            found[name] = {
                "tau": tau,
                "error": round(math.sqrt(float(np.mean(square))), 4),
                "interval": [round(low, 4), round(high, 4)],
            }
        rows.append({"law": str(law), "v": v, **found})
        print(
            f"{law!s:40} v = {v}:  "
            + ";  ".join(f"{name} {one['error']} {one['interval']} at τ = {one['tau']}" for name, one in found.items())
        )
    return rows


def _errors(rule: Any, law: DataLaw, unit: float, tau: float, n: int, d: int, runs: int) -> np.ndarray:
    mean, errors = law.mean(), []
    for number in range(runs):
        rng = np.random.default_rng([number, 7])  # the same data for every rule and τ
        data = law.sample(rng, n * d).reshape(n, d)

        def estimate(rows: np.ndarray, channel: Channel) -> np.ndarray:
            return rule(rows, channel, truncation=tau * unit, failure=0.1, **PRIVATE)

        points, _ = run(
            sco_framework,
            data,
            rng,
            loss=Quadratic(np.eye(d)),
            domain=Ball(np.zeros(d), 100 * unit),
            estimator=estimate,
            steps=3,
            learning_rate=0.8,
            batching="disjoint",
        )
        errors.append(float(np.linalg.norm(points[-1] - mean)) / unit)
    return np.array(errors)


def rates(runs: int) -> list[dict[str, Any]]:
    """P3's rates hide 4·log(2d/ξ)·√(2 ln(1.25/δ)) and, in Theorem 6, the logarithms of composition and of the cover.  At the sizes
    that can be run here its noise is longer than the diameter, and the risk is that of a point without information."""
    eps, delta = 1.0, 1e-8
    private = {"epsilon": eps, "delta": delta}
    log, rows = math.log(1 / delta), []

    def convex(n: int) -> tuple[Any, dict[str, Any], float]:
        chosen = published_parameters(n, 3, **private, moment_order=2.0, moment_bound=2.0, smoothness=1.0)
        rate = (
            math.sqrt(3 * math.log(n) / n) + math.sqrt(3 * math.sqrt(3 * log) / (n * eps)) + 3 / math.sqrt(n) * math.log(n)
        )
        return private_gradient_descent, {**chosen.keywords(), "domain": "ball:1"}, rate

    def medians(n: int) -> tuple[Any, dict[str, Any], float]:
        chosen = median_descent.published_convex(n, 3, epsilon=eps, moment_order=2.0, gradient_bound=1.5, diameter=2.0)
        rate = 2 * 9 * (3**1.25 / (eps * n) ** 0.5 + 3**3.75 / (eps * n) ** 1.5)
        return dp_sco, {**chosen.keywords(), "domain": "ball:1"}, rate

    def strong(n: int) -> tuple[Any, dict[str, Any], float]:
        chosen = median_descent.published_strong(
            n, 3, epsilon=eps, moment_order=2.0, moment_bound=3.0, strong_convexity=1.0, smoothness=1.0, tau="derived"
        )
        return dp_sco, {**chosen.keywords(), "domain": "ball:1"}, 9 * 4 * 3 * 3**1.5 / (eps * n)

    for name, make, sizes in (
        ("P2 Theorem 4", convex, (1000, 4000, 16_000)),
        ("P3 Theorem 6", medians, (1000, 4000)),
        ("P3 Theorem 7, τ derived", strong, (250_000, 1_000_000, 4_000_000)),
    ):
        mean, last = np.array([0.3, 0.4, 0.0]), None
        for n in sizes:
            function, parameters, rate = make(n)
            risks = []
            for number in range(runs):
                rng = np.random.default_rng([number, n])
                data = mean + rng.standard_t(3.0, size=(n, 3))
                found, _ = run(function, data, rng, loss=Quadratic(np.eye(3)), **private, **parameters)
                risks.append(float(np.sum((found - mean) ** 2)) / 2)
            risk, half = float(np.mean(risks)), 1.96 * float(np.std(risks)) / math.sqrt(runs)
            slope = None if last is None else round(math.log(risk / last) / math.log(4), 2)
            last, ratio = risk, risk / rate
            rows.append({"theorem": name, "n": n, "risk": risk, "half_width": half, "over_rate": ratio, "slope": slope})
            print(f"{name:24} n = {n:6}  risk {risk:.4g} ± {half:.2g}  over the rate {ratio:.3g}  slope {slope}")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=("speed", "thresholding", "rates"))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--only", default="", metavar="ID", help="speed: of optimisers whose id starts so")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    studies = {
        "speed": lambda: speed(arguments.only),
        "thresholding": lambda: thresholding(arguments.runs),
        "rates": lambda: rates(arguments.runs),
    }
    rows = studies[arguments.study]()
    if arguments.json:
        arguments.json.write_text(json.dumps({"study": arguments.study, "rows": rows}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
