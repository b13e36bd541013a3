"""Faces read back: the tables that a reader of each sees, as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import groupby
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta"})


class Read(NamedTuple):
    """A table as a face shows it: its caption, its heads, its rows."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def squeezed(text: str) -> str:
    """Text with single blanks."""
    return " ".join(text.split())


# -- terminal --------------------------------------------------------------------------------------


def terminal_tables(text: str, sizes: list[int]) -> Iterator[Read]:
    """The tables of a wide terminal; ``sizes`` tells how many rows each has, since notes follow."""
    lines = text.splitlines()
    rules = [i for i, line in enumerate(lines) if re.fullmatch(r"\s*─+", line)]
    assert len(rules) == len(sizes)
    for at, size in zip(rules, sizes, strict=True):
        told = [lines[at - 1], *lines[at + 1 : at + 1 + size]]
        heads, *rows = _cut_at_gutters(told)
        yield Read(squeezed(lines[at - 2]), heads, tuple(rows))


def _cut_at_gutters(lines: list[str]) -> list[tuple[str, ...]]:
    """Lines cut where two or more columns of characters are blank in all of them."""
    width = max(map(len, lines))
    blank = [all(line.ljust(width)[i] == " " for line in lines) for i in range(width)]
    cuts, at = [0], 0
    for empty, run in groupby(blank):
        length = len(list(run))
        if empty and length >= 2 and at:
            cuts.append(at)
        at += length
    ends = [*cuts[1:], width]
    return [
        tuple(squeezed(line.ljust(width)[a:b]) for a, b in zip(cuts, ends, strict=True))
        for line in lines
    ]


# -- Markdown --------------------------------------------------------------------------------------


def markdown_tables(text: str) -> Iterator[Read]:
    """The tables of a page of Markdown, with the sentence before each."""
    caption, rows, row = "", [], []
    said = ""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "table_open":
            caption, rows = said, []
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            rows.append(tuple(row))
        elif token.type == "table_close":
            yield Read(caption, rows[0], tuple(rows[1:]))
        elif token.type == "inline":
            said = squeezed(_markdown_text(token))
            row.append(said)
            said = said.removesuffix(":")


def _markdown_text(token: Token) -> str:
    """What is read; a formula stands as it was written, for a later pass sets it."""
    if re.fullmatch(r"\$.*\$", token.content):
        return token.content[1:-1]
    return "".join(
        child.content for child in token.children or () if child.type in ("text", "text_special")
    )


# -- LaTeX -----------------------------------------------------------------------------------------

_SIGNS = {
    r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", r"\texttt{\char34}": '"',
    r"\texttt{\char18}": "`", r"\ldots{}": "…", r"\allowbreak{}": "", r"$\to$": "→",
    r"$\downarrow$": "↓", "{[}": "[", "{]}": "]", "{*}": "*", "{}": "",
}  # fmt: skip


def latex_tables(text: str) -> Iterator[Read]:
    """The tables of a paper; one whose columns stand in several pieces is put together."""
    pieces = [
        _latex_table(body)
        for body in re.findall(r"(?s)% table \d+: begin\n(.*?)% table \d+: end", text)
    ]
    for _, parts in groupby(pieces, key=lambda piece: piece.caption):
        first, *others = parts
        heads, rows = first.heads, first.rows
        for other in others:
            heads += other.heads[1:]
            rows = tuple(a + b[1:] for a, b in zip(rows, other.rows, strict=True))
        yield Read(first.caption, heads, rows)


def _latex_table(body: str) -> Read:
    caption = re.search(r"(?m)^\\caption\{(.*)\}\\label", body)
    assert caption is not None
    long = r"\endfirsthead" in body
    head = re.search(r"(?s)\\toprule\n(.*?) \\\\\n\\midrule", body)
    inside = re.search(
        r"(?s)\\endfoot\n(.*)\\end\{longtable" if long else r"(?s)\\midrule\n(.*?)\\bottomrule",
        body,
    )
    assert head is not None
    assert inside is not None
    rows: list[tuple[str, ...]] = []
    for line in inside[1].splitlines():
        cells = _latex_cells(re.sub(r" ?\\\\(\*|\[2pt\])?$", "", line))
        if line.endswith(r"\\[2pt]"):
            rows[-1] = tuple(f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True))
        else:
            rows.append(cells)
    return Read(_plain(caption[1]), _latex_cells(head[1]), tuple(rows))


def _latex_cells(line: str) -> tuple[str, ...]:
    return tuple(map(_plain, re.split(r"(?<!\\)&", line)))


def _plain(text: str) -> str:
    formula = re.fullmatch(r"\{\\normalsize \$(.*)\$\}", text.strip())
    if formula:
        return formula[1]
    text = re.sub(r"\{\\scriptsize (.*)\}", r"\1", text.strip())
    text = re.sub(r"^\\textbf\{(.*)\}( \[.*\])?$", lambda m: m[1] + (m[2] or ""), text)
    for sign, meant in _SIGNS.items():
        text = text.replace(sign, meant)
    return squeezed(re.sub(r"\\([{}$&#%_])", r"\1", text))


# -- pages -----------------------------------------------------------------------------------------


@dataclass
class Node:
    """An element: its tag, its attributes, and what is in it."""

    tag: str
    attributes: dict[str, str | None]
    inside: list[Node | str] = field(default_factory=list)

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()

    @property
    def text(self) -> str:
        return squeezed(self._told())

    def _told(self) -> str:
        return "".join(each if isinstance(each, str) else each._told() for each in self.inside)

    def all(self, wanted: Callable[[Node], bool]) -> Iterator[Node]:
        for each in self.inside:
            if isinstance(each, Node):
                if wanted(each):
                    yield each
                else:
                    yield from each.all(wanted)

    def of_tag(self, *tags: str) -> list[Node]:
        return list(self.all(lambda node: node.tag in tags))

    def of_class(self, name: str) -> list[Node]:
        return list(self.all(lambda node: name in node.classes))


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Node("", {})]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        node = Node(tag, dict(attributes))
        self.open[-1].inside.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.open[-1].inside.append(Node(tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def page_of(text: str) -> Node:
    """A page as a tree."""
    tree = _Tree()
    tree.feed(text)
    (root,) = tree.open
    return root


def html_tables(text: str) -> Iterator[Read]:
    """The tables and dot plots of a page; of a plot: name, value, remark and what stands aside."""
    for block in page_of(text).all(lambda node: node.tag == "table" or "dots" in node.classes):
        yield _html_table(block) if block.tag == "table" else _html_dots(block)


def _html_table(table: Node) -> Read:
    caption = table.of_tag("caption")
    head, *rows = table.of_tag("tr")
    heat = "heat" in table.classes or "matrix" in table.classes
    return Read(
        caption[0].text if caption else "",
        tuple(cell.text for cell in head.of_tag("th", "td")),
        tuple(
            tuple(_square(cell) if heat else cell.text for cell in row.of_tag("th", "td"))
            for row in rows
        ),
    )


def _square(cell: Node) -> str:
    """The count of a square of a heat map: in full where it is shown in short."""
    told = re.search(r": ([\d.,]+) of [\d.,]+ \([^)]*\)$", cell.attributes.get("title") or "")
    return told[1] if told else " ".join(each.text for each in cell.of_class("count")) or cell.text


def _html_dots(block: Node) -> Read:
    rows = []
    for line in block.of_tag("li"):
        (head,) = line.of_class("head")
        (name,) = head.of_class("name")
        remark = " ".join(each.text for each in head.of_class("remark"))
        (value,) = line.of_class("reading")
        aside = " ".join(each.text for each in line.of_class("aside"))
        rows.append((name.text, value.text, remark, aside))
    whole = [note.text.partition("All rows: ") for note in block.of_class("note")]
    rows += [("all rows", value, "", "") for before, dot, value in whole if dot and not before]
    (caption,) = block.of_tag("h3")
    return Read(caption.text, ("name", "value", "remark", "aside"), tuple(rows))
