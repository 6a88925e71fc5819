"""The atlas: statements of the five papers that speak of one problem under one kind of privacy, side by side.

A group fixes a class of problems, a kind of privacy and a language (the symbols that may stand in its rates).  Two principles make
a statement about another class comparable, and nothing else does:

    an upper bound holds for every smaller class of problems, and for every weaker kind of privacy;
    a lower bound holds for every larger class of problems, and for every stronger kind of privacy.

So an entry's `choices` say which inclusion is used: between gradients with moments of order k ≥ 2 and size one,

    norm  ⊆  directions  ⊆  coordinates  ⊆  √d · norm,

and between kinds of privacy: ε-DP implies ρ-zCDP with ρ = ε²/2, which implies (O(ε√log(1/δ)), δ)-DP.  What a translation takes
for granted beyond that is said in its `assumes`.  Logarithms are dropped, unless the group keeps them, because half of the
statements hide them.  Scales that the language does not name are one.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import sympy

from bounds.compare import Dominance, Undecided, compare
from bounds.derive import simplify
from bounds.errata import errata
from bounds.expressions import Expression, names_in, positive_symbol, read_comparisons, read_expression, rebuild
from bounds.monomials import show_monomial
from bounds.problem import build_problem
from bounds.questions import Crossover, crossover, worst_factor
from bounds.rates import Rate, parse_rate
from bounds.rational import evaluate, to_element
from bounds.regimes import STRUCTURAL, parse_conditions
from bounds.statements import Statement
from bounds.theorems import theorem, theorems
from refimpl.validation import InputError

Reading = Literal["printed", "derived"]
Privacy = Literal["ε-DP", "(ε, δ)-DP", "ρ-zCDP", "none"]
Verdict = Literal["dominated", "separated", "undecided", "disjoint"]
LONG = 200  # a rate with more characters is simplified


# --- what a group is --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """Statements that are translated in one way: symbols by `choices`, then the rate to the `power`, times the `factor`."""

    ids: str  # "P2.T4 P2.ABS"
    choices: Mapping[str, str]
    assumes: str = ""  # what the translation takes for granted, in words
    power: str = "1"
    factor: str = "1"
    where: tuple[str, ...] = ()  # conditions in the group's language that the translation needs
    without: tuple[str, ...] = ()  # conditions of the statement that cannot be said in the language; `assumes` says them
    reading: Reading | None = None  # both, if left out


@dataclass(frozen=True)
class Plot:
    """The plane x = log_n(across), y = log_n(1/up) (for ρ: of 1/√ρ), at some values of the structural parameters."""

    values: tuple[Mapping[str, Fraction], ...]
    across: str = "d"
    up: str = "eps"
    fixed: Mapping[str, Fraction] = field(default_factory=dict)  # log_n of what else stands in the rates


@dataclass(frozen=True)
class Group:
    """One problem, one kind of privacy: what may stand in its rates, where they are compared, and how statements get there."""

    id: str
    title: str
    problem: str  # the class, in a sentence
    privacy: Privacy
    language: tuple[str, ...]
    where: tuple[str, ...]
    dictionary: tuple[tuple[str, str], ...]  # from, to: in words
    entries: tuple[Entry, ...]
    left_out: tuple[tuple[str, str], ...] = ()  # ids, why
    logs: bool = False
    plot: Plot | None = None


# --- translation ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A statement as one row of a group reads it."""

    id: str
    readings: tuple[Reading, ...]
    choices: Mapping[str, str]
    assumes: str
    where: tuple[str, ...]  # beyond the group's regime


@dataclass(frozen=True)
class Row:
    """A rate in the group's language, with everything that states it."""

    name: str  # U1, U2, … and L1, L2, …
    kind: Literal["upper", "lower"]
    rate: Rate
    where: tuple[str, ...]  # beyond the group's
    sources: tuple[Source, ...]

    @property
    def derived(self) -> bool:
        """Whether some statement has this rate as derived; a rate that is only printed is not relied upon."""
        return any("derived" in source.readings for source in self.sources)


def _plain(expression: Expression) -> Expression:
    return rebuild(expression, lambda e: sympy.Integer(1) if isinstance(e, sympy.log) else None)


def _bare(expression: Expression) -> Expression:
    """Without constant factors, and without repeated terms: the same rate, up to constants."""
    if expression.is_Mul:
        return sympy.Mul(*(_bare(a) for a in expression.args if not _constant(a)))
    if expression.is_Add:
        return sympy.Add(*dict.fromkeys(sympy.Integer(1) if _constant(a) else _bare(a) for a in expression.args))
    if _constant(expression):
        return sympy.Integer(1)
    return expression.func(_bare(expression.base), expression.exp) if expression.is_Pow else expression


def _constant(expression: Expression) -> bool:
    """A number, or a number to a structural power."""
    return bool(expression.is_number) or (expression.is_Pow and bool(expression.base.is_number))


def _replaced(expression: Expression, choices: Mapping[str, str]) -> Expression:
    """All symbols replaced at once, so that k may become k/2."""
    values = {name: read_expression(text, f"choice of {name}") for name, text in choices.items()}
    return rebuild(expression, lambda e: values.get(e.name) if e.is_Symbol else None)


def translate(rate: str, entry: Entry, *, logs: bool = False) -> Rate:
    """The rate in the language of the entry's group."""
    source = _replaced(parse_rate(rate).expression, entry.choices)
    expression = source if logs else _plain(source)
    expression = parse_rate(entry.factor).expression * expression ** sympy.Rational(entry.power)
    bare = _bare(expression)
    return Rate(str(bare), bare)


def _conditions(statement: Statement, entry: Entry, group: Group) -> tuple[str, ...]:
    """What the statement and its translation need beyond the group's regime."""
    found = list(entry.where)
    for text in statement.where:
        if text in entry.without:
            continue
        for left, sign, right in read_comparisons(text):
            sides = [_replaced(side, entry.choices) for side in (left, right)]
            low, high = sides if group.logs else map(_plain, sides)
            low, denominator = low.as_numer_denom() if names_in(low) <= set(STRUCTURAL) else (low, 1)
            high = high * denominator
            condition = f"{low}{sign}{high}".replace(" ", "")
            if not _granted(condition, low, sign, high, group):
                found.append(condition)
    return tuple(dict.fromkeys(found))


def _granted(condition: str, low: Expression, sign: str, high: Expression, group: Group) -> bool:
    names = names_in(low) | names_in(high)
    known = {text.replace(" ", "") for text in group.where}
    if not names:
        if not bool(low <= high if sign.startswith("<") else low >= high):
            raise InputError(f"{group.id}: the translated condition {condition!r} is never true")
        return True
    if names <= set(STRUCTURAL) or sign == "==":
        return condition in known or f"{high}{'<' if sign[0] == '>' else '>'}{sign[1:]}{low}" in known
    small, large = (low, high) if sign.startswith("<") else (high, low)
    return _implied(str(small), str(large), group.where, group.logs)


@functools.lru_cache(maxsize=4096)
def _implied(small: str, large: str, where: tuple[str, ...], logs: bool) -> bool:
    return isinstance(compare(small, large, where=where, logs=logs), Dominance)


@functools.lru_cache(maxsize=4096)
def _tidy(text: str, where: tuple[str, ...], logs: bool) -> tuple[Rate, str]:
    """The rate, if it is long without the terms that others dominate, and its form: same form, same rate up to constants."""
    rate = parse_rate(text)
    rate = simplify(rate, where, logs=logs).rate if len(text) > LONG else rate
    problem = build_problem(rate, Rate("1", sympy.Integer(1)), where=where, logs=logs)
    clauses = [sorted(str(sorted((s, str(e.as_expr())) for s, e in m.items())) for m in clause) for clause in problem.left]
    return rate, str(sorted(clauses))


def _sources(group: Group) -> Iterator[tuple[str, str, Rate, Source]]:
    """Every reading of every entry: kind, form, rate, source."""
    for entry in group.entries:
        for identifier in entry.ids.split():
            statement = theorem(identifier)
            where = _conditions(statement, entry, group)
            rates: dict[Reading, str | None] = {"printed": statement.printed, "derived": statement.derived}
            found: dict[str, tuple[Rate, list[Reading]]] = {}
            for reading, text in rates.items():
                if text is not None and entry.reading in (None, reading):
                    rate, form = _tidy(translate(text, entry, logs=group.logs).text, group.where, group.logs)
                    found.setdefault(form, (rate, []))[1].append(reading)
            for form, (rate, readings) in found.items():
                source = Source(identifier, tuple(readings), dict(entry.choices), entry.assumes, where)
                yield statement.kind, form, rate, source


def rows_of(group: Group) -> tuple[Row, ...]:
    """The group's rates, upper bounds first.

    Statements with the same rate under the same conditions share a row, and so do those that need more conditions, unless they
    are derived and what needs fewer is only printed.
    """
    found: dict[tuple[str, str], list[tuple[Rate, Source]]] = {}
    for kind, form, rate, source in _sources(group):
        found.setdefault((kind, form), []).append((rate, source))
    rows: dict[str, list[Row]] = {"upper": [], "lower": []}
    for (kind, _), members in found.items():
        free = [m for m in members if not m[1].where]
        derived = any("derived" in source.readings for _, source in free)
        bound: dict[tuple[str, ...], list[tuple[Rate, Source]]] = {(): free}
        for rate, source in members:
            if source.where:
                stays = not free or ("derived" in source.readings and not derived)
                bound.setdefault(source.where if stays else (), []).append((rate, source))
        for where, mine in bound.items():
            if mine:
                name = f"{kind[0].upper()}{len(rows[kind]) + 1}"
                shortest = min((rate for rate, _ in mine), key=lambda rate: len(rate.text))
                rows[kind].append(Row(name, kind, shortest, where, tuple(source for _, source in mine)))  # type: ignore[arg-type]
    return (*rows["upper"], *rows["lower"])


# --- who dominates whom -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """Is the left row ≲ the right row where both hold?  With certificate or path; `disjoint`: they hold nowhere together."""

    left: str
    right: str
    verdict: Verdict
    certificate: dict[str, Any] | None
    explanation: str


@dataclass(frozen=True)
class Crossing:
    """Two rows that change places, and the surfaces on which they do; none: `why` says why."""

    left: str
    right: str
    surfaces: tuple[Crossover, ...]
    why: str = ""


@dataclass(frozen=True)
class Gap:
    """A derived upper bound that no other beats is this factor above a lower bound, and no smaller power of the base will do."""

    upper: str
    lower: str
    factor: str | None  # None: no power of s, d or n was found to suffice
    certificate: dict[str, Any] | None


@dataclass(frozen=True)
class Chart:
    """A group with its rows, all ordered pairs of them, where they cross, and how far upper bounds are from lower ones."""

    group: Group
    rows: tuple[Row, ...]
    pairs: tuple[Pair, ...]
    crossings: tuple[Crossing, ...]
    gaps: tuple[Gap, ...]
    best: tuple[str, ...]  # derived upper bounds that no other one, which holds on the whole regime, beats

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    def verdict(self, left: str, right: str) -> Verdict:
        return next(pair.verdict for pair in self.pairs if (pair.left, pair.right) == (left, right))

    @property
    def clashes(self) -> tuple[Pair, ...]:
        """Lower bounds that are not below an upper bound of the same problem: one of the two is false there."""
        return tuple(
            pair
            for pair in self.pairs
            if (pair.left[0], pair.right[0]) == ("L", "U") and pair.verdict in ("separated", "undecided")
        )


def _regime(group: Group, *rows: Row) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*group.where, *(text for row in rows for text in row.where)]))


def _pair(group: Group, left: Row, right: Row) -> Pair:
    try:
        found = compare(left.rate, right.rate, where=_regime(group, left, right), logs=group.logs)
    except Undecided as reason:
        return Pair(left.name, right.name, "undecided", None, str(reason))
    except InputError as reason:
        if "empty" not in str(reason) and "never true" not in str(reason):
            raise
        return Pair(left.name, right.name, "disjoint", None, str(reason))
    return Pair(left.name, right.name, found.verdict, found.document, found.explain())


def readable(relation: str, where: Iterable[str]) -> str:
    """A relation of two monomials with smaller exponents: a common factor is taken out where it is positive on the range."""
    sign = next(text for text in ("==", ">=", "<=") if text in relation)
    left, right = (read_expression(side) for side in relation.split(sign))
    exponents = {base: sympy.together(power) for base, power in (left / right).as_powers_dict().items()}
    if not exponents or not all(base.is_Symbol for base in exponents):
        return relation
    below = functools.reduce(sympy.lcm, (sympy.denom(e) for e in exponents.values()))
    above = [sympy.cancel(e * below) for e in exponents.values()]
    common = functools.reduce(sympy.gcd, above)
    regime = parse_conditions(where)
    factor = sympy.cancel(common / below)
    if regime.sign(to_element(factor, regime.field())) != 1:
        return relation
    sides: tuple[list[Expression], list[Expression]] = ([], [])
    for base, e in exponents.items():
        scaled = sympy.factor(sympy.cancel(e / factor))
        right_side = regime.sign(to_element(scaled, regime.field())) == -1
        sides[right_side].append(base ** (-scaled if right_side else scaled))
    return f"{sympy.Mul(*sides[0])}{sign}{sympy.Mul(*sides[1])}".replace(" ", "")


def _crossing(group: Group, left: Row, right: Row) -> Crossing:
    try:
        surfaces = crossover(left.rate, right.rate, _regime(group, left, right), logs=group.logs)
    except InputError as reason:
        return Crossing(left.name, right.name, (), str(reason))
    where = _regime(group, left, right)
    tidy = tuple(
        replace(s, surface=readable(s.surface, where), where=tuple(readable(t, where) for t in s.where)) for s in surfaces
    )
    why = "" if surfaces else "on no surface at the sample of the structural parameters: they change places along those"
    return Crossing(left.name, right.name, tidy, why)


def _pinned(where: Iterable[str]) -> dict[str, Expression]:
    """Structural parameters that the conditions fix."""
    found = parse_conditions(where).parameters
    return {p.name: p.lower[0].value for p in found if p.lower and p.upper and p.lower[0].value == p.upper[0].value}


def _gap(group: Group, upper: Row, lower: Row) -> Gap:
    where = _regime(group, upper, lower)
    for base in (name for name in ("s", "d", "n") if name in group.language):
        try:
            found = worst_factor(upper.rate, lower.rate, where, in_terms_of=base, logs=group.logs)
        except (Undecided, InputError):
            continue
        if found.exponent is not None and found.dominance is not None:
            pinned = {positive_symbol(name): value for name, value in _pinned(where).items()}
            factor = read_expression(base) ** sympy.sympify(found.exponent).subs(pinned)
            return Gap(upper.name, lower.name, str(factor), found.dominance.document)
    return Gap(upper.name, lower.name, None, None)


def chart(group: Group) -> Chart:
    """Every ordered pair of the group's rows decided."""
    rows = rows_of(group)
    pairs = {(a.name, b.name): _pair(group, a, b) for a, b in itertools.permutations(rows, 2)}

    def verdicts(a: Row, b: Row) -> tuple[Verdict, Verdict]:
        return pairs[a.name, b.name].verdict, pairs[b.name, a.name].verdict

    crossings = [
        _crossing(group, a, b)
        for a, b in itertools.combinations(rows, 2)
        if a.kind == b.kind and verdicts(a, b) == ("separated", "separated")
    ]
    uppers, lowers = ([row for row in rows if row.kind == kind] for kind in ("upper", "lower"))
    beaten = {
        b.name
        for a, b in itertools.permutations(uppers, 2)
        if a.derived and not a.where and verdicts(a, b) == ("dominated", "separated")
    }
    best = [row for row in uppers if row.derived and row.name not in beaten]
    gaps = [_gap(group, a, b) for a, b in itertools.product(best, lowers) if verdicts(b, a)[0] == "dominated"]
    names = tuple(row.name for row in best)
    return Chart(group, rows, tuple(pairs.values()), tuple(crossings), tuple(gaps), names)


# --- every rate -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Listed:
    """A statement with a rate: does the print agree with the derivation, where is it compared, and what is wrong with it?"""

    statement: Statement
    agreement: str  # "same", "≍", "derived < printed", "derived > printed", "incomparable", "undecided", "–"
    groups: tuple[str, ...]
    left_out: tuple[str, ...]  # why it is not compared
    errata: tuple[str, ...]


SIGNS = {
    ("dominated", "dominated"): "≍",
    ("dominated", "separated"): "derived < printed",
    ("separated", "dominated"): "derived > printed",
    ("separated", "separated"): "incomparable",
}


def agreement(statement: Statement) -> str:
    """Print against derivation, both ways, logarithms kept."""
    printed, derived = statement.printed, statement.derived
    if not printed or not derived:
        return "–"
    if printed == derived:
        return "same"
    try:
        forward, backward = (
            compare(a, b, where=statement.where).verdict for a, b in ((derived, printed), (printed, derived))
        )
    except Undecided:
        return "undecided"
    return SIGNS[forward, backward]


def with_rates() -> tuple[Statement, ...]:
    return tuple(s for s in theorems() if s.printed or s.derived)


def listed(statements: Iterable[Statement], groups: Iterable[Group], *, decide: bool = True) -> Iterator[Listed]:
    groups = tuple(groups)
    known = errata()
    for s in statements:
        inside = tuple(g.id for g in groups if any(s.id in entry.ids.split() for entry in g.entries))
        outside = tuple(f"{g.title}: {why}" for g in groups for ids, why in g.left_out if s.id in ids.split())
        named = tuple(e.id for e in known if e.paper == s.paper and names(e.place, s.label))
        yield Listed(s, agreement(s) if decide else "not asked", inside, outside, named)


def names(place: str, label: str) -> bool:
    """Whether the place of an erratum names the label: "Theorems 6 and 7" names Theorem 7, "Theorem 10" not Theorem 1."""
    word, _, number = label.rpartition(" ")
    listed_before = r"(?:[\d.]+(?:, | and |, and ))*" if number[:1].isdigit() else ""
    start = rf"\b{re.escape(word)}s? {listed_before}" if word else ""
    return re.search(rf"{start}{re.escape(number)}(?!\.?\d)", place) is not None


@dataclass(frozen=True)
class Atlas:
    charts: tuple[Chart, ...]
    rates: tuple[Listed, ...]

    def counts(self) -> dict[str, int]:
        verdicts = [pair.verdict for c in self.charts for pair in c.pairs]
        return {
            "groups": len(self.charts),
            "rows": sum(len(c.rows) for c in self.charts),
            "pairs": len(verdicts),
            **{v: verdicts.count(v) for v in ("dominated", "separated", "undecided", "disjoint")},
            "crossings": sum(len(c.crossings) for c in self.charts),
            "clashes": sum(len(c.clashes) for c in self.charts),
            "rates": len(self.rates),
        }


def atlas(groups: Iterable[Group] | None = None, *, decide: bool = True) -> Atlas:
    """The whole atlas, or that of some groups; `decide=False` leaves print against derivation undecided."""
    chosen = GROUPS if groups is None else tuple(groups)
    return Atlas(tuple(map(chart, chosen)), tuple(listed(with_rates(), chosen, decide=decide)))


# --- regions of the plane ---------------------------------------------------------------------------------------------------

Line = tuple[Fraction, Fraction, Fraction]  # a + b·x + c·y
Corner = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Cell:
    """A convex polygon on which these upper bounds are the smallest, led by this term."""

    corners: tuple[Corner, ...]
    best: tuple[str, ...]  # names of rows
    term: Line  # log_n of the leading term
    leading: str  # the term itself, of the first of them


def _value(line: Line, corner: Corner) -> Fraction:
    return line[0] + line[1] * corner[0] + line[2] * corner[1]


def _half(corners: tuple[Corner, ...], line: Line) -> tuple[Corner, ...]:
    """The part of a convex polygon on which the line is at least 0."""
    kept: list[Corner] = []
    for here, there in zip(corners, (*corners[1:], corners[0]), strict=True):
        a, b = _value(line, here), _value(line, there)
        if a >= 0:
            kept.append(here)
        if a * b < 0:
            kept.append((here[0] + (there[0] - here[0]) * a / (a - b), here[1] + (there[1] - here[1]) * a / (a - b)))
    return tuple(dict.fromkeys(kept))


def area(corners: tuple[Corner, ...]) -> Fraction:
    edges = zip(corners, (*corners[1:], corners[0]), strict=True)
    return abs(sum(((a[0] * b[1] - b[0] * a[1]) for a, b in edges), Fraction(0))) / 2


def centre(corners: tuple[Corner, ...]) -> Corner:
    total = len(corners)
    return sum((c[0] for c in corners), Fraction(0)) / total, sum((c[1] for c in corners), Fraction(0)) / total


Clauses = list[list[tuple[Line, str]]]


def _lines(rate: Rate, where: tuple[str, ...], plot: Plot, values: Mapping[str, Fraction]) -> tuple[Clauses, list[Line]]:
    """The rate as a maximum of minima of lines in the plane, and the regime's conditions as lines that are at least 0."""
    fixed = [f"{name}=={value}" for name, value in values.items()]
    problem = build_problem(rate, Rate("1", sympy.Integer(1)), where=[*where, *fixed], logs=False)
    point = [values[name] for name in problem.regime.names]

    def line(monomial: Mapping[str, Any], sign: int = 1) -> Line:
        exponents = {name: sign * evaluate(e, point) for name, e in monomial.items()}
        up = exponents.get(plot.up, Fraction(0)) * (2 if plot.up == "rho" else 1)
        rest = exponents.get("n", Fraction(0)) + sum(
            (exponents.get(name, Fraction(0)) * size for name, size in plot.fixed.items()), Fraction(0)
        )
        return rest, exponents.get(plot.across, Fraction(0)), -up

    clauses = [[(line(m), show_monomial(m)) for m in clause] for clause in problem.left]
    return clauses, [line(row.exponents, -1) for row in problem.rows]


def _candidates(c: Chart, *, published: bool) -> list[tuple[Row, tuple[str, ...]]]:
    """The best upper bounds; or those that a paper, not we, derives, each under its own conditions."""
    if not published:
        return [(row, row.where) for row in map(c.row, c.best)]
    found = []
    for row in c.rows:
        theirs = [s for s in row.sources if "derived" in s.readings and theorem(s.id).source != "ours"]
        if row.kind == "upper" and theirs:
            wheres = dict.fromkeys(s.where for s in theirs)
            found += [(row, where) for where in wheres if not where or () not in wheres]
    return found


def regions(
    c: Chart, values: Mapping[str, Fraction], *, published: bool = False, side: Corner = (Fraction(2), Fraction(1))
) -> tuple[tuple[Corner, ...], list[Cell]]:
    """The part of the plane that the group's regime allows, and its division by the smallest of the best upper bounds.

    `published`: by the smallest of those that the papers derive, without ours.
    """
    plot = c.group.plot
    assert plot is not None
    zero = Fraction(0)
    frame: tuple[Corner, ...] = ((zero, zero), (side[0], zero), side, (zero, side[1]))
    for line in _lines(Rate("1", sympy.Integer(1)), c.group.where, plot, values)[1]:
        frame = _half(frame, line) if frame else frame
    rows: dict[tuple[str, tuple[str, ...]], tuple[Clauses, list[Line]]] = {}
    for row, where in _candidates(c, published=published):
        try:
            rows[row.name, where] = _lines(row.rate, (*c.group.where, *where), plot, values)
        except InputError:  # its conditions exclude these values
            continue
    terms = {t for clauses, _ in rows.values() for clause in clauses for t, _ in clause}
    borders = {tuple(x - y for x, y in zip(s, t, strict=True)) for s, t in itertools.combinations(sorted(terms), 2)}
    borders |= {line for _, conditions in rows.values() for line in conditions}
    cells = [frame] if len(frame) > 2 else []
    for border in sorted(borders):
        a, b, e = border
        if b or e:
            parts = [_half(cell, side) for cell in cells for side in ((a, b, e), (-a, -b, -e))]
            cells = [part for part in parts if len(part) > 2 and area(part) > 0]
    return frame, [cell for corners in cells if (cell := _labelled(corners, rows)) is not None]


def _labelled(
    corners: tuple[Corner, ...], rows: Mapping[tuple[str, tuple[str, ...]], tuple[Clauses, list[Line]]]
) -> Cell | None:
    here = centre(corners)

    def height(term: tuple[Line, str]) -> Fraction:
        return _value(term[0], here)

    leading = {
        name: max((min(clause, key=height) for clause in clauses), key=height)
        for (name, _), (clauses, conditions) in rows.items()
        if all(_value(line, here) >= 0 for line in conditions)
    }
    if not leading:
        return None
    least = min(map(height, leading.values()))
    winners = tuple(name for name, term in leading.items() if height(term) == least)
    return Cell(corners, winners, *leading[winners[0]])


# --- the groups -------------------------------------------------------------------------------------------------------------

_HALF, _TWO = Fraction(1, 2), Fraction(2)
_K = tuple({"k": Fraction(value)} for value in (2, 4, 8))
_NORM = {"r": "1", "R2k": "1", "r2k": "1", "G": "1", "D": "1", "lam": "1", "beta": "1", "p": "1"}
_ROOT = {"r": "sqrt(d)", "R2k": "sqrt(d)", "r2k": "sqrt(d)", "G": "sqrt(d)", "D": "1", "lam": "1", "p": "1"} | {
    "beta": "sqrt(d)"
}
_SECOND = {"v": "1", "u": "1", "V": "1", "D": "1", "D0": "1", "R": "1", "mu": "1", "beta": "1", "tilde": "eps"}
_ZCDP_TO_APPROX = {"rho": "eps**2"}
_SCALES = ("scales", "the diameter, the moment bound, smoothness and growth constants are one")
_LOGS = ("logarithms", "dropped; δ is at most polynomially small and the failure probability constant")
_TO_APPROX = ("ρ-zCDP upper bound", "ρ = ε²/log(1/δ): such an algorithm is (O(ε), δ)-DP for ε ≤ log(1/δ)")
_PURE_TO_APPROX = ("ε-DP upper bound", "as it is: ε-DP is (ε, δ)-DP")
_PURE_TO_ZCDP = ("ε-DP upper bound", "ε = √ρ: ε-DP is ε²/2-zCDP")
_ZCDP_TO_PURE = ("ρ-zCDP lower bound", "ρ = ε²: ε-DP is ε²/2-zCDP")
_P_IS_K = ("moment order p of P2", "p = k")
_V_IS_ONE = ("moment order 1 + v of P3, second moments of P1", "v = 1: moments of order k ≥ 2 bound second moments")
_ENVELOPE = (
    "norm moments G of P0 and P4",
    "G = √d: E‖g‖^k ≤ d^{k/2}·max_j E|g_j|^k; the class asks that of sup_w‖∇f(w, x)‖, as those papers do",
)
_ORDER_2K = "moments of order 2k of the same size (R̃_{2k,n} = 1), which the class does not grant; p = 1"
_ORDER_K = "moments of order k alone: the theorem at order k/2, whose 2·(k/2)-th moments the class bounds; p = 1"
_EXPECTATION = "in expectation, hence with constant probability"
_SHUFFLED = "smooth losses; in expectation, hence with constant probability; privacy by shuffling needs ε ≤ √(log(n/δ)/n)"
_SMALL = ("eps<=1/sqrt(n)",)
_LIPSCHITZ_LOWER = "the instances are Lipschitz, hence in the class"
_LEMMA_15 = "as printed: its proof rests on Lemma 15 of P3, which is false"
_AT_ORDER_TWO = "at k = 2 only: a lower bound for second moments says nothing about a class with more moments"
_ROOT_RHO = "ε = √ρ, as P0 sets the two side by side (P0.C9, P0.C22)"

_CONVEX_NORM = "Convex losses on a domain of diameter one, E sup_w ‖∇f(w, x)‖^k ≤ 1, k ≥ 2; excess population risk."
_CONVEX_DIRECTIONS = (
    "Convex smooth losses on a domain of diameter one, E|⟨u, ∇f(w, x)⟩|^k ≤ 1 for every unit u and every w, "
    "and E sup_w ‖∇f(w, x)‖^k ≤ d^{k/2}; excess population risk."
)
_CONVEX_COORDINATES = (
    "Convex smooth losses on a domain of diameter one, E|∂_j f(w, x)|^k ≤ 1 for every coordinate j and every w, "
    "and E sup_w ‖∇f(w, x)‖^k ≤ d^{k/2}; excess population risk."
)
_STRONG_COORDINATES = _CONVEX_COORDINATES.replace("Convex smooth losses", "Strongly convex smooth losses")
_STRONG_NORM = _CONVEX_NORM.replace("Convex losses", "Strongly convex smooth losses")
_TNC = (
    "Convex smooth losses on a domain of diameter one with growth of order θ (TNC): F(w) − F* ≥ dist(w, W*)^θ; "
    "E sup_w ‖∇f(w, x)‖^k ≤ 1, k ≥ 2; excess population risk."
)
_SPARSE = (
    "Restricted strongly convex smooth losses, minimiser with s non-zero coordinates, E|∂_j f(w, x)|^{1+v} ≤ u; excess risk."
)
_ZCDP_PLOT = Plot(_K, up="rho")
_TNC_PLOT = Plot(
    ({"k": _TWO, "theta": _TWO}, {"k": Fraction(4), "theta": _TWO}, {"k": Fraction(4), "theta": Fraction(4)}), up="eps"
)

CONVEX = (
    Group(
        id="convex-norm-approx",
        title="Convex, norm moments, (ε, δ)-DP",
        problem=_CONVEX_NORM,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=sqrt(d)"),
        dictionary=(
            _SCALES,
            _LOGS,
            _TO_APPROX,
            _PURE_TO_APPROX,
            ("directional moments M of P2", "M = 1, p = k: E|⟨u, g⟩|^k ≤ E‖g‖^k"),
            ("Lipschitz lower bound", "as it is: gradients bounded by one have all moments"),
            ("directional lower bound", "M = 1/√d, which divides the rate by √d: the norm's moment is then at most one"),
        ),
        entries=(
            Entry("P0.T1 P0.T10 P0.TAB1.r6.upper", _NORM, _ORDER_2K),
            Entry("P0.T1 P0.TAB1.r6.upper", _NORM | {"k": "k/2"}, _ORDER_K, reading="printed"),
            Entry("P0.S4.rate", {}, _ORDER_2K),
            Entry("P0.T6 P0.T6.box", _NORM, _SHUFFLED, where=_SMALL),
            Entry("P0.TAB1.r7.upper", _NORM, "smooth losses; " + _EXPECTATION),
            Entry("P4.INTRO.a P4.TAB.1", _NORM),
            Entry("P4.OURS.zcdp", _NORM | _ZCDP_TO_APPROX, _EXPECTATION),
            Entry("P4.T3.1 P4.OURS.high", _NORM),
            Entry("P2.T4 P2.O3", {"p": "k"}, "smooth losses"),
            Entry("P0.TAB1.r1.lower", {}, _LIPSCHITZ_LOWER),
            Entry("P2.T1", {"p": "k"}, "P2's Theorem 1, restored for directions", factor="1/sqrt(d)"),
        ),
        left_out=(
            ("P0.TAB1.r1.upper P2.T1.lipschitz P4.INTRO.b", "an upper bound for Lipschitz losses, a smaller class"),
            ("P0.TAB1.r6.lower P0.TAB1.r7.lower", "a lower bound for ρ-zCDP says nothing about (ε, δ)-DP"),
            ("P1.T8 P3.T6 P3.O3 P2.TAB1.r1 P2.TAB1.r2 P2.TAB1.r3", "made for coordinates; compared there"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="convex-directions-approx",
        title="Convex, directional moments, (ε, δ)-DP",
        problem=_CONVEX_DIRECTIONS,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=d"),
        dictionary=(_SCALES, _LOGS, _P_IS_K, _TO_APPROX, _PURE_TO_APPROX, _ENVELOPE),
        entries=(
            Entry(
                "P2.ABS P2.ABS.iterative P2.INTRO.simple P2.INTRO.iterative P2.TAB1.r4 P2.TAB1.r5 P2.CONCLUSION.simple "
                "P2.CONCLUSION.iterative P2.T4 P2.O3 P2.O4",
                {"p": "k"},
            ),
            Entry(
                "P2.T7",
                {"p": "k", "T": "n"},
                "T, a power of n, stands in logarithms only; where its conditions n ≥ d log n and T ≥ 1 fail its rate is above one",
                without=("n>=d*log(n)", "(n*eps/sqrt(d))**(2-2/p)>=d"),
            ),
            Entry("P2.TAB1.r2", {"p": "k"}, "coordinate moments: a larger class"),
            Entry("P0.T6", _ROOT, _SHUFFLED, where=_SMALL),
            Entry("P4.OURS.zcdp", _ROOT | _ZCDP_TO_APPROX, _EXPECTATION),
            Entry("P4.T3.1 P4.OURS.bound", _ROOT),
            Entry("P2.T1", {"p": "k"}),
            Entry("P2.TAB1.r6 P2.INTRO.lower", {"p": "k"}, "as printed, for a class where it is false", reading="printed"),
            Entry("P0.TAB1.r1.lower", {}, _LIPSCHITZ_LOWER),
        ),
        left_out=(
            ("P2.T1.limit", "the limit p → ∞ is a statement about another class"),
            ("P2.T1.lipschitz", "an upper bound for Lipschitz losses, a smaller class"),
            ("P0.T1 P0.TAB1.r6.upper", "needs moments of order 2k; compared under norm moments"),
            ("P0.TAB1.r3.lower", "for moments along basis vectors, a larger class, and for ρ-zCDP"),
            ("P1.T8 P3.T6 P2.TAB1.r1 P2.TAB1.r3", "made for coordinates, a larger class; compared there"),
            ("P2.E71 P2.E72", "the two halves of Theorem 4, for ρ-zCDP"),
            ("P2.E69 P2.O4.bound P2.L3", "at any choice of its parameters: a step, not a rate in n, d and ε"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="convex-coordinates-approx",
        title="Convex, coordinate moments, (ε, δ)-DP",
        problem=_CONVEX_COORDINATES,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=d"),
        dictionary=(
            _SCALES,
            _LOGS,
            _TO_APPROX,
            _PURE_TO_APPROX,
            _ENVELOPE,
            _V_IS_ONE,
            ("directional moments M of P2", "M = √d, by homogeneity √d times the rate: E|⟨u, g⟩|^k ≤ E‖g‖^k ≤ d^{k/2}"),
            ("directional lower bound", "as it is: directions bound coordinates"),
            ("lower bound for second moments", _AT_ORDER_TWO),
        ),
        entries=(
            Entry("P0.TAB1.r3.upper P2.TAB1.r2 P2.TAB1.r3", {"p": "k"}),
            Entry("P2.TAB1.r1", {}),
            Entry("P1.T8", _SECOND),
            Entry("P3.T6 P3.INTRO.c P3.T6.combined P3.O3 P3.S5.v1.convex", _SECOND),
            Entry("P0.T6", _ROOT, _SHUFFLED, where=_SMALL),
            Entry("P4.OURS.zcdp", _ROOT | _ZCDP_TO_APPROX, _EXPECTATION),
            Entry("P4.T3.1 P4.OURS.bound", _ROOT),
            Entry("P2.T4 P2.O3", {"p": "k"}, factor="sqrt(d)"),
            Entry("P2.T1", {"p": "k"}),
            Entry("P3.T9.approx", _SECOND, _LEMMA_15, where=("k<=2",)),
        ),
        left_out=(
            ("P0.TAB1.r3.lower", "a lower bound for ρ-zCDP says nothing about (ε, δ)-DP; compared there"),
            ("P3.T9", "a lower bound for ε-DP says nothing about (ε, δ)-DP; compared there"),
            ("P1.T5", "sub-exponential coordinates, a smaller class; and strongly convex"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="convex-coordinates-zcdp",
        title="Convex, coordinate moments, ρ-zCDP",
        problem=_CONVEX_COORDINATES,
        privacy="ρ-zCDP",
        language=("n", "d", "rho", "k"),
        where=("k>=2", "rho<=1", "n*sqrt(rho)>=d"),
        dictionary=(
            _SCALES,
            _LOGS,
            _PURE_TO_ZCDP,
            _ENVELOPE,
            ("Kamath et al. in P0's Table 1", _ROOT_RHO),
            ("directional moments M of P2", "M = √d, by homogeneity √d times the rate"),
        ),
        entries=(
            Entry("P0.TAB1.r3.upper", {"eps": "sqrt(rho)"}, _ROOT_RHO),
            Entry("P4.OURS.zcdp", _ROOT, _EXPECTATION),
            Entry("P4.OURS.bound P4.T3.1", _ROOT | {"eps": "sqrt(rho)"}),
            Entry("P2.E71 P2.E72", {"p": "k"}, factor="sqrt(d)"),
            Entry("P0.TAB1.r3.lower", {}),
        ),
        plot=_ZCDP_PLOT,
    ),
    Group(
        id="convex-norm-zcdp",
        title="Convex, norm moments, ρ-zCDP",
        problem=_CONVEX_NORM,
        privacy="ρ-zCDP",
        language=("n", "d", "rho", "k"),
        where=("k>=2", "rho<=1", "n*sqrt(rho)>=sqrt(d)"),
        dictionary=(_SCALES, _LOGS, _PURE_TO_ZCDP, ("Lowy and Razaviyayn in P0's Table 1", _ROOT_RHO)),
        entries=(
            Entry("P4.OURS.zcdp", _NORM, _EXPECTATION),
            Entry("P4.OURS.bound P4.T3.1", _NORM | {"eps": "sqrt(rho)"}, where=("n*sqrt(rho)>=d",)),
            Entry("P0.TAB1.r6.upper", _NORM | {"eps": "sqrt(rho)"}, f"{_ROOT_RHO}; {_ORDER_2K}"),
            Entry("P0.TAB1.r7.upper", _NORM | {"eps": "sqrt(rho)"}, f"{_ROOT_RHO}; smooth losses"),
            Entry("P0.TAB1.r6.lower P0.TAB1.r7.lower", _NORM),
        ),
        left_out=(("P0.T6", "stated for (ε, δ)-DP by shuffling, which gives no ρ-zCDP"),),
        plot=_ZCDP_PLOT,
    ),
    Group(
        id="convex-norm-pure",
        title="Convex, norm moments, ε-DP",
        problem=_CONVEX_NORM,
        privacy="ε-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=d", "n*eps>=d"),
        dictionary=(_SCALES, _LOGS, _ZCDP_TO_PURE, ("(ε, δ)-DP lower bound", "as it is: ε-DP is (ε, δ)-DP")),
        entries=(
            Entry(
                "P4.ABS P4.EQ4 P4.TAB.2 P4.TAB.3 P4.TAB.4 P4.T3.1 P4.TD.2 P4.TD.4 P4.COR.D7 P4.TE.2 P4.TE.5 P4.TF.6 P4.CONCL "
                "P4.R.G7 P4.OURS.bound P4.OURS.high P4.S4.trivial",
                _NORM,
            ),
            Entry("P4.INTRO.c P4.TAB.5 P4.T4.1 P4.TG.6 P4.TG.6.first", _NORM),
            Entry("P0.TAB1.r6.lower", _NORM | {"rho": "eps**2"}, reading="derived"),
            Entry("P0.TAB1.r1.lower", {}, _LIPSCHITZ_LOWER),
        ),
        left_out=(
            ("P4.INTRO.b", "an upper bound for Lipschitz losses, a smaller class"),
            ("P4.TE.5.width P4.T2.1", "at any choice of its parameters: a step, not a rate in n, d and ε"),
            (
                "P4.P2.5 P4.PC.3 P4.P3.2 P4.PD.1 P4.TE.1 P4.PE.4 P4.PF.5 P4.OURS.single P4.OURS.distance",
                "a distance from a regularised minimiser, not an excess risk",
            ),
            ("P4.OURS.phase P4.OURS.phase.steps P4.OURS.phases", "a step of the bound P4.OURS.bound"),
            ("P4.T3.1.optimal", "a factor, not a rate"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="convex-norm-pure-logs",
        title="Convex, norm moments, ε-DP, logarithms kept",
        problem=_CONVEX_NORM + "  With probability 1 − ξ.",
        privacy="ε-DP",
        language=("n", "d", "eps", "xi", "k"),
        where=("k>=2", "eps<=d", "n*eps>=d*log(1/xi)", "n>=log(1/xi)"),
        dictionary=(_SCALES, ("logarithms", "kept: none of these statements hides one, but for TE.2, TE.5")),
        entries=(
            Entry("P4.T3.1 P4.TD.2 P4.TD.4 P4.COR.D7 P4.TAB.3 P4.TAB.4 P4.TF.6 P4.OURS.high P4.CONCL P4.R.G7", _NORM),
            Entry("P4.TE.2 P4.TE.5 P4.TAB.2", _NORM, "log n stands for the logarithm of a polynomial in all parameters"),
            Entry("P4.T4.1 P4.TG.6 P4.TAB.5", _NORM),
            Entry("P4.INTRO.c", _NORM, "in expectation; read with constant probability"),
        ),
        left_out=(("P4.OURS.bound P4.EQ4 P4.ABS", "in expectation: at probability 1 − ξ Markov's inequality costs 1/ξ"),),
        logs=True,
    ),
    Group(
        id="convex-coordinates-pure",
        title="Convex, coordinate moments, ε-DP",
        problem=_CONVEX_COORDINATES,
        privacy="ε-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=d"),
        dictionary=(_SCALES, _LOGS, _ENVELOPE, ("lower bound for second moments", _AT_ORDER_TWO), _ZCDP_TO_PURE),
        entries=(
            Entry("P4.T3.1 P4.OURS.bound P4.S4.trivial", _ROOT),
            Entry("P3.T9", _SECOND, _AT_ORDER_TWO, where=("k<=2",)),
            Entry("P3.T9.approx", _SECOND, f"{_LEMMA_15}; {_AT_ORDER_TWO}", where=("k<=2",)),
            Entry("P0.TAB1.r3.lower", {"rho": "eps**2"}),
            Entry("P4.T4.1", _NORM, "norm moments: a smaller class"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="convex-low-approx",
        title="Convex, coordinate moments of order 1 + v ≤ 2, (ε, δ)-DP",
        problem=_CONVEX_COORDINATES.replace("^k ≤ 1", "^{1+v} ≤ u").replace(", and E sup_w ‖∇f(w, x)‖^k ≤ d^{k/2}", ""),
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=d"),
        dictionary=(_SCALES, _LOGS, ("moments u of order 1 + v", "kept, as in P3")),
        entries=(
            Entry("P3.T6 P3.O3", {"D": "1", "R": "1"}),
            Entry("P3.INTRO.c", {}, "printed without u", where=("u==1",)),
            Entry("P3.T6.combined", {"D": "1", "R": "1"}, "printed without u", where=("u==1",)),
            Entry("P3.T9.approx", {}, _LEMMA_15),
        ),
        left_out=(
            ("P3.T9", "a lower bound for ε-DP says nothing about (ε, δ)-DP"),
            ("P3.S5.gap8 P3.S5.gap9", "a quotient of two rates, not a rate"),
            ("P0.T6 P4.OURS.zcdp P2.T4", "needs moments of order 2 at least"),
        ),
        plot=Plot(tuple({"v": value} for value in (Fraction(1, 4), _HALF, Fraction(1))), fixed={"u": Fraction(0)}),
    ),
    Group(
        id="convex-lipschitz-approx",
        title="Convex, Lipschitz constant one, (ε, δ)-DP",
        problem="Convex losses, each Lipschitz with constant one, on a domain of diameter one; excess population risk.",
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=sqrt(d)"),
        dictionary=(
            _SCALES,
            _LOGS,
            _PURE_TO_APPROX,
            _TO_APPROX,
            ("norm moments G of P0 and P4", "G = 1 for every k: a Lipschitz loss has all moments"),
        ),
        entries=(
            Entry("P0.TAB1.r1.upper P2.T1.lipschitz", {}),
            Entry("P4.INTRO.b", {"L": "1", "D": "1"}),
            Entry("P4.OURS.zcdp", _NORM | _ZCDP_TO_APPROX, "any k"),
            Entry("P0.TAB1.r1.lower", {}),
        ),
        plot=Plot(_K),
    ),
)

STRONG = (
    Group(
        id="strong-norm-approx",
        title="Strongly convex, norm moments, (ε, δ)-DP",
        problem=_STRONG_NORM,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=sqrt(d)"),
        dictionary=(
            _SCALES,
            _LOGS,
            _TO_APPROX,
            ("TNC upper bound", "θ = 2: strong convexity is growth of order 2"),
            ("convex upper bound", "as it is: strong convexity is not used"),
            ("Lipschitz lower bound", "as it is: a smaller class"),
        ),
        entries=(
            Entry("P0.T2 P0.T3 P0.T11 P0.TAB1.r9.upper", _NORM | {"theta": "2"}, _ORDER_2K),
            Entry("P0.TAB1.r8.upper P0.R3.strong", _NORM, _ORDER_2K),
            Entry("P0.T2 P0.TAB1.r8.upper", _NORM | {"theta": "2", "k": "k/2"}, _ORDER_K, reading="printed"),
            Entry("P0.T7 P0.TAB1.r10.upper", _NORM | {"theta": "2"}, _SHUFFLED, where=_SMALL),
            Entry("P4.OURS.zcdp", _NORM | _ZCDP_TO_APPROX, "strong convexity is not used"),
            Entry("P0.TAB1.r2.lower", {}, _LIPSCHITZ_LOWER),
        ),
        left_out=(
            ("P0.TAB1.r2.upper", "an upper bound for Lipschitz losses, a smaller class"),
            ("P0.TAB1.r8.lower", "a lower bound for ρ-zCDP says nothing about (ε, δ)-DP"),
            ("P0.EX2", "one loss, not a class"),
            ("P1.T2", "in terms of the least risk, which no moment bounds"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="strong-coordinates-approx",
        title="Strongly convex, coordinate moments, (ε, δ)-DP",
        problem=_STRONG_COORDINATES,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "sqrt(d)*(sqrt(d)/(n*eps))**(1-1/k)<=1"),
        dictionary=(_SCALES, _LOGS, _ENVELOPE, _V_IS_ONE, ("lower bound for second moments", _AT_ORDER_TWO)),
        entries=(
            Entry("P0.TAB1.r4.upper", {}),
            Entry("P1.T7", _SECOND),
            Entry("P3.T7 P3.T7.tau P3.INTRO.b P3.S5.v1.strong", _SECOND),
            Entry("P0.T2", _ROOT | {"theta": "2"}, f"{_ORDER_2K}; here of size √d"),
            Entry("P0.T7", _ROOT | {"theta": "2"}, _SHUFFLED, where=_SMALL),
            Entry("P4.OURS.zcdp", _ROOT | _ZCDP_TO_APPROX, "strong convexity is not used"),
            Entry("P3.T8.approx", _SECOND, f"{_LEMMA_15}; {_AT_ORDER_TWO}", where=("k<=2",)),
        ),
        left_out=(
            ("P0.TAB1.r4.lower P3.T8.zcdp", "a lower bound for ρ-zCDP says nothing about (ε, δ)-DP"),
            ("P3.T8", "a lower bound for ε-DP says nothing about (ε, δ)-DP"),
            ("P1.T5", "sub-exponential coordinates, a smaller class"),
            ("P1.T2 P1.T2.distance P1.T5.distance", "in other quantities: the least risk, or a distance"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="strong-zcdp",
        title="Strongly convex, ρ-zCDP: norm moments",
        problem=_STRONG_NORM,
        privacy="ρ-zCDP",
        language=("n", "d", "rho", "k"),
        where=("k>=2", "rho<=1", "n*sqrt(rho)>=sqrt(d)"),
        dictionary=(
            _SCALES,
            _LOGS,
            ("TNC bounds", "θ = 2; the lower bounds' instances at θ = 2 are quadratics"),
            ("Lowy and Razaviyayn in P0's Table 1", _ROOT_RHO),
        ),
        entries=(
            Entry("P0.R5", _NORM | {"theta": "2"}, _ORDER_2K),
            Entry("P0.TAB1.r8.upper", _NORM | {"eps": "sqrt(rho)"}, f"{_ROOT_RHO}; {_ORDER_2K}"),
            Entry("P4.OURS.zcdp", _NORM, "strong convexity is not used"),
            Entry("P0.TAB1.r8.lower", _NORM),
            Entry("P0.T4 P0.T5 P0.R5.optimal", _NORM | {"theta": "2"}),
        ),
        plot=_ZCDP_PLOT,
    ),
    Group(
        id="strong-coordinates-zcdp",
        title="Strongly convex, ρ-zCDP: coordinate moments",
        problem=_STRONG_COORDINATES,
        privacy="ρ-zCDP",
        language=("n", "d", "rho", "k"),
        where=("k>=2", "rho<=1", "sqrt(d)*(sqrt(d)/(n*sqrt(rho)))**(1-1/k)<=1"),
        dictionary=(
            _SCALES,
            _LOGS,
            _ENVELOPE,
            ("Kamath et al. in P0's Table 1", _ROOT_RHO),
            ("lower bound for second moments", _AT_ORDER_TWO),
        ),
        entries=(
            Entry("P0.TAB1.r4.upper", {"eps": "sqrt(rho)"}, _ROOT_RHO),
            Entry("P0.R5", _ROOT | {"theta": "2"}, f"{_ORDER_2K}; here of size √d"),
            Entry("P4.OURS.zcdp", _ROOT, "strong convexity is not used"),
            Entry("P0.TAB1.r4.lower", {}),
            Entry("P3.T8.zcdp", _SECOND, _AT_ORDER_TWO, where=("k<=2",)),
        ),
        plot=_ZCDP_PLOT,
    ),
    Group(
        id="strong-low-approx",
        title="Strongly convex, coordinate moments of order 1 + v ≤ 2, (ε, δ)-DP",
        problem=_STRONG_COORDINATES.replace("^k ≤ 1", "^{1+v} ≤ u").replace(", and E sup_w ‖∇f(w, x)‖^k ≤ d^{k/2}", ""),
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=d"),
        dictionary=(
            _SCALES,
            _LOGS,
            ("moments u of order 1 + v", "kept, as in P3; printed without u in the introduction: u = 1"),
        ),
        entries=(
            Entry("P3.T7 P3.T7.tau", {"D": "1", "mu": "1", "beta": "1"}),
            Entry("P3.INTRO.b", {}, "printed without u", where=("u==1",)),
            Entry("P3.T8.approx", {}, _LEMMA_15),
        ),
        left_out=(("P3.T8", "a lower bound for ε-DP says nothing about (ε, δ)-DP"),),
        plot=Plot(tuple({"v": value} for value in (Fraction(1, 4), _HALF, Fraction(1))), fixed={"u": Fraction(0)}),
    ),
)

GROWTH = (
    Group(
        id="tnc-approx",
        title="Growth of order θ (TNC), (ε, δ)-DP",
        problem=_TNC,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k", "theta"),
        where=("k>=2", "theta>1", "eps<=1", "n*eps>=sqrt(d)"),
        dictionary=(
            _SCALES,
            _LOGS,
            _TO_APPROX,
            ("R̃_{2k,n} and r̃_{2k} of P0", "one: moments of order 2k of the same size, where `assumes` says so"),
            ("Lipschitz lower bound", "as it is: a smaller class"),
            ("convex upper bound", "as it is: the growth is not used"),
        ),
        entries=(
            Entry("P0.T2 P0.T11 P0.T3 P0.TAB1.r9.upper P0.ABS P0.INTRO.a", _NORM, _ORDER_2K),
            Entry("P0.T3", _NORM | {"k": "k/2"}, _ORDER_K, reading="printed"),
            Entry("P0.T7 P0.TAB1.r10.upper P0.ABS.shuffled P0.INTRO.b", _NORM, _SHUFFLED, where=_SMALL),
            Entry("P4.OURS.zcdp", _NORM | _ZCDP_TO_APPROX, "the growth is not used"),
            Entry("P0.TAB1.r5.lower", {}, _LIPSCHITZ_LOWER),
            Entry(
                "P0.TAB1.r9.lower P0.TAB1.r10.lower",
                _NORM,
                "as printed, for (ε, δ)-DP; proved for ρ-zCDP",
                reading="printed",
            ),
        ),
        left_out=(
            ("P0.TAB1.r5.upper P0.R3", "an upper bound for Lipschitz losses, a smaller class"),
            ("P0.T4 P0.ABS.lower P0.INTRO.c P0.R5 P0.R5.optimal", "for ρ-zCDP; compared there"),
            ("P0.EX1 P0.EX2", "one loss, not a class"),
            ("P0.T11.case1 P0.T11.case2 P0.T4.separation P0.T5.separation", "a step of a proof"),
        ),
        plot=_TNC_PLOT,
    ),
    Group(
        id="tnc-zcdp",
        title="Growth of order θ (TNC), ρ-zCDP",
        problem=_TNC,
        privacy="ρ-zCDP",
        language=("n", "d", "rho", "k", "theta"),
        where=("k>=2", "theta>=2", "rho<=1", "n*sqrt(rho)>=sqrt(d)"),
        dictionary=(_SCALES, _LOGS, ("convex upper bound", "as it is: the growth is not used")),
        entries=(
            Entry("P0.R5", _NORM, _ORDER_2K),
            Entry("P4.OURS.zcdp", _NORM, "the growth is not used"),
            Entry("P0.ABS.lower P0.INTRO.c P0.T4 P0.T5 P0.R5.optimal", _NORM),
            Entry("P0.TAB1.r9.lower P0.TAB1.r10.lower", _NORM, "as its proof gives it", reading="derived"),
        ),
        plot=Plot(_TNC_PLOT.values, up="rho"),
    ),
    Group(
        id="tnc-plain",
        title="Growth of order θ (TNC), no privacy",
        problem=_TNC,
        privacy="none",
        language=("n", "theta"),
        where=("theta>1",),
        dictionary=(_SCALES,),
        entries=(Entry("P0.S2.plain", {}), Entry("P0.T5", {"r": "1"}, without=("k>=2",))),
    ),
)

MEANS = (
    Group(
        id="mean-line-approx",
        title="Mean on the line, moments of order 1 + v ≤ 2, (ε, δ)-DP",
        problem="Mean of records on the line with E|x|^{1+v} ≤ u; absolute error.",
        privacy="(ε, δ)-DP",
        language=("n", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=1"),
        dictionary=(_LOGS, _PURE_TO_APPROX, ("printed without u", "u = 1: compared there only")),
        entries=(
            Entry("P3.ABS.a P3.T1 P3.R1.optimal", {}),
            Entry("P3.O1", {}, "ε-DP"),
            Entry("P3.INTRO.a", {}, "printed without u", where=("u==1",)),
            Entry("P3.R1", {}, "at v = u = 1", where=("u==1", "v>=1")),
            Entry("P3.T2", {}, "δ ≤ ε", without=("delta<=eps",)),
            Entry("P3.T2.v1", {}, "at v = u = 1; δ ≤ ε", where=("u==1", "v>=1"), without=("delta<=eps",)),
        ),
        left_out=(("P3.T1.at P3.O1.at P3.L16", "at any choice of its parameters: a step, not a rate in n and ε"),),
    ),
    Group(
        id="mean-line-pure",
        title="Mean on the line, moments of order 1 + v ≤ 2, ε-DP",
        problem="Mean of records on the line with E|x|^{1+v} ≤ u; absolute error.",
        privacy="ε-DP",
        language=("n", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=1"),
        dictionary=(_LOGS, ("(ε, δ)-DP lower bound", "as it is: ε-DP is (ε, δ)-DP")),
        entries=(Entry("P3.O1", {}), Entry("P3.T2.pure", {}), Entry("P3.T2", {}, without=("delta<=eps",))),
        left_out=(("P3.T1", "an (ε, δ)-DP estimator need not be ε-DP"),),
    ),
    Group(
        id="mean-coordinates-approx",
        title="Mean, coordinate moments of order 1 + v ≤ 2, (ε, δ)-DP",
        problem="Mean of records in d dimensions with E|x_j|^{1+v} ≤ u for every j; squared Euclidean error.",
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=d"),
        dictionary=(_LOGS, _PURE_TO_APPROX, ("a bound of the error", "squared"), ("free parameter τ", "as in Corollary 1")),
        entries=(
            Entry("P3.COR1", {}, power="2"),
            Entry("P3.T3", {"tau": "(u*eps*n/sqrt(d))**(1/(1+v))"}, "τ as in Corollary 1", power="2"),
            Entry("P3.O2", {}, "ε-DP"),
            Entry("P3.L21.approx", {}, _LEMMA_15),
        ),
        left_out=(
            ("P3.L21 P3.L21.square", "a lower bound for ε-DP says nothing about (ε, δ)-DP; compared there"),
            (
                "P3.T3.at P3.T3.square P3.T3.mean P3.T3.batch P3.T3.sampling P3.O2.at",
                "at any choice of its parameters: a step",
            ),
        ),
        plot=Plot(tuple({"v": value} for value in (Fraction(1, 4), _HALF, Fraction(1))), fixed={"u": Fraction(0)}),
    ),
    Group(
        id="mean-coordinates-pure",
        title="Mean, coordinate moments of order 1 + v ≤ 2, ε-DP",
        problem="Mean of records in d dimensions with E|x_j|^{1+v} ≤ u for every j; squared Euclidean error.",
        privacy="ε-DP",
        language=("n", "d", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=d"),
        dictionary=(_LOGS, ("a bound of the error", "squared"), ("(ε, δ)-DP lower bound", "as it is")),
        entries=(
            Entry("P3.O2", {}),
            Entry("P3.L21", {}, power="2"),
            Entry("P3.L21.square", {}),
            Entry("P3.L21.approx", {}, _LEMMA_15),
        ),
        left_out=(
            ("P3.COR1 P3.T3", "an (ε, δ)-DP estimator need not be ε-DP"),
            ("P3.L21.packing P3.L21.packing2", "a step of a proof"),
        ),
    ),
    Group(
        id="mean-norm-pure",
        title="Mean, norm moments of order k ≥ 2, ε-DP",
        problem="Mean of records in d dimensions with E‖x‖^k ≤ 1; squared Euclidean error.",
        privacy="ε-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=d"),
        dictionary=(_SCALES, _LOGS, _V_IS_ONE),
        entries=(
            Entry("P3.O2", _SECOND, "coordinate moments: a larger class"),
            Entry("P4.PG.2 P4.PG.4 P4.TG.5", _NORM),
        ),
        left_out=(("P4.T4.1 P4.TG.6", "an excess risk, not a squared error"),),
        plot=Plot(_K),
    ),
    Group(
        id="mean-directions-approx",
        title="Mean, directional moments of order k ≥ 2, (ε, δ)-DP",
        problem="Mean of records in d dimensions with E|⟨u, x⟩|^k ≤ 1 for every unit u; squared Euclidean error.",
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=d"),
        dictionary=(
            _SCALES,
            _LOGS,
            _P_IS_K,
            _TO_APPROX,
            _V_IS_ONE,
            _PURE_TO_APPROX,
            (
                "free parameter R",
                "√d(nε/√d)^{1/k}, which balances noise and bias; in P2.T2 at most √d(n/d)^{1/k}, for its tail",
            ),
            ("a bound of the error", "squared"),
            ("lower bound on the line", "as it is at k = 2: one coordinate of d"),
        ),
        entries=(
            Entry("P2.T2", {"p": "k", "M": "1", "R": "sqrt(d)*Min(n/d, n*eps/sqrt(d))**(1/k)"} | _ZCDP_TO_APPROX, power="2"),
            Entry("P2.IDEAL", {"p": "k", "R": "sqrt(d)*(n*eps/sqrt(d))**(1/k)"} | _ZCDP_TO_APPROX, power="2"),
            Entry(
                "P2.T5",
                {"p": "k", "R": "sqrt(d)*(n*eps/sqrt(d))**(1/k)"},
                "privacy as printed, which is unproved",
                power="2",
            ),
            Entry(
                "P3.COR1 P3.T3", _SECOND | {"tau": "(eps*n/sqrt(d))**(1/2)"}, "coordinate moments: a larger class", power="2"
            ),
            Entry("P3.O2", _SECOND, "ε-DP; coordinate moments: a larger class"),
            Entry("P3.T2", _SECOND, f"δ ≤ ε; {_AT_ORDER_TWO}", power="2", where=("k<=2",), without=("delta<=eps",)),
        ),
        left_out=(
            ("P2.MOM P2.SUBGAUSSIAN P2.T5.limit", "without privacy"),
            ("P2.E31 P2.E33 P2.T2.tail", "at any choice of its parameters: a step"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="mean-plain",
        title="Mean, second moments, no privacy",
        problem="Mean of records in d dimensions with E⟨u, x⟩² ≤ 1 for every unit u; Euclidean error with probability 1 − ξ.",
        privacy="none",
        language=("n", "d", "xi"),
        where=("n>=d*log(1/xi)",),
        dictionary=(("logarithms", "kept"), ("squared error", "its root"), ("moment bound G of P4", "one: on one axis")),
        entries=(
            Entry("P2.MOM P2.SUBGAUSSIAN P2.T5.limit", {}),
            Entry("P4.PG.2", {"G": "1"}, power="1/2"),
        ),
        logs=True,
    ),
)

SPARSE = (
    Group(
        id="sparse-approx",
        title="Sparse, coordinate moments of order 1 + v ≤ 2, (ε, δ)-DP",
        problem=_SPARSE,
        privacy="(ε, δ)-DP",
        language=("n", "d", "s", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "s>=1", "d>=2*s", "n*eps>=s"),
        dictionary=(("logarithms", "dropped, of d too"), ("printed without u", "u = 1: compared there only")),
        entries=(
            Entry("P3.T10 P3.R3", {}),
            Entry("P3.INTRO.d", {}, "printed without u", where=("u==1",)),
            Entry("P3.R3.v1", {}, "at v = 1", where=("v>=1",)),
            Entry("P3.T11.approx", {}, _LEMMA_15),
            Entry("P3.L27.approx", {}, f"{_LEMMA_15}; the sparse mean, one of the losses"),
        ),
        left_out=(
            ("P3.T11 P3.O4 P3.L27", "a lower bound for ε-DP says nothing about (ε, δ)-DP"),
            ("P3.O5", "a lower bound for ρ-zCDP says nothing about (ε, δ)-DP"),
            ("P3.T10.at", "at any choice of its parameters: a step"),
        ),
    ),
    Group(
        id="sparse-pure",
        title="Sparse, coordinate moments of order 1 + v ≤ 2, ε-DP: lower bounds",
        problem=_SPARSE,
        privacy="ε-DP",
        language=("n", "d", "s", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "s>=1", "d>=2*s", "n*eps>=s"),
        dictionary=(
            ("logarithms", "dropped, of d too"),
            ("(ε, δ)-DP lower bound", "as it is: ε-DP is (ε, δ)-DP"),
            _ZCDP_TO_PURE,
        ),
        entries=(
            Entry("P3.T11 P3.O4 P3.L27", {}),
            Entry("P3.T11.approx", {}, _LEMMA_15),
            Entry("P3.O5", {"rho": "eps**2"}),
        ),
        left_out=(
            ("P3.T10", "an (ε, δ)-DP algorithm need not be ε-DP"),
            ("P3.O4.packing P3.L27.packing", "a step of a proof"),
        ),
    ),
)

GROUPS: tuple[Group, ...] = (*CONVEX, *STRONG, *GROWTH, *MEANS, *SPARSE)
