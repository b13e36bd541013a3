"""A small page, kept in ``golden`` without its own style and script.

After a wanted change, renew it with

    RENEW_GOLDEN=1 python -m pytest tests/report/html/test_golden.py
"""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from assay.report.html import render

from .pages import PANEL, small

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    "scores": small,
    "decisions": lambda: small(
        replace(PANEL, threshold=None, sweep={"threshold": (), "tp": (), "fp": ()})
    ),
    "classes": lambda: small(None),
}


def without_code(page: str) -> str:
    """The page as a reader of a diff wants it: what stands in files of its own is left out."""
    page = re.sub(r"(<style>).*?(</style>)", r"\1\2", page, flags=re.DOTALL)
    page = re.sub(r"(<script>).*?(</script>)", r"\1\2", page, flags=re.DOTALL)
    return re.sub(r"sha256-[\w+/=]+", "sha256-", page)


@pytest.mark.parametrize("name", CASES)
def test_page_is_the_golden_one(name: str) -> None:
    path = GOLDEN / f"{name}.html"
    shown = without_code(render(CASES[name]()))
    if os.environ.get("RENEW_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


def test_every_golden_page_has_its_case() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)
