"""The page of the documentation that says what was found."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from textwrap import fill

from intervals.scenario import PROMISE, Coverage

_TITLES = {
    "shares": "Shares of rows",
    "decisions": "Two classes: measures of decisions",
    "3 classes": "Three classes",
    "5 classes": "Five classes",
    "class probabilities": "Probabilities of three and of five classes",
    "unknown rows": "Rows of a label that the model does not know",
    "scores": "Rankings",
    "operating points": "What is read off a curve",
    "low false positive rates": "Detection rates at low false positive rates",
    "scores, class sizes fixed": "Rankings of classes whose sizes are fixed",
    "probabilities": "Probabilities",
    "bands": "Bands of curves",
    "clusters": "Rows in clusters",
    "sampling weights": "Sampling weights",
    "periods": "Over time",
    "top alerts": "The top alerts of a day",
}

_PROMISES = {
    "shares": "Promised where n p (1 - p) is at least 10, for p the share and n the rows below the "
    "line. Accuracy, precision, detection rate, false positive rate and all other shares of rows "
    "are alike here. Summed exactly.",
    "decisions": "Promised where each cell that the measure uses expects at least 10 rows; for F1 "
    "and Jaccard, where at least 10 hits and 10 errors are expected.",
    "3 classes": "Promised where each class expects at least 10 hits, 10 misses and 10 false "
    "alarms.",
    "5 classes": "Promised where each class expects at least 10 hits, 10 misses and 10 false "
    "alarms.",
    "class probabilities": "Averages over classes of AUC and average precision, each class against "
    "the rest, and Hand and Till's over pairs. Promised where each class expects at least 30 rows, "
    "for average precision 50, and each ranking of a class 5 errors, its rows times how far its "
    "AUC falls short of 1.",
    "unknown rows": "Three known classes and an unknown one. Promised where the smaller side, of "
    "known or of unknown rows, expects at least 30 rows and 5 errors, its rows times how far the "
    "measure falls short of 1.",
    "scores": "With P positives and N negatives, AUC is promised where min(P, N) (1 - AUC) is at "
    "least 5; average precision where, besides, min(P, N) is at least 50. For the partial AUC it "
    "is what lies left of the limit that counts: promised where min(P, 0.1 N) s is at least 10 and "
    "min(P, 0.1 N) (1 - s) at least 5, for s how far it falls short of 1, as a share of how far it "
    "can.",
    "operating points": "Scores without many ties, and at least 50 rows of each class. The equal "
    "error rate is promised where min(P, N) times the rate, and times what it falls short of 1, is "
    "at least 10; top decile lift where at least 10 positives are expected within the tenth and "
    "outside of it; the area under the precision-recall-gain curve where min(P, N) (1 - AUC) is at "
    "least 20; KS and the H-measure where, besides, the value is at least 0.1; average precision "
    "at a base rate where it is at least 10 and the base rate times N at least 40.",
    "low false positive rates": "Scores without many ties. Promised where at least 10 false "
    "positives are allowed (the rate times N) and at least 10 positives are expected above the "
    "threshold and below it.",
    "scores, class sizes fixed": "Average precision depends on the prevalence, and its interval "
    "allows for a prevalence that was drawn with the rows. Where it was set by design the interval "
    "is too wide, never too narrow.",
    "probabilities": "Promised where at least 20 rows of the rarer class are expected; the "
    "resolution from 1,000 rows on, 100 of them of the rarer class.",
    "bands": "At a threshold that was fixed beforehand, promised where each of the four cells "
    "expects at least 10 rows. The thresholds of the cost curve are the best on the same rows: "
    "promised from 1,000 rows of both classes on.",
    "clusters": "Promised from 30 clusters on; for average precision, log loss and Brier score "
    "from 100.",
    "sampling weights": "Promised where each cell that the measure uses expects 10 effective rows, "
    "the sum of weights squared over the sum of squared weights.",
    "periods": "Promised where each period expects ten rows in each cell that the measure uses, "
    "and as many as there are periods; for the AUC, where min(P, N) (1 - AUC) is at least 5 in "
    "each, and as much as there are periods. Where periods differ of themselves, here by a shift "
    "of all scores, the slope is promised from eight periods on.",
    "top alerts": "Over days, promised from five days on, where ten hits and ten false alarms are "
    "expected in all. Of one sample, where ten rows of each class are expected above the "
    "threshold.",
}

_INSTEAD = {
    "shares": "Where a share must not be promised too much, as in a contract, use "
    '``interval="clopper-pearson"``: it never covers less than its level.',
    "decisions": "With fewer rows, quote the detection rate and the false positive rate, each with "
    "its own interval: Wilson's holds up far better with few rows than any interval of a mixture.",
    "3 classes": "Where a class has few rows, quote its own detection rate and precision: a macro "
    "average is as unsure as its smallest class.",
    "5 classes": "The same holds here.",
    "class probabilities": "With fewer errors an interval is made wider by what that of the class "
    "alone says, and covers too often rather than too rarely.",
    "scores": "With fewer errors than that no method is sure of the shape of the scores: count "
    "errors at one threshold instead, as a share of rows.",
    "probabilities": "With fewer attacks the largest losses have not been seen yet, and no "
    "interval can know of them: collect more of them.",
    "bands": "With fewer rows the best threshold of a cost curve looks cheaper than it is: choose "
    "it on other rows than those that judge it.",
    "clusters": "With fewer clusters the intervals are a little too short whatever the number of "
    "rows; more rows of the same hosts do not help, more hosts do.",
    "sampling weights": "Where a few rows carry most of the weight, what is known is what they "
    "tell, and the interval can't see how few they are: look at the heavy rows alone, unweighted.",
    "periods": "With fewer rows use longer periods: a mean over many periods is surer of itself "
    "than small periods are free of bias. With few periods that differ of themselves no "
    "method can tell a decay from a bad month: quote each of them.",
    "top alerts": "With fewer days quote the days one by one.",
}

_HEAD = """\
.. Generated by `make intervals`; do not edit.

How often the intervals hold
============================

A 95% interval should hold the truth in 95 of 100 samples. For few methods that is so at every size,
so this page says where it is. Rows were drawn from populations whose true values are known, the
default interval was computed as :func:`assay.evaluate` does, and it was counted how often the truth
lay inside.

The promise is {low:.0%} to {high:.1%}, wherever enough rows are there to know. Each table gives its
own region, the lowest and the highest coverage found inside of it, and the same outside, where
nothing is promised. Shares of rows are summed; all else is drawn, each setting so often as its
section says, and more often where it is close. The lowest and highest of many are extremes of the
error of such simulations too: a promise counts as broken only where it is missed by more than three
standard errors.

The regions of shares, F1, AUC, classes and weights, the ten rows a cell and the 30 clusters were
set before anything was drawn. All others, of partial AUC, average precision, probabilities, what is
read off a curve, periods and top alerts, and the 100 clusters, were set from simulations like
these; and the intervals of rankings, probabilities and classes were improved after such simulations
found them wanting. For those the tables say where the intervals hold; they are no independent test.
"""


def read(path: Path) -> list[Coverage]:
    """What an earlier run wrote."""
    names = {field.name for field in fields(Coverage)}
    return [
        Coverage(**{name: value for name, value in row.items() if name in names})
        for row in json.loads(path.read_text("utf-8"))
    ]


def _span(rows: Sequence[Coverage]) -> tuple[str, str, str]:
    judged = [row for row in rows if row.judged]
    if not judged:
        return "0", "", ""
    shares = [row.share for row in judged]
    return str(len(judged)), f"{min(shares):.1%}", f"{max(shares):.1%}"


def ranges(rows: Sequence[Coverage]) -> tuple[str, str]:
    """The coverage inside and outside of the promise, in words."""
    parts = []
    for inside in (True, False):
        count, low, high = _span([row for row in rows if row.inside == inside])
        parts.append(f"{low} to {high} in {count} settings" if low else "no setting")
    return parts[0], parts[1]


def _table(rows: Sequence[Coverage]) -> list[str]:
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        "   :widths: 34 22 8 9 9 8 9 9",
        "",
        *_row(["measure", "method", "inside", "lowest", "highest", "outside", "lowest", "highest"]),
    ]
    for measure in dict.fromkeys(row.measure for row in rows):
        mine = [row for row in rows if row.measure == measure]
        methods = dict.fromkeys(m for row in mine for m in row.method.split(", ") if m)
        inside, outside = (
            _span([row for row in mine if row.inside == where]) for where in (True, False)
        )
        lines += _row([measure, ", ".join(methods), *inside, *outside])
    return [*lines, ""]


def _row(cells: Sequence[str]) -> list[str]:
    first, *others = cells
    return [f"   * - {first}".rstrip(), *(f"     - {cell}".rstrip() for cell in others)]


def _worst(rows: Sequence[Coverage]) -> list[str]:
    """The lowest coverage outside of the promise, one line a group."""
    poor = [row for row in rows if not row.inside and row.judged]
    if not poor:
        return []
    worst = min(poor, key=lambda row: row.share)
    text = f"The lowest of all: {worst.share:.1%} for {worst.measure}, {worst.setting}."
    return [fill(text, 100), ""]


def render(coverages: Sequence[Coverage], old: str = "") -> str:
    """The page as reStructuredText; groups that were not simulated now stand as they did."""
    low, high = PROMISE
    lines = [_HEAD.format(low=low, high=high)]
    kept = _sections(old)
    for group, title in _TITLES.items():
        rows = [row for row in coverages if row.group == group]
        if rows:
            lines += [title, "-" * len(title), "", fill(_PROMISES[group], 100), ""]
            lines += [*_drawn(rows), *_table(rows), *_worst(rows)]
            if group in _INSTEAD:
                lines += [fill(_INSTEAD[group], 100), ""]
            lines += _broken(rows)
        elif title in kept:
            lines.append(kept[title])
    return "\n".join(lines)


def _sections(text: str) -> dict[str, str]:
    """The sections of a page by their titles."""
    parts = re.split(r"^(\S.*)\n-+\n", text, flags=re.MULTILINE)[1:]
    return {
        title: f"{title}\n{'-' * len(title)}\n{body.rstrip()}\n"
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    }


def _drawn(rows: Sequence[Coverage]) -> list[str]:
    """How many samples each setting had, and how well its coverage is known."""
    drawn = [row for row in rows if not row.exact]
    if not drawn:
        return []
    sizes = [int(row.judged + row.silent) for row in drawn]
    settings = len({row.setting for row in drawn})
    error = max((row.error for row in drawn if row.inside), default=0.0)
    text = (
        f"{settings:,} settings, each with {min(sizes):,} to {max(sizes):,} samples: inside of the "
        f"promise a coverage is known to {error:.1%} or better."
    )
    return [fill(text, 100), ""]


def _broken(rows: Sequence[Coverage]) -> list[str]:
    broken = [row for row in rows if row.inside and not row.kept]
    if not broken:
        return []
    texts = [
        f"{row.measure}: {row.share:.1%} (error {row.error:.1%}), {row.setting}." for row in broken
    ]
    items = [fill(text, 100, initial_indent="- ", subsequent_indent="  ") for text in texts]
    return ["Promises that it breaks:", "", *items, ""]
