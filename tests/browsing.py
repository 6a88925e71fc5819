"""A real browser for pages on disk.

Selenium drives Debian's chromium by the chromium-driver of the same version; it is a quarter of playwright's size, and neither
downloads a browser.  Where no browser is installed the tests are skipped; in continuous integration (CI=true) that is a failure.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FLAGS = ("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking")
FLAGS += ("disable-component-update", "disable-sync")
FLAGS += ("disable-ipc-flooding-protection",)  # a script may follow many anchors in a second
SCREENS = {"desktop": (1280, 900), "tablet": (820, 1180), "phone": (390, 844)}
SCHEMES = ("light", "dark")


def _program(*names: str) -> str | None:
    return next((found for name in names if (found := shutil.which(name))), None)


@contextmanager
def opened(profile: Path) -> Iterator[webdriver.Chrome]:
    program, driver = _program("chromium", "chromium-browser", "google-chrome"), _program("chromedriver")
    if program is None or driver is None:
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        say("no chromium and chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in [*FLAGS, f"user-data-dir={profile}"]:
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(driver))
    try:
        browser.get("about:blank")
        browser.get_log("performance")  # what the browser's own first page asked for
        yield browser
    finally:
        browser.quit()


def open_page(browser: webdriver.Chrome, address: str, screen: str = "desktop", scheme: str = "light") -> None:
    width, height = SCREENS[screen]
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": screen == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.get(address)


def silent(browser: webdriver.Chrome, address: str) -> None:
    """Nothing on the console, and nothing asked for but the page itself and what it holds."""
    assert browser.get_log("browser") == []
    events: list[dict[str, Any]] = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith(("data:", address))] == []
    assert any(url.startswith(address) for url in asked)  # the log is not empty for another reason
