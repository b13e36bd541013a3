"""What CONTRIBUTING.md tells to write, read from its own lines, and a copy of the package with it.

A block below ``A new file, `PATH`:`` is that file, and one below ``In `PATH`, above the tuple
`NAME`, write`` goes there. A block of ``diff`` is an edit: lines with a blank or a minus are looked
for, and lines with a plus stand among them, or in their place; ``@@`` parts the places of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

_NEW = re.compile(r"A new file,\s`([^`]+)`:\n\n```\w+\n(.*?)```", re.DOTALL)
_ABOVE = re.compile(
    r"In `([^`]+)`, above\s+the tuple `(\w+)`, write\n\n```python\n(.*?)```\n\nand add `(\w+)` to",
    re.DOTALL,
)
_EDITS = re.compile(r"```diff\n(.*?)```", re.DOTALL)


def section(title: str) -> str:
    """One section of the guide."""
    return re.split(r"^## ", GUIDE.partition(f"## {title}\n")[2], flags=re.MULTILINE)[0]


SECTIONS = tuple(re.findall(r"^## (How to add an? \w+)$", GUIDE, re.MULTILINE))


def follow(title: str, root: Path) -> Iterator[Path]:
    """Do in a copy what a section says; gives the files that were written."""
    text = section(title)
    for path, content in _NEW.findall(text):
        assert not (root / path).exists(), path
        yield _written(root / path, content)
    for path, names, declaration, name in _ABOVE.findall(text):
        edit = f" {names} = (\n+    {name},\n"
        target = root / path
        _written(target, _edited(target.read_text("utf-8"), edit))
        source = target.read_text("utf-8")
        place = source.index(f"\n{names} = (") + 1
        yield _written(target, f"{source[:place]}{declaration}\n\n{source[place:]}")
    for block in _EDITS.findall(text):
        for part in block.split("--- ")[1:]:
            path, _, places = part.partition("\n")
            target = root / path
            source = target.read_text("utf-8")
            for place in places.split("@@\n"):
                source = _edited(source, place)
            yield _written(target, source)


def _edited(source: str, place: str) -> str:
    """The source with one place changed, which it has to have once."""
    lines = [line or " " for line in place.splitlines()]
    before = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    after = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    assert (source.startswith(before) + source.count(f"\n{before}")) == 1, f"not once:\n{before}"
    return f"\n{source}".replace(f"\n{before}", f"\n{after}", 1)[1:]


def _written(path: Path, text: str) -> Path:
    # A copy is made of links, and what they lead to stays as it is.
    path.unlink(missing_ok=True)
    path.write_text(text, "utf-8")
    return path


def copy_package(root: Path) -> None:
    """A copy of the package: links to its files, and for speed to those that are compiled."""
    home = ROOT / "src"
    for path in home.rglob("*"):
        if path.is_dir():
            continue
        target = root / "src" / path.relative_to(home)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(path)
