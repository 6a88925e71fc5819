"""Rows × checks on the page: no empty cell, and a reason in words for whatever does not pass."""

from __future__ import annotations

import re

from tailproof.verification.page import page
from tests.verification.small_report import small_report
from tests.verification.test_page import _section as chapter_of
from tests.verification.test_page import read


def test_the_matrix_has_no_empty_cell_and_a_reason_for_whatever_does_not_pass() -> None:
    report = small_report()
    chapter = chapter_of(page(report), "matrix")
    grid, _, below = chapter.partition("</table></div>")
    head, *rows = grid.split("<tr>")[1:]
    checks = report["matrix"]["checks"]
    assert re.findall(r'<th scope="col"><span>(.*?)</span></th>', head) == checks
    assert [re.sub("<.*?>", "", name) for name in re.findall(r'<th scope="row">(.*?)</th>', grid)] == ["P2.A2", "P3.A2"]
    shown = "".join(read(below).words)
    for line, row in zip(rows, report["matrix"]["rows"], strict=True):
        marked = re.findall(r'<td class="\w+"><abbr title="([^"]+)" aria-hidden="true">([^<]+)</abbr>', line)
        spoken = re.findall(r'<span class="unseen">([^<]+)</span></td>', line)
        assert len(marked) == len(spoken) == line.count("<td") == len(checks)
        for cell, (title, sign), word in zip(row["cells"], marked, spoken, strict=True):
            assert sign.strip("()")
            assert word.startswith(cell["status"])
            assert title.startswith(f"{cell['check']}: {word}")
            if cell["status"] not in ("consistent", "certified"):
                assert cell["says"]
                assert cell["says"] in shown
                assert cell["check"] in shown
    known = [cell for row in report["matrix"]["rows"] for cell in row["cells"] if cell["status"] == "violated"]
    assert known
    assert grid.count(">(✕)</abbr>") == len(known)


def test_a_missing_check_is_loud_in_the_matrix() -> None:
    report = small_report()
    (cell,) = [c for c in report["matrix"]["rows"][0]["cells"] if c["check"] == "state"]
    cell |= {"status": "missing", "expected": False, "says": "nothing was checked at n=12"}
    chapter = chapter_of(page(report), "matrix")
    assert (
        '<td class="violated"><abbr title="state: missing: nothing was checked at n=12" aria-hidden="true">!</abbr>'
        in chapter
    )
    assert "1 missing" in chapter
    assert "nothing was checked at n=12" in "".join(read(chapter.partition("</table></div>")[2]).words)
