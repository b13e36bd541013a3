"""Small documents, and a parser that lists what a page is made of."""

from __future__ import annotations

import math
from html.parser import HTMLParser

from assay.evaluation.findings import Finding
from assay.inference import Estimate
from assay.measures import find
from assay.report.provenance import Provenance
from assay.report.sections import (
    Column,
    Dot,
    Dots,
    Kind,
    Matrix,
    Panel,
    Prose,
    Report,
    Section,
    Table,
    Tier,
)

PANEL = Panel(
    negative="normal",
    positive="attack",
    negatives=6,
    positives=4,
    threshold=0.5,
    sweep={"threshold": (None, 0.9, 0.6, 0.3, 0.1), "tp": (0, 2, 3, 3, 4), "fp": (0, 0, 1, 2, 6)},
    measures=tuple(find(name) for name in ("recall", "false_discovery_rate", "mcc", "kappa")),
    base_rates=(0.01,),
    reliability={
        "predicted": (0.1, 0.4, 0.8),
        "observed": (0.05, 0.5, 0.75),
        "low": (0.0, 0.2, 0.4),
        "high": (0.3, 0.8, 0.9),
        "n": (6.0, 1.0, 3.0),
    },
    shown_at={
        "recall": Estimate(0.75, 0.3006, 0.9544, method="wilson", n=4),
        "mcc": Estimate(0.5833, -0.1, 0.9, method="delta", n=10, note="few rows"),
    },
    decided=(3, 1, 1, 5),
    deployed={0.01: {"precision": Estimate(0.0435, 0.01, 0.2, method="delta", n=10)}},
)


def small(panel: Panel | None = PANEL) -> Report:
    """A document with one of everything."""
    share = Estimate(0.75, 0.5, 0.9, method="wilson", n=20)
    none = Estimate(math.nan, undefined="nothing was flagged (TP + FP = 0)")
    main = Table(
        "95% intervals",
        (
            Column("measure"),
            Column("estimate", Kind.SHARE),
            Column("reading"),
            Column("n", Kind.COUNT, optional=True),
        ),
        (("recall", share, "fine", 20), ("precision", none, "", 20), ("log loss", 1.5, "", 20)),
    )
    days = Table(
        "Alerts by day",
        (
            Column("day"),
            Column("alerts", Kind.COUNT),
            Column("a", Kind.SHARE),
            Column("b", Kind.SHARE),
        ),
        (("2024-03-01", 1200, share, none), ("2024-03-02", 7, share, None)),
        ("Two days.",),
    )
    dots = Dots(
        "Detection rate by family, worst first",
        "family",
        find("recall"),
        (
            Dot("scan", Estimate(0.5, 0.3, 0.7, n=8), "4 of 8 detected"),
            Dot("dos", share),
            Dot("u2r", none),
        ),
        Estimate(0.7, 0.6, 0.8),
    )
    matrix = Matrix("Rows are the truth", ("a", "b", "c"), ((5, 0, 1), (2, 9, 0), (0, 0, 0)))
    return Report(
        title="Evaluation of flows.csv",
        headline=("Catches 75.0% [30.1, 95.4] of attacks.", "10 rows."),
        sections=(
            Section("Per class", (Prose("A sentence."), days), Tier.APPENDIX, detail=True),
            Section("Confusion matrix", (matrix,), Tier.APPENDIX),
            Section("Families", (dots,), Tier.APPENDIX),
            Section("Main results", (main,), Tier.MAIN),
        ),
        findings=(Finding("E900", "warning", "Look here."), Finding("E901", "info", "And here.")),
        notes=("a note",),
        panel=panel,
        made=Provenance("0.1.0", "assay evaluate flows.csv", (("flows.csv", 4096, "0f" * 32),)),
    )


class Parts(HTMLParser):
    """The tags of a page with their attributes, its text, and what its own code is."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.code: dict[str, str] = {}
        self.words: list[str] = []
        self._inside = ""
        self.feed(page)
        self.close()
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag in ("script", "style"):
            self._inside = "data" if attributes.get("type") == "application/json" else tag

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            assert self._inside not in self.code
            self.code[self._inside] = data
        else:
            self.words.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every such tag."""
        return [attributes for name, attributes in self.tags if name == tag]
