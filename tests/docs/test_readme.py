"""The README names two commands that there are, and its picture is what the command prints."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_has_the_two_commands_of_the_makefile() -> None:
    targets = re.findall(r"^    make (\w+) ", README, re.MULTILINE)
    assert targets == ["demo", "test"]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert all(f"\n{target}: " in makefile for target in targets)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the picture is taken of a Unix terminal")
def test_the_picture_is_what_the_command_prints() -> None:
    spec = spec_from_file_location("generate_terminal", ROOT / "docs" / "generate_terminal.py")
    assert spec is not None
    assert spec.loader is not None
    terminal = module_from_spec(spec)
    spec.loader.exec_module(terminal)
    assert f"]({terminal.PICTURE.relative_to(ROOT)})" in README
    picture = terminal.picture(terminal.printed())
    if os.environ.get("RENEW_GOLDEN"):
        terminal.PICTURE.write_text(picture, "utf-8")
    assert picture == terminal.PICTURE.read_text("utf-8"), "RENEW_GOLDEN=1 renews it"
