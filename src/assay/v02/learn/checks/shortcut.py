"""L011: one column alone tells the label."""

from __future__ import annotations

import math

from assay.v02.evaluation.wording import name
from assay.v02.learn.checks.case import Case, CodedCheck, Sighting, columns_text
from assay.v02.learn.checks.columns import Signal
from assay.v02.number_text import measured, rate

TOO_GOOD = 0.99
# Over all columns together; a perfect split of few rows is chance.
CHANCE = 0.01


def look(case: Case) -> Sighting | None:
    """Columns with an AUC above 0.99 by themselves, and not by chance among so many columns.

    Numbers are judged as they rank the rows, and any column by the rates of its values, learned
    from the training part and judged on the test part, or on 30% of the one file. A column that is
    so only in the training part is a warning, and so is one that tells one class of several.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> label = [0, 1, 1, 0] * 25
    >>> frame = pl.DataFrame({"ttl": [64 + 2 * x for x in label], "label": label})
    >>> finding = check(data_of(frame, label="label"))["L011"]
    >>> print(finding.severity, finding.message)  # doctest: +NORMALIZE_WHITESPACE
    leak Column 'ttl' alone has an AUC of 1 [0.929, 1].
    """
    limit = CHANCE / max(len(case.signals), 1)
    good = {
        column: signal
        for column, signal in case.signals.items()
        if signal.auc > TOO_GOOD and signal.p < limit
    }
    fading = {
        column: signal
        for column, signal in case.signals.items()
        if column not in good
        and signal.trained > TOO_GOOD
        and not signal.auc > TOO_GOOD
        and _has_enough_rows(case)
    }
    partly = {
        (column, label): auc
        for column, signal in case.signals.items()
        if column not in good
        for label, (auc, p) in signal.classes.items()
        if auc > TOO_GOOD and p < limit / len(case.labels)
    }
    if not good and not fading and not partly:
        return None
    sentences = []
    if good:
        best = max(good, key=lambda column: good[column].auc.low)
        others = [column for column in good if column != best]
        do = "does" if len(others) == 1 else "do"
        more = f"; so {do} {columns_text(others)}" if others else ""
        sentences.append(
            f"Column {name(best)} alone has {_measure(case)} of {measured(good[best].auc)}{more}."
        )
    if fading:
        first = max(fading, key=lambda column: fading[column].trained)
        sentences.append(
            f"Column {name(first)} alone has {_measure(case)} of {rate(fading[first].trained)} in "
            f"the training part but of {measured(fading[first].auc)} in the test part."
        )
    if partly:
        column, label = max(partly, key=lambda each: partly[each].low)
        others = list(dict.fromkeys(other for other, _ in partly if other != column))
        tell = "tells" if len(others) == 1 else "tell"
        more = f"; {columns_text(others)} {tell} one as well" if others else ""
        sentences.append(
            f"Column {name(column)} alone tells the class {name(case.labels[label])} from all "
            f"others with an AUC of {measured(partly[column, label])}{more}."
        )
    columns = dict.fromkeys([*good, *fading, *(column for column, _ in partly)])
    return Sighting(
        "leak" if good else "warning",
        " ".join(sentences),
        columns=tuple(good) or tuple(columns),
        evidence={
            column: {
                **_evidence_of(case.signals[column]),
                "classes": {
                    case.labels[label]: {"auc": auc.value, "low": auc.low, "high": auc.high}
                    for (other, label), auc in partly.items()
                    if other == column
                },
            }
            for column in columns
        },
    )


def _has_enough_rows(case: Case) -> bool:
    """Whether the training part has rows enough of two classes for a perfect split to count."""
    import numpy as np

    often = np.sort(np.bincount(case.train.truth, minlength=2))
    error = math.sqrt((often.sum() + 1) / (12 * max(often[-2], 1) * often[-1]))
    return bool(often[-2] > 0 and 0.49 / error > 4)


def _measure(case: Case) -> str:
    return "an AUC" if len(case.labels) == 2 else "a mean AUC of each class against the rest"


def _evidence_of(signal: Signal) -> dict[str, object]:
    return {
        "auc": signal.auc.value,
        "low": signal.auc.low,
        "high": signal.auc.high,
        "how": signal.how,
        "n": signal.auc.n,
        "training_auc": None if math.isnan(signal.trained) else float(signal.trained),
    }


CHECK = CodedCheck(
    code="L011",
    severity="leak",
    title="a shortcut: one column tells the label",
    why="Real attacks are seldom told by one number. Such a column is often the label in disguise, "
    "or something that only the laboratory has: one time to live, one address, one tool.",
    remedy="Find out why. If the column would not be there, or not be so, in deployment, drop it; "
    "if it is honest, one comparison is all the detector you need.",
    pitfall="P4",
    look=look,
)
