"""The report's page: what it says, that it says everything, that it asks for nothing, and that its commands run."""

from __future__ import annotations

import json
import math
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
from tailproof.verification.page import catalogue, page, plots, published, rates, replay
from tailproof.verification.page.parts import apart, axis, bar, link_errata, multiple, number, ratio, table, text
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
    inside, outside = ({link for link in reader.links if link.startswith("#") is here} for here in (True, False))
    assert {link[1:] for link in inside} <= set(reader.ids)
    assert outside == {paper["url"] for paper in report["papers"] if paper["url"]}  # to follow; the page asks for nothing
    assert reader.sources == ["data:,"]
    assert set(re.findall(r'<use href="([^"]*)"', document)) == {"#axis"}
    assert "axis" in reader.ids
    shown = "".join(reader.words)
    for part in ("findings", "mutants", "comparisons", "errata", "published_claims", "statements"):
        assert report[part]
        for entry in report[part]:
            assert (entry.get("id") or entry["algorithm"]) in shown
    assert "For maintainers: every result is the expected one" in shown
    assert json.dumps(report["comparisons"][0]["certificates"][0]["verdict"]) in shown
    assert page(report) == document  # the same bytes for the same report


def test_text_from_a_report_is_escaped_everywhere() -> None:
    report = small_report()
    evil = "<script>alert(1)</script>\"'&"

    def poison(value: Any, key: str = "") -> Any:
        kept = {
            "status",
            "check",
            "verdict",
            "upper_is",
            "preset",
            "relation",
            "rows",
            "id",
            "url",
            "reading",
        }  # words that lead elsewhere
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
    assert "does not match the expected results: 1 difference." in document
    assert document.index("survived") < document.index("These published privacy claims fail")
    assert "every result is the expected one" not in document


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


def _end(share: float) -> float:
    """Where a bar's line ends."""
    found = re.search(r'x2="([\d.]+)" y2="9" class="stem"', bar(share))
    assert found is not None
    return float(found[1])


def test_bars_stand_on_a_labelled_log_axis() -> None:
    labels = {words: float(x) for x, words in re.findall(r'<text x="([\d.]+)"[^>]*>(\d+×)</text>', axis())}
    assert list(labels) == ["1×", "10×", "100×"]
    for words, x in labels.items():
        assert _end(float(words.removesuffix("×"))) == pytest.approx(x)
    assert labels["10×"] - labels["1×"] == pytest.approx(labels["100×"] - labels["10×"], abs=0.11)
    ends = [_end(share) for share in (0.17, 0.99, 1.06, 2.0, 8.0, 43.0, 87.0)]
    assert ends == sorted(set(ends))
    assert _end(87.0) - _end(8.0) > 0.9 * (labels["10×"] - labels["1×"])  # not alike


def test_the_ends_of_a_bar_say_what_lies_beyond() -> None:
    far, infinite, inside, small = bar(2.5e5), bar(math.inf), bar(87.0), bar(1e-6)
    assert ("<path" in far, "<path" in infinite, "<path" in inside, "<path" in small) == (True, False, False, True)
    assert ('class="end">∞<' in infinite, "∞" in far) == (True, False)
    assert ("<circle" in inside, "<circle" in far, "<circle" in infinite) == (True, False, False)
    assert 'class="bar bad"' in bar(2.0, bad=True)
    assert bar(None) == ""
    assert ratio("inf", 1.0) == math.inf
    assert ratio(None, 1.0) is None
    assert ratio(0.0, 0.0) is None
    assert (number("inf"), number(None), text(0.123456), number(1e5), number(1e-5)) == ("∞", "–", "0.1235", "1e5", "1e-5")


@pytest.mark.parametrize(
    ("measured", "bound", "shown"),
    [
        (0.9999999999813598, 0.99999, ("1", "0.99999")),
        (0.9998730655, 0.999, ("0.9999", "0.999")),
        (1.00000001, 1.0, ("1.00000001", "1")),
        (2.0, 2.0, ("2", "2")),
        (166567.31, 1.8856, ("1.666e5", "1.886")),
        ("inf", 0.8, ("∞", "0.8")),
        (None, 1.0, ("–", "1")),
    ],
)
def test_numbers_that_differ_are_told_apart(measured: Any, bound: Any, shown: tuple[str, str]) -> None:
    assert apart(measured, bound) == shown


def test_errata_are_linked_in_escaped_text() -> None:
    linked = link_errata("far < P0.(6); P9.X", ["P0.(6)"])
    assert linked == 'far &lt; <a href="#erratum-P0.-6">P0.(6)</a>; P9.X'
    assert 'data-label="a"' in table(["a<svg></svg>"], [["1"]])


# --- the head and the cards -------------------------------------------------------------------------------------------------


def _section(document: str, name: str) -> str:
    return document.partition(f'<section id="{name}">')[2].partition("</section>")[0]


def test_the_head_answers_before_it_counts() -> None:
    report = small_report()
    head = _section(page(report, {"date": "2026-11-18 12:00 UTC", "commit": "0123456789ab"}), "summary")
    shown = "".join(read(head).words)
    for name in ("P3.Alg2.batch", "P0.Def3"):
        (title,) = (e["title"] for e in report["errata"] if e["id"] == name)
        assert f'<a href="#refuted-{name}">' in head
        assert title in shown
    assert shown.index("These published privacy claims fail") < shown.index("Version") < shown.index("The papers")
    assert "tailproof 0" in shown
    assert "2026-11-18 12:00 UTC" in shown
    assert "0123456789ab" in shown
    assert "Date" not in "".join(read(_section(page(report), "summary")).words)  # an old report has none
    for paper in report["papers"]:
        assert paper["title"] in shown
        assert paper["authors"][-1] in shown
        assert paper["completeness"] in shown
        assert (paper["identifier"] or paper["venue"]) in shown
    assert "Not refuted does not mean proved" in shown
    assert "A statement marked reconstructed" in shown


def test_no_total_of_refutations_or_errata_until_they_are_reviewed() -> None:
    report = small_report()
    shown = "".join(read(page(report)).words)
    refuted = sum(c["verdict"] == "refuted" for c in report["published_claims"])
    assert f"{refuted} of {len(report['published_claims'])}" not in shown
    assert not re.search(r"\d+ (published )?claims? (is|are|were)? ?refuted|\d+ errata|\d+ mistakes", shown)
    assert "this page gives no total" in shown
    for erratum in report["errata"]:
        erratum |= {"severity": "typo" if erratum["id"] == "P0.Def3" else "serious", "standing": "confirmed"}
    shown = "".join(read(page(report)).words)
    assert "fail (1 serious, confirmed; 1 typo, confirmed):" in shown
    assert "2 serious, confirmed; 1 typo, confirmed." in shown
    assert "gives no total" not in shown


def test_cards_have_a_sentence_a_story_a_command_and_a_permalink() -> None:
    report = small_report()
    chapter = _section(page(report), "refuted")
    cards = re.findall(r'<article class="card" id="([^"]+)".*?</article>', chapter, re.S)
    assert sorted(cards) == ["refuted-P0.Def3", "refuted-P3.Alg2.batch"]
    for name in cards:
        card = chapter.partition(f'id="{name}"')[2].partition("</article>")[0]
        erratum = next(e for e in report["errata"] if f"refuted-{e['id']}" == name)
        front, _, folded = card.partition("<details><summary>Details")
        shown = "".join(read(front[front.index("<h3>") :]).words)
        assert shown.startswith(erratum["title"])
        assert erratum["story"] in shown
        assert f'<a class="permalink" href="#{name}"' in front
        assert 'class="run"' in front
        assert "times what is allowed" in shown
        assert "paper says" in folded
        assert "we find" in folded


def test_a_card_without_a_told_erratum_still_says_what_fails() -> None:
    report = small_report()
    for erratum in report["errata"]:
        erratum |= {"title": "", "story": ""}
    shown = "".join(read(page(report)).words)
    assert "P0.D3 does not hold as published: Gaussian noise of scale" in shown
    assert '<article class="card" id="refuted-P0.D3"' in page(report | {"errata": []} | {
        "published_claims": [c | {"errata": []} for c in report["published_claims"] if c["id"] == "P0.D3"]
    })  # fmt: skip


def test_the_ratio_shown_is_that_of_the_case_shown() -> None:
    """Of every claim on the page, also where a simpler case fails by less."""
    report = small_report()
    claim = next(c for c in report["published_claims"] if c["id"] == "P0.D3")
    entry = next(s for s in report["statements"] if s["id"] == "P0.Def3" and s["reading"] == "printed")
    entry |= {"measured": 40.0, "worst": {"epsilon": 9.0, "measured": 4.0, "bound": 0.1}}
    entry |= {"witness": {"epsilon": 1.0, "measured": 0.3, "bound": 0.2}}
    claim["formula"] |= {"ratio": 40.0}
    card = _section(page(report), "refuted").partition('id="refuted-P0.Def3"')[2].partition("</article>")[0]
    shown = "".join(read(card[card.index("<h3>") :]).words)
    assert "The formula at epsilon = 9: found 4, allowed 0.1: 40 times what is allowed" in shown
    assert "The simplest case that fails: epsilon = 1, measured = 0.3, bound = 0.2 (1.5×)" in shown
    for other in report["published_claims"]:
        if other["excess"] is not None:
            case = published.shown_case(other, report)
            assert case is not None
            assert ratio(*case) == pytest.approx(float(other["excess"]["ratio"]))


def test_comparisons_say_whose_sentence_is_whose() -> None:
    report = small_report()
    chapter = _section(page(report), "comparisons")
    assert [re.sub("<.*?>", "", cell) for cell in re.findall(r"<th .*?</th>", chapter)[:3]] == [
        "comparison",
        "paper says",
        "we find",
    ]
    false = next(c for c in report["comparisons"] if not c["holds"] and c["errata"][0] == "P0.Table1.Bassily")
    row = chapter.partition(f'id="comparison-{false["id"]}"')[2].partition("</tr>")[0]
    claimed, found = row.partition('data-label="we find"')[::2]
    assert false["says"] in claimed
    correction = next(e for e in report["errata"] if e["id"] == "P0.Table1.Bassily")
    assert "does not hold" in found
    assert correction["found"].split(";")[0] in found


def test_reconstructed_statements_are_marked() -> None:
    report = small_report()
    report["comparisons"][0]["reconstructed"] = True
    report["errata"][0]["reconstructed"] = True
    assert page(report).count('class="restored" href="#papers"') == 2


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
    own, others = libraries.split(rows)
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
        assert f"{sum(row['verdict'] == verdict for row in others)} {verdict}" in shown
    assert shown.count("runs, confidence 0.99999") == sum(row["samples"] > 0 for row in rows)
    violated = sum(row["verdict"] == "violated" for row in others)
    assert len(own) == 5
    assert f'href="#libraries"><b>{violated} of {len(others)}</b>' in document
    assert f"{violated} of {len(others)} settings violated" in shown
    assert "Not counted above: 5 rows" in shown
    assert chapter.index('id="library-tailproof"') > max(chapter.index(f'id="library-{name}"') for name in kept["versions"] if
        f'id="library-{name}"' in chapter)  # fmt: skip
    for name in dict.fromkeys(row["library"] for row in others):
        group = [row for row in others if row["library"] == name]
        bad = sum(row["verdict"] == "violated" for row in group)
        assert f"{name} {kept['versions'][name]} {bad} of {len(group)} settings violated" in shown
    assert libraries.COMMAND in shown
    assert "run earlier, with diffprivlib" in shown
    assert "(kept)" not in document
    assert _chapter(rows, dict(reversed(kept["versions"].items()))) == chapter  # as when report.json is read again


def test_a_row_of_an_audit() -> None:
    shown = "".join(read(_chapter([_audit()], {"lib": "1.2", "numpy": "2"})).words)
    assert "run earlier, with lib 1.2 (and numpy 2); this report did not repeat them" in shown
    assert "≥\N{NO-BREAK SPACE}2.5 1200 runs, confidence 0.99999" in shown
    assert "2.5×" in shown
    assert "3.00" in shown
    exact = "".join(read(_chapter([_audit(samples=0, how="exact", confidence=1.0)], {})).words)
    assert "2.5 exact" in exact
    assert "run earlier, with lib; this" in exact
    boundless = "".join(read(_chapter([_audit(found="inf", samples=0, how="exact")], {})).words)
    assert "no bound exact∞ ∞×" in boundless
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


def test_what_a_claim_allows_is_attained_and_never_passed_by_mechanisms_that_keep_it() -> None:
    """Gaussian releases at the claim's limit lie below the curve of ρ-zCDP and μ-GDP; a leak of δ attains (ε, δ)-DP's far out."""
    zcdp, gdp = _losses(epsilon=None, rho=0.5), _losses(epsilon=None, mu=1.0)
    for t in (-2.0, 0.1, 0.5, 1.0, 3.0, 6.0):
        tail = 0.5 * math.erfc((t - 0.5) / math.sqrt(2))  # of the loss N(1/2, 1) of the Gaussian release with ρ = 1/2, μ = 1
        assert tail <= plots.allowed(zcdp, t) <= 1
        assert tail <= plots.allowed(gdp, t) <= 1
    assert plots.allowed(zcdp, 6.0) < 1e-6
    assert plots.allowed(gdp, 6.0) < 1e-6
    approximate, pure = _losses(delta=1e-3), _losses()
    assert plots.allowed(approximate, 0.9) == 1.0
    assert plots.allowed(approximate, 50.0) == pytest.approx(1e-3)
    assert plots.allowed(approximate, 2.0) == pytest.approx(1e-3 / (1 - math.exp(-1.0)))
    assert (plots.allowed(pure, 1.0), plots.allowed(pure, 1.01)) == (1.0, 0.0)


def test_exceeding_shares_are_sums_of_the_bins() -> None:
    exact = plots.exceeding(_losses(draws=None, infinite=0.0))
    assert exact == [(-1.0, 1.0), (0.0, 0.75), (1.0, 0.25), (1.0, 0.25), (2.0, 0.25), (3.0, 0.0)]
    drawn = plots.exceeding(_losses())
    assert drawn[-1] == (3.0, 1 / 400)  # the largest draw: nothing is known beyond it
    assert plots.exceeding(_losses(draws=None, infinite=0.1))[-1] == (3.0, pytest.approx(0.1))
    assert (0.5, 0.3) in plots.exceeding(_losses(epsilon=0.5, beyond=0.3))


def test_loss_pictures_show_found_and_allowed_on_a_log_scale() -> None:
    drawn = plots.exceedance(_losses(delta=1e-4), "title <x>")
    assert "P(loss &gt; t)" in drawn
    assert "privacy loss t" in drawn
    assert "claimed ε = 1" in drawn
    assert "title &lt;x&gt;" in drawn
    assert drawn.count('class="found"') == drawn.count('class="found beyond"') == 1
    assert drawn.count('class="claim dashed"') == 1
    rows = {words: float(y) for y, words in re.findall(r'y="([\d.]+)" text-anchor="end">(1|0\.1|0\.01|0\.001)<', drawn)}
    steps = [rows[b] - rows[a] for a, b in (("1", "0.1"), ("0.1", "0.01"), ("0.01", "0.001"))]
    assert max(steps) - min(steps) < 0.2
    assert steps[0] > 10
    red = re.search(r'd="M([\d.]+) ([\d.]+) L[^"]*" class="found beyond"', drawn)
    dashed = re.search(r'd="([^"]*)" class="claim dashed"', drawn)
    assert red is not None
    assert dashed is not None
    far = [float(pair.split()[1]) for pair in dashed[1][1:].split(" L")][-1]
    assert float(red[2]) < far  # higher on the screen: found more than is allowed
    outside = plots.exceedance(_losses(epsilon=48.0, beyond=0.0), "")
    assert "far to the right" in outside
    assert 'class="claim' not in outside
    assert 'class="found beyond"' not in outside
    assert 'class="claim dashed"' in plots.exceedance(_losses(epsilon=None, rho=0.5, beyond=None), "")


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
    assert "(400 draws)" in said
    assert "the most that pure(eps=1) allows" in said
    assert "found <b>0.9</b>, allowed 1: exact loss." in said
    assert "0.25" not in said  # the sampled share: a third number would only confuse
    said = catalogue.loss_caption(finding | {"losses": _losses(epsilon=None, rho=0.5, draws=None, infinite=0.1)})
    assert "(computed exactly)" in said
    assert "A share of 0.1 has an infinite loss" in said


def test_rate_plots_anchor_the_rate_at_the_first_value_that_counts() -> None:
    result = sweep("falls")
    assert plots.anchor(result)["at"] == 1000.0
    drawn = plots.rate(result, "t")
    assert drawn.count("<circle") == 3
    assert drawn.count("hollow") == 1
    caption = rates.sweeps(small_report() | {"sweeps": [result]})
    assert "20 runs at each value of n, with 95 % bootstrap intervals" in caption
    assert "so that only slopes compare" in caption
    assert "thin evidence" not in caption
    assert "thin evidence" in rates.sweeps(small_report() | {"sweeps": [result], "preset": "quick"})


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
