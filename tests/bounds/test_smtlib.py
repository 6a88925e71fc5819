"""An independent solver confirms the answers."""

import pytest
import z3
from tests.bounds.test_compare import LOGS, PAPERS

from tailproof.bounds.compare import Dominance, compare
from tailproof.bounds.smtlib import export

STEPS = 50_000_000  # of z3's own count, a thousand times what any of these takes: unlike seconds, the same on every machine


def _ask(script: str) -> str:
    solver = z3.Solver()
    solver.set("rlimit", STEPS)
    solver.from_string(script)
    return str(solver.check())


@pytest.mark.parametrize(("left", "right", "where"), [case[:3] for case in PAPERS], ids=range(len(PAPERS)))
def test_z3_agrees_on_the_papers_rates(left: str, right: str, where: list[str]) -> None:
    for a, b in ((left, right), (right, left)):
        answer = compare(a, b, where=where)
        if isinstance(answer, Dominance):
            assert _ask(export(answer.document)) == "unsat"
        elif not answer.document["claim"]["logs"]:
            assert _ask(export(answer.document)) == "sat"


@pytest.mark.parametrize(("left", "right", "where"), [case[:3] for case in LOGS if case[3]], ids=lambda x: str(x)[:40])
def test_z3_confirms_certificates_with_logarithms(left: str, right: str, where: list[str]) -> None:
    assert _ask(export(compare(left, right, where=where).document)) == "unsat"


def test_a_wrong_claim_is_not_confirmed() -> None:
    document = compare("d/n", "sqrt(d/n)", where=["n>=d"]).document
    document["claim"]["constraints"] = [e for e in document["claim"]["constraints"] if e["text"] != "n>=d"]
    assert _ask(export(document)) == "sat"


def test_the_script_is_plain_smtlib() -> None:
    script = export(compare("d*(1/n)**(1-1/p)", "d*(1/n)**(1/2)", where=["p>=2"]).document)
    assert script.startswith("; not (")
    assert "(set-logic QF_NRA)" in script
    assert script.count("(") == script.count(")")
    assert script.endswith("(check-sat)\n")
