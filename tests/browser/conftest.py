"""A browser for all tests of this folder, and a fresh page for each."""

import os
from collections.abc import Iterator

import pytest

from .chromium import FOUND, MISSING, Browser, Page


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if FOUND is None:
        # Continuous integration installs it, and must not pass without it.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.page()
    page.resize(1280)
    yield page
    page.close()
