"""L012: features that name a row rather than describe it."""

from __future__ import annotations

import math
from typing import Any

from assay.v02.evaluation.wording import listed, name, some
from assay.v02.learn.checks.case import TEST, TRAIN, Case, CodedCheck, Sighting, share_text
from assay.v02.learn.checks.columns import ADDRESS, ID, PORT, TIME
from assay.v02.learn.checks.equal_rows import equal_rows

_CALLED = {ADDRESS: "addresses", PORT: "ports", ID: "ids", TIME: "times"}


def look(case: Case) -> Sighting | None:
    """Features that look like addresses, ports, ids or times, by their values and names.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> address = [f"10.0.0.{i % 9}" for i in range(40)]
    >>> frame = pl.DataFrame(
    ...     {"src": address, "x": [i % 7 for i in range(40)], "label": [0, 1] * 20}
    ... )
    >>> print(check(data_of(frame, label="label"))["L012"].message)
    Features that name rows: 'src' (addresses).
    """
    kinds = case.identifiers
    if not kinds:
        return None
    groups = [
        f"{some([name(c) for c in kinds if kinds[c] == kind])} ({called})"
        for kind, called in _CALLED.items()
        if kind in kinds.values()
    ]
    evidence: dict[str, dict[str, Any]] = {}
    shared: dict[str, int] = {}
    for column, kind in kinds.items():
        signal = case.signals.get(column)
        auc = None if signal is None or math.isnan(signal.auc) else signal.auc.value
        evidence[column] = {"kind": kind, "distinct": case.facts[column].distinct, "auc": auc}
        if case.test is not None and kind in (ADDRESS, ID):
            both = equal_rows([part.frame.select(column) for part in case.parts])
            shared[column] = int(both.also_in(TEST, TRAIN).sum())
            evidence[column]["test_rows_with_known_value"] = shared[column]
    message = f"Features that name rows: {listed(groups)}."
    if any(shared.values()) and case.test is not None:
        most = max(shared, key=lambda column: shared[column])
        message += (
            f" {share_text(shared[most], len(case.test))} of the test rows have a value of "
            f"{name(most)} that the training part has; --group {name(most)} judges that."
        )
    return Sighting(
        "warning",
        message,
        columns=tuple(kinds),
        evidence=evidence,
    )


CHECK = CodedCheck(
    code="L012",
    severity="warning",
    title="identifiers among the features",
    why="A model can learn which address attacked in the laboratory, or at what time. None of it "
    "holds on another network or another day.",
    remedy="Drop them (--drop), or give them as --group or --time to split by.",
    pitfall="P4",
    look=look,
)
