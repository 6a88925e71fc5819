"""Pictures as SVG drawn with the page's own colours, so that they follow light and dark: plain functions of the report's numbers.

Every picture has a title and a description for readers who do not see it; what it shows exactly is said by its caption.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import Any

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

WIDTH, HEIGHT = 420.0, 210.0
LEFT, RIGHT, TOP, BOTTOM = 42.0, 408.0, 34.0, 172.0
FAR = 3.0  # an ε that is further than so many widths of the histogram to the right is named, not drawn


def gaussian_loss(losses: Json) -> tuple[float, float] | None:
    """(mean, standard deviation) of the loss of the Gaussian release that spends a ρ or μ entirely."""
    if losses["rho"] is not None:
        return losses["rho"], math.sqrt(2 * losses["rho"])
    if losses["mu"] is not None:
        return losses["mu"] ** 2 / 2, losses["mu"]
    return None


def histogram(losses: Json, title: str) -> str:
    """Bars: shares of the losses; a line at the claimed ε, or the law that a Gaussian release at the claim's limit would have."""
    epsilon, reference, shares = losses["epsilon"], gaussian_loss(losses), losses["shares"]
    low, high = min(losses["low"], 0.0), max(losses["high"], 0.0)
    off_scale = epsilon is not None and epsilon > high + FAR * (high - low)
    if epsilon is not None and not off_scale:
        high = max(high, epsilon)
    if reference is not None:
        low, high = min(low, reference[0] - 3 * reference[1]), max(high, reference[0] + 3 * reference[1])
    low, high = low - 0.03 * (high - low), high + 0.03 * (high - low)
    width = (losses["high"] - losses["low"]) / len(shares)
    curve = _normal_curve(reference, low, high, width) if reference is not None else []
    top = max([*shares, *(y for _, y in curve)]) * 1.05

    def x(value: float) -> float:
        return float(LEFT + (RIGHT - LEFT) * (value - low) / (high - low))

    def y(share: float) -> float:
        return float(BOTTOM - (BOTTOM - TOP) * share / top)

    body = [_line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis")]
    for tick in _ticks(low, high):
        body += [
            _line(x(tick), BOTTOM, x(tick), BOTTOM + 4, "axis"),
            _text(x(tick), BOTTOM + 16, f"{tick:.4g}".replace("-", "−")),
        ]
    body.append(_text((LEFT + RIGHT) / 2, HEIGHT - 6, "privacy loss of an outcome"))
    body += [_text(LEFT - 5, BOTTOM + 3, "0", "end"), _text(LEFT - 5, y(top / 1.05) + 4, f"{top / 1.05:.2g}", "end")]
    for index, share in enumerate(shares):
        if share > 0:
            start = losses["low"] + index * width
            beyond = epsilon is not None and start + width / 2 > epsilon
            tall = max(1.5, BOTTOM - y(share))  # what is there can be seen
            body.append(
                f'<rect x="{x(start):.1f}" y="{BOTTOM - tall:.1f}" width="{max(0.8, x(start + width) - x(start) - 0.6):.1f}" '
                f'height="{tall:.1f}" class="{"beyond" if beyond else "share"}"/>'
            )
    if curve:
        body.append(_path([(x(at), y(value)) for at, value in curve], "claim dashed"))
        body.append(_text(RIGHT, TOP - 20, "dashed: a Gaussian release that spends the whole claim", "end", "mark"))
    if epsilon is not None and off_scale:
        body.append(_text(RIGHT, TOP - 20, f"claimed ε = {epsilon:.4g}, far to the right →", "end", "mark"))
    elif epsilon is not None:
        body.append(_line(x(epsilon), TOP - 12, x(epsilon), BOTTOM, "claim"))
        side = "end" if x(epsilon) > (LEFT + RIGHT) / 2 else "start"
        body.append(_text(x(epsilon) + (4 if side == "start" else 2), TOP - 18, f"claimed ε = {epsilon:.4g}", side, "mark"))
        if losses["beyond"]:
            body.append(
                _text(x(epsilon) + (5 if side == "start" else -5), TOP - 2, f"beyond: {losses['beyond']:.2g}", side, "warn")
            )
    return _svg(WIDTH, HEIGHT, title, body)


def _normal_curve(law: tuple[float, float], low: float, high: float, bin_width: float) -> list[tuple[float, float]]:
    mean, deviation = law
    points = [low + (high - low) * i / 80 for i in range(81)]
    scale = bin_width / (deviation * math.sqrt(2 * math.pi))
    return [(at, scale * math.exp(-0.5 * ((at - mean) / deviation) ** 2)) for at in points]


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
    body += [_text(230, 244, result["over"]), _text(52, 15, "excess risk", "middle")]
    body.append(_path([(x(row["at"]), y(value)) for row, value in zip(rows, bounds, strict=True)], "claim dashed"))
    body.append(_path([(x(row["at"]), y(row["measured"])) for row in rows if row["measured"] > 0], "measured"))
    for row, low in zip(rows, lows, strict=True):
        at, kind = x(row["at"]), "dot" if row["of_start"] <= 0.5 else "dot hollow"
        body.append(_line(at, y(low), at, y(row["interval"][1]), "whisker"))
        body += [_line(at - 4, y(end), at + 4, y(end), "whisker") for end in (low, row["interval"][1])]
        body.append(f'<circle cx="{at:.1f}" cy="{y(max(row["measured"], low)):.1f}" r="4" class="{kind}"/>')
    body += [_text(188, 15, "● measured", "end"), _text(408, 15, f"dashed: the rate × {factor:.3g}", "end", "mark")]
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
