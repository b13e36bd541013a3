"""Names that have done harm elsewhere, and how to make more of them."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from assay import Confusion, Estimate, Evaluation, Resolved
from assay.evaluation.findings import Finding
from assay.measures import find
from assay.report.provenance import Input, Provenance
from assay.report.sections import (
    Change,
    Column,
    Dot,
    Dots,
    ForestPlot,
    Kind,
    Marked,
    Matrix,
    Prose,
    Report,
    Section,
    Table,
    Tier,
)

NAMES = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</details><b>",
    "<!-- -->",
    "&lt;script&gt;",
    "a|b",
    "a\\|b",
    "\\",
    "\\\\",
    "|",
    "||",
    "`code`",
    "``",
    "*bold*",
    "_under_score_",
    "~~gone~~",
    "[link](http://example.com)",
    "![image](http://example.com/a.png)",
    "[ref]: http://example.com",
    "[^1]",
    "http://example.com",
    "www.example.com",
    "someone@example.com",
    "@team",
    "#123",
    "# heading",
    "- item",
    "1. item",
    "> quote",
    "---",
    "===",
    "$HOME",
    "$x^2$",
    "\\input{/etc/passwd}",
    "\\input|ls",
    "\\write18{touch owned}",
    "\\immediate\\write18{id}",
    "\\openin5=/etc/passwd",
    "\\def\\x{\\x}\\x",
    "\\end{document}",
    "\\end{tabular}",
    "\\begin{verbatim}",
    "\\catcode`\\%=12",
    "^^5cinput{x}",
    "%comment",
    "a & b",
    "a # b",
    "{",
    "}",
    "{{}",
    "$$",
    "~",
    "^",
    '"quoted"',
    "'quoted'",
    "''",
    "--",
    "---",
    "?`",
    "!`",
    "<<>>",
    "[x]",
    "*",
    "[",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://example.com")',
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "\u00a0=1+1",
    "\uff1d1+1",
    "\uff0b1",
    "\uff0d1",
    "\uff20SUM",
    "\x00=1+1",
    "'=1+1",
    "''=1+1",
    'a,b;"c"',
    "a\nb",
    "a\r\nb",
    "\n",
    "\t",
    "",
    " ",
    "   spaces   ",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\x08\x08\x08back",
    "\x7f",
    "\x00",
    "\u202eright to left",
    "\u2066isolate",
    "\u200bzero width",
    "\ufeffmark",
    "\u2028line",
    "\u0085next line",
    "שלום",
    "مرحبا",
    "日本語のラベル",
    "Ελληνικά",
    "Привет",
    "e\u0301 combined",
    "Z\u0351\u036f\u0321a\u0317l\u0320g\u0323o",
    "naïve café",
    "Łódź",
    "straße",
    "😀",
    "👩‍💻",
    "🇩🇪",
    "\ue000private",
    "\U000e0041tag",
    "\ufffe",
    "\ud800",
    "a\udfffb",
    "x" * 10_000,
    "W" * 60,
    "a b " * 3000,
    "日" * 5000,
    "NA",
    "None",
    "null",
    "007",
    "-1",
    "nan",
    "__proto__",
    "${jndi:ldap://x}",
    "{{7*7}}",
    "'; DROP TABLE x; --",
    "../../etc/passwd",
    "%s%n",
    "con",
]

# Any text but half of a surrogate pair, which no file can hold, and with it.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
odd_texts = st.one_of(
    st.sampled_from(NAMES),
    st.text(st.characters(), max_size=40),
    st.text(st.sampled_from("\\{}$&#%_^~<>|\"'`[]*-@=+\t\r\n\0 .:/w!()1"), max_size=25),
)


def document_with(*given: str) -> Report:
    """A document that has such names wherever a name can be."""
    names = tuple(dict.fromkeys(given))
    share, none = Estimate(0.5, 0.4, 0.6, method="wilson", n=20), Estimate(math.nan, undefined="x")
    gap = Estimate(0.1, -0.05, 0.25, method="bootstrap", n=20)
    count, estimate = Column("rows", Kind.COUNT), Column("estimate", Kind.SHARE)
    said = f"It says {names[0]} of '{names[-1]}'."
    labels = names if len(names) > 1 else (*names, "other")
    size = range(len(labels))
    blocks = (
        Matrix(said, labels, tuple(tuple(i + j for j in size) for i in size)),
        Table(
            said,
            (Column(names[0]), count, estimate, Column("reading"), Column("n", optional=True)),
            tuple((name, 7, share, name, "wilson") for name in names),
            (said,),
        ),
        Dots(
            said,
            names[0],
            find("recall"),
            tuple(Dot(name, share, name) for name in names),
            none,
            (said,),
        ),
        Table(
            said,
            (Column(names[0]), Column("a", Kind.SHARE), Column("b", Kind.SHARE), Column("c")),
            tuple((Marked(name), Marked(share), none, Marked(name)) for name in names),
        ),
        ForestPlot(
            said,
            (Change("undefined", none), *(Change(name, gap, remark=name) for name in names)),
            0.01,
            (said,),
            names[0],
        ),
        Prose(said),
        Prose(f"{names[0]}."),
    )
    record = {"measure": "recall", "value": -0.5, "low": None}
    return Report(
        title=names[0],
        headline=(f"{names[0]}.", said),
        sections=tuple(
            Section(names[0], blocks, tier, detail=True) for tier in (None, Tier.APPENDIX)
        ),
        findings=(Finding("E001", "warning", said), Finding("E002", "info", f"{names[0]}.")),
        notes=(f"{names[0]}.", said),
        plain={"schema": "assay.evaluation/1", "labels": list(names)},
        made=Provenance(
            version=names[0],
            command=names[0],
            inputs=(Input(names[0], 12, names[0]),),
            commit=names[0],
            made=names[0],
            platform=names[0],
        ),
        records=tuple({**record, "label": name} for name in names),
    )


def evaluation_of(names: list[str], column: str = "column") -> Evaluation:
    """An evaluation whose labels, slices and column all have such names."""
    names = list(dict.fromkeys([*names, "b", "c"]))
    labels = (names[0], names[1])
    slices = {(column, name): Confusion(labels, ((9, 1), (2, 8))) for name in names}
    slices |= {
        ("family", name): Confusion(labels, ((0, 0), (1, 3 + i))) for i, name in enumerate(names)
    }
    return Evaluation(
        Resolved(labels, labels[1], Confusion(labels, ((90, 10), (20, 80))), slices=slices)
    )


def many_of(names: list[str]) -> Evaluation:
    """An evaluation of more classes with such names."""
    labels = tuple(dict.fromkeys([*names, "b", "c"]))
    size = range(len(labels))
    cells = tuple(tuple(9 if i == j else (i + 2 * j) % 3 for j in size) for i in size)
    return Evaluation(Resolved.of_confusion(Confusion(labels, cells)))
