"""Pictures as SVG drawn with the page's own colours, so that they follow light and dark: plain functions of the report's numbers.

Every picture has a title and a description for readers who do not see it; what it shows exactly is said by its caption.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import Any

from tailproof.refimpl.claims import gaussian_delta

Json = dict[str, Any]


def _svg(width: float, height: float, title: str, body: Sequence[str], kind: str = "plot") -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{html.escape(title)}">'
        f"<title>{html.escape(title)}</title>{''.join(body)}</svg>"
    )


def _text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    marked = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{marked}>{html.escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _path(points: Sequence[tuple[float, float]], kind: str) -> str:
    return f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" class="{kind}"/>'


def _ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers in the range."""
    rough = (high - low) / count
    step = 10.0 ** math.floor(math.log10(rough))
    step *= next(factor for factor in (1, 2, 5, 10) if factor * step >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [step * i for i in range(first, math.floor(high / step + 1e-9) + 1)]


# --- privacy losses ---------------------------------------------------------------------------------------------------

WIDTH, HEIGHT = 420.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 50.0, 408.0, 40.0, 190.0
FAR = 3.0  # an ε that is further than so many widths of the losses to the right is named, not drawn
DEEPEST = 1e-12  # the smallest probability that is drawn


def allowed(losses: Json, t: float) -> float:
    """The largest P(loss > t) of any mechanism that keeps the claim.

    With S the outcomes of loss above t, P(S) ≤ e^ε Q(S) + δ and Q(S) < e^−t P(S) give P(S) ≤ δ/(1 − e^(ε−t)) for t > ε.  For μ-GDP
    every (ε, δ(ε)) holds, and the best ε is taken; for ρ-zCDP Markov's inequality at the best order gives exp(−(t − ρ)²/(4ρ)).
    """
    if losses["epsilon"] is not None:
        return _beyond(losses["epsilon"], losses["delta"] or 0.0, t)
    if losses["rho"] is not None:
        rho = losses["rho"]
        return math.exp(-((t - rho) ** 2) / (4 * rho)) if t > rho else 1.0
    mu = losses["mu"]
    if t <= 0:
        return 1.0
    steps = [t * i / 40 for i in range(40)]
    return min(_beyond(epsilon, gaussian_delta(mu, epsilon), t) for epsilon in steps)


def _beyond(epsilon: float, delta: float, t: float) -> float:
    return min(1.0, delta / -math.expm1(epsilon - t)) if t > epsilon else 1.0


def exceeding(losses: Json) -> list[tuple[float, float]]:
    """(t, P(loss ≥ t)) at the ends of the bins, with the exact share at the claimed ε between them.  Draws end at the largest
    one: that none was larger does not say that none is possible."""
    shares, width = losses["shares"], (losses["high"] - losses["low"]) / len(losses["shares"])
    points = [(losses["low"] + i * width, sum(shares[i:]) + losses["infinite"]) for i in range(len(shares) + 1)]
    if losses["draws"] is not None:
        points[-1] = (losses["high"], 1 / losses["draws"] + losses["infinite"])
    epsilon = losses["epsilon"]
    if epsilon is not None and losses["low"] < epsilon < losses["high"] and losses["beyond"] is not None:
        points = sorted([*points, (epsilon, losses["beyond"])])
    return points


def exceedance(losses: Json, title: str) -> str:
    """P(loss > t) on a log scale: found as a solid line, red beyond the claimed ε, and dashed what the claim allows."""
    epsilon, points = losses["epsilon"], exceeding(losses)
    low, high = min(losses["low"], 0.0), max(losses["high"], 0.0)
    off_scale = epsilon is not None and epsilon > high + FAR * (high - low)
    if epsilon is not None and not off_scale:
        high = max(high, epsilon + 0.15 * (high - low))
    low, high = low - 0.03 * (high - low), high + 0.05 * (high - low)
    bounds = [(t, allowed(losses, t)) for t in (low + (high - low) * i / 200 for i in range(201))]
    seen = [share for _, share in points if share > 0]
    deep = [min(share for _, share in bounds)] if not losses["epsilon"] or losses["delta"] else []
    floor = max(min([*seen, *(share for share in deep if share > 0), 0.1]) / 3, DEEPEST)

    def x(t: float) -> float:
        return float(LEFT + (RIGHT - LEFT) * (t - low) / (high - low))

    def y(share: float) -> float:
        return float(BOTTOM - (BOTTOM - TOP) * (1 - math.log(max(share, floor)) / math.log(floor)))

    body = [_line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis"), _line(LEFT, TOP, LEFT, BOTTOM, "axis")]
    for tick in _ticks(low, high):
        body += [
            _line(x(tick), BOTTOM, x(tick), BOTTOM + 4, "axis"),
            _text(x(tick), BOTTOM + 16, f"{tick:.4g}".replace("-", "−")),
        ]
    decades = [10.0**-i for i in range(13) if 10.0**-i >= floor]
    for tick in decades[:: 1 + len(decades) // 7]:
        body += [_line(LEFT, y(tick), RIGHT, y(tick), "rule"), _text(LEFT - 5, y(tick) + 4, short(tick), "end")]
    body += [_text((LEFT + RIGHT) / 2, HEIGHT - 6, "privacy loss t"), _text(4, TOP - 24, "P(loss > t)", "start")]
    if not off_scale:
        body += _allowed_line(bounds, epsilon, x, y)
    inside = [(t, share) for t, share in points if epsilon is None or t <= epsilon]
    outside = [(t, share) for t, share in points if epsilon is not None and t >= epsilon]
    for part, kind in ((inside, "found"), (outside, "found beyond")):
        if len(part) > 1:
            body.append(_path([(x(t), y(share)) for t, share in part], kind))
    body.append(_text(RIGHT, TOP - 24, "solid: found · dashed: allowed", "end", "mark"))
    if epsilon is not None:
        words = f"claimed ε = {epsilon:.4g}" + (", far to the right →" if off_scale else "")
        body.append(
            _text(
                RIGHT if off_scale else min(max(x(epsilon), LEFT + 60), RIGHT - 60),
                TOP - 8,
                words,
                "end" if off_scale else "middle",
            )
        )
    return _svg(WIDTH, HEIGHT, title, body)


def _allowed_line(
    bounds: Sequence[tuple[float, float]], epsilon: float | None, x: Callable[[float], float], y: Callable[[float], float]
) -> list[str]:
    """Dashed; a pure claim allows nothing beyond ε, so that its line falls there."""
    if epsilon is None:
        return [_path([(x(t), y(share)) for t, share in bounds], "claim dashed")]
    before = [(x(t), y(share)) for t, share in bounds if t < epsilon]
    after = [(x(t), y(share)) for t, share in bounds if t > epsilon]
    return [_path([*before, (x(epsilon), y(1.0)), *([] if after else [(x(epsilon), y(0.0))]), *after], "claim dashed")]


# --- rates ------------------------------------------------------------------------------------------------------------


def _log_scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    a, b = math.log(low), math.log(high)
    return lambda value: start + (end - start) * (math.log(value) - a) / (b - a)


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten in the range; with 2 and 5 between them if there are fewer than three."""
    steps = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [10.0**i for i in steps if low <= 10.0**i <= high]
    return tens if len(tens) > 2 else [m * 10.0**i for i in steps for m in (1, 2, 5) if low <= m * 10.0**i <= high]


def short(value: float) -> str:
    """10000 as 1e4, for axes."""
    return (
        f"{value:g}" if 1e-3 <= value < 1e4 else f"{value:.2g}".replace("e+0", "e").replace("e-0", "e−").replace("e+", "e")
    )


def anchor(result: Json) -> Json:
    """The value through which the rate is drawn: the first informative one."""
    found: Json = next((row for row in result["points"] if row["of_start"] <= 0.5), result["points"][0])
    return found


def rate(result: Json, title: str) -> str:
    """Measured risk with its intervals on log scales, and the rate through the first informative value."""
    rows, factor = result["points"], anchor(result)["ratio"]
    least = min(row["measured"] for row in rows if row["measured"] > 0)
    lows = [max(row["interval"][0], least / 10) for row in rows]  # an interval may reach 0, a log scale does not
    bounds = [row["bound"] * factor for row in rows]
    bottom, top = min([*lows, *bounds]) / 1.3, max([*(row["interval"][1] for row in rows), *bounds]) * 1.3
    first, last = min(row["at"] for row in rows), max(row["at"] for row in rows)
    x, y = _log_scale(first / 1.1, last * 1.1, 52, 408), _log_scale(bottom, top, 206, 26)
    body = [_line(52, 206, 408, 206, "axis"), _line(52, 206, 52, 26, "axis")]
    for row in rows:
        body += [_line(x(row["at"]), 206, x(row["at"]), 210, "axis"), _text(x(row["at"]), 223, short(row["at"]))]
    for tick in _decades(bottom, top):
        body += [_line(52, y(tick), 408, y(tick), "rule"), _text(47, y(tick) + 4, short(tick), "end")]
    body += [_text(230, 244, result["over"]), _text(4, 12, "excess risk", "start")]
    body.append(_path([(x(row["at"]), y(value)) for row, value in zip(rows, bounds, strict=True)], "claim dashed"))
    body.append(_path([(x(row["at"]), y(row["measured"])) for row in rows if row["measured"] > 0], "measured"))
    for row, low in zip(rows, lows, strict=True):
        at, kind = x(row["at"]), "dot" if row["of_start"] <= 0.5 else "dot hollow"
        body.append(_line(at, y(low), at, y(row["interval"][1]), "whisker"))
        body += [_line(at - 4, y(end), at + 4, y(end), "whisker") for end in (low, row["interval"][1])]
        body.append(f'<circle cx="{at:.1f}" cy="{y(max(row["measured"], low)):.1f}" r="4" class="{kind}"/>')
    body.append(_text(408, 12, "● measured · dashed: the theorem's rate, scaled", "end", "mark"))
    return _svg(420, 250, title, body)


# --- between lower and upper bounds -----------------------------------------------------------------------------------


def strip_range(rows: Sequence[Json]) -> tuple[float, float]:
    """In units of the lower bounds: from below the smallest to above the largest number of the table."""
    units = [
        value / row["lower"]
        for row in rows
        for value in (row["measured"], *row["interval"], row["upper"] or row["measured"], row["lower"])
        if value > 0
    ]
    return min(units) / 1.5, max(units) * 1.5


def strip(row: Json, span: tuple[float, float]) -> str:
    """One pair in units of its lower bound, on the table's common log scale."""
    x = _log_scale(*span, 4, 236)
    low, high = (max(end / row["lower"], span[0]) for end in row["interval"])
    value = max(row["measured"] / row["lower"], span[0])
    body = [_line(4, 12, 236, 12, "rule"), _line(x(1), 2, x(1), 22, "floor")]
    body += [_line(x(low), 12, x(high), 12, "whisker"), f'<circle cx="{x(value):.1f}" cy="12" r="4" class="dot"/>']
    words = f"lower bound 1, measured {value:.3g} (95 %: {low:.3g} to {high:.3g})"
    if row["upper"] is not None:
        upper = row["upper"] / row["lower"]
        kind = "claim" if row["upper_is"] == "explicit" else "claim dashed"
        body.append(_line(x(upper), 3, x(upper), 21, kind))
        words += f", upper bound {upper:.3g} ({row['upper_is']})"
    return _svg(240, 24, words, body, "strip")


def strip_axis(span: tuple[float, float]) -> str:
    x = _log_scale(*span, 4, 236)
    ticks = [10.0**i for i in range(-3, 12) if span[0] <= 10.0**i <= span[1]]
    return _svg(
        240,
        16,
        "scale: multiples of the lower bound",
        [_text(x(t), 12, short(t)) for t in ticks[:: 1 + len(ticks) // 7]],
        "strip",
    )
