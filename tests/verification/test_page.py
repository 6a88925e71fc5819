"""The report's page: what it says, that it says everything, that it asks for nothing, and that its commands run."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tailproof.verification import libraries
from tailproof.verification.cli import main
from tailproof.verification.page import catalogue, page, plots, rates, replay
from tailproof.verification.page.parts import bar, link_errata, multiple, number, ratio, table, text
from tests.verification.small_report import pair, small_report, sweep

Capture = pytest.CaptureFixture[str]


class _Reader(HTMLParser):
    """Collects ids, links, text, and whether every tag is closed in order."""

    EMPTY = frozenset({"meta", "link", "input", "br", "rect", "line", "circle", "path", "wbr"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.EMPTY:
            self.open.append(tag)
        named = {name: value or "" for name, value in attrs}
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if tag == "a" else []
        self.sources += [named[name] for name in ("src", "href") if name in named and tag != "a"]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)


def read(document: str) -> _Reader:
    reader = _Reader()
    reader.feed(document)
    assert reader.open == []
    return reader


def test_the_page_is_well_formed_whole_and_on_its_own() -> None:
    report = small_report()
    document = page(report)
    reader = read(document)
    assert len(reader.ids) == len(set(reader.ids))
    assert all(link.startswith("#") for link in reader.links)
    assert {link[1:] for link in reader.links} <= set(reader.ids)
    assert reader.sources == ["data:,"]
    assert "http" not in document
    shown = "".join(reader.words)
    for part in ("findings", "mutants", "comparisons", "errata", "published_claims", "statements"):
        assert report[part]
        for entry in report[part]:
            assert (entry.get("id") or entry["algorithm"]) in shown
    assert "Nothing unexpected" in shown
    assert json.dumps(report["comparisons"][0]["certificates"][0]["verdict"]) in shown
    assert page(report) == document  # the same bytes for the same report


def test_text_from_a_report_is_escaped_everywhere() -> None:
    report = small_report()
    evil = "<script>alert(1)</script>\"'&"

    def poison(value: Any, key: str = "") -> Any:
        kept = {"status", "check", "verdict", "upper_is", "preset", "relation", "rows", "id"}  # words that lead elsewhere
        if isinstance(value, dict):
            return {name: poison(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [poison(item, key) for item in value]
        return value + evil if isinstance(value, str) and key not in kept and value != "inf" else value

    report = poison(report) | {"failures": [evil]}
    reader = read(page(report))
    assert page(report).count("<script>") == 1  # the page's own
    assert evil in "".join(reader.words)


def test_failures_come_first_and_loudly() -> None:
    report = small_report() | {"failures": ["P2.A2: mutant 'x' survived"]}
    document = page(report)
    assert "1 thing came out otherwise than expected" in document
    assert document.index("survived") < document.index("How to read this page")
    assert "Nothing unexpected" not in document


def test_an_old_or_partial_report_still_has_a_page() -> None:
    parts = (
        "findings",
        "mutants",
        "inapplicable",
        "statements",
        "agreements",
        "comparisons",
        "errata",
        "sweeps",
        "sandwich",
    )
    empty: dict[str, Any] = {part: [] for part in (*parts, "published_claims")} | {"second_stage": None}
    assert "Result" in "".join(read(page(empty)).words)
    assert "sandwich --plot" in page(empty | {"preset": "quick"})  # says what was not measured, and how to
    report = small_report()
    for finding in report["findings"]:
        del finding["losses"]
    for entry in report["comparisons"]:
        for key in ("left", "right", "relation", "explained", "certificates"):
            del entry[key]
    del report["versions"], report["algorithms"], report["libraries"]
    assert "Other libraries" not in "".join(read(page(report)).words)
    assert page(report | {"libraries": None}) == page(report)  # a selection


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.5, "0.5"), (1.0000000000000013, "1"), (1.000874, "1.00087"), (3.1e10, "3.1e10"), (float("inf"), "∞")],
)
def test_multiples(share: float, shown: str) -> None:
    assert multiple(share) == shown
    assert f"{shown}×" in bar(share)


def test_bars_pass_the_tick_exactly_when_the_claim_is_passed() -> None:
    def length(share: float) -> float:
        found = re.search(r"width:([\d.]+)%", bar(share))
        assert found is not None
        return float(found[1])

    assert length(0.0) == 0.0
    assert length(1.0) == 75.0
    assert length(0.99) < 75.0 < length(1.01) < length(4.0) < 100.0
    assert length(float("inf")) == 100.0
    assert bar(None) == ""
    assert ratio("inf", 1.0) == float("inf")
    assert ratio(None, 1.0) is None
    assert ratio(0.0, 0.0) is None
    assert (number("inf"), number(None), text(0.123456)) == ("∞", "–", "0.1235")


def test_errata_are_linked_in_escaped_text() -> None:
    linked = link_errata("far < P0.(6); P9.X", ["P0.(6)"])
    assert linked == 'far &lt; <a href="#erratum-P0.-6">P0.(6)</a>; P9.X'
    assert 'data-label="a"' in table(["a<svg></svg>"], [["1"]])


# --- other libraries --------------------------------------------------------------------------------------------------------


def _chapter(rows: list[dict[str, Any]], versions: dict[str, str]) -> str:
    document = page(small_report() | {"libraries": {"versions": versions, "results": rows}})
    return document.partition('<section id="libraries">')[2].partition("</section>")[0]


def _audit(**changes: Any) -> dict[str, Any]:
    about = {"library": "lib", "subject": "mean", "setting": "ε = 1", "claim": "pure(eps=1)", "claimed": 1.0, "note": ""}
    numbers = {"verdict": "violated", "found": 2.5, "how": "runs", "confidence": 0.99999, "samples": 1200, "seconds": 3.0}
    return about | numbers | {"witness": "zeros, or a one", "script": "lib_mean.py"} | changes


def test_every_kept_audit_is_on_the_page_with_its_versions() -> None:
    kept = libraries.kept()
    rows = kept["results"]
    document = page(small_report() | {"libraries": kept})
    chapter = _chapter(rows, kept["versions"])
    shown = "".join(read(chapter).words)
    assert all(f"{name} {version}" in shown for name, version in kept["versions"].items())
    for row in rows:
        assert all(row[key] in shown for key in ("library", "subject", "setting", "claim", "witness", "note"))
        assert f"python examples/audits/{row['script']}" in shown
        assert row["cause"][1:] in shown
        assert bool(row["cause"]) == (row["verdict"] == "violated")
    for verdict in ("violated", "inconclusive", "consistent"):
        count = sum(row["verdict"] == verdict for row in rows)
        assert len(re.findall(rf'<span class="badge {verdict}">. {verdict}</span>', chapter)) == count > 0
        assert f"{count} {verdict}" in shown
    assert shown.count("runs, confidence 0.99999") == sum(row["samples"] > 0 for row in rows)
    violated = sum(row["verdict"] == "violated" for row in rows)
    assert f'href="#libraries"><b>{violated} of {len(rows)}</b>' in document
    assert libraries.COMMAND in shown
    assert "not run anew" in shown
    assert _chapter(rows, dict(reversed(kept["versions"].items()))) == chapter  # as when report.json is read again


def test_a_row_of_an_audit() -> None:
    shown = "".join(read(_chapter([_audit()], {"lib": "1.2", "numpy": "2"})).words)
    assert "1 settings of lib 1.2 (with numpy 2)" in shown
    assert "≥\N{NO-BREAK SPACE}2.5 1200 runs, confidence 0.99999" in shown
    assert "2.5×" in shown
    assert "3.00" in shown
    exact = "".join(read(_chapter([_audit(samples=0, how="exact", confidence=1.0)], {})).words)
    assert "2.5 exact" in exact
    assert "1 settings of lib," in exact
    boundless = "".join(read(_chapter([_audit(found="inf", samples=0, how="exact")], {})).words)
    assert "no bound exact ∞×" in boundless
    assert "∞×" not in "".join(read(_chapter([_audit(claimed=None)], {})).words)  # no bar without a number


def test_violations_come_first_and_what_is_consistent_is_folded() -> None:
    rows = [_audit(verdict=v, subject=v[:4]) for v in ("consistent", "inconclusive", "violated")]
    rows.append(_audit(verdict="consistent", subject="viol", setting="another"))
    chapter = _chapter(rows, {})
    assert [chapter.index(f"<b>{name}</b>") for name in ("viol", "inco", "cons")] == sorted(
        chapter.index(f"<b>{name}</b>") for name in ("viol", "inco", "cons")
    )
    assert "1 of 2 violated" in chapter
    (details,) = re.findall(r"<details([^>]*)><summary>[^/]*/b> <span[^>]*><span[^>]*>○ 2 consistent", chapter)
    assert "open" not in details
    (details,) = re.findall(r"<details([^>]*)><summary>[^/]*/b> <span[^>]*><span[^>]*>\? 1 inconclusive", chapter)
    assert "open" in details


@pytest.mark.parametrize("verdict", ["violated", "inconclusive", "consistent"])
@pytest.mark.parametrize("key", ["library", "subject", "setting", "claim", "how", "witness", "note", "script", "cause"])
def test_text_of_audits_is_escaped(verdict: str, key: str) -> None:
    evil = '<i>&"'
    chapter = _chapter([_audit(verdict=verdict, samples=0) | {key: evil}], {"<i>": "<i>"})
    assert "<i>" not in chapter
    if key not in ("script", "cause") or verdict == "violated":
        assert evil in "".join(read(chapter).words)


# --- pictures ---------------------------------------------------------------------------------------------------------------


def _losses(**changes: Any) -> dict[str, Any]:
    about = {"claim": "pure(eps=1)", "epsilon": 1.0, "delta": None, "rho": None, "mu": None, "of": "whole transcripts"}
    numbers = {"low": -1.0, "high": 3.0, "shares": [0.25, 0.5, 0.0, 0.25], "mean": 0.3, "spread": 1.0, "largest": 3.0}
    return about | numbers | {"draws": 400, "beyond": 0.25, "infinite": 0.0} | changes


def test_histograms_mark_epsilon_and_what_lies_beyond() -> None:
    drawn = plots.histogram(_losses(), "title <x>")
    assert drawn.count('class="share"') == 2
    assert drawn.count('class="beyond"') == 1
    assert "claimed ε = 1" in drawn
    assert "title &lt;x&gt;" in drawn
    line = re.search(r'<line x1="([\d.]+)" y1="[\d.]+" x2="\1" [^>]*class="claim"', drawn)
    red = re.search(r'<rect x="([\d.]+)"[^>]*class="beyond"', drawn)
    assert line is not None
    assert red is not None
    assert float(red[1]) > float(line[1])
    far = plots.histogram(_losses(epsilon=48.0, beyond=0.0), "")
    assert "far to the right" in far
    assert 'class="claim"' not in far
    curve = plots.histogram(_losses(epsilon=None, rho=0.5, beyond=None), "")
    assert 'class="claim dashed"' in curve
    assert plots.gaussian_loss(_losses(rho=0.5)) == (0.5, 1.0)
    assert plots.gaussian_loss(_losses(mu=2.0)) == (2.0, 2.0)


def test_captions_say_of_how_many_draws_and_what_the_check_found() -> None:
    finding = {
        "algorithm": "P4.S1",
        "check": "transcript",
        "measured": 0.9,
        "bound": 1.0,
        "detail": "exact loss",
        "losses": _losses(),
    }
    said = catalogue.loss_caption(finding)
    assert "400 draws" in said
    assert "share above ε (red): 0.25" in said
    assert "found <b>0.9</b>, claimed 1" in said
    said = catalogue.loss_caption(finding | {"losses": _losses(epsilon=None, rho=0.5, draws=None, infinite=0.1)})
    assert "exact shares" in said
    assert "claimed ρ = 0.5" in said
    assert "a share of 0.1" in said
    assert "± 0.1," in catalogue.loss_caption(finding | {"losses": _losses(epsilon=None, mu=1.0)})


def test_rate_plots_anchor_the_rate_at_the_first_value_that_counts() -> None:
    result = sweep("falls")
    assert plots.anchor(result)["at"] == 1000.0
    drawn = plots.rate(result, "t")
    assert drawn.count("<circle") == 3
    assert drawn.count("hollow") == 1
    caption = rates.sweeps(small_report() | {"sweeps": [result]})
    assert "20 runs at each value of n, with 95 % bootstrap intervals" in caption
    assert "only slopes can be compared" in caption


def test_strips_share_one_scale() -> None:
    rows = [pair("A"), pair("B", measured=0.5, interval=(0.25, 1.0), upper=900.0)]
    span = plots.strip_range(rows)
    assert span[0] < 0.25
    assert span[1] > 900
    assert "upper bound 900 (explicit)" in plots.strip(rows[1], span)
    floors = {re.search(r'<line x1="([\d.]+)"[^>]*class="floor"', plots.strip(row, span))[1] for row in rows}  # type: ignore[index]
    assert len(floors) == 1


# --- replays ----------------------------------------------------------------------------------------------------------------


def test_witness_files_are_those_that_the_page_names() -> None:
    report = small_report()
    files = replay.witness_files(report)
    named = set(re.findall(r"tailproof replay witnesses/([^<]+)<", page(report)))
    assert named == set(files)
    assert {"P3.A2-composition.json", "P3.A2-composition-2.json"} <= named  # two directions: neither file replaces the other
    assert files["P3.A2-composition.json"] != files["P3.A2-composition-2.json"]


def test_commands_of_the_page_run(tmp_path: Path, capsys: Capture) -> None:
    """Those that take a moment; every one of them is parsed."""
    report = small_report()
    commands = [replay.comparison(entry) for entry in report["comparisons"]]
    for command, entry in zip(commands, report["comparisons"], strict=True):
        expected = 0 if entry["verdicts"][0] == "dominated" else 1
        assert main(shlex.split(command)[1:]) == expected
    for name, witness in replay.witness_files(report).items():
        (tmp_path / name).write_text(json.dumps(witness))
    words = shlex.split(replay.witness("P3.A2-composition-2.json"))
    assert main([words[1], str(tmp_path / Path(words[2]).name)]) == 1
    assert "still violates" in capsys.readouterr().out
    for command in (replay.statement(report["statements"][0]), replay.erratum(report["errata"][0])):
        python, *rest = shlex.split(command)
        assert python == "python"
        said = subprocess.run([sys.executable, *rest], capture_output=True, text=True, check=True).stdout
        assert re.search(r"StatementCheck\(id='P0.Def3'|\[True\]", said)


def test_commands_carry_seed_preset_and_selection() -> None:
    report = {"seed": 7, "preset": "full", "only": ["P2.A2", "P0.A1"]}
    assert replay.algorithm("P2.A2", report) == "tailproof verify --only P2.A2 --full --seed 7 --report again"
    assert replay.everything(report) == "tailproof verify --only P2.A2 P0.A1 --full --seed 7 --report again"
    assert replay.everything({}) == "tailproof verify --report again"
    assert replay.sandwich(pair("P4.A1 (double)")) == "tailproof sandwich --only 'P4.A1 (double)' --runs 20"
    command = "tailproof sweep P1.T8 --problem 'losses, falls' --preset theory --over n=100,1000,10000 --runs 20 --seed 3"
    assert replay.sweep(sweep("falls"), 3) == command


def test_report_command_makes_the_page_again(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "report.json").write_text(json.dumps(small_report()))
    assert main(["report", str(tmp_path)]) == 0
    assert (tmp_path / "report.html").read_text() == page(small_report())
    assert "page:" in capsys.readouterr().out
    assert main(["report", str(tmp_path / "none")]) == 2
    assert "there is no report.json here" in capsys.readouterr().err
    (tmp_path / "report.json").write_text("[]")
    assert main(["report", str(tmp_path)]) == 2
    assert "damaged or of another version" in capsys.readouterr().err
