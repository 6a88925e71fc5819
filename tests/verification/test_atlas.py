"""The atlas as a page: complete, well-formed, on its own; and as a command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tailproof.bounds import atlas as data
from tailproof.bounds import certificates
from tailproof.bounds.regions import regions
from tailproof.verification import atlas as drawing
from tailproof.verification import bound_checks
from tailproof.verification.cli import main

VOID = {"meta", "br", "link", "img", "hr", "input"}
SMALL = ("convex-lipschitz-approx", "strong-norm-approx", "mean-line-pure")


@pytest.fixture(scope="module")
def small() -> data.Atlas:
    return data.atlas([group for group in data.GROUPS if group.id in SMALL], decide=False)


@pytest.fixture(scope="module")
def page(small: data.Atlas) -> str:
    return drawing.page(small)


class Balanced(HTMLParser):
    """Every tag closed, in order; ids and links collected."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id" and value:
                self.ids.append(value)
            if name == "href" and value:
                self.links.append(value)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_its_links_lead_somewhere(page: str) -> None:
    reader = Balanced()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)
    assert reader.links
    assert {link.removeprefix("#") for link in reader.links if link != "data:,"} <= set(reader.ids)


def test_the_page_stands_alone(page: str) -> None:
    assert not re.search(r"https?:|src=|@import|url\(|<script", page)
    assert "color-scheme: light dark" in page
    assert 'name="viewport"' in page


def test_every_statement_with_a_rate_is_on_the_page(page: str) -> None:
    for statement in data.with_rates():
        assert f'id="{statement.id}"' in page


def test_groups_show_their_rates_matrix_dictionary_and_what_is_left_out(page: str, small: data.Atlas) -> None:
    for c in small.charts:
        section = page.split(f'<section id="{c.group.id}">')[1].split("</section>")[0]
        assert section.count("<td class=") >= len(c.rows) ** 2
        for row in c.rows:
            assert drawing.mathml(row.rate.text) in section
        assert all(drawing.prose(meaning) in section for _, meaning in c.group.dictionary)
        assert all(drawing.prose(why) in section for _, why in c.group.left_out)
        each = len(c.group.plot.values) if c.group.plot else 0
        assert section.count("<svg") in (each, 2 * each)


def test_diagrams_come_first_each_with_its_sentence(page: str, small: data.Atlas) -> None:
    drawn = [c for c in small.charts if c.group.plot is not None]
    assert 0 < len(drawn) < len(small.charts)  # one group has none
    first_without = min(page.index(f'<section id="{c.group.id}">') for c in small.charts if c.group.plot is None)
    for c in drawn:
        assert page.index(f'<section id="{c.group.id}">') < first_without
        section = page.split(f'<section id="{c.group.id}">')[1].split("</section>")[0]
        said = drawing.sentence(c)
        assert section.index(said) < section.index("<svg") < section.index("<table")
    assert page.index("<svg") < page.index("<table")


def test_the_sentence_names_the_bounds_that_are_smallest_somewhere(small: data.Atlas) -> None:
    for c in small.charts:
        if c.group.plot is None:
            continue
        best = {cell.best for values in c.group.plot.values for cell in regions(c, values)[1]}
        said = drawing.sentence(c)
        assert set(re.findall(r"<b>(.*?)</b>", said)) == {" = ".join(names) for names in best}
        assert ("everywhere" in said) == (len(best) == 1)


def test_the_page_has_the_report_s_style(page: str) -> None:
    assert (Path(drawing.__file__).parent / "page" / "style.css").read_text(encoding="utf-8") in page
    assert '<div class="frame"><nav aria-label="Contents">' in page


def _trees(page: str, tag: str) -> Iterator[ElementTree.Element]:
    for found in re.findall(rf"<{tag}[ >].*?</{tag}>", page, flags=re.DOTALL):
        yield ElementTree.fromstring(found)


def test_pictures_and_formulas_are_xml(page: str) -> None:
    pictures = list(_trees(page, "svg"))
    assert pictures
    for picture in pictures:
        points = [p.attrib["points"] for p in picture.iter("polygon")]
        corners = [tuple(map(float, corner.split(","))) for text in points for corner in text.split()]
        assert corners
        assert all(0 <= x <= drawing.WIDTH and 0 <= y <= drawing.HEIGHT for x, y in corners)
        assert not any("#fff" in value or "#000" in value for e in picture.iter() for value in e.attrib.values())
    assert len(list(_trees(page, "math"))) > len(data.with_rates())


def test_formulas() -> None:
    def plain(rate: str) -> str:
        return re.sub(r"<[^>]*>", "", drawing.mathml(rate)).replace("\u2062", "")

    assert "<mfrac><mi>d</mi><mrow><mi>n</mi>" in drawing.mathml("d/(n*eps)")
    assert plain("(d/(n*eps))**(1-1/k)") == "(dnε)1−1/k"
    assert plain("a*(b+c)") == "a(b+c)"
    assert plain("a-(b-c)") == "a−(b−c)"
    assert plain("x**((k-1)/(2*k))") == "x(k−1)/(2k)"
    assert "<msqrt><mi>d</mi></msqrt>" in drawing.mathml("sqrt(d)")
    assert plain("0<v<=1") == "0&lt;v≤1"
    assert "<msub><mi>R̃</mi>" in drawing.mathml("R2k")
    assert drawing.prose("E|x|^{1+v} ≤ u, w_j") == "E|x|<sup>1+v</sup> ≤ u, w<sub>j</sub>"


def test_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small: data.Atlas, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bound_checks, "atlas", lambda: small)
    file, answer = tmp_path / "atlas.html", tmp_path / "atlas.json"
    assert main(["theorem", "--atlas", str(file), "--json", str(answer)]) == 0
    said = capsys.readouterr().out
    assert "3 groups" in said
    assert str(file) in said
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")
    value = json.loads(answer.read_text())
    assert [group["id"] for group in value["groups"]] == list(SMALL)
    for pair in value["groups"][0]["pairs"]:
        certificates.verify(pair["certificate"])
    assert len(value["rates"]) == len(data.with_rates())


def test_bad_files_are_refused_before_any_work(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["theorem", "--atlas", str(tmp_path / "missing" / "atlas.html")]) == 2
    assert main(["theorem", "P4.T3.1", "--atlas", str(tmp_path / "atlas.html")]) == 2
    assert "Traceback" not in capsys.readouterr().err
