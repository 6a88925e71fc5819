"""What the README shows works, its numbers are those that its commands print, and it is short."""

import json
import re
import shlex
import time
from collections import Counter
from pathlib import Path

import pytest

from tailproof.bounds import theorems
from tailproof.bounds.citations import citations
from tailproof.verification import mutants
from tailproof.verification.cli import main
from tailproof.verification.witness import replay_witness
from tests.documented import Page, blocks

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PLAIN = " ".join(TEXT.split())


def test_it_is_at_most_900_words_long() -> None:
    """Everything that white space separates, tables and code included."""
    assert len(TEXT.split()) <= 900


def test_the_first_two_sh_blocks_are_the_two_commands() -> None:
    commands = [block.text.strip() for block in blocks(TEXT) if block.kind == "sh"]
    assert commands == ["pip install . && tailproof verify", "pip install -e '.[dev]' && python -m pytest -q -n 2"]


def test_every_block_is_run_or_is_one_of_the_two_commands() -> None:
    assert {block.kind for block in blocks(TEXT)} == {"sh", "py", "console"}
    assert len(re.findall(r"^ *(?:```|~~~)", TEXT, re.M)) == 2 * len(blocks(TEXT))


def test_the_first_audit_and_the_first_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and commands, literally.  Seeds are fixed; were they not, the audit that finds nothing would err with probability
    0.0005."""
    page = Page(tmp_path)
    page.run(TEXT)
    assert page.commands == 2
    assert "`tailproof replay witness.json`" in TEXT
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["replay", "witness.json"]) == 1


def test_the_first_audit_is_quick_and_its_counterexample_small(tmp_path: Path) -> None:
    """Under 15 s of CPU (it takes two), and at most three distinct records in the two data sets together."""
    audit = TEXT.partition("## Audit your own function")[2].partition("\nKeep ")[0]
    start = time.process_time()
    Page(tmp_path).run(audit)
    assert time.process_time() - start < 15
    witness = json.loads((tmp_path / "witness.json").read_text(encoding="utf-8"))
    assert witness["data"]["shape"][1] == 1
    assert len({*witness["data"]["values"], *witness["neighbour"]["values"]}) <= 3


def test_the_table_s_commands_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Those that are complete, but for the sweep, which takes longer; `tests/test_docs.py` runs one."""
    commands = re.findall(r"\| `tailproof ([^`]+)` \|", TEXT)
    assert len(commands) == 9
    run = [command for command in commands if "…" not in command and not command.startswith("sweep")]
    assert len(run) >= 6
    for command in run:
        assert main(shlex.split(command)) == 0, command
    assert capsys.readouterr().out


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert len(links) > 6
    assert [link for link in links if not (ROOT / link).exists()] == []


# --- numbers ----------------------------------------------------------------------------------------------------------------


def test_counts_of_libraries_are_those_of_the_cached_audits() -> None:
    """Our own calculators are not counted."""
    results = json.loads((ROOT / "verification" / "libraries.json").read_text(encoding="utf-8"))["results"].values()
    verdicts = Counter(row["verdict"] for row in results if row["library"].lower() != "tailproof")
    assert f"{verdicts['violated']} of {verdicts.total()} settings" in PLAIN
    assert f"and {verdicts['inconclusive']} are undecided" in PLAIN


def test_counts_of_the_zoo_are_those_of_the_cached_study() -> None:
    rows = list(json.loads((ROOT / "benchmarks" / "zoo.json").read_text(encoding="utf-8")).values())
    broken, correct = ([row["verdict"] == "violated" for row in rows if row["holds"] is holds] for holds in (False, True))
    assert f"{len(rows)} mechanisms of known privacy" in PLAIN
    assert f"audits flag {sum(broken)} of {len(broken)} broken ones and none of {len(correct)} correct ones" in PLAIN
    assert not any(correct)


def test_the_count_of_broken_copies() -> None:
    assert f"all {len(mutants.MUTANTS)} deliberately broken copies" in PLAIN


def test_what_it_says_of_p0() -> None:
    """The shipped counterexample, as `verify --only P0.A3` runs it."""
    witness = json.loads((ROOT / "verification" / "counterexamples" / "P0.A3.json").read_text(encoding="utf-8"))
    found = replay_witness(witness)
    assert found.conclusive
    assert 80 < found.ratio < 90
    assert f"exceeds its claimed δ more than eightyfold on {len(witness['data'])} records" in PLAIN


def test_reconstructed_statements_are_counted() -> None:
    listed = theorems()
    restored = [statement for statement in listed if statement.reconstructed]
    of_p4 = [statement for statement in listed if statement.paper == "P4" and statement.source != "ours"]
    assert f"{len(restored)} statements are *reconstructed*" in PLAIN
    assert f"{sum(s.reconstructed for s in of_p4)} of P4's {len(of_p4)} statements, and P1.T1 and P1.T3" in PLAIN
    assert {s.id for s in restored if s.paper != "P4"} == {"P1.T1", "P1.T3"}


def test_the_papers_are_cited() -> None:
    for paper in citations():
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| {paper.id} |"))
        assert paper.title in row
        assert all(name.split()[-1] in row for name in paper.authors)
        assert (paper.identifier or str(paper.year)) in row
