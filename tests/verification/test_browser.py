"""The report's page in a real browser: clicked through without a word on the console or a request to anywhere."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tailproof.bounds import atlas as bounds_atlas
from tailproof.verification import atlas as drawing
from tailproof.verification import matrix
from tailproof.verification.check import implemented
from tailproof.verification.page import page
from tailproof.verification.page.parts import bar
from tests.browsing import SCHEMES, SCREENS, open_page, opened, silent
from tests.verification.small_report import small_report

UNFOLDED = """document.querySelectorAll('details').forEach(one => { one.open = true; });
return [document.querySelectorAll('details:not([open])').length, document.documentElement.scrollWidth, window.innerWidth];"""

SIDEWAYS = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"

FOLLOW_ALL = """const done = arguments[0], wrong = [], names = new Set();
document.querySelectorAll('a[href^="#"]').forEach(a => names.add(a.getAttribute('href')));
(async () => {
  for (const name of names) {
    document.querySelectorAll('main details').forEach(one => { one.open = false; });
    const target = document.getElementById(decodeURIComponent(name.slice(1)));
    if (!target) { wrong.push(name + ' leads nowhere'); continue; }
    location.hash = '';
    document.querySelector('a[href="' + name + '"]').click();
    for (let i = 0; i < 50 && !(location.hash === name && target.checkVisibility()); i++)
      await new Promise(r => setTimeout(r, 4));
    const box = target.getBoundingClientRect();
    if (!target.checkVisibility()) wrong.push(name + ' stays folded');
    else if (box.top > innerHeight || box.bottom < 0) wrong.push(name + ' is not on the screen: ' + box.top);
  }
  done([names.size, wrong]);
})();"""

CONTRAST = """function parts(colour) { return colour.match(/[\\d.]+/g).map(Number); }
function light(rgb) { const c = rgb.slice(0, 3).map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * c[0] + .7152 * c[1] + .0722 * c[2]; }
function behind(element) {
  if (!element) return [255, 255, 255];
  const c = parts(getComputedStyle(element).backgroundColor), share = c.length < 4 ? 1 : c[3];
  if (share === 1) return c;
  const under = behind(element.parentElement);
  return [0, 1, 2].map(i => share * c[i] + (1 - share) * under[i]); }
const seen = new Set(), poor = [];
document.querySelectorAll('body *').forEach(one => {
  if (![...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()) || !one.checkVisibility()) return;
  const style = getComputedStyle(one), ink = one.closest('svg') ? style.fill : style.color, paper = behind(one);
  const pair = ink + paper;
  if (seen.has(pair)) return; seen.add(pair);
  const [a, b] = [light(parts(ink)), light(paper)], ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) poor.push(one.tagName + '.' + one.className + ' ' + ratio.toFixed(2));
});
return [seen.size, poor];"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with opened(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file: Path = tmp_path_factory.mktemp("report") / "report.html"
    report = small_report()
    long = " beta" + "*sqrt*V*T*log*n*d" * 5  # a formula that breaks nowhere, longer than a phone is wide
    for entry in (report["comparisons"][0], report["comparisons"][-1], report["published_claims"][0]):
        entry["says"] += long
    report["comparisons"][0]["explained"].append(long)
    for entry in report["errata"]:
        entry["found"] += long
    for entry in (report["findings"][0], report["statements"][0]):
        entry["detail"] += long
    file.write_text(page(report, {"date": "2026-11-18 12:00 UTC", "commit": "0123456789ab"}), encoding="utf-8")
    return file.as_uri()


@pytest.mark.parametrize("screen", SCREENS)
def test_everything_unfolds_fits_the_screen_and_can_be_read(browser: webdriver.Chrome, address: str, screen: str) -> None:
    papers = set()
    for scheme in SCHEMES:
        open_page(browser, address, screen, scheme)
        folded, width, inner = browser.execute_script(UNFOLDED)
        assert folded == 0
        assert inner == SCREENS[screen][0]
        assert width <= inner  # the page does not scroll sideways
        looked_at, poor = browser.execute_script(CONTRAST)
        assert looked_at > 8
        assert poor == []
        papers.add(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
        silent(browser, address)
    assert len(papers) == 2


def test_every_anchor_leads_to_its_unfolded_place(browser: webdriver.Chrome, address: str) -> None:
    open_page(browser, address)
    followed, wrong = browser.execute_async_script(FOLLOW_ALL)
    assert followed > 25
    assert wrong == []
    silent(browser, address)


@pytest.mark.parametrize("screen", SCREENS)
def test_the_whole_matrix_scrolls_in_its_own_box(browser: webdriver.Chrome, tmp_path: Path, screen: str) -> None:
    """Of the whole catalogue: every row's name stays in sight, and every column can be reached."""
    report = small_report()
    report["matrix"] = matrix.matrix([], implemented())
    file = tmp_path / "report.html"
    file.write_text(page(report), encoding="utf-8")
    open_page(browser, file.as_uri(), screen)
    box = browser.find_element(By.CSS_SELECTOR, "#matrix .matrix")
    assert len(box.find_elements(By.CSS_SELECTOR, "tbody tr")) == len(implemented())
    assert all(cell.text for cell in box.find_elements(By.CSS_SELECTOR, "tbody td abbr"))
    assert browser.execute_script(SIDEWAYS) == 0
    inside = "return [arguments[0].scrollWidth, arguments[0].clientWidth, arguments[0].getBoundingClientRect().left]"
    whole, shown, left = browser.execute_script(inside, box)
    if screen == "phone":
        assert whole > shown
    browser.execute_script("arguments[0].scrollLeft = arguments[0].scrollWidth", box)
    name, last = (
        box.find_element(By.CSS_SELECTOR, "tbody th"),
        box.find_elements(By.CSS_SELECTOR, "tbody tr:first-child td")[-1],
    )
    assert name.rect["x"] == pytest.approx(left, abs=1)
    assert last.rect["x"] + last.rect["width"] <= left + shown + 1
    browser.execute_script("arguments[0].focus()", box)
    assert browser.switch_to.active_element == box  # by keyboard as well
    silent(browser, file.as_uri())


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_the_permalink_of_every_card_opens_the_page_at_it(
    browser: webdriver.Chrome, address: str, screen: str, scheme: str
) -> None:
    open_page(browser, address, screen, scheme)
    links = [one.get_attribute("href") for one in browser.find_elements(By.CSS_SELECTOR, ".card .permalink")]
    cards = [one.get_attribute("id") for one in browser.find_elements(By.CSS_SELECTOR, ".card")]
    assert [str(link).partition("#")[2] for link in links] == cards
    assert len(cards) == 2
    for link, name in zip(links, cards, strict=True):
        browser.get("about:blank")
        open_page(browser, str(link), screen, scheme)  # as somebody who was sent the link
        assert browser.execute_script("return document.querySelector(':target').id") == name
        card = browser.find_element(By.ID, str(name))
        top, height = browser.execute_script(
            "const r = arguments[0].getBoundingClientRect(); return [r.top, innerHeight]", card
        )
        assert -1 <= top < height / 2
        assert card.find_element(By.TAG_NAME, "h3").is_displayed()
        assert browser.execute_script(SIDEWAYS) == 0
        browser.find_element(By.CSS_SELECTOR, "h1")  # the page is whole
        silent(browser, address)


def test_what_fails_is_seen_first_and_leads_to_its_card(browser: webdriver.Chrome, address: str) -> None:
    open_page(browser, address)
    (link, *_) = browser.find_elements(By.CSS_SELECTOR, "#summary .verdict li a")
    assert link.location["y"] < SCREENS["desktop"][1] / 2  # on the first screen, without scrolling
    target = str(link.get_attribute("href")).partition("#")[2]
    link.click()
    WebDriverWait(browser, 30).until(lambda _: browser.execute_script("return scrollY") > 0)
    assert browser.execute_script("return document.querySelector(':target').id") == target


def test_commands_can_be_copied(browser: webdriver.Chrome, address: str) -> None:
    open_page(browser, address)
    (command, *_) = browser.find_elements(By.CSS_SELECTOR, ".card .command")
    button = command.find_element(By.CSS_SELECTOR, "button.copy")
    button.click()
    assert button.text in ("Copied", "Selected")
    assert browser.execute_script("return getSelection().toString()") == command.find_element(By.CSS_SELECTOR, ".run").text
    silent(browser, address)


def test_bars_that_differ_look_different(browser: webdriver.Chrome, address: str) -> None:
    """The length that is drawn, on the screen."""
    open_page(browser, address)
    found = browser.execute_script(
        "return arguments[0].map(text => { const box = document.createElement('div'); box.innerHTML = text; "
        "document.querySelector('main').append(box); return box.querySelector('.stem').getBoundingClientRect().width; });",
        [bar(share, bad=True) for share in (1.06, 8.0, 87.0, float("inf"))],
    )
    assert all(second - first > 12 for first, second in itertools.pairwise(found)), found


def test_filter_buttons_and_keyboard(browser: webdriver.Chrome, address: str) -> None:
    open_page(browser, address)
    box, shown = browser.find_element(By.ID, "filter"), "#catalogue [data-item]:not([hidden])"
    assert len(browser.find_elements(By.CSS_SELECTOR, shown)) == 2
    box.send_keys("p3.a2 composition")
    assert [one.get_attribute("id") for one in browser.find_elements(By.CSS_SELECTOR, shown)] == ["P3.A2"]
    assert "entries match" in browser.find_element(By.ID, "matches").text
    assert not browser.find_element(By.ID, "words").is_displayed()  # chapters without a match make room
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("p3.alg2.batch exceeds")
    assert browser.find_element(By.CSS_SELECTOR, "#refuted .card").is_displayed()
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("dp-accounting consistent")
    (row, *_) = browser.find_elements(By.CSS_SELECTOR, "#libraries tr[data-item]:not([hidden])")
    assert row.is_displayed()  # its library is unfolded
    assert "dp-accounting" in row.text
    assert not browser.find_element(By.CSS_SELECTOR, "#libraries .audits[data-item]").is_displayed()  # a violation elsewhere
    browser.execute_script("location.hash = '#P2.A2'")  # hidden by the filter: it gives way
    WebDriverWait(browser, 120).until(lambda _: not box.get_property("value"))
    algorithm = browser.find_element(By.ID, "P2.A2")
    assert algorithm.get_property("open")
    algorithm.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    assert not algorithm.get_property("open")
    button = browser.find_element(By.ID, "unfold")
    button.click()
    assert browser.find_elements(By.CSS_SELECTOR, "main details:not([open])") == []
    button.click()
    assert browser.find_elements(By.CSS_SELECTOR, "main details[open]") == []
    silent(browser, address)


def test_without_script_everything_can_be_read(browser: webdriver.Chrome, address: str) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        open_page(browser, address)
        assert not browser.find_element(By.ID, "filter").is_displayed()  # it would do nothing
        entry = browser.find_element(By.ID, "P2.A2")
        entry.find_element(By.TAG_NAME, "summary").click()
        assert entry.find_element(By.TAG_NAME, "table").is_displayed()
        silent(browser, address)
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> str:
    file: Path = tmp_path_factory.mktemp("atlas") / "atlas.html"
    chosen = [group for group in bounds_atlas.GROUPS if group.id in ("strong-norm-approx", "mean-line-pure")]
    file.write_text(drawing.page(bounds_atlas.atlas(chosen, decide=False)), encoding="utf-8")
    return file.as_uri()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_the_atlas_fits_the_screen_and_shows_a_diagram_early(
    browser: webdriver.Chrome, atlas: str, screen: str, scheme: str
) -> None:
    open_page(browser, atlas, screen, scheme)
    (diagram, *_) = browser.find_elements(By.CSS_SELECTOR, "main svg")
    assert diagram.location["y"] < SCREENS[screen][1]  # on the first screen
    folded, width, inner = browser.execute_script(UNFOLDED)
    assert folded == 0
    assert width <= inner
    _, poor = browser.execute_script(CONTRAST)
    assert poor == []
    silent(browser, atlas)
