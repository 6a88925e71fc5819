"""Derivations: substitution, removal of dominated terms, the best choice of a parameter."""

import math

import pytest

from tailproof.bounds import certificates
from tailproof.bounds.compare import Dominance, equal_rates
from tailproof.bounds.derive import best_choice, derive, simplify, substitute
from tailproof.bounds.rates import parse_rate
from tailproof.refimpl.validation import InputError

V = "0<v<=1"
# rate, parameter, conditions, the best choice, the best rate
CHOICES = [
    ("u/B**v + B/(n*eps)", "B", [V], "(u*n*eps)**(1/(1+v))", "u**(1/(1+v))*(1/(n*eps))**(v/(1+v))"),  # P3, Theorem 1
    (
        "u/B**v + sqrt(B**(1-v)*u/n) + B/(n*eps)",  # with the sampling error, which the privacy noise hides
        "B",
        [V, "eps<=1"],
        "(u*n*eps)**(1/(1+v))",
        "u**(1/(1+v))*(1/(n*eps))**(v/(1+v))",
    ),
    (
        "G**p/C**(p-1) + C*sqrt(d)/(n*eps) + G/sqrt(n)",  # clipping at C
        "C",
        ["p>=2"],
        "G*(n*eps/sqrt(d))**(1/p)",
        "G*(sqrt(d)/(n*eps))**(1-1/p) + G/sqrt(n)",
    ),
    ("lam*D**2 + C**2/(lam*n)", "lam", [], "C/(D*sqrt(n))", "C*D/sqrt(n)"),  # regularisation
    ("D**2/(eta*T) + eta*G**2", "eta", [], "D/(G*sqrt(T))", "D*G/sqrt(T)"),  # step size
    ("1/sqrt(T) + sqrt(T)*d/(n*eps)", "T", [], "n*eps/d", "sqrt(d/(n*eps))"),
]


@pytest.mark.parametrize(("rate", "parameter", "where", "choice", "best"), CHOICES, ids=range(len(CHOICES)))
def test_best_choices(rate: str, parameter: str, where: list[str], choice: str, best: str) -> None:
    found = best_choice(rate, parameter, where)
    assert equal_rates(found.choice, choice, where=where)
    assert equal_rates(found.rate, best, where=where)
    for proof in (found.optimal, found.achieved):
        assert isinstance(proof, Dominance)
        certificates.verify(proof.document)
    assert parameter in {s for clause in found.optimal.document["claim"]["right"] for m in clause for s in m}


def test_the_best_choice_is_best_in_numbers() -> None:
    """Against a fine grid of values of the parameter: within the constant that three terms and their weights allow."""
    text = "T + 1/T + T**2/n + d/T**3"
    found, rate = best_choice(text, "T"), parse_rate(text)
    for n, d in [(1.0, 1.0), (1e3, 1e9), (1e9, 1e3), (7.0, 1e5)]:
        values = {"n": n, "d": d}
        least = min(rate.evaluate(values | {"T": math.exp(0.01 * i)}) for i in range(-2500, 2500))
        chosen = rate.evaluate(values | {"T": found.choice.evaluate(values)})
        assert least <= chosen * 1.01
        assert chosen <= 16 * least
        assert found.rate.evaluate(values) <= 16 * least


def test_a_term_without_the_parameter_stays() -> None:
    found = best_choice("T/n + d", "T")
    assert equal_rates(found.rate, "d")


@pytest.mark.parametrize(
    ("rate", "parameter", "where", "message"),
    [
        ("T*d", "T", [], "as small as you like for small T"),
        ("d/T", "T", [], "as small as you like for large T"),
        ("T + 1/T", "S", [], "does not stand in"),
        ("T + 1/T", "T", ["T>=1"], "must be free"),
        ("Min(T, d) + 1/T", "T", [], "without minima"),
        ("T**(p-3) + 1/T", "T", ["p>=2"], "changes its sign"),
    ],
)
def test_bad_questions_are_refused(rate: str, parameter: str, where: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        best_choice(rate, parameter, where)


def test_choices_may_refer_to_each_other() -> None:
    rate = substitute("R/sqrt(T) + C*T", {"T": "n*C", "C": "G*sqrt(n)"})
    assert equal_rates(rate, "R/(n**(3/4)*sqrt(G)) + G**2*n**2")
    with pytest.raises(InputError, match="circle"):
        substitute("a + b", {"a": "b", "b": "a"})
    with pytest.raises(InputError, match="choice of a"):
        substitute("a + b", {"a": "b +"})


def test_simplify_keeps_the_rate_and_certifies_what_it_drops() -> None:
    rate, where = "d/n + sqrt(d/n) + 1/n + (1/n + d/n)**(1-1/p)", ["n>=d", "p>=2"]
    found = simplify(rate, where)
    assert found.rate.expression == parse_rate("sqrt(d/n)").expression
    assert len(found.removed) >= 3
    assert equal_rates(found.rate, rate, where=where)
    for _, proof in found.removed:
        certificates.verify(proof.document)


def test_a_theorem_from_its_lemma() -> None:
    """P3, Theorem 6 from Lemmas 17 and 19 with the printed choices (u and R constants, logarithms dropped)."""
    bias = "(d**((1+3*v)/(2*(1+v)))/n**(v/(1+v)) + sqrt(d)/tau**v)"
    variance = "(tau**2*d**4*T/(eps*n)**2 + d**((1+3*v)/(1+v))/n**(2*v/(1+v)) + d/tau**(2*v))"
    lemma = f"D**2/(eta*T) + eta + eta*{variance} + D*{bias}"
    choices = {"T": "(eps*n/(tau*d**2))**2", "eta": "D/sqrt(T)", "tau": "(eps*n/d**(3/2))**(1/(1+v))"}
    found = derive(lemma, choices, [V, "eps<=1"])
    printed = "D*(d**((1+4*v)/(2+2*v))/(eps*n)**(v/(1+v)) + d**((3+12*v)/(2+2*v))/(eps*n)**(3*v/(1+v)))"
    assert equal_rates(found.rate, printed, where=[V, "eps<=1"])
    assert len(found.removed) == 2  # of four different terms
    # The proof's last display keeps the larger power of d with the smaller power of n: more than what was derived.
    last = "D*d**((3+12*v)/(2+2*v))/(eps*n)**(v/(1+v))"
    assert not equal_rates(found.rate, last, where=[V, "eps<=1"])
