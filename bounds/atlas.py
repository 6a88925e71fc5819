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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import sympy

from tailproof.bounds.agreement import agreement
from tailproof.bounds.compare import Dominance, Undecided, compare
from tailproof.bounds.derive import simplify, substitute
from tailproof.bounds.errata import errata
from tailproof.bounds.expressions import Expression, names_in, positive_symbol, read_comparisons, read_expression, rebuild
from tailproof.bounds.grouping import Entry, Group, Reading
from tailproof.bounds.papers.groups import GROUPS
from tailproof.bounds.problem import build_problem
from tailproof.bounds.questions import Crossover, crossover, worst_factor
from tailproof.bounds.rates import Rate, parse_rate
from tailproof.bounds.rational import to_element
from tailproof.bounds.regimes import STRUCTURAL, parse_conditions
from tailproof.bounds.statements import Statement
from tailproof.bounds.theorems import theorem, theorems
from tailproof.refimpl.validation import InputError

Verdict = Literal["dominated", "separated", "undecided", "disjoint"]
LONG = 200  # a rate with more characters is simplified


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
        """Whether some statement has this rate as derived; a rate that is only published is not relied upon."""
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


def _explained(text: str, statement: Statement, entry: Entry, group: Group) -> str:
    """The rate with those letters replaced by the statement's own choices that neither the entry nor the group explains."""
    known = {*group.language, *entry.choices}
    own = {name: choice for name, choice in statement.choices.items() if name not in known}
    return substitute(text, own).text if own and names_in(parse_rate(text).expression) & set(own) else text


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
                    text = _explained(text, statement, entry, group)
                    rate, form = _tidy(translate(text, entry, logs=group.logs).text, group.where, group.logs)
                    found.setdefault(form, (rate, []))[1].append(reading)
            for form, (rate, readings) in found.items():
                source = Source(identifier, tuple(readings), dict(entry.choices), entry.assumes, where)
                yield statement.kind, form, rate, source


def rows_of(group: Group) -> tuple[Row, ...]:
    """The group's rates, upper bounds first.

    Statements with the same rate under the same conditions share a row, and so do those that need more conditions, unless they
    are derived and what needs fewer is only published.
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
    """A statement with a rate: does the paper agree with the derivation, where is it compared, and what is wrong with it?"""

    statement: Statement
    agreement: str  # the verdict of `tailproof.bounds.agreement`; "–" with one rate only
    groups: tuple[str, ...]
    left_out: tuple[str, ...]  # why it is not compared
    errata: tuple[str, ...]


def with_rates() -> tuple[Statement, ...]:
    return tuple(s for s in theorems() if s.printed or s.derived)


def listed(statements: Iterable[Statement], groups: Iterable[Group], *, decide: bool = True) -> Iterator[Listed]:
    groups = tuple(groups)
    known = errata()
    for s in statements:
        inside = tuple(g.id for g in groups if any(s.id in entry.ids.split() for entry in g.entries))
        outside = tuple(f"{g.title}: {why}" for g in groups for ids, why in g.left_out if s.id in ids.split())
        named = tuple(e.id for e in known if e.id in s.errata or e.concerns(s.paper, s.label))
        found = agreement(s) if decide else None
        verdict = found.verdict if found else "–" if decide else "not asked"
        yield Listed(s, verdict, inside, outside, named)


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
