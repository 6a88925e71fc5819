"""Rates and conditions: reading, evaluation, slopes, and what is refused."""

import math
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.bounds.monomials import Reader, clauses
from tailproof.bounds.rates import parse_rate
from tailproof.bounds.regimes import parse_conditions
from tailproof.refimpl.validation import InputError

HARD = "sqrt(d/n) + sqrt(d)*(sqrt(d)/(eps*n) + 1/n)**(1-1/p)"
VALUES = {"n": 1e4, "d": 30.0, "eps": 0.5, "p": 3.0}


def test_a_rate_is_evaluated_as_written() -> None:
    expected = math.sqrt(30 / 1e4) + math.sqrt(30) * (math.sqrt(30) / (0.5 * 1e4) + 1e-4) ** (2 / 3)
    assert parse_rate(HARD).evaluate(VALUES) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("text", [HARD, "log(n)*d/n + Min(n, d**2)", "Max(sqrt(n), d)/log(n*d)", "n**(1-1/p)*log(n)**2"])
@pytest.mark.parametrize("symbol", ["n", "d"])
def test_the_slope_is_the_derivative_of_the_logarithm(text: str, symbol: str) -> None:
    rate = parse_rate(text)
    if symbol not in str(rate.expression):
        return
    step = 1e-5
    up, down = (rate.evaluate(VALUES | {symbol: VALUES[symbol] * math.exp(s)}) for s in (step, -step))
    assert rate.slope(symbol, VALUES) == pytest.approx((math.log(up) - math.log(down)) / (2 * step), abs=1e-6)


def test_a_slope_needs_a_symbol_of_the_rate_and_all_values() -> None:
    with pytest.raises(InputError, match="does not stand in"):
        parse_rate("d/n").slope("eps", {"d": 1, "n": 1})
    with pytest.raises(InputError, match="n is missing"):
        parse_rate("d/n").evaluate({"d": 1})
    with pytest.raises(InputError, match=r"n = 0\.0: must be > 0"):
        parse_rate("d/n").evaluate({"d": 1, "n": 0})


def test_latex_uses_the_papers_letters() -> None:
    text = parse_rate("(1/(n*eps))**(theta_bar/(theta_bar-1))*lam").latex()
    assert r"\varepsilon" in text
    assert r"\bar\theta" in text
    assert r"\lambda" in text


def test_without_logs() -> None:
    assert parse_rate("sqrt(log(1/delta))*d*log(n*d)/n").without_logs().expression == parse_rate("d/n").expression


def test_sympy_expressions_are_read_too() -> None:
    n, d = sympy.symbols("n d")
    assert parse_rate(sympy.sqrt(d / n)).expression == parse_rate("sqrt(d/n)").expression


def test_decimals_are_exact() -> None:
    assert parse_rate("n**0.1").expression == parse_rate("n**(1/10)").expression


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d - n", "negative coefficient"),
        ("-d", "negative coefficient"),
        ("d +", "cannot be read"),
        ("d^2", r"\*\*"),
        ("exp(n)", "exp.* is not known"),
        ("log", "is a function"),
        ("log(n, 2)", "takes one argument"),
        ("lambda*n", "write lam"),
        ("n if d else 1", "is not part of a rate"),
        ("d[0]", "is not part of a rate"),
        ("__import__('os').system('true')", "is not part of a rate"),
        ("1/0", "division by zero"),
        ("0*n", "must be positive"),
        ("log(delta)", "write log"),
        ("log(1/n)", "write log"),
        ("(n+d)**sqrt(2)", "rational function"),
    ],
)
def test_bad_rates_are_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_rate(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n", "must compare"),
        ("n != d", "must compare"),
        ("p**2 <= 2", "linear"),
        ("2 < 1", "never true"),
    ],
)
def test_bad_conditions_are_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_conditions([text])


def test_empty_structural_ranges_are_refused() -> None:
    with pytest.raises(InputError, match="range of p is empty"):
        parse_conditions(["p>=2", "p<2"])
    with pytest.raises(InputError, match="range of theta_bar is empty"):
        parse_conditions(["theta>=theta_bar", "theta_bar>=3", "theta<=2"])
    with pytest.raises(InputError, match="not one text"):
        parse_conditions("p>=2")


def test_an_exponent_s_sign_must_be_known_for_powers_of_sums() -> None:
    parse_rate("(n+d)**(1-1/p)", parameters=["p>=1"])
    with pytest.raises(InputError, match="sign of the exponent"):
        parse_rate("(n+d)**(p-2)", parameters=["p>=1"])
    with pytest.raises(InputError, match="has no range"):
        parse_rate("(n+d)**(1-1/q)", parameters=["p>=1"])


def test_coefficients_may_depend_on_structural_parameters() -> None:
    parse_rate("(p-1)*n", parameters=["p>1"])
    with pytest.raises(InputError, match="not shown to be positive"):
        parse_rate("(p-1)*n", parameters=["p>0"])


def test_ranges_of_chains_are_closed_under_implication() -> None:
    regime = parse_conditions(["theta>=theta_bar", "theta_bar>1", "theta<=2"])
    bar = regime.parameters[regime.names.index("theta_bar")]
    assert [b.value for b in bar.upper] == [2]
    assert [b.value for b in bar.lower] == [1]


def test_unicode_signs_and_single_equality() -> None:
    one, two = parse_conditions(["n ≥ d", "n = d"]), parse_conditions(["n>=d", "n==d"])
    assert [(c.small, c.large) for c in one.conditions] == [(c.small, c.large) for c in two.conditions]


def _read(text: str, conditions: list[str]) -> list[list[dict[str, str]]]:
    reader = Reader(parse_conditions(conditions), lambda _: True)
    node = reader.read(parse_rate(text).expression)
    return [[{s: str(e) for s, e in m.items()} for m in clause] for clause in clauses(node, "max")]


def test_powers_of_sums_become_maxima_or_minima() -> None:
    assert _read("(n+d)**(1-1/p)", ["p>=2"]) == [[{"d": "(p - 1)/p"}], [{"n": "(p - 1)/p"}]]
    assert _read("(n+d)**(1/p-1)", ["p>=2"]) == [[{"d": "(-p + 1)/p"}, {"n": "(-p + 1)/p"}]]


def test_logs_of_products_are_sums_of_logs() -> None:
    found = _read("log(n*d/delta**2)", [])
    assert sorted(next(iter(clause[0])) for clause in found) == ["log(1/delta)", "log(d)", "log(n)"]


SYMBOLS = ("x", "y")


@st.composite
def lattice_texts(draw: st.DrawFn, depth: int = 3) -> str:
    """Random expressions in two symbols."""
    if depth == 0 or draw(st.booleans()):
        powers = [draw(st.sampled_from(["-1", "0", "1", "2", "(1/2)"])) for _ in SYMBOLS]
        return "*".join(f"{s}**{e}" for s, e in zip(SYMBOLS, powers, strict=True))
    left, right = draw(lattice_texts(depth - 1)), draw(lattice_texts(depth - 1))
    form = draw(
        st.sampled_from(["({0} + {1})", "({0})*({1})", "({0})/({1})", "Min({0},{1})", "Max({0},{1})", "({0}+{1})**(-1/2)"])
    )
    return form.format(left, right)


@given(lattice_texts(), st.tuples(st.floats(-40, 40), st.floats(-40, 40)))
@settings(deadline=None, max_examples=80)
def test_both_normal_forms_equal_the_rate_up_to_a_constant(text: str, logs: tuple[float, float]) -> None:
    rate = parse_rate(text)
    values = {s: math.exp(y) for s, y in zip(SYMBOLS, logs, strict=True)}
    reader = Reader(parse_conditions([]), lambda _: True)
    node = reader.read(rate.expression)

    def value(monomial: dict[str, object]) -> float:
        return sum(float(Fraction(str(e))) * math.log(values[s]) for s, e in monomial.items())

    exact = math.log(rate.evaluate(values))
    highest = max(min(map(value, clause)) for clause in clauses(node, "max"))
    lowest = min(max(map(value, clause)) for clause in clauses(node, "min"))
    assert highest == pytest.approx(lowest, abs=1e-6)
    assert abs(exact - highest) < 12  # eight leaves at most, so constants below 8^2
