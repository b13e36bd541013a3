"""Links lead somewhere: those of the built documentation, of the README and of the guide."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_check_of_the_built_pages_names_what_leads_nowhere(tmp_path: Path) -> None:
    spec = spec_from_file_location("check_links", ROOT / "docs" / "check_links.py")
    assert spec is not None
    assert spec.loader is not None
    check = module_from_spec(spec)
    spec.loader.exec_module(check)
    page = tmp_path / "fine.html"
    page.write_text('<p id="here"><a href="#here">a</a> <a href="https://doi.org/10.1002/s">b</a>')
    assert not list(check.broken_links(tmp_path))
    page = tmp_path / "wrong.html"
    page.write_text('<a href="gone.html">a</a> <script src="https://cdn.example.org/a.js">')
    outside, nowhere = check.broken_links(tmp_path)
    assert nowhere.endswith("there is no such file")
    assert outside.endswith("from outside")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_the_links_of_a_text_lead_to_files_that_are_there(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
