"""Every check, class of bug and verdict has a text with all its parts, and what its example says is what happens."""

import ast
import json
import re
from typing import Any, get_args

import pytest

from tailproof.refimpl.validation import InputError
from tailproof.verification import explanations, mutants
from tailproof.verification.check import judge_mutant
from tailproof.verification.cli import main
from tailproof.verification.mechanism_checks import check_mechanism
from tailproof.verification.pair_checks import PAIR_CHECKS
from tailproof.verification.report import Status
from tailproof.verification.vectors.bugs import BUG_CLASSES
from tailproof.verification.witness import replay_witness

ALL = explanations.explanations()
PARTS = {
    "checks": ["What it does", "Why it matters", "Example", "What it misses", "Fix"],
    "bugs": ["What it is", "Why it matters", "Example", "Fix"],
    "verdicts": ["What it means", "What comes with it", "What to do"],
}
FURTHER = (  # checks that are not in a table of the code; a report of all algorithms has them, too
    "sensitivity search",
    "ledger",
    "composition",
    "calibration",
    "utility",
    "amplification conditions",
    "amplified claim",
    "amplified claim, tiny δ",
    "final iterate",
    "vectors",
)
MISTAKE = re.compile(r'^ {4}(\S+) with the mistake\s+"(.+?)", check (.+):\n {4}claimed (\S+), found (\S+)$', re.M)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_a_text_has_all_its_parts_and_fits_a_terminal(one: explanations.Explanation) -> None:
    assert re.findall(r"^## (.+)$", one.text, re.M) == PARTS[one.kind]
    assert max(map(len, one.text.splitlines())) <= 79
    assert 0 < len(one.summary) <= 51  # in the list, beside its name


def outputs(data: Any, rng: Any) -> float:  # noqa: ARG001
    return 0.0


def releases(data: Any, channel: Any) -> float:  # noqa: ARG001
    return 0.0


def test_nothing_is_left_out() -> None:
    black_box = [name for name, _ in check_mechanism(outputs, "pure(eps=1)")]
    exact = [name for name, _ in check_mechanism(releases, "pure(eps=1)", bounds=(0, 1))]
    for name in {*PAIR_CHECKS, *FURTHER, *black_box, *exact, *BUG_CLASSES, *get_args(Status)}:
        assert explanations.explain(name)
    assert set(explanations.names("bugs")) == set(BUG_CLASSES)
    assert set(explanations.names("verdicts")) == set(get_args(Status))


def test_names_that_a_text_mentions_have_texts() -> None:
    mentioned = {name for one in ALL for name in re.findall(r"\b[A-Z]{4,}(?:_[A-Z]+)*\b", one.text)}
    assert mentioned - {"CHECK", "FILE", "FREE", "README"} <= set(BUG_CLASSES)


@pytest.mark.parametrize(("wrong", "meant"), [("sensitivty", "sensitivity"), ("unclippd", "UNCLIPPED"), ("leger", "ledger")])
def test_an_unknown_name_is_refused_with_the_nearest_one(wrong: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"name = '{wrong}': must be .*did you mean '{meant}'"):
        explanations.explain(wrong)


@pytest.mark.parametrize("one", [one for one in ALL if "```diff" in one.text], ids=lambda one: one.name)
def test_both_sides_of_a_fix_are_python(one: explanations.Explanation) -> None:
    for body in re.findall(r"^```diff\n(.*?)^```$", one.text, re.M | re.S):
        for side in "-+":
            code = "\n".join(line[1:] for line in body.splitlines() if line[0] in f" {side}")
            ast.parse(f"def wrapped():\n{re.sub('^', '    ', code, flags=re.M)}")
        assert re.search(r"^-", body, re.M)
        assert re.search(r"^\+", body, re.M)


EXAMPLES = sorted({found for one in ALL for found in MISTAKE.findall(one.text)})


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example[0]} {example[1]}")
def test_an_example_is_what_replay_finds(example: tuple[str, ...]) -> None:
    algorithm, name, check, claimed, found = example
    mutant = next(one for one in mutants.MUTANTS if (one.algorithm, one.name) == (algorithm, name))
    witness = judge_mutant(mutant, seed=0).witness
    assert witness is not None
    assert witness["check"] == check
    again = replay_witness(witness)
    assert again.measured == pytest.approx(float(found), rel=1e-6)
    assert again.bound == pytest.approx(float(claimed), rel=1e-6)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 10


def test_the_command_prints_a_text_or_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "sensitivity", "search"]) == 0
    assert capsys.readouterr().out == explanations.explain("sensitivity search").rstrip() + "\n"
    assert main(["explain"]) == 0
    listed = capsys.readouterr().out
    assert all(f"  {name} " in listed for name in explanations.names())
    assert max(map(len, listed.splitlines())) < 80
    assert main(["explain", "closed", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "checks"
    assert main(["explain", "clsed"]) == 2
    assert "did you mean 'closed'" in capsys.readouterr().err
