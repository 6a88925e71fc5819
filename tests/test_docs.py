"""The site: its pages do what they say, every link leads somewhere, and nothing is fetched from elsewhere."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

from tailproof.bounds import errata, theorems
from tailproof.bounds.citations import citations
from tailproof.verification import explanations
from tailproof.verification.cli import parser
from tests.browsing import SCHEMES, SCREENS, open_page, opened, silent
from tests.documented import Page, blocks, commands_of

ROOT = Path(__file__).resolve().parent.parent
EXPLANATIONS = sorted((ROOT / "verification" / "explanations").rglob("*.md"))
PAGES = sorted((ROOT / "docs").rglob("*.md")) + EXPLANATIONS

# Blocks of the kind `sh`, which are shown and not run, and why.
SHOWN_ONLY = {
    "pip install . && tailproof verify": "installs, and takes minutes: the README's first command",
    "pip install -e '.[dev]' && python -m pytest -q -n 2": "installs, and runs these tests",
    "pip install '.[testing]'": "installs",
    "pip install '.[audits]'": "installs",
    "python examples/audits/run.py": "takes long; needs other libraries",
    "tailproof verify --full": "takes long",
    "tailproof verify --only P2.A2 P3.A2": "takes seconds; the build of the site runs it",
    "tailproof theorem --check": "takes half a minute; tests/verification/test_paper_check.py",
    "tailproof sandwich --plot sandwich.svg": "takes a minute or two; tests/verification/test_sandwich.py",
    "python benchmarks/localisation.py bias --json benchmarks/bias.json": "takes long; its results are cached",
    "python benchmarks/localisation.py bias": "takes long; its results are cached",
    "python benchmarks/localisation.py solvers": "takes long; its results are cached",
    "python benchmarks/moment_bound.py --show": "benchmarks are no part of an installation; its results are cached",
    "python benchmarks/localisation.py bound": "takes long; its results are cached",
    "python benchmarks/localisation.py tuning": "takes long; its results are cached",
    "python benchmarks/localisation.py speed": "measures the machine",
    "python benchmarks/costs.py": "measures the machine",
    "python benchmarks/descent.py speed": "measures the machine",
    "python benchmarks/estimators.py": "measures the machine",
    "python benchmarks/distance_program.py": "measures the machine",
    "python benchmarks/exponential.py samplers": "takes long; its results are cached",
    "python benchmarks/exponential.py table": "takes long; its results are cached",
    "python benchmarks/sweeps.py --lines benchmarks/sweeps.jsonl": "takes long; its results are cached",
    "python benchmarks/planted.py": "takes long; its results are cached",
    "python benchmarks/audits.py all": "takes long; its results are cached",
    "python benchmarks/false_alarms.py": "takes long; its results are cached",
    "python benchmarks/mutation.py": "takes long; its results are cached",
    "python benchmarks/mutation.py --table": "prints a line for each of several hundred edits",
    "python benchmarks/objective_epsilon.py": "prints a hundred lines; its results are cached",
    "python benchmarks/against_diffprivlib.py": "takes long; its results are cached",
    "cc -O2 -o clipped_mean examples/clipped_mean.c -lm": "needs a compiler; tests/test_examples.py",
    "tailproof vectors check --command ./clipped_mean": "needs the program; tests/test_examples.py",
    "tailproof verify --full --report nightly": "takes long",
    "tailproof verify --full --report nightly --resume": "takes long",
    "dask scheduler": "never ends",
    "dask worker tcp://host:8786 --nthreads 1": "never ends",
    "tailproof verify --full --cluster tcp://host:8786": "needs a cluster",
    "tailproof sweep P2.T2 --cluster local:2": "takes seconds of each worker; tests/verification/test_workers.py",
    "tailproof vectors export vectors": "takes seconds; tests/verification/vectors/test_export.py",
    "tailproof experiment p0-logistic --data a9a --test a9a.t --features 123 --plot a9a.png --json a9a.json": "needs its data",
    "tailproof experiment p1-ridge --data adult.data --test adult.test --runs 5": "needs its data",
    "tailproof solve P2.A2 --data incomes.csv --columns income --rho 0.1 --set clip=1000": "needs data; test_solve.py has the like",
    "tailproof solve P0.A3 --data a9a --loss logistic --domain ball:5 --epsilon 1 --delta 1e-5 --moment-order 8 "
    "--moment-bound 3.75 --record-smoothness 3.6": "needs its data; test_solve.py has the like",
}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_page_shows_is_what_happens(path: Path, tmp_path: Path) -> None:
    """Files, code and commands of a page, in its order and in a folder of its own.  Seeds are fixed; were they not, the audits that
    find nothing would err with probability 0.001 each."""
    Page(tmp_path).run(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("block", "named"),
    [
        ("```python\nprint(1 / 4)\n```\n\n```text\n0.26\n```\n", "not printed there: 0.26"),
        ("```python\nprint(1)\nprint(2)\n```\n\n```text\n1\n```\n", "printed beyond that"),
        ("```console\n$ tailproof list\n…\nP9.A9 …\n…\n```\n", "not printed: P9.A9"),
        ("```console\n$ tailproof theorem P9\n…\n```\n", "ends with 2"),
        ("```console\n$ tailproof theorem P9\n…\n$ echo $?\n1\n```\n", "ends with 2"),
        ("```console\n$ rm -r folder\n```\n", "not run here"),
        ("```py\nnameless = True\n```\n", "without a name"),
    ],
)
def test_a_page_that_says_something_else_fails(tmp_path: Path, block: str, named: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(named)):
        Page(tmp_path).run(f"# A page\n\n{block}")


def test_blocks_are_of_a_kind_that_is_run_or_listed() -> None:
    found = [block for path in PAGES for block in blocks(path.read_text(encoding="utf-8"))]
    assert {block.kind for block in found} <= {"python", "py", "console", "text", "sh", "json", "ini", "diff"}
    fences = sum(len(re.findall(r"^ *(?:```|~~~)", path.read_text(encoding="utf-8"), re.M)) for path in PAGES)
    assert fences == 2 * len(found)  # none is missed
    listed = [line for block in found if block.kind == "sh" for line in block.text.splitlines()]
    assert set(listed) == set(SHOWN_ONLY)
    run = {command.line for block in found if block.kind == "console" for command in commands_of(block.text)}
    assert len(run) > 30


def test_paths_that_pages_name_exist() -> None:
    folders = "refimpl|bounds|verification|tests|benchmarks|examples|docs"
    named = {name for path in PAGES for name in re.findall(rf"`((?:{folders})/[\w./-]*)`", path.read_text(encoding="utf-8"))}
    assert len(named) > 5
    assert {name for name in named if not (ROOT / name).exists()} == set()


# --- the built site -------------------------------------------------------------------------------------------------------

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "link": "href"}


class Links(HTMLParser):
    """The names, links and loaded files of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value is not None}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if LOADED.get(tag) in found:
            self.loaded.append(found[LOADED[tag]])


def test_the_site(tmp_path: Path) -> None:
    """Built with every warning an error: references that are not resolved, dead links, pages that are left out.  One test, so that
    it is built once; the browser comes last, and where there is none the test is skipped there."""
    site = tmp_path / "site"
    command = [sys.executable, "docs/build.py", "--site", str(site)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 30
    every_link_leads_somewhere(pages)
    nothing_is_loaded_from_elsewhere(site, pages)
    all_is_documented(site / "reference", pages)
    cached_studies_are_shown(site / "findings")
    pictures_notebooks_and_the_sample_are_there(site)
    with opened(tmp_path / "profile") as browser:
        for screen in SCREENS:
            pages_fit_and_fetch_nothing(browser, site, screen)
        the_search_works_from_a_folder(browser, site)


def every_link_leads_somewhere(pages: dict[Path, Links]) -> None:
    elsewhere = {link for paper in citations() for link in (paper.url, paper.note.rpartition(" ")[2]) if link}
    links = [(path, urlsplit(link)) for path, page in pages.items() for link in page.links if link not in elsewhere]
    assert len(links) > 3000
    for path, url in links:
        target = (path.parent / unquote(url.path)).resolve() if url.path else path
        assert not url.scheme + url.netloc, f"{path.name}: {url.geturl()} is elsewhere, where no test can look"
        if target.suffix == ".ipynb":
            assert target.is_file(), f"{path.name}: {url.geturl()} is not there"
            continue
        assert target in pages, f"{path.name}: {url.geturl()} is not there"
        assert not url.fragment or unquote(url.fragment) in pages[target].ids, (
            f"{path.name}: {url.geturl()} has no such place"
        )


def cached_studies_are_shown(folder: Path) -> None:
    """Every mechanism of the zoo, and how many of which kind are flagged; every estimator of the auditors' study."""
    rows = json.loads((ROOT / "benchmarks" / "zoo.json").read_text(encoding="utf-8")).values()
    text = (folder / "zoo.html").read_text(encoding="utf-8")
    assert all(f"<td>{row['name']}<br" in text for row in rows)
    broken, correct = ([row["verdict"] == "violated" for row in rows if row["holds"] is holds] for holds in (False, True))
    counts = f"{sum(broken)} of {len(broken)} broken mechanisms are flagged, {sum(correct)} of {len(correct)} correct ones"
    assert counts in text
    lines = (ROOT / "benchmarks" / "auditors.jsonl").read_text(encoding="utf-8").splitlines()
    text = (folder / "auditors.html").read_text(encoding="utf-8")
    for line in map(json.loads, lines):
        assert f"<td>{line['estimator']}</td>" in text
        assert line["version"] in text


def pictures_notebooks_and_the_sample_are_there(site: Path) -> None:
    pictures = {path.stem: path.read_text(encoding="utf-8") for path in (site / "pictures").glob("*.svg")}
    assert set(pictures) == {"channel", "epsilon", "guess", "outputs", "plan", "sweep"}
    assert all(text.rstrip().endswith("</svg>") for text in pictures.values())
    books = {path.stem: nbformat.read(path, as_version=4) for path in (site / "notebooks").glob("*.ipynb")}
    assert set(books) == {"audit", "theorem", "regression"}
    for book in books.values():
        nbformat.validate(book)
        assert sum(cell["cell_type"] == "code" for cell in book["cells"]) >= 5
    written = [cell["source"] for cell in books["audit"]["cells"] if cell["source"].startswith("%%writefile ")]
    assert [source.split()[1] for source in written] == ["mine.py", "test_mine.py"]
    assert any(cell["source"].startswith("!tailproof audit mine:noisy_mean") for cell in books["audit"]["cells"])
    assert "P3.A2" in (site / "findings" / "sample" / "report.html").read_text(encoding="utf-8")
    for one in explanations.explanations():
        assert f">{one.name}<" in (site / "reference" / "explain" / f"{one.kind}-{one.slug}.html").read_text(
            encoding="utf-8"
        )


def nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Links]) -> None:
    loaded = [(path, name) for path, page in pages.items() for name in page.loaded if not name.startswith("data:")]
    assert loaded
    for path, name in loaded:
        url = urlsplit(name)
        assert not url.scheme + url.netloc, f"{path.name} loads {name}"
        assert (path.parent / url.path).resolve().is_file(), f"{path.name} loads {name}, which is not there"
    for path in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", path.read_text(encoding="utf-8")) == []


def all_is_documented(reference: Path, pages: dict[Path, Links]) -> None:
    """Public names, commands, statements and errata."""
    there = pages[reference / "python.html"].ids
    for package in ("tailproof.refimpl", "tailproof.refimpl.pure_dp", "tailproof.bounds", "tailproof.verification"):
        missing = {name for name in import_module(package).__all__ if f"{package}.{name}" not in there}
        assert {name for name in missing if f"{package}.{name}.{name}" not in there} == set()  # beside a module of that name
    commands = next(a.choices for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    assert {f"tailproof-{name}" for name in commands} <= pages[reference / "command-line.html"].ids
    assert {statement.id for statement in theorems()} <= pages[reference / "atlas.html"].ids
    assert {erratum.id for erratum in errata()} <= pages[reference.parent / "findings" / "errata.html"].ids


LOOKED_AT = (
    "index",
    "start/audit",
    "audit/runs",
    "referee/theorem",
    "findings/causes",
    "findings/sample/report",
    "understand/channel",
    "benchmarks/rates",
    "reference/command-line",
    "reference/explain/bugs-unclipped",
)


def pages_fit_and_fetch_nothing(browser: webdriver.Chrome, site: Path, screen: str) -> None:
    papers: dict[str, set[str]] = {scheme: set() for scheme in SCHEMES}
    for scheme in SCHEMES:
        large = ("reference/atlas", "reference/python") if scheme == "light" else ()  # a second each
        for name in (*LOOKED_AT, *large):
            open_page(browser, (site / f"{name}.html").as_uri(), screen, scheme)
            width, inner = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
            assert width <= inner, f"{name} scrolls sideways on a {screen}"
            papers[scheme].add(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
            silent(browser, site.as_uri())
    assert papers["light"].isdisjoint(papers["dark"])  # as the system has it


def the_search_works_from_a_folder(browser: webdriver.Chrome, site: Path) -> None:
    open_page(browser, (site / "index.html").as_uri() + "?q=binomial")
    count = "return document.querySelectorAll('.md-search-result__item').length"
    WebDriverWait(browser, 20).until(lambda _: browser.execute_script(count) > 0)
    silent(browser, site.as_uri())
