"""Check the links of the built documentation: ``python docs/check_links.py docs/_build/html``.

Every link and picture leads to a file of the folder, and to a place that the file has. Nothing is
loaded from outside. What lies outside can't be asked without a network; of a DOI the form is looked
at.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

OUTSIDE = {"http", "https", "mailto"}
DOI = re.compile(r"https://doi\.org/10\.\d{4,9}/\S+")
# What a style loads.
LOADED = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


class Page(HTMLParser):
    """The links of a page, what it loads, and the places in it that links may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag leads to, loads, and is called."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if "href" in given:
            (self.loads if tag == "link" else self.links).append(given["href"])
        self.loads += [given[name] for name in ("src", "data", "poster") if name in given]
        self.loads += [part.split()[0] for part in given.get("srcset", "").split(",") if part]
        if tag == "form" and "action" in given:
            self.links.append(given["action"])


@cache
def page_of(path: Path) -> Page:
    return Page(path.read_text("utf-8"))


def broken_links(folder: Path) -> Iterator[str]:
    """What is wrong, a line each."""
    for path in sorted(folder.rglob("*.html")):
        page = page_of(path)
        name = path.relative_to(folder)
        for target in dict.fromkeys(page.loads):
            if urlsplit(target).scheme in OUTSIDE or target.startswith("//"):
                yield f"{name} loads {target} from outside"
        for target in dict.fromkeys((*page.links, *page.loads)):
            if (problem := _problem(folder, path, target)) is not None:
                yield f"{name} leads to {target}: {problem}"
    for path in sorted(folder.rglob("*.css")):
        name = path.relative_to(folder)
        for target in map("".join, LOADED.findall(path.read_text("utf-8"))):
            if urlsplit(target).scheme in OUTSIDE or target.startswith("//"):
                yield f"{name} loads {target} from outside"


def _problem(folder: Path, path: Path, target: str) -> str | None:
    """What is wrong with a link of a page."""
    parts = urlsplit(target)
    if parts.scheme in OUTSIDE or parts.netloc:
        malformed = parts.netloc == "doi.org" and not DOI.fullmatch(target)
        return "this is not the form of a DOI" if malformed else None
    if parts.scheme:
        return None if parts.scheme == "data" else f"{parts.scheme} is no scheme for a page"
    file = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
    if not file.is_relative_to(folder.resolve()):
        return "it is not in the documentation"
    if not file.is_file():
        return "there is no such file"
    place = unquote(parts.fragment)
    if place and file.suffix == ".html" and place not in page_of(file).places:
        return f"there is no place {place} in it"
    return None


def main(folder: Path) -> None:
    pages = len(list(folder.rglob("*.html")))
    broken = list(broken_links(folder))
    if broken or not pages:
        sys.exit("\n".join(broken) or f"there are no pages in {folder}")
    sys.stdout.write(f"Checked the links of {pages} pages\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
