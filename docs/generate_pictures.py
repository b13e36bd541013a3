"""The pictures of the pages, drawn from the flows of the demo when the documentation is built."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from dataclasses import dataclass
from doctest import DocTestParser
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import assay
from assay import measures
from assay.v02.decisions import read_rules
from assay.v02.decisions.threshold import choose_threshold
from assay.v02.learn.scenarios import make_flows, write_week
from assay.v02.plots import intervals

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"


def comparison() -> Any:
    """Both models of the flows, each at a false alarm rate of 5%; hosts are what is resampled."""
    flows = make_flows()
    return assay.compare(
        flows.label,
        scores={"old": flows.old, "new": flows.new},
        at="max-far=0.05",
        clusters=flows.host,
    ).plot


def gate() -> Any:
    """The new model against the old one, by the rules of the example."""
    flows = make_flows()
    return assay.gate(
        flows.label,
        new=flows.new,
        old=flows.old,
        families=flows.family,
        rules=[rule.text for rule in read_rules(EXAMPLES / "gate.toml")],
    ).plot


def audit() -> Any:
    """The network of the first document, with its cells as printed."""
    claims = assay.read_claims(EXAMPLES / "claims/safelink-network.toml")
    return assay.audit(claims[0]).plot


def evaluation() -> Any:
    """The new model of the flows."""
    flows = make_flows()
    return assay.evaluate(flows.label, y_score=flows.new).plot


def threshold() -> Any:
    """Where to set the alarm of the new model, at most 1 false positive in 500."""
    flows = make_flows()
    return choose_threshold(
        flows.label, y_score=flows.new, max_fpr=0.002, base_rate=0.001, families=flows.family
    ).plot


@dataclass(frozen=True)
class Drawn:
    """A figure of its own, that is saved as those of results are."""

    axes: Any
    name: str

    def save(self, folder: str, *, formats: tuple[str, ...]) -> None:
        """Write the picture, in each format."""
        for kind in formats:
            self.axes.figure.savefig(Path(folder, f"{self.name}.{kind}"))


def label_less() -> Drawn:
    """What labels at random and by strata tell: a million rows, of which 2,000 are attacks."""
    import polars as pl

    random = np.random.default_rng(1)
    truth = np.where(np.arange(1_000_000) < 2000, "attack", "normal")
    score = random.normal(size=1_000_000) + 4.0 * (truth == "attack")
    flows = pl.DataFrame({"label": truth, "score": score})
    named = {"label": "label", "score": "score", "threshold": 3.5}
    rows = []
    for labels in (5000, 10_000, 20_000):
        drawn = assay.sample(flows, score="score", labels=labels, threshold=3.5)
        by_strata = assay.evaluate(drawn.frame, weight="weight", strata="stratum", **named)
        at_random = assay.evaluate(flows.sample(labels, seed=1), **named)
        rows += [
            (f"{labels:,} at random", at_random["recall"]),
            (f"{labels:,} by strata", by_strata["recall"]),
        ]
    whole = assay.evaluate(flows, **named)["recall"]
    return Drawn(intervals.dots(rows, measures.RECALL, whole=whole, ordered=True), "labels")


def model() -> Drawn:
    """The models of the page for people with a scikit-learn model: its examples, run."""
    names: dict[str, Any] = {}
    text = (HERE / "start" / "model.rst").read_text("utf-8")
    with redirect_stdout(StringIO()):
        for example in DocTestParser().get_examples(text):
            exec(example.source, names)  # noqa: S102 - the page's own lines
    return Drawn(names["comparison"].plot.roc(), "roc")


def paper() -> Any:
    """The mean ranks of the page for people who write a paper, of the rows that it makes."""
    page = (HERE / "start" / "paper.rst").read_text("utf-8")
    (lines,) = re.findall(r"python3 - > folds\.csv <<'END'\n((?:   > .*\n)+)   > END", page)
    printed = StringIO()
    with redirect_stdout(printed):
        exec(re.sub("^   > ", "", lines, flags=re.MULTILINE), {})  # noqa: S102 - the page's own
    with TemporaryDirectory() as folder:
        folds = Path(folder, "folds.csv")
        folds.write_text(printed.getvalue())
        return assay.compare_folds(folds).plot


def monitored() -> Any:
    """Ten weeks of a detector, whose harmless rows score higher from the seventh week on."""
    random = np.random.default_rng(8)
    rows, days = 300, 70
    day = np.repeat(np.arange(days), rows)
    attack = random.random(rows * days) < 0.02
    moved = np.where(day >= 42, 0.8, 0.0)
    score = np.where(
        attack, random.normal(2.2, 1, day.size), random.normal(moved - 2.4, 1, day.size)
    )
    truth = np.where(attack, "attack", "normal").astype(object)
    truth[score < 0] = None
    known = random.normal(size=4000)
    return assay.monitor(
        np.datetime64("2026-01-05") + day,
        truth,
        y_score=score,
        threshold=0.0,
        rules="precision >= 0.5",
        reference={"y_score": np.where(random.random(4000) < 0.02, known + 2.2, known - 2.4)},
    ).plot


def incidents() -> Any:
    """The week of logs, its alerts ranked by severity, at most 20 false incidents a day."""
    with TemporaryDirectory() as folder:
        week = Path(folder)
        write_week(week)
        return assay.incidents(
            alerts=week / "eve.json",
            events=week / "conn.log",
            schedule=week / "attacks.csv",
            score="alert.severity",
            max_false_incidents=20,
        ).plot


def over_data_sets() -> Any:
    """The models of the example over its data sets."""
    return assay.compare_folds(HERE.parent / "examples" / "folds.csv").plot


# File: what draws it, and which of its figures.
PICTURES = {
    "audit.svg": (audit, "numbers.svg"),
    "compare-forest.svg": (comparison, "forest.svg"),
    "compare-ranks.svg": (over_data_sets, "ranks.svg"),
    "compare-hulls.svg": (comparison, "hulls.svg"),
    "compare-roc.svg": (comparison, "roc.svg"),
    "curves-cost.svg": (evaluation, "cost.svg"),
    "curves-decision.svg": (evaluation, "decision.svg"),
    "curves-det.svg": (evaluation, "det.svg"),
    "gate.svg": (gate, "rules.svg"),
    "incidents-operating.svg": (incidents, "operating.svg"),
    "incidents-time-to-detect.svg": (incidents, "time-to-detect.svg"),
    "incidents-timeline.svg": (incidents, "timeline.svg"),
    "label-less.svg": (label_less, "labels.svg"),
    "monitor-precision.svg": (monitored, "precision.svg"),
    "monitor-shift.svg": (monitored, "shift.svg"),
    "model.svg": (model, "roc.svg"),
    "paper-ranks.svg": (paper, "ranks.svg"),
    "threshold.svg": (threshold, "roc.svg"),
}


def cell() -> str:
    """What a notebook shows of the new model of the flows."""
    flows = make_flows()
    return assay.evaluate(flows.label, y_score=flows.new, base_rate=0.001)._repr_html_()


def write_pictures(folder: Path) -> None:
    """Write every picture into a folder, and the cell of a notebook."""
    folder.mkdir(exist_ok=True)
    (folder / "cell.html").write_text(cell(), "utf-8")
    for made in dict.fromkeys(made for made, _ in PICTURES.values()):
        with TemporaryDirectory() as aside:
            made().save(aside, formats=("svg",))
            for name, (by, figure) in PICTURES.items():
                if by is made:
                    (folder / name).write_bytes(Path(aside, figure).read_bytes())
