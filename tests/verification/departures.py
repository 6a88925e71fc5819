"""Edits that make another algorithm of the same privacy, or nearly: each must differ from the published one in what is released.

Every one has the row, a name, the module that is edited (None: the row's own) and a text with what stands in its place.
"""

from __future__ import annotations

_APPROX = "tailproof.refimpl.approx_dp"
_DESCENT, _STAGES, _BATCHES, _STEPS = (f"{_APPROX}.{m}" for m in ("descent", "approximation", "accelerated", "steps"))
_ASCENT = ("(slope + weight * (point - start))", "(weight * (point - start) - slope)")
_HALF = ("slope = gradient(point)", "slope = gradient(point) / 2")
_ONE_LESS = ("for _ in range(steps)", "for _ in range(steps - 1)")
_NO_PULL = ("weight * (point - start)", "weight * point")
_PRINTED_ALPHA = ("alpha, eta = 2 / (t + 1)", "alpha, eta = 2 / (t + 2)")
_UPHILL = ("project(point - alpha / eta * slope)", "project(point + alpha / eta * slope)")
_NO_AVERAGE = ("average = alpha * point + (1 - alpha) * average", "average = point")
_FREE = ("project(point - alpha / eta * slope)", "point - alpha / eta * slope")
_STEP_UP = ("points[-1] - length * estimate", "points[-1] + length * estimate")
_STEP_FREE = ("points.append(project(moved))", "points.append(moved)")
_STEP_LOST = ("if disjoint else points[-1])", "if disjoint else points[-2])")
_MEAN_LOST = ("points[1:].mean(axis=0)", "points[:-1].mean(axis=0)")
_CLIPPED = 'clipped_mean_of(validation.records("data", data), clip)'
_PURE = "tailproof.refimpl.pure_dp"
_PERTURBATION, _TEMPERED, _TILTED, _CENTRED = (
    f"{_PURE}.{m}" for m in ("perturbation", "tempered", "tilted", "centred_risk")
)
_FIXED_STEP = "tailproof.refimpl.extension.fixed_step"
_HEAVIER = ("self.lipschitz, self.weight, self.center, within", "self.lipschitz, 1.5 * self.weight, self.center, within")
_SMALLER_C = ("inner or self.domain, self.lipschitz,", "inner or self.domain, 0.7 * self.lipschitz,")

EDITS: list[tuple[str, str, str | None, tuple[str, str]]] = [
    ("P0.A1", "halved", None, (f"return {_CLIPPED}", f"return 0.5 * {_CLIPPED}")),
    ("P0.A1", "turned round", None, (f"return {_CLIPPED}", f"return -{_CLIPPED}")),
    ("P0.A1", "clipped at a smaller radius", None, ("data), clip)  # line 1", "data), 0.9 * clip)")),
    ("P0.A2", "ascent", None, _ASCENT),
    ("P0.A2", "half the gradient", None, _HALF),
    ("P0.A2", "one step less", None, _ONE_LESS),
    ("P0.A2", "rough records kept", None, ("domain=region, smoothness=smoothness)", "domain=region)")),
    ("P0.A3", "ascent", _DESCENT, _ASCENT),
    ("P0.A3", "half the gradient", _DESCENT, _HALF),
    ("P0.A3", "one step less", _DESCENT, _ONE_LESS),
    ("P0.A3", "regularised towards the origin", _DESCENT, _NO_PULL),
    (
        "P0.A3",
        "starts anew in every phase",
        None,
        ("local, point, step=phase.step", "local, problem.start, step=phase.step"),
    ),
    ("P0.A4", "ascent", _DESCENT, _ASCENT),
    ("P0.A4", "no ball", None, ("region = domain if stage.radius is None else", "region = domain if stage.radius else")),
    ("P0.A5", "half the gradient", _DESCENT, _HALF),
    (
        "P0.A5",
        "starts anew in every part",
        _STAGES,
        ("Problem(problem.loss, region, point,", "Problem(problem.loss, region, problem.start,"),
    ),
    ("P0.A6", "printed α", None, _PRINTED_ALPHA),
    ("P0.A6", "ascent", None, _UPHILL),
    ("P0.A6", "no average", None, _NO_AVERAGE),
    ("P0.A6", "no projection", None, _FREE),
    ("P0.A7", "printed α", _BATCHES, _PRINTED_ALPHA),
    ("P0.A7", "ascent", _BATCHES, _UPHILL),
    ("P0.A7", "starts anew in every part", None, ("problem = replace(problem, start=found)", "pass")),
    ("P0.B", "ascent", None, ("point - step * slope", "point + step * slope")),
    ("P0.B", "no projection", None, ("project(point - step * slope)", "point - step * slope")),
    ("P0.B", "half the gradient", None, ("mean = clipped(point, members)", "mean = clipped(point, members) / 2")),
    ("P0.R3", "centre never moves", None, ("given.loss, region, point,", "given.loss, region, given.start,")),
    (
        "P0.R3",
        "half the Lipschitz constant",
        None,
        ("phase.weight, phase.clip, kappa)", "phase.weight, phase.clip / 2, kappa)"),
    ),
    ("P1.A1", "not the majority's centre", None, ("centre = points[int(np.argmin(", "centre = points[int(np.argmax(")),
    ("P1.A1", "ascent", f"{_APPROX}.empirical", ("ahead - shift", "ahead + shift")),
    (
        "P1.A1",
        "end of the interval",
        None,
        ("centre = ordered[first] + width(majority)[first] / 2", "centre = ordered[first]"),
    ),
    ("P1.A3.mean", "turned round", None, ("law = LLN(centre,", "law = LLN(-centre,")),
    (
        "P1.A3.mean",
        "median of what is left",
        None,
        ("rows.sum(axis=1) / rows.shape[1]\n    if", "np.median(rows, axis=1)\n    if"),
    ),
    ("P1.A3.mean", "not clamped", None, ("return np.clip(means, lower, upper), bounds", "return means, bounds")),
    ("P1.A3", "ascent", _STEPS, _STEP_UP),
    ("P1.A3", "no projection", _STEPS, _STEP_FREE),
    ("P1.A3", "last step lost", _STEPS, _STEP_LOST),
    ("P1.A3", "last point not in the mean", _STEPS, _MEAN_LOST),
    ("P1.A4.mean", "halved", None, ("return total * (scale / len(data))", "return total * (scale / len(data) / 2)")),
    ("P1.A4.mean", "no multiplicative noise near 0", None, ("value *= 0.5 / beta + 1 / 6", "value *= 1 / 6")),
    ("P1.A4", "ascent", _STEPS, _STEP_UP),
    ("P1.A4", "last step lost", _STEPS, _STEP_LOST),
    ("P2.A1", "ascent", _STEPS, _STEP_UP),
    ("P2.A1", "the last point for the first", None, ("points[:-1].mean(axis=0)", "points[1:].mean(axis=0)")),
    ("P2.A2", "halved", None, ("Gaussian(mean, math", "Gaussian(mean / 2, math")),
    ("P2.A2", "clipped at a smaller radius", None, ("data, clip)  # lines 1-3", "data, 0.9 * clip)")),
    ("P2.A3", "turned round", None, ("Gaussian(mean, scale)", "Gaussian(-mean, scale)")),
    ("P2.A3", "no updating", None, ("return np.asarray(estimate)", "return np.asarray(points.mean(axis=0))")),
    ("P3.A1", "halved", None, ("law = Gaussian(mean,", "law = Gaussian(mean / 2,")),
    ("P3.A1", "truncated earlier", None, ("data, bound)  # lines 1-2", "data, 0.9 * bound)")),
    ("P3.A2", "ascent", _STEPS, _STEP_UP),
    ("P3.A2", "the first point in the mean", None, ("points[1:].mean(axis=0)", "points[:-1].mean(axis=0)")),
    ("P3.A3", "mean of the groups", None, ("middle = median_of(means, median)", "middle = means.mean(axis=0)")),
    ("P3.A3", "always the low median", None, ('low if median == "low" else high', "low")),
    ("P3.A4", "largest without its sign", None, ("NoisyArgmax(np.abs(values),", "NoisyArgmax(values,")),
    ("P3.A4", "values without their sign", None, ("Laplace(values[j],", "Laplace(abs(values[j]),")),
    ("P3.A5", "ascent", None, ("half = point - eta", "half = point + eta")),
    ("P3.A5", "no ball", None, ("point * min(1.0, reach", "point * max(1.0, 0 * reach")),
    ("P3.A6", "ascent", _STEPS, _STEP_UP),
    ("P3.A6", "the start for the last point", None, ("[learning_rate] * steps)[1:]", "[learning_rate] * steps)[:-1]")),
    ("P4.A1", "centre never moves", None, ("loss, region, point, reading)", "loss, region, start, reading)")),
    ("P4.A1", "weight of the first phase", None, ("weight=phase.weight,", "weight=plan.phases[0].weight,")),
    ("P4.A1", "least popular answer", None, ("np.argmax((apart", "np.argmin((apart")),
    ("P4.A1", "halved", None, ("phase.radius)\n    return point", "phase.radius)\n    return point / 2")),
    ("P4.A2", "heavier regularisation", _PERTURBATION, _HEAVIER),
    ("P4.A2", "smaller C", _PERTURBATION, _SMALLER_C),
    ("P4.A2", "no slack in the radius", _PERTURBATION, ("radius + problem.slack_upper(size)", "radius")),
    (
        "P4.A2",
        "radius for another failure",
        _PERTURBATION,
        ("spend=spend, failure=failure)", "spend=spend, failure=failure / 2)"),
    ),
    ("P4.A4", "heavier regularisation", _PERTURBATION, _HEAVIER),
    ("P4.A4", "smaller C", _PERTURBATION, _SMALLER_C),
    ("P4.A4", "readings exchanged", None, ('("A", "B")) == "A"', '("A", "B")) == "B"')),
    ("P4.A4", "first point again", None, ('noisy("point", second,', 'noisy("point", local.center,')),
    ("P4.A4", "projected on W only", None, ("local.project(noisy(", "problem.domain.project(noisy(")),
    ("P4.S1", "heavier regularisation", _PERTURBATION, _HEAVIER),
    ("P4.S1", "smaller C", _PERTURBATION, _SMALLER_C),
    ("P4.S1", "large entries cut", None, ("problem.on(rows)", "problem.on(rows.clip(-1, 1))")),
    ("P4.S1", "no projection", None, ("problem.domain.project(noisy(", "(noisy(")),
    ("P4.S1", "turned round", None, ("problem.domain.project(noisy(", "-problem.domain.project(noisy(")),
    ("P4.S2", "no projection", None, ("view.back(region.project(channel.release(", "view.back((channel.release(")),
    ("P4.S2", "first release itself", None, ("nearest(region, above)", "above")),
    ("P4.S2", "flatter ramps", _TEMPERED, ("rates = B / np.square", "rates = 0.5 * B / np.square")),
    ("P4.S2", "hinge at 0", _TEMPERED, ("kinks = scales if", "kinks = 0 * scales if")),
    ("P4.S2", "lighter logits", _TEMPERED, ("4 * B / norms / norms", "B / norms / norms")),
    ("P4.S2", "Huber's loss cut earlier", _TEMPERED, ("slopes = C / (scales", "slopes = 0.5 * C / (scales")),
    (
        "P4.S2",
        "heavier regularisation",
        _TILTED,
        ("return self.size * self.weight\n", "return 2 * self.size * self.weight\n"),
    ),
    ("P4.S3", "longer target", None, ("target = math.floor(2 * slack", "target = math.floor(3 * slack")),
    ("P4.S3", "counted whole", None, ("np.minimum(sizes / level, 1.0) ** order", "np.minimum(sizes / level, 1.0) > 0.99")),
    ("P4.S3", "next level", None, ("np.append(beyond[:-1], 0.0) - target", "beyond - target")),
    ("P4.S3", "level itself", None, ("levels[int(chosen)] * (3 * slack / n) ** (1 / k)", "levels[int(chosen)]")),
    ("P4.A5", "best for worst", None, ("np.asarray(-np.linalg.norm(mapping", "np.asarray(np.linalg.norm(mapping")),
    ("P4.A5", "no projection in the score", None, ("mapping = gradient_", "mapping = slopes if self else gradient_")),
    (
        "P4.A5",
        "half the step",
        None,
        ("steepness=self.smoothness + self.weight)", "steepness=2 * (self.smoothness + self.weight))"),
    ),
    ("P4.A5", "heavier regularisation", None, ("+ self.weight * (points", "+ 2 * self.weight * (points")),
    (
        "P4.A5",
        "entries clipped, not norms",
        None,
        (
            "self.lipschitz / np.maximum(norms, self.lipschitz)",
            "self.lipschitz / np.maximum(abs(gradients), self.lipschitz)",
        ),
    ),
    ("P4.A5", "half the smoothing", None, ("self.smoothing * norms", "0.5 * self.smoothing * norms")),
    ("P4.A5", "coarser net", None, ("net(region, mesh,", "net(region, 1.5 * mesh,")),
    ("P4.A5", "another point", None, ("points[int(chosen)]", "points[-1 - int(chosen)]")),
    ("P4.A7", "best for worst", _CENTRED, ("[-self.at(point)", "[self.at(point)")),
    ("P4.A7", "no regularisation", _CENTRED, ("total + self.weight / 2 *", "total + 0 *")),
    ("P4.A7", "larger set", _PERTURBATION, ("point, radius + problem", "point, 2 * radius + problem")),
    ("P4.A7", "coarser net", None, ("net(local, (mesh or MESH)", "net(local, 1.5 * (mesh or MESH)")),
    ("P4.A7", "coarser grid", None, ("spacing = walk_spacing(", "spacing = 0.7 * walk_spacing(")),
    ("P4.A7", "another point", None, ("points[int(channel.release(", "points[-1 - int(channel.release(")),
    (
        "P4.A7",
        "fewer steps",
        None,
        (
            "return GridWalk(scores, temperature, grid.neighbours, start, steps)",
            "return GridWalk(scores, temperature, grid.neighbours, start, 1 + steps // 8)",
        ),
    ),
    ("P4.D4", "ascent", _FIXED_STEP, ("point - steps.step * slope.vector", "point + steps.step * slope.vector")),
    ("P4.D4", "half the step", _FIXED_STEP, ("point - steps.step * slope.vector", "point - steps.step / 2 * slope.vector")),
    (
        "P4.D4",
        "last point, no average",
        _FIXED_STEP,
        ("FixedStepResult(region.project(average)", "FixedStepResult(region.project(point)"),
    ),
]
