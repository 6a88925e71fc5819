"""The decision procedure: verdicts on the papers' rates, on random rates against an exhaustive search, and on bad questions."""

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest
from tests.speed import units

from tailproof.bounds import certificates, prover
from tailproof.bounds.compare import Dominance, Separation, Undecided, compare, equal_rates, relation
from tailproof.bounds.expressions import read_expression
from tailproof.bounds.questions import crossover, worst_factor
from tailproof.bounds.simplex import Infeasible, Solution, simplex
from tailproof.refimpl.validation import InputError

V = "0<v<=1"
K = "k>=2"
TNC = ("theta>=theta_bar", "theta_bar>1")
P3_CONVEX = "d**((1+4*v)/(2+2*v))/(eps*n)**(v/(1+v)) + d**((3+12*v)/(2+2*v))/(eps*n)**(3*v/(1+v))"
P2_CLIP = "sqrt(d/n) + sqrt(d)*(sqrt(d)/(eps*n))**(1-1/p)"
KAMATH = "d/sqrt(n) + d**2/(n*eps)*(eps*n/d**(3/2))**(1/p)"
P0_THEOREM = "(r*(1/sqrt(n) + (sqrt(d)/(n*eps))**((k-1)/k)))**(theta/(theta-1))"
P0_ABSTRACT = "(r*(1/sqrt(n) + sqrt(d)/(n*eps))**((k-1)/k))**(theta/(theta-1))"
PURE = "G*D*(1/sqrt(n) + (d/(n*eps))**(1-1/k))"

# left, right, where, "==" | "<" | ">" | "incomparable", taken from the papers' claims.
PAPERS = [
    # P3: the mean estimator's rate against the lower bound; truncation level; special cases v = 1; upper against lower bounds.
    ("(1/(n*eps))**(v/(1+v))", "(sqrt(log(1/delta))*log(1/xi)/(n*eps))**(v/(1+v))", [V], "<"),
    ("1/B**v + B/(n*eps)", "(1/(n*eps))**(v/(1+v))", [V, "B==(n*eps)**(1/(1+v))"], "=="),
    ("u**(1/(1+v))*(1/(n*eps))**(v/(1+v))", "sqrt(u/(n*eps))", ["v==1"], "=="),
    (P3_CONVEX, "d**(5/4)/sqrt(n*eps) + d**(15/4)/(n*eps)**(3/2)", ["v==1"], "=="),
    ("d*(sqrt(d)/(eps*n))**(2*v/(1+v))", "d**((1+2*v)/(1+v))/(eps*n)**(2*v/(1+v))", [V], "=="),
    ("sqrt(d)*(sqrt(d)/(eps*n))**(v/(1+v))", P3_CONVEX, [V], "<"),
    (P3_CONVEX, "d**((1+4*v)/(2+2*v))/(eps*n)**(v/(1+v))", [V, "n*eps>=d**((1+4*v)/(2*v))"], "=="),
    ("s**((1+2*v)/(1+v))*(log(d)/(n*eps))**(2*v/(1+v))", "s**2*(log(d)/(n*eps))**(2*v/(1+v))", [V, "s>=1"], "<"),
    # P2: simple clipping against the earlier bound, and which term leads for small privacy budgets.
    (P2_CLIP, KAMATH, ["p>=2", "eps<=1"], "<"),
    (P2_CLIP, "sqrt(d)*(sqrt(d)/(eps*n))**(1-1/p)", ["p>=2", "eps<=sqrt(d/n)"], "=="),
    (P2_CLIP, "sqrt(d/n)", ["p>2", "eps>=sqrt(d)*n**(-(p-2)/(2*(p-1)))"], "=="),
    # P0: the abstract's bracket differs from the theorem's; powers of sums; the Tsybakov exponent.
    (P0_THEOREM, P0_ABSTRACT, [K, *TNC, "n*eps>=sqrt(d)"], "<"),
    (P0_THEOREM, "(r/sqrt(n))**(theta/(theta-1)) + (r*(sqrt(d)/(n*eps))**(1-1/k))**(theta/(theta-1))", [K, *TNC], "=="),
    ("(1/n)**(theta_bar/(2*(theta_bar-1)))", "(1/n)**(theta/(2*(theta-1)))", TNC, "<"),
    ("(1/sqrt(n) + sqrt(d)/(n*eps))**(theta/(theta-1))", "1/n + d/(n*eps)**2", ["theta==2"], "=="),
    # P4: more moments are better in the useful regime; against the smooth approximate-privacy rate.
    (PURE, "G*D*(1/sqrt(n) + sqrt(d/(n*eps)))", [K, "n*eps>=d"], "<"),
    (PURE, "G*D*(1/sqrt(n) + (sqrt(d*log(1/delta))/(n*eps))**(1-1/k))", [K, "log(1/delta)<=d"], ">"),
    ("Min(1, sqrt(d/n))", "1", [], "<"),
]


@pytest.mark.parametrize(("left", "right", "where", "sign"), PAPERS, ids=range(len(PAPERS)))
def test_the_papers_rates(left: str, right: str, where: list[str], sign: str) -> None:
    answer = relation(left, right, where=where)
    assert answer.sign == sign
    for result in (answer.forward, answer.backward):
        certificates.verify(result.document)
        assert result.explain()


def test_a_separation_names_exact_parameters_and_a_ray() -> None:
    answer = compare("n*log(n)", "n**p", where=["p>=1"])
    assert isinstance(answer, Separation)
    assert answer.parameters == {"p": Fraction(1)}
    assert "n = exp(1·T)" in answer.explain()


def test_a_single_bad_value_of_a_parameter_is_found() -> None:
    assert isinstance(compare("n**(v*(1-v))", "n**(1/4)", where=[V]), Dominance)
    assert isinstance(compare("n**(v*(1-v))*log(n)", "n**(1/4)", where=["0<v<1/2"]), Dominance)
    answer = compare("n**(v*(1-v))*log(n)", "n**(1/4)", where=[V])
    assert isinstance(answer, Separation)
    assert answer.parameters == {"v": Fraction(1, 2)}


def test_the_range_is_split_where_the_basis_changes() -> None:
    answer = compare("n**(p*v)", "n**(p**2) + n**(v**2)", where=["0<p", "0<v"])
    assert isinstance(answer, Dominance)
    assert [cell for cell, _ in answer.cells] == ["0 < p, 0 < v < p", "0 < p, v = p", "0 < p, p < v"]


def test_a_boundary_that_no_rational_function_describes_is_not_guessed() -> None:
    """True up to p = √2 only: the value found lies beyond it.  True everywhere, but with equality at √2: no rational cells do."""
    answer = compare("n**(p**2)", "n**2", where=["0<p<=3/2"])
    assert isinstance(answer, Separation)
    assert answer.parameters["p"] ** 2 > 2
    with pytest.raises(Undecided):
        compare("1", "n**((p**2-2)**2)", where=["p>0"])


LOGS = [
    ("d*log(n)/n", "d/sqrt(n)", [], True),
    ("log(n)", "n**v", [V], True),
    ("log(n)**p", "n**v", ["0<v", "p>=1"], True),
    ("n*log(n)", "n", [], False),
    ("delta*log(1/delta)**3", "1", [], True),
    ("log(n*d/delta)", "log(n) + log(d) + log(1/delta)", [], True),
    ("log(d)", "log(n)", ["n>=d"], True),
    ("log(n)", "log(d)", ["n>=d"], False),
    ("log(n)", "log(d)", ["n<=d**7"], True),
    ("log(n*eps)", "log(n)", ["eps<=1"], True),
    ("log(log(n))**2", "log(n)", [], True),
    ("log(n)", "log(log(n))**5", [], False),
    ("Min(log(n)/log(d), log(d))", "1", [], False),
    ("1/eps", "log(n)", ["eps>=1/log(n)"], True),
    ("log(n)*log(d)", "log(n)**2 + log(d)**2", [], True),
    ("log(1 + n/eps)", "log(n) + log(1/eps)", ["eps<=1"], True),
    ("-log(delta)", "log(1/delta)", [], True),
]


@pytest.mark.parametrize(("left", "right", "where", "holds"), LOGS, ids=range(len(LOGS)))
def test_logarithms(left: str, right: str, where: list[str], holds: bool) -> None:
    assert isinstance(compare(left, right, where=where), Dominance if holds else Separation)


def test_logs_are_dropped_on_request() -> None:
    assert isinstance(compare("d*log(n)**3", "d", logs=False), Dominance)


def test_one_constant_for_the_whole_range() -> None:
    assert isinstance(compare("(2*n)**p", "n**p", where=["1<=p<=7"], uniform=True), Dominance)
    assert isinstance(compare("(2*n)**p", "n**p", where=["p>=1"]), Dominance)
    assert isinstance(compare("n**(1/v)", "n**2", where=["v>=1/2"], uniform=True), Dominance)
    for left, right, where in [
        ("(2*n)**p", "n**p", ["p>=1"]),
        ("p*n", "n", ["p>=1"]),
        ("n**(p/2)*d**(-p)", "1", ["p>=1", "n<=4*d**2"]),
        ("log(n)", "n**v", [V]),
    ]:
        assert isinstance(compare(left, right, where=where), Dominance)
        with pytest.raises(Undecided, match="unbounded"):
            compare(left, right, where=where, uniform=True)


@pytest.mark.parametrize(
    ("left", "right", "where", "message"),
    [
        ("n - d", "1", [], "negative coefficient"),
        ("n**p", "n", [], "p stands in an exponent.* no range"),
        ("n**pp", "n", ["p>=2"], "pp stands in an exponent"),
        ("p*n", "n", [], "no range"),
        ("n", "d", ["n<=1/2"], "empty"),
        ("n", "d", ["eps>=3", "eps<=2"], "empty"),
        ("n", "d", ["n<=n/2"], "never true"),
        ("n**(1/(p-3))", "n", ["p>=2"], "denominator"),
        ("(n+d)**(p-3)", "n", ["p>=2"], "sign of the exponent"),
        ("sin(n)", "n", [], "not known"),
    ],
)
def test_bad_questions_get_a_clear_answer(left: str, right: str, where: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(left, right, where=where)


def test_a_blow_up_is_refused() -> None:
    with pytest.raises(InputError, match="more than"):
        compare("*".join(f"(n**{i} + d**{i} + m**{i})" for i in range(1, 12)), "n")


def test_explicit_parameters() -> None:
    assert isinstance(compare("k*n", "n", where=["k>=1"]), Dominance)
    assert isinstance(compare("k*n", "n", where=["k>=1"], parameters=["p"]), Separation)
    assert isinstance(compare("q*n", "n", parameters=["q>=1"]), Dominance)


def test_constants_of_conditions_do_not_matter() -> None:
    for constant in ("1", "1/3", "17", "sqrt(2)"):
        assert isinstance(compare("d/n", "sqrt(d/n)", where=[f"d<={constant}*n"]), Dominance)
        assert isinstance(compare("sqrt(d/n)", "d/n", where=[f"d<={constant}*n"]), Separation)


def test_conditions_with_alternatives() -> None:
    assert isinstance(compare("n", "d + m", where=["n<=d+m"]), Dominance)
    assert isinstance(compare("n*eps", "d*m", where=["Min(n, eps)<=d", "Max(n, eps)<=m"]), Dominance)
    answer = compare("n", "d", where=["n<=d+m"])
    assert isinstance(answer, Separation)
    assert answer.document["witness"]["case"] == [1]
    assert isinstance(
        compare("eps*sqrt(n)", "sqrt(log(n)) + sqrt(log(1/delta))", where=["eps<=sqrt(log(n/delta)/n)"]), Dominance
    )
    with pytest.raises(InputError, match="each case by itself"):
        crossover("n", "d*eps", ["n<=d+m"])


def test_conventions_are_part_of_the_answer() -> None:
    assert compare("log(T)/n", "log(T)*delta/n**2").document["conventions"] == ["n>=1", "delta<=1/2", "T>=1", "every log>=1"]


# Crossovers and factors.


def test_crossovers() -> None:
    (found,) = crossover("sqrt(d/n)", "d/(n*eps)", ["eps<=1"])
    assert found.surface == "eps**2*n==d"
    (found,) = crossover("sqrt(d/n) + 1/n", "d/(n*eps)", ["eps<=1"])
    assert (found.left, found.right, found.where) == ("sqrt(d)/sqrt(n)", "d/(eps*n)", ())
    assert crossover("d/n", "sqrt(d/n)", ["n>=d"]) == []
    (found,) = crossover("sqrt(d/n)", "sqrt(d)*(sqrt(d)/(eps*n))**(1-1/p)", ["p>2"])
    assert equal_rates("sqrt(d/n)", "sqrt(d)*(sqrt(d)/(eps*n))**(1-1/p)", where=["p>2", found.surface])


@pytest.mark.parametrize(
    ("left", "right", "where", "base", "exponent"),
    [
        ("d/sqrt(n)", "sqrt(d/n)", [], "d", "1/2"),
        ("sqrt(d/n)", "d/sqrt(n)", [], "d", "-1/2"),
        # P3: "the gap is d^(v/(1+v))" (Theorem 8), "d^(v/(2(1+v)))" (Theorem 9), "optimal up to a factor of s".
        ("d*(d/(n*eps))**(2*v/(1+v))", "d*(sqrt(d)/(n*eps))**(2*v/(1+v))", [V], "d", "v/(1+v)"),
        ("sqrt(d)*(d/(n*eps))**(v/(1+v))", "sqrt(d)*(sqrt(d)/(n*eps))**(v/(1+v))", [V], "d", "v/(2*(1+v))"),
        ("s**((1+2*v)/(1+v))*(log(d)/(n*eps))**(2*v/(1+v))", "(s*log(d)/(n*eps))**(2*v/(1+v))", [V, "s>=1"], "s", "1/(1+v)"),
    ],
)
def test_worst_factors(left: str, right: str, where: list[str], base: str, exponent: str) -> None:
    found = worst_factor(left, right, where, in_terms_of=base)
    assert found.exponent is not None
    assert (found.exponent - read_expression(exponent)).equals(0)
    assert isinstance(found.dominance, Dominance)
    assert isinstance(found.smaller, Separation)


def test_when_no_power_suffices() -> None:
    found = worst_factor("n", "d", in_terms_of="s")
    assert found.exponent is None
    assert found.smaller is not None


# Against an exhaustive search, numeric exponents.


Terms = list[tuple[Fraction, ...]]


def _text(symbols: tuple[str, ...], terms: Terms) -> str:
    return " + ".join("*".join(f"{s}**({e})" for s, e in zip(symbols, term, strict=True)) for term in terms)


def _random_rate(rng: random.Random, symbols: tuple[str, ...], most: int) -> tuple[str, list[Terms]]:
    """A sum, as text and as a minimum of maxima."""
    powers = [Fraction(x) for x in ("-2", "-1", "-1/2", "0", "0", "1/2", "1", "2")]
    terms = [tuple(rng.choice(powers) for _ in symbols) for _ in range(rng.randint(1, most))]
    return _text(symbols, terms), [terms]


def _minimum(rng: random.Random, symbols: tuple[str, ...]) -> tuple[str, list[Terms]]:
    one, two = _random_rate(rng, symbols, 2), _random_rate(rng, symbols, 2)
    return f"Min({one[0]}, {two[0]})", one[1] + two[1]


def _whole(rate: list[Terms]) -> list[list[tuple[int, ...]]]:
    """Four times the exponents, which are multiples of 1/4: signs stay, and integers are faster."""
    return [[tuple(int(4 * e) for e in term) for term in clause] for clause in rate]


def _value(rate: list[list[tuple[int, ...]]], y: tuple[Any, ...]) -> Any:
    """The logarithm of a minimum of maxima along a direction."""
    return min(max(_dot(term, y) for term in clause) for clause in rate)


def _dot(x: tuple[Any, ...], y: tuple[Any, ...]) -> Any:
    return sum(a * b for a, b in zip(x, y, strict=True))


def _plane_directions(normals: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """In the plane: a direction in every cone that the lines orthogonal to these normals cut out, and on every line."""
    axes = [(1, 0), (0, 1)]  # with them neighbours are at most a right angle apart
    lines = {(sign * -b, sign * a) for a, b in [*normals, *axes] if (a, b) != (0, 0) for sign in (1, -1)}
    rays = sorted({(x // math.gcd(x, y), y // math.gcd(x, y)) for x, y in lines}, key=lambda r: math.atan2(r[1], r[0]))
    between = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(rays, rays[1:] + rays[:1], strict=True)]
    return rays + between


def _agreement(seed: int, pairs: int) -> tuple[int, int]:
    """Compare random pairs; returns how many were dominated and separated.  Fails on any disagreement."""
    rng = random.Random(seed)
    verdicts = {"dominated": 0, "separated": 0}
    for number in range(pairs):
        symbols = ("x", "y") if number % 2 else ("x", "y", "z")
        make = [_random_rate(rng, symbols, 4) if rng.random() < 0.7 else _minimum(rng, symbols) for _ in range(2)]
        (left, a), (right, b) = make
        if rng.random() < 0.4:  # means of the right side's terms: dominated, unless the right side is a minimum
            terms = b[0]
            a = [[tuple((p + q) / 2 for p, q in zip(rng.choice(terms), rng.choice(terms), strict=True)) for _ in range(3)]]
            left = _text(symbols, a[0])
        rows = [tuple(rng.randint(-2, 2) for _ in symbols) for _ in range(rng.randint(0, 2))]
        where = ["*".join(f"{s}**({e})" for s, e in zip(symbols, row, strict=True)) + "<=1" for row in rows if any(row)]
        answer = compare(left, right, where=where)
        verdicts[answer.verdict] += 1
        low, high = _whole(a), _whole(b)
        exponents = [term for rate in (low, high) for clause in rate for term in clause]
        if len(symbols) == 2:  # complete: the difference of the rates is linear between the critical directions
            normals = [tuple(p - q for p, q in zip(s, t, strict=True)) for s, t in itertools.combinations(exponents, 2)]
            directions = _plane_directions(normals + rows)
        else:
            directions = list(itertools.product(range(-3, 4), repeat=3))
        inside = [y for y in directions if all(_dot(row, y) <= 0 for row in rows)]
        grows = any(_value(low, y) > _value(high, y) for y in inside)
        if isinstance(answer, Separation):
            (ray,) = answer.path
            along = tuple(ray.get(s, Fraction(0)) for s in symbols)
            assert all(_dot(row, along) <= 0 for row in rows)
            assert _value(low, along) > _value(high, along)
            assert grows or len(symbols) > 2
        else:
            assert not grows
    return verdicts["dominated"], verdicts["separated"]


def test_random_rates_against_an_exhaustive_search() -> None:
    dominated, separated = _agreement(20_240_501, 200)
    assert min(dominated, separated) > 50


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_two_thousand_random_rates(seed: int) -> None:
    assert min(_agreement(seed, 500)) > 50


def test_eight_terms_in_five_symbols_take_seconds_at_most() -> None:
    """A fifteenth of what is allowed is usual."""
    rng = random.Random(5)
    symbols = ("n", "d", "eps", "G", "R")
    terms = ["*".join(f"{s}**({rng.choice(['-2', '-1', '0', '1/2', '1', '3/2'])})" for s in symbols) for _ in range(8)]
    means = [f"({rng.choice(terms)})**(1/3)*({rng.choice(terms)})**(2/3)" for _ in range(8)]
    for left, right in [(means, terms), (terms, means)]:
        sums = " + ".join(left), " + ".join(right)
        assert units(lambda sums=sums: compare(*sums, where=["eps<=1"])) < 25  # type: ignore[misc]


# The linear programs.


def test_the_simplex_method_is_exact_on_degenerate_and_infeasible_programs() -> None:
    rng = random.Random(1)
    for _ in range(150):
        height, width = rng.randint(1, 4), rng.randint(1, 6)
        columns = [[Fraction(rng.randint(-2, 2)) for _ in range(height)] for _ in range(width)]
        target = [Fraction(rng.randint(-2, 2)) for _ in range(height)]
        found = simplex(columns, target, [Fraction(rng.randint(0, 2)) for _ in range(width)])
        if isinstance(found, Solution):
            assert min(found.values) >= 0
            assert [sum(x * c[i] for x, c in zip(found.values, columns, strict=True)) for i in range(height)] == target
        else:
            assert isinstance(found, Infeasible)
            assert all(_dot(tuple(found.dual), tuple(column)) <= 0 for column in columns)
            assert _dot(tuple(found.dual), tuple(target)) > 0


# With a structural parameter: the answer at its values is the answer there.


def _structural_exponent(rng: random.Random) -> str:
    forms = ["0*p", "p", "-p", "2*p", "1/p", "-1/p", "p/(1+p)"]
    return f"({rng.choice(['-1', '0', '1/2', '1', '2'])} + {rng.choice(forms)})"


def test_random_rates_with_a_structural_parameter() -> None:
    rng = random.Random(77)
    verdicts = {"dominated": 0, "separated": 0}
    for _ in range(24):
        right = ["*".join(f"{s}**{_structural_exponent(rng)}" for s in ("x", "y")) for _ in range(rng.randint(1, 3))]
        means = [f"sqrt({rng.choice(right)})*sqrt({rng.choice(right)})*x**(-1/p)" for _ in range(2)]
        left = means if rng.random() < 0.6 else [f"x**{_structural_exponent(rng)}"]
        answer = compare(" + ".join(left), " + ".join(right), where=["0<p<=2", "x>=1"])
        verdicts[answer.verdict] += 1
        values = ["1/30", "1", "7/4", "2"] if isinstance(answer, Dominance) else [str(answer.parameters["p"])]
        for value in values:
            one, two = (" + ".join(terms).replace("p", f"({value})") for terms in (left, right))
            assert compare(one, two, where=["x>=1"]).verdict == answer.verdict
    assert min(verdicts.values()) > 4


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("log(d*log(n))", "log(d) + log(log(n))"),
        ("log(log(1/xi)/delta)", "log(1/delta) + log(log(1/xi))"),
        ("sqrt(log(n)**2)*d", "d*log(n)"),
    ],
)
def test_logarithms_of_products_with_logarithms(one: str, other: str) -> None:
    assert equal_rates(one, other)


def test_one_proof_serves_every_pair_of_clauses_that_contain_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """min(a, x) and min(a, y) against the clauses a and max(x, y): a = a serves twice."""
    proved: list[tuple[int, int]] = []
    prove = prover._prove

    def counted(*arguments: Any) -> Any:
        proved.append(arguments[-1])
        return prove(*arguments)

    monkeypatch.setattr(prover, "_prove", counted)
    found = compare("Min(a, x) + Min(a, y)", "Min(a, x) + Min(a, y)")
    assert isinstance(found, Dominance)
    assert sum(map(len, found.document["cases"][0]["proof"]["pairs"])) == 4
    assert len(proved) == 3
