"""atlas.html: every rate, who dominates whom, where they cross, and the plane coloured by who is smallest.

One page on its own: mathematics in MathML, pictures in SVG with the page's own colours, certificates to unfold.
"""

from __future__ import annotations

import ast
import html
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from tailproof.bounds.atlas import Atlas, Chart, Listed, Pair, Row
from tailproof.bounds.regions import Cell, Corner, area, centre, regions
from tailproof.bounds.theorems import theorem
from tailproof.verification.html import grid, shell, text

# --- mathematics ------------------------------------------------------------------------------------------------------------

LATIN = (
    "eps",
    "delta",
    "rho",
    "xi",
    "lam",
    "theta",
    "beta",
    "eta",
    "mu",
    "sigma",
    "tau",
    "chi",
    "ell",
    "tilde",
    "theta_bar",
)
GREEK = dict(zip(LATIN, ("ε", "δ", "ρ", "ξ", "λ", "θ", "β", "η", "μ", "σ", "τ", "χ", "ℓ", "ε̃", "θ̄"), strict=True))
SIGNS = {ast.LtE: "≤", ast.Lt: "<", ast.GtE: "≥", ast.Gt: ">", ast.Eq: "≍"}


def _name(name: str) -> str:
    if name in ("r2k", "R2k"):
        return f"<msub><mi>{name[0]}̃</mi><mrow><mn>2</mn><mi>k</mi></mrow></msub>"
    stem = re.fullmatch(r"([A-Za-z_]+?)(\d+)", name)
    if stem and name not in GREEK:
        return f"<msub>{_name(stem[1])}<mn>{stem[2]}</mn></msub>"
    return f"<mi>{html.escape(GREEK.get(name, name))}</mi>"


def _row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _operator(sign: str) -> str:
    return f"<mo>{html.escape(sign)}</mo>"


def _bracketed(inner: str) -> str:
    return _row(_operator("("), inner, _operator(")"))


def _is_sum(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub))


def _is_atom(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Constant) or (isinstance(node, ast.Call) and ast.unparse(node.func) == "sqrt")


def _factor(node: ast.expr, small: bool) -> str:
    inner = _math(node, small)
    return _bracketed(inner) if _is_sum(node) else inner


def _math(node: ast.expr, small: bool = False) -> str:
    """An expression as presentation MathML; `small`: in an exponent, where quotients are written on the line."""
    match node:
        case ast.Name():
            return _name(node.id)
        case ast.Constant():
            return f"<mn>{node.value!r}</mn>"
        case ast.UnaryOp():
            return _row(_operator("−"), _factor(node.operand, small))
        case ast.Compare():
            parts = [_math(node.left)]
            for operator, side in zip(node.ops, node.comparators, strict=True):
                parts += [_operator(SIGNS[type(operator)]), _math(side)]
            return _row(*parts)
        case ast.Call():
            arguments = [_math(argument, small) for argument in node.args]
            function = ast.unparse(node.func)
            if function == "sqrt":
                return f"<msqrt>{arguments[0]}</msqrt>"
            listed = list(itertools.chain.from_iterable((_operator(","), a) for a in arguments))[1:]
            return _row(f"<mi>{function.lower()}</mi>", _bracketed(_row(*listed)))
        case ast.BinOp(op=ast.Pow()):
            base = _math(node.left, small)
            return f"<msup>{base if _is_atom(node.left) else _bracketed(base)}{_math(node.right, True)}</msup>"
        case ast.BinOp(op=ast.Div()):
            if not small:
                return f"<mfrac>{_math(node.left)}{_math(node.right)}</mfrac>"
            below = _math(node.right, True)
            above = _math(node.left, True) if isinstance(node.left, ast.UnaryOp) else _factor(node.left, True)
            return _row(above, _operator("/"), below if _is_atom(node.right) else _bracketed(below))
        case ast.BinOp(op=ast.Mult()):
            return _row(_factor(node.left, small), _operator("\u2062"), _factor(node.right, small))
        case ast.BinOp():
            sign = "+" if isinstance(node.op, ast.Add) else "−"
            right = _factor(node.right, small) if sign == "−" else _math(node.right, small)
            return _row(_math(node.left, small), _operator(sign), right)
    raise ValueError(ast.dump(node))


def mathml(rate: str) -> str:
    """A rate or condition, written as `bounds` reads it, as MathML."""
    return f'<math displaystyle="true">{_math(ast.parse(rate, mode="eval").body)}</math>'


def _maths(rate: str | None) -> str:
    return "–" if rate is None else mathml(rate)


def prose(words: str) -> str:
    """Text with its ^ and _ as superscripts and subscripts."""
    safe = text(words)
    for sign, tag in (("\\^", "sup"), ("_", "sub")):
        safe = re.sub(sign + r"\{([^}]*)\}", rf"<{tag}>\1</{tag}>", safe)
        safe = re.sub(sign + r"(\w)(?!\w)", rf"<{tag}>\1</{tag}>", safe)
    return safe


def _conditions(where: tuple[str, ...]) -> str:
    return ", ".join(map(mathml, where))


# --- pictures ---------------------------------------------------------------------------------------------------------------

COLOURS = (  # Okabe and Ito's, told apart by the colour-blind, and two of Tol's
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#888888"),
    *("#882255", "#117733"),
)
WIDTH, HEIGHT, MARGIN = 330, 250, 38
SMALLEST = Fraction(3, 100)  # of the area: smaller regions carry no label


def _superscript(term: tuple[Fraction, Fraction, Fraction], names: tuple[str, str, str]) -> str:
    """The term n^a·d^b·ε^c as SVG text."""
    parts = []
    for name, power in zip(names, term, strict=True):
        if power:
            parts.append(name)
            if power != 1:
                sign = "−" if power < 0 else ""
                parts.append(f'<tspan dy="-4" font-size="8">{sign}{abs(power)}</tspan><tspan dy="4">\u200b</tspan>')
    return "".join(parts) or "1"


Region = tuple[tuple[str, ...], str]  # the smallest bounds, and their leading term


def picture(chart: Chart, values: Mapping[str, Fraction], colours: dict[Region, str], *, published: bool = False) -> str:
    """The plane at these values; regions take their colours from `colours`, which grows with new regions."""
    plot = chart.group.plot
    assert plot is not None
    frame, cells = regions(chart, values, published=published)
    if not cells:
        return ""
    right = max(max(x for x, _ in frame), Fraction(1, 4))
    top = max(max(y for _, y in frame), Fraction(1, 4))

    def place(corner: Corner) -> tuple[float, float]:
        x = MARGIN + float(corner[0] / right) * (WIDTH - MARGIN - 12)
        return round(x, 1), round(HEIGHT - MARGIN - float(corner[1] / top) * (HEIGHT - MARGIN - 26), 1)

    grouped: dict[Region, list[Cell]] = {}
    for cell in cells:
        grouped.setdefault((cell.best, cell.leading), []).append(cell)
    parts = []
    for region, mine in grouped.items():
        fill = colours.setdefault(region, COLOURS[len(colours) % len(COLOURS)])
        shapes = [" ".join(f"{x},{y}" for x, y in map(place, cell.corners)) for cell in mine]
        polygons = "".join(f'<polygon points="{points}"/>' for points in shapes)
        parts.append(f'<g fill="{fill}" stroke="{fill}" opacity=".4">{polygons}</g>')
    parts += _borders(cells, place)
    parts += _axes(place, right, top, plot.across, plot.up)
    parts += _labels(grouped, place, ("n", plot.across, {"eps": "ε", "rho": "√ρ"}[plot.up]))
    described = ", ".join(f"{GREEK.get(name, name)} = {value}" for name, value in values.items())
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(chart.group.title)}, {described}">'
        f'<title>{described}</title><text class="head" x="{WIDTH - 12}" y="20">{described}</text>{"".join(parts)}</svg>'
    )


def _labels(grouped: Mapping[Region, list[Cell]], place: Any, names: tuple[str, str, str]) -> list[str]:
    """Each region's bounds and leading term, where there is room; the larger regions come first."""
    sizes = {region: sum((area(cell.corners) for cell in mine), Fraction(0)) for region, mine in grouped.items()}
    taken: list[tuple[float, float]] = []
    found = []
    for region in sorted(grouped, key=lambda r: -sizes[r]):
        x, y = place(_middle(grouped[region]))
        crowded = any(abs(x - a) < 70 and abs(y - b) < 28 for a, b in taken)
        if crowded or sizes[region] < SMALLEST * sum(sizes.values(), Fraction(0)):
            continue
        taken.append((x, y))
        best, (a, b, c) = region[0], grouped[region][0].term
        bounds = " = ".join(best[:3]) + (" …" if len(best) > 3 else "")
        term = _superscript((a, b, -c), names)
        found.append(f'<text x="{x}" y="{y - 3}" font-weight="600">{bounds}</text><text x="{x}" y="{y + 11}">{term}</text>')
    return found


def _middle(cells: list[Cell]) -> Corner:
    """The centre of mass, if it lies in one of the cells; the centre of the largest cell otherwise."""
    weights = [area(cell.corners) for cell in cells]
    centres = [centre(cell.corners) for cell in cells]
    x, y = (
        sum((w * c[i] for w, c in zip(weights, centres, strict=True)), Fraction(0)) / sum(weights, Fraction(0))
        for i in (0, 1)
    )

    def holds(corners: tuple[Corner, ...]) -> bool:
        turns = [
            (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])
            for a, b in zip(corners, (*corners[1:], corners[0]), strict=True)
        ]
        return all(t >= 0 for t in turns) or all(t <= 0 for t in turns)

    return (x, y) if any(holds(cell.corners) for cell in cells) else max(zip(weights, centres, strict=True))[1]


def _borders(cells: list[Cell], place: Any) -> list[str]:
    """Solid where the smallest bound changes, dashed where only its leading term does."""
    sides: dict[frozenset[Corner], list[Cell]] = {}
    for cell in cells:
        for a, b in zip(cell.corners, (*cell.corners[1:], cell.corners[0]), strict=True):
            sides.setdefault(frozenset((a, b)), []).append(cell)
    found = []
    for edge, here in sides.items():
        if len(here) == 2 and (here[0].best, here[0].leading) == (here[1].best, here[1].leading):
            continue
        (x1, y1), (x2, y2) = map(place, edge)
        dashed = ' stroke-dasharray="3 3"' if len(here) == 2 and here[0].best == here[1].best else ""
        found.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor"{dashed}/>')
    return found


def _axes(place: Any, right: Fraction, top: Fraction, across: str, up: str) -> list[str]:
    zero = Fraction(0)
    found = []
    step = Fraction(1, 2) if right > 1 else Fraction(1, 4)
    for i in range(int(right / step) + 1):
        x, y = place((i * step, zero))
        found.append(f'<text class="tick" x="{x}" y="{y + 14}">{float(i * step):g}</text>')
    for i in range(int(top / Fraction(1, 4)) + 1):
        x, y = place((zero, i * Fraction(1, 4)))
        found.append(f'<text class="side" x="{x - 5}" y="{y + 4}">{i / 4:g}</text>')
    x, y = place((right, zero))
    found.append(
        f'<text class="side" x="{x}" y="{y + 30}">log<tspan dy="3" font-size="8">n</tspan><tspan dy="-3"> {across} →</tspan></text>'
    )
    x, y = place((zero, top))
    inner = "1/ε" if up == "eps" else "1/√ρ"
    found.append(
        f'<text class="left" x="4" y="{y - 12}">↑ log<tspan dy="3" font-size="8">n</tspan><tspan dy="-3"> {inner}</tspan></text>'
    )
    return found


# --- the page ---------------------------------------------------------------------------------------------------------------

STYLE = """
math { font-size: 1.05em; font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math", "DejaVu Math TeX Gyre", math; }
.matrix td, .matrix th { text-align: center; padding: .2rem .45rem; } .matrix td.same { opacity: .4; }
.less { background: #0072b233; } .more { background: #d55e0033; } .equal { background: #009e7333; }
.cross { background: #e69f0033; }
main .scroll td { white-space: normal; } main h3 { font-size: 1.2rem; margin-top: 2.4rem; } main .sentence { font-size: 1.1rem; }
.figures { display: flex; flex-wrap: wrap; gap: .6rem; }
.figures svg { flex: 1 1 280px; max-width: 420px; width: auto; min-width: 0; }
figure { max-width: none; } figcaption { max-width: 56rem; }
svg text { font: 11px system-ui, sans-serif; fill: currentColor; text-anchor: middle; }
svg text.side { text-anchor: end; } svg text.left { text-anchor: start; } svg text.head { text-anchor: end; font-weight: 600; }
.key { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: .3rem 0; color: var(--ink); }
.key i { display: inline-block; width: .9rem; height: .9rem; border-radius: .2rem; vertical-align: -.1rem; opacity: .6; }
dl.words dt { font-weight: 600; } dl.words dd { margin: 0 0 .3rem 1rem; }
section > .scroll > table:not(.matrix) td:nth-last-child(-n+2) { min-width: 12rem; }
.false { color: var(--bad); }
"""

VERDICTS = {  # (row ≲ column, column ≲ row)
    ("dominated", "dominated"): ("≍", "equal", "the same, up to constants"),
    ("dominated", "separated"): ("≺", "less", "smaller"),
    ("separated", "dominated"): ("≻", "more", "larger"),
    ("separated", "separated"): ("⋈", "cross", "they cross"),
}


READINGS = {"printed": "as published"}


def _source(row: Row) -> str:
    items = []
    for source in row.sources:
        readings = "" if len(source.readings) == 2 else f" ({READINGS.get(source.readings[0], source.readings[0])})"
        where = f", where {_conditions(source.where)}" if source.where and not row.where else ""
        stated = theorem(source.id)
        label = f"{text(stated.label)}{' (reconstructed)' if stated.reconstructed else ''}"
        items.append(f'<span title="{html.escape(source.assumes)}">{text(source.id)} {label}{readings}</span>{where}')
    return "; ".join(items)


def _assumed(row: Row) -> str:
    """What the translations take for granted, each with the statements that need it."""
    found: dict[str, list[str]] = {}
    for source in row.sources:
        if source.assumes:
            found.setdefault(source.assumes, []).append(source.id)
    return "<br>".join(prose(f"{', '.join(dict.fromkeys(ids))}: {words}") for words, ids in found.items())


def _rates(chart: Chart) -> str:
    rows = [
        [
            f"<b>{row.name}</b>",
            row.kind + ("" if row.derived else " (only published)"),
            mathml(row.rate.text),
            _conditions(row.where),
            _source(row),
            _assumed(row),
        ]
        for row in chart.rows
    ]
    return grid(["", "bound", "rate in this language", "further conditions", "stated by", "taking for granted"], rows)


def _matrix(chart: Chart) -> str:
    found = {(pair.left, pair.right): pair.verdict for pair in chart.pairs}
    body = []
    for a in chart.rows:
        cells = [f"<th>{a.name}</th>"]
        for b in chart.rows:
            if a is b:
                cells.append('<td class="same">·</td>')
                continue
            sign, kind, words = VERDICTS.get(
                (found[a.name, b.name], found[b.name, a.name]), ("?", "", found[a.name, b.name])
            )
            cells.append(f'<td class="{kind}" title="{a.name} against {b.name}: {words}">{sign}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    head = "<th></th>" + "".join(f"<th>{row.name}</th>" for row in chart.rows)
    return (
        f'<div class="scroll"><table class="matrix" style="width:auto"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
        "<p>Row against column: ≺ smaller, ≻ larger, ≍ the same up to constants, ⋈ neither: they cross.</p>"
    )


def _clashes(chart: Chart) -> str:
    if not chart.clashes:
        return ""
    found: dict[str, list[str]] = {}
    for pair in chart.clashes:
        false = [row.name for row in (chart.row(pair.left), chart.row(pair.right)) if not row.derived]
        found.setdefault(" or ".join(false), []).append(f"{pair.left} against {pair.right}")
    lines = [f"<li>{', '.join(pairs)}: {names}, only published, is false there.</li>" for names, pairs in found.items()]
    return f'<h4 class="false">Lower bounds above upper bounds</h4><ul>{"".join(lines)}</ul>'


def _crossings(chart: Chart) -> str:
    if not chart.crossings:
        return ""
    lines = []
    for crossing in chart.crossings:
        if not crossing.surfaces:
            lines.append(f"<li>{crossing.left} ⋈ {crossing.right}: {text(crossing.why)}.</li>")
        for s in crossing.surfaces:
            smaller = mathml(s.surface.replace("==", "<="))
            at = ", ".join(f"{GREEK.get(name, name)} = {value}" for name, value in s.at.items())
            led = f"; there {mathml(s.left)} and {mathml(s.right)} lead"
            if s.where:
                led += f", which asks for {_conditions(s.where)}"
            sample = f" (which terms lead was decided at {at})" if at else ""
            lines.append(
                f"<li>{crossing.left} is the smaller of {crossing.left}, {crossing.right} where {smaller}{led}{sample}.</li>"
            )
    return f"<details><summary>Where they cross: {len(lines)} surfaces</summary><ul>{''.join(lines)}</ul></details>"


def _gaps(chart: Chart) -> str:
    if not chart.gaps:
        return ""
    rows = []
    for gap in chart.gaps:
        lower = chart.row(gap.lower)
        factor = (
            "no power of s, d or n found" if gap.factor is None else ("optimal" if gap.factor == "1" else mathml(gap.factor))
        )
        rows.append([gap.upper, gap.lower + ("" if lower.derived else " (only published)"), factor])
    return "<h4>Optimal up to</h4>" + grid(["upper bound", "lower bound", "the factor between them, at worst"], rows)


def _figures(chart: Chart) -> str:
    """The best bounds with a sentence; then the papers' own, folded, if those differ."""
    if chart.group.plot is None:
        return ""
    own = any(
        {cell.best for cell in regions(chart, values, published=True)[1]}
        != {cell.best for cell in regions(chart, values)[1]}
        for values in chart.group.plot.values
    )
    drawn = _figure(chart, published=False)
    if not drawn:
        return ""
    more = _figure(chart, published=True) if own else ""
    folded = f"<details><summary>The same without our own results</summary>{more}</details>" if more else ""
    return f'<p class="sentence">{sentence(chart)}</p>{drawn}{folded}'


def sentence(chart: Chart) -> str:
    """Which bound is the smallest, and where: by its share of the area of all pictures of the group."""
    assert chart.group.plot is not None
    sizes: dict[tuple[str, ...], Fraction] = {}
    for values in chart.group.plot.values:
        for cell in regions(chart, values)[1]:
            sizes[cell.best] = sizes.get(cell.best, Fraction(0)) + area(cell.corners)
    whole = sum(sizes.values(), Fraction(0))
    ordered = sorted(sizes, key=lambda best: (-sizes[best], best))
    first = _best(chart, ordered[0])
    if len(ordered) == 1:
        return f"{first} is the smallest upper bound everywhere in this plane."
    rest = [_best(chart, best) for best in ordered[1:]]
    others = rest[0] if len(rest) == 1 else f"{', '.join(rest[:-1])} or {rest[-1]}"
    most = _share(sizes[ordered[0]] / whole)
    return f"{first} is the smallest upper bound on {most} of the area drawn; elsewhere it is {others}."


def _share(share: Fraction) -> str:
    percent = round(100 * share)
    return "over 99 %" if percent == 100 else f"{percent} %"


def _best(chart: Chart, names: tuple[str, ...]) -> str:
    """The bound's name in the table, and the first statement that has it."""
    first = [theorem(row.sources[0].id) for row in map(chart.row, names) if row.sources]
    stated = "; ".join(dict.fromkeys(f"{statement.paper}, {statement.label}" for statement in first))
    return f"<b>{' = '.join(names)}</b>{f' ({text(stated)})' if stated else ''}"


def _figure(chart: Chart, *, published: bool) -> str:
    plot = chart.group.plot
    assert plot is not None
    colours: dict[Region, str] = {}
    pictures = "".join(picture(chart, values, colours, published=published) for values in plot.values)
    if not pictures:
        return ""
    key = "".join(
        f'<span><i style="background:{colour}"></i> {" = ".join(best)}, led by {mathml(leading)}</span>'
        for (best, leading), colour in colours.items()
    )
    up = "1/ε" if plot.up == "eps" else "1/√ρ"
    fixed = "".join(f", {name} = n^{size}" for name, size in plot.fixed.items())
    which = (
        "Without our own results: the smallest upper bound that a paper proves" if published else "The smallest upper bound"
    )
    drawn = "Bounds that are only published, not derived" + ("" if published else ", or that another beats everywhere,")
    caption = (
        f"{which} and its leading term, in the plane of log<sub>n</sub> {plot.across} and log<sub>n</sub> {up}{fixed}, where "
        f"{_conditions(chart.group.where)}. Solid lines: the smallest bound changes. Dashed lines: only its leading term does. "
        f"The polygons are exact. {drawn} are not drawn."
    )
    return f'<figure><div class="figures">{pictures}</div><figcaption><div class="key">{key}</div>{caption}</figcaption></figure>'


def _certificates(chart: Chart) -> str:
    def one(pair: Pair) -> str:
        words = {"dominated": "≲", "separated": "is not ≲"}.get(pair.verdict, pair.verdict)
        inner = f"<pre>{html.escape(pair.explanation)}</pre>"
        if pair.certificate is not None:
            inner += f"<details><summary>JSON</summary><pre>{html.escape(json.dumps(pair.certificate))}</pre></details>"
        return f"<details><summary>{pair.left} {words} {pair.right}</summary>{inner}</details>"

    return f"<details><summary>Certificates: {len(chart.pairs)} pairs</summary>{''.join(map(one, chart.pairs))}</details>"


def _group(chart: Chart) -> str:
    group = chart.group
    words = "".join(f"<dt>{prose(name)}</dt><dd>{prose(meaning)}</dd>" for name, meaning in group.dictionary)
    left_out = "".join(f"<li>{text(', '.join(ids.split()))}: {prose(why)}</li>" for ids, why in group.left_out)
    return (
        f'<section id="{group.id}"><h3><a href="#{group.id}">{text(group.title)}</a></h3>{_figures(chart)}'
        f"<p>{prose(group.problem)}</p><p>Compared where {_conditions(group.where)}.</p>"
        f'<details><summary>Dictionary</summary><dl class="words">{words}</dl></details>'
        f"{_rates(chart)}<h4>Who dominates whom</h4>{_matrix(chart)}{_clashes(chart)}{_gaps(chart)}{_crossings(chart)}"
        f"{_certificates(chart)}"
        + (f"<details><summary>Not compared</summary><ul>{left_out}</ul></details>" if left_out else "")
        + "</section>"
    )


def _compared(entry: Listed) -> str:
    links = ", ".join(f'<a href="#{name}">{name}</a>' for name in entry.groups)
    if links:
        return links
    if entry.left_out:
        return text(entry.left_out[0])
    return "not ordered: " + ("a step, not a result" if entry.statement.kind in ("upper", "lower") else entry.statement.kind)


def _paper(name: str, entries: list[Listed]) -> str:
    rows = [
        [
            f'<span id="{s.id}" title="{html.escape(s.says)}">{text(s.id)}</span>',
            text(s.label),
            text(s.kind + (", reconstructed" if s.reconstructed else "")),
            _maths(s.printed),
            "the same" if s.printed and s.derived == s.printed else _maths(s.derived),
            text(entry.agreement),
            _conditions(s.where),
            text("; ".join(s.assumptions)),
            text(", ".join(entry.errata)),
            _compared(entry),
        ]
        for entry in entries
        for s in (entry.statement,)
    ]
    header = ["id", "label", "kind", "as published", "derived", "agree", "where", "assumptions", "errata", "compared in"]
    return f'<section id="{name}"><h3>{name}: {len(rows)} rates</h3>{grid(header, rows)}</section>'


LEAD = """
<p>Every rate of the papers, who dominates whom, and where they cross. A diagram shows for each problem which upper bound is the
smallest, as the dimension and the privacy parameter grow with the number of records n.</p>
"""

INTRODUCTION = """
<p>“A ≲ B” means that A is at most a constant times B wherever the conditions hold. The constant may depend on k, p, v and θ, never
on n, d, ε, δ or ρ. Every answer is decided for all values of the parameters at once. It carries a certificate, or a path along
which the quotient grows; exact arithmetic verifies both.</p>
<p>Statements are compared within a group: one class of problems, one kind of privacy. A statement about another class enters a
group in one of two ways only. An upper bound holds for every smaller class and every weaker kind of privacy. A lower bound holds
for every larger class and every stronger kind of privacy. Each group's dictionary says which of these it uses. It also lists what
could not be compared, with the reason. Logarithms are dropped unless the title says otherwise.</p>
<p>“Derived” is what the proofs give when redone; “as published” is what the paper says. A rate that is only published takes part
in the comparison, but nothing relies on it.</p>
<p>A statement marked “reconstructed” is one whose formulas our text of the paper lacks. We restored them from the words, the
proofs and the results it uses; “as published” is then what we take the paper to print. This concerns most of P4 and two theorems
of P1.</p>
"""


def page(atlas: Atlas) -> str:
    """The whole page: groups that have a diagram come first."""
    counts = atlas.counts()
    papers: dict[str, list[Listed]] = {}
    for entry in atlas.rates:
        papers.setdefault(entry.statement.paper, []).append(entry)
    summary = (
        f"{counts['groups']} groups, {counts['rows']} rates in common language, {counts['pairs']} ordered pairs: "
        f"{counts['dominated']} dominated, {counts['separated']} separated, {counts['undecided']} undecided; "
        f"{counts['rates']} rates listed."
    )
    charts = sorted(atlas.charts, key=lambda chart: chart.group.plot is None)
    groups = "".join(f'<li><a href="#{c.group.id}">{text(c.group.title)}</a></li>' for c in charts)
    lists = "".join(f'<li><a href="#{name}">{name}: every rate</a></li>' for name in papers)
    body = (
        f'<h1>Tailproof atlas</h1><div class="lead">{LEAD}</div><p class="soft">{summary}</p>'
        f"<details><summary>How to read this page</summary>{INTRODUCTION}</details>{''.join(map(_group, charts))}"
        f"<h2>Every rate</h2><p>“Agree” compares the derived rate with the published one, both ways, logarithms kept.</p>"
        f"{''.join(_paper(name, entries) for name, entries in papers.items())}"
    )
    return shell("Tailproof atlas", f"<ul>{groups}{lists}</ul>", body, STYLE)


def document(atlas: Atlas) -> dict[str, Any]:
    """The same as JSON, with all certificates."""
    return {
        "counts": atlas.counts(),
        "groups": [
            {
                "id": c.group.id,
                "title": c.group.title,
                "problem": c.group.problem,
                "privacy": c.group.privacy,
                "language": list(c.group.language),
                "where": list(c.group.where),
                "logs": c.group.logs,
                "dictionary": [list(words) for words in c.group.dictionary],
                "left_out": [list(entry) for entry in c.group.left_out],
                "rows": [
                    {
                        "name": row.name,
                        "kind": row.kind,
                        "rate": row.rate.text,
                        "where": list(row.where),
                        "derived": row.derived,
                        "sources": [
                            asdict(source) | {"reconstructed": theorem(source.id).reconstructed} for source in row.sources
                        ],
                    }
                    for row in c.rows
                ],
                "pairs": [
                    {"left": p.left, "right": p.right, "verdict": p.verdict, "certificate": p.certificate} for p in c.pairs
                ],
                "crossings": [
                    {
                        "left": x.left,
                        "right": x.right,
                        "why": x.why,
                        "surfaces": [
                            {"surface": s.surface, "where": list(s.where), "at": {n: str(v) for n, v in s.at.items()}}
                            for s in x.surfaces
                        ],
                    }
                    for x in c.crossings
                ],
                "gaps": [
                    {"upper": g.upper, "lower": g.lower, "factor": g.factor, "certificate": g.certificate} for g in c.gaps
                ],
                "clashes": [[p.left, p.right] for p in c.clashes],
            }
            for c in atlas.charts
        ],
        "rates": [
            {
                "id": e.statement.id,
                "reconstructed": e.statement.reconstructed,
                "printed": e.statement.printed,
                "derived": e.statement.derived,
                "agreement": e.agreement,
                "groups": list(e.groups),
                "left_out": list(e.left_out),
                "errata": list(e.errata),
            }
            for e in atlas.rates
        ],
    }
