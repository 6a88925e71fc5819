"""The report's page in a real browser: clicked through without a word on the console or a request to anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tailproof.verification.page import page
from tests.browsing import SCHEMES, SCREENS, open_page, opened, silent
from tests.verification.small_report import small_report

UNFOLDED = """document.querySelectorAll('details').forEach(one => { one.open = true; });
return [document.querySelectorAll('details:not([open])').length, document.documentElement.scrollWidth, window.innerWidth];"""

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
  for (let at = element; at; at = at.parentElement) { const c = parts(getComputedStyle(at).backgroundColor);
  if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; }
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
    file.write_text(page(small_report()), encoding="utf-8")
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


def test_filter_buttons_and_keyboard(browser: webdriver.Chrome, address: str) -> None:
    open_page(browser, address)
    box, shown = browser.find_element(By.ID, "filter"), "#catalogue [data-item]:not([hidden])"
    assert len(browser.find_elements(By.CSS_SELECTOR, shown)) == 2
    box.send_keys("p3.a2 composition")
    assert [one.get_attribute("id") for one in browser.find_elements(By.CSS_SELECTOR, shown)] == ["P3.A2"]
    assert "entries match" in browser.find_element(By.ID, "matches").text
    assert not browser.find_element(By.ID, "words").is_displayed()  # chapters without a match make room
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("p3.alg2.batch refutes")
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
