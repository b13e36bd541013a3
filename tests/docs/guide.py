"""What CONTRIBUTING.md tells to write, read from its own lines, and a copy of the package with it.

A block below ``In `PATH`, above the tuple `NAME`, write`` goes there. A block of ``diff`` is an
edit: lines with a blank or a minus are looked for, and lines with a plus stand among them, or in
their place; ``@@`` separates the places of a file.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

_ABOVE = re.compile(
    r"In\s+`([^`]+)`, above\s+the tuple `(\w+)`, write\n\n"
    r"```python\n(.*?)```\n\nand add `(\w+)` to",
    re.DOTALL,
)
_EDITS = re.compile(r"```diff\n(.*?)```", re.DOTALL)


def follow(title: str, root: Path) -> None:
    """Do in a copy what a section says."""
    text = re.split(r"^## ", GUIDE.partition(f"## {title}\n")[2], flags=re.MULTILINE)[0]
    declarations = _ABOVE.findall(text)
    assert declarations
    for path, names, declaration, name in declarations:
        target = root / path
        source = _edited(target.read_text("utf-8"), f" {names} = (\n+    {name},\n")
        place = source.index(f"\n{names} = (") + 1
        _write(target, f"{source[:place]}{declaration}\n\n{source[place:]}")
    for block in _EDITS.findall(text):
        for part in block.split("--- ")[1:]:
            path, _, places = part.partition("\n")
            target = root / path
            source = target.read_text("utf-8")
            for place in places.split("@@\n"):
                source = _edited(source, place)
            _write(target, source)


def _edited(source: str, place: str) -> str:
    """The source with one place changed, which it has to have once."""
    lines = [line or " " for line in place.splitlines()]
    before = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    after = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    assert (source.startswith(before) + source.count(f"\n{before}")) == 1, f"not once:\n{before}"
    return f"\n{source}".replace(f"\n{before}", f"\n{after}", 1)[1:]


def _write(path: Path, text: str) -> None:
    # A copy is made of links, and what they lead to stays as it is.
    path.unlink(missing_ok=True)
    path.write_text(text, "utf-8")


def copy_package(root: Path) -> None:
    """A copy of the package: links to its files, and one to the whole of 0.2."""
    home = ROOT / "src" / "assay"
    for path in home.rglob("*.py*"):
        name = path.relative_to(home)
        if path.is_file() and name.parts[0] != "v02":
            copied = root / "src" / "assay" / name
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.symlink_to(path)
    (root / "src" / "assay" / "v02").symlink_to(home / "v02")
