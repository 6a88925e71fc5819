"""The verifier: imports nothing but the standard library, accepts what was found, rejects every change to it."""

import ast
import copy
import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.bounds import certificates
from tailproof.bounds.certificates import InvalidCertificate, verify
from tailproof.bounds.compare import Dominance, Separation, compare

CLAIMS = [
    ("sqrt(d/n) + d*eps", "d/n + 1 + d*eps", [], {}),
    ("d/n", "sqrt(d/n)", ["n>=d"], {}),
    ("Min(n, d**2)", "n**(1/2)*d", [], {}),
    ("d*(1/n)**(1-1/p)", "d*(1/n)**(1/2)", ["p>=2"], {}),
    ("n**(v*(1-v))", "n**(1/4)", ["0<v<=1"], {}),
    ("n**(p*v)", "n**(p**2) + n**(v**2)", ["0<p", "0<v"], {}),
    ("(1/n)**(theta_bar/(theta_bar-1))", "(1/n)**(theta/(theta-1))", ["theta>=theta_bar", "theta_bar>1"], {}),
    ("log(n)*n**(1-v)", "n", ["0<v<=1"], {}),
    ("log(d)*log(m)/eps", "log(n)**2/eps**2", ["n>=d", "n>=m", "eps<=1"], {}),
    ("n*sqrt(eps)", "d + m", ["n<=d+m", "eps<=1"], {}),
    ("(n*d)**(1/v)*d**(1/v)", "n**(2/v)", ["v>=1/2", "3*d<=sqrt(n)"], {"uniform": True}),
]


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    found = [compare(left, right, where=where, **options) for left, right, where, options in CLAIMS]
    assert all(isinstance(answer, Dominance) for answer in found)
    return [answer.document for answer in found]


def test_the_verifier_imports_the_standard_library_only() -> None:
    path = Path(certificates.__file__)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= sys.stdlib_module_names
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] in sys.stdlib_module_names


def test_certificates_survive_json(documents: list[dict[str, Any]]) -> None:
    for document in documents:
        verify(json.loads(json.dumps(document)))


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the numbers of a proof stand."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("symbol", "smaller", "larger", "total", "bound"):
                yield from _places(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _places(inner, (*path, i))
    elif isinstance(value, str):
        yield path


def _changed(document: dict[str, Any], path: tuple[Any, ...], change: Fraction) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    inner: Any = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = str(Fraction(inner[path[-1]]) + change)
    return changed


@pytest.mark.parametrize("change", [Fraction(1, 7), Fraction(-1, 1000)])
def test_every_changed_multiplier_is_rejected(documents: list[dict[str, Any]], change: Fraction) -> None:
    count = 0
    for document in documents:
        for path in _places(document["cases"], ("cases",)):
            changed = _changed(document, path, change)
            with pytest.raises(InvalidCertificate):
                verify(changed)
            count += 1
    assert count > 150


def test_every_changed_exponent_of_the_rates_is_rejected(documents: list[dict[str, Any]]) -> None:
    """A certificate proves its own claim, no other; only where a term has weight zero may it be anything."""
    document = documents[0]
    for path in _places(document["claim"]["left"], ("claim", "left")):
        with pytest.raises(InvalidCertificate):
            verify(_changed(document, path, Fraction(1, 7)))


@pytest.mark.parametrize("wider", [{"bound": "1", "closed": True}, {"bound": "2", "closed": True}])
def test_cells_must_cover_the_range(wider: dict[str, Any]) -> None:
    answer = compare("d*(1/n)**(1-1/p)", "d*(1/n)**(1/2)", where=["p>2"])
    document = copy.deepcopy(answer.document)
    document["claim"]["parameters"][0]["lower"] = [wider]
    with pytest.raises(InvalidCertificate, match="miss the lower end"):
        verify(document)


def test_a_gap_between_cells_is_rejected(documents: list[dict[str, Any]]) -> None:
    document = copy.deepcopy(documents[4])
    pieces = document["cases"][0]["proof"]["pieces"]
    assert [piece.get("at") for piece in pieces] == [None, "1/2", None, "1"]
    del pieces[1]
    with pytest.raises(InvalidCertificate, match="gap"):
        verify(document)


def test_every_case_needs_a_proof(documents: list[dict[str, Any]]) -> None:
    document = copy.deepcopy(next(d for d in documents if len(d["cases"]) == 2))
    document["cases"].pop()
    with pytest.raises(InvalidCertificate):
        verify(document)


def test_a_logarithm_needs_a_positive_power() -> None:
    document = copy.deepcopy(compare("log(n)*n", "n**2").document)
    verify(document)
    (proof,) = document["cases"][0]["proof"]["pairs"][0]
    proof["logs"][0]["power"] = "0"
    with pytest.raises(InvalidCertificate, match="positive power"):
        verify(document)


def test_an_argument_that_may_fall_below_one_is_rejected() -> None:
    document = copy.deepcopy(compare("log(n)*n", "n**2").document)
    assert [e["text"] for e in document["claim"]["constraints"]] == ["n>=1", "log(n)>=1"]
    ((proof,),) = document["cases"][0]["proof"]["pairs"]
    assert proof["constraints"] == ["0", "0"]
    del document["claim"]["constraints"][0], proof["constraints"][0]
    with pytest.raises(InvalidCertificate, match="at least one"):
        verify(document)


def test_an_order_of_logarithms_needs_a_reason() -> None:
    """log n ≲ log d from n = d^c·Π(constraints)^μ, with c or μ negative, or not at all."""
    document = copy.deepcopy(compare("log(d)", "log(n)", where=["n>=d"]).document)
    assert [e["text"] for e in document["claim"]["constraints"]][:2] == ["n>=d", "n>=1"]
    claim, case = document["claim"], document["cases"][0]
    claim["left"], claim["right"] = claim["right"], claim["left"]
    size = len(claim["constraints"])
    for c, mu in (("1", ["-1"]), ("0", ["0", "-1"]), ("1", ["0"])):
        case["orders"] = [
            {"smaller": "log(n)", "larger": "log(d)", "power": c, "multipliers": [*mu, *["0"] * (size - len(mu))]}
        ]
        ((pair,),) = case["proof"]["pairs"]
        pair["constraints"] = ["0"] * size + ["1"]
        with pytest.raises(InvalidCertificate, match=r"negative multiplier|not shown to be below"):
            verify(document)


def test_a_vanishing_denominator_is_rejected() -> None:
    document = copy.deepcopy(compare("d*(1/n)**(1-1/p)", "d*(1/n)**(1/2)", where=["p>=2"]).document)
    document["claim"]["denominator"] = {"p": "1", "1": "-3"}
    with pytest.raises(InvalidCertificate, match="denominator"):
        verify(document)


def _forged(left: list[str], right: list[str], constraints: list[str]) -> dict[str, Any]:
    """A certificate for the false claim n² ≲ nd + d² (with n ≥ 1, d ≥ 1)."""
    document = copy.deepcopy(compare("n**2", "n*d + d**2").document)
    assert document["verdict"] == "separated"
    assert document["claim"]["right"] == [[{"d": "1", "n": "1"}, {"d": "2"}]]
    pair = {"left": left, "right": right, "constraints": constraints, "logs": []}
    return document | {"verdict": "dominated", "cases": [{"orders": [], "proof": {"pairs": [[pair]]}}]}


@pytest.mark.parametrize(
    ("left", "right", "constraints", "message"),
    [
        (["1"], ["2", "-1"], ["0", "0"], "negative"),  # n² = (nd)²/d²
        (["1"], ["1", "0"], ["-1", "1"], "negative"),  # n² = nd·n/d
        (["0"], ["0", "0"], ["0", "0"], "positive sum"),
        (["1"], ["2", "0"], ["0", "2"], "positive sum"),  # n² = (nd)²·d^(−2)
        (["1"], ["1", "0"], ["0", "1"], "add up"),
        (["1"], ["1"], ["0", "1"], "malformed"),
    ],
)
def test_forged_certificates_are_rejected(left: list[str], right: list[str], constraints: list[str], message: str) -> None:
    with pytest.raises(InvalidCertificate, match=message):
        verify(_forged(left, right, constraints))


def test_a_certificate_is_not_uniform_by_saying_so() -> None:
    document = copy.deepcopy(compare("n**(p/2)*d**(-p)", "1", where=["p>=1", "n<=4*d**2"]).document)
    document["uniform"] = True
    for bound in ("1", "1000000"):
        for piece in document["cases"][0]["proof"]["pieces"]:
            piece["then"]["pairs"][0][0]["bound"] = bound
        with pytest.raises(InvalidCertificate, match="unbounded"):
            verify(document)


SEPARATIONS = [
    ("sqrt(d/n)", "d/n + 1/n", []),
    ("d*(1/n)**(1/2)", "d*(1/n)**(1-1/p)", ["p>=2"]),
    ("n*log(n)", "n", []),
    ("Min(log(n)/log(d), log(d))", "1", []),
    ("n/d", "1", ["n>=3*d", "d>=7"]),
]


@pytest.mark.parametrize(("left", "right", "where"), SEPARATIONS, ids=range(len(SEPARATIONS)))
def test_false_paths_are_rejected(left: str, right: str, where: list[str]) -> None:
    answer = compare(left, right, where=where)
    assert isinstance(answer, Separation)
    verify(json.loads(json.dumps(answer.document)))
    backwards = copy.deepcopy(answer.document)
    for level in backwards["witness"]["path"]:
        for symbol in level:
            level[symbol] = str(-Fraction(level[symbol]))
    still = copy.deepcopy(answer.document)
    still["witness"]["path"] = [{} for _ in still["witness"]["path"]]
    swapped = copy.deepcopy(answer.document)
    swapped["claim"]["left"], swapped["claim"]["right"] = swapped["claim"]["right"], swapped["claim"]["left"]
    for wrong in (backwards, still, swapped):
        with pytest.raises(InvalidCertificate):
            verify(wrong)


def test_a_path_outside_the_ranges_or_the_regime_is_rejected() -> None:
    document = compare("d*(1/n)**(1/2)", "d*(1/n)**(1-1/p)", where=["p>=2", "n>=5"]).document
    outside = copy.deepcopy(document)
    outside["witness"]["parameters"]["p"] = "3/2"
    with pytest.raises(InvalidCertificate, match="outside its range"):
        verify(outside)
    start = copy.deepcopy(document)
    start["witness"]["inside"] = {}
    with pytest.raises(InvalidCertificate, match="starts outside"):
        verify(start)


def test_a_path_that_leaves_the_regime_is_rejected() -> None:
    document = copy.deepcopy(compare("d", "n", where=["n>=d"]).document)
    witness = {"case": [], "parameters": {}, "left": 0, "right": 0, "inside": {}, "path": [{"d": "1"}]}
    with pytest.raises(InvalidCertificate, match="leaves the regime: n>=d"):
        verify(document | {"verdict": "separated", "witness": witness})


def test_the_argument_of_a_logarithm_may_not_fall() -> None:
    """Without its constraint, n could fall below one, where log n means 1."""
    document = copy.deepcopy(compare("log(n)", "1").document)
    document["claim"]["constraints"] = [e for e in document["claim"]["constraints"] if e["text"] != "n>=1"]
    document["witness"]["path"] = [{"n": "-1"}, {"log(n)": "1"}]
    with pytest.raises(InvalidCertificate, match="falls below one"):
        verify(document)


def test_logarithms_follow_their_arguments_on_a_path() -> None:
    document = copy.deepcopy(compare("n*log(n)", "n").document)
    document["witness"]["path"] = [{"log(n)": "1"}]
    with pytest.raises(InvalidCertificate, match="does not follow"):
        verify(document)


@pytest.mark.parametrize(
    "document", [{}, {"verdict": "true"}, {"verdict": "dominated"}, {"verdict": "separated", "claim": {}}]
)
def test_malformed_documents_are_rejected(document: dict[str, Any]) -> None:
    with pytest.raises(InvalidCertificate):
        verify(document)


polynomials = st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 2)), st.integers(-3, 6).map(Fraction), max_size=5)


@given(polynomials, st.tuples(st.fractions(0, 20), st.fractions(0, 20)))
@settings(deadline=None, max_examples=60)
def test_a_polynomial_called_non_negative_is(poly: certificates.Poly, point: tuple[Fraction, Fraction]) -> None:
    poly = certificates.add(poly)
    if certificates.nonnegative(poly):
        assert certificates.value_at(poly, point) >= 0
    if certificates.positive(poly):
        assert certificates.value_at(poly, [x + 1 for x in point]) > 0


@given(polynomials, st.fractions(0, 9), st.fractions(0, 9))
@settings(deadline=None, max_examples=40)
def test_substitution_keeps_the_sign(poly: certificates.Poly, t: Fraction, s: Fraction) -> None:
    """On the cell 1 < x < 3, y > x."""
    one, three = certificates.constant(1, 2), certificates.constant(3, 2)
    x = certificates.open_cell((one, one), (three, one), 0, 2)
    y = certificates.open_cell(x, None, 1, 2)
    point = [(1 + 3 * t) / (1 + t), (1 + 3 * t) / (1 + t) + s]
    inside = certificates.value_at(certificates.substitute(certificates.add(poly), [x, y], 2), [t, s])
    exact = certificates.value_at(certificates.add(poly), point)
    assert (inside > 0) - (inside < 0) == (exact > 0) - (exact < 0)
