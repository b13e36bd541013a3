"""A gate whose baseline is a run: row by row where its rows were kept, else by intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.gate import Gate, Judged, Rule, gate
from assay.decisions.gate.result import reason_of
from assay.decisions.gate.rule import NEW, OLD
from assay.engines import resolve
from assay.errors import InputError, StoreError
from assay.inference.trend import unpaired_difference
from assay.sources.coded import Labels
from assay.store.comparing import (
    NOT_KEPT,
    OTHER_ROWS,
    UNPAIRED,
    matched_rows,
    must_share_positive,
    threshold_of,
)
from assay.store.rows import KeptRows
from assay.store.run import Run
from assay.tally import Resolved, Tally

Columns: TypeAlias = dict[str, Any]

# Arguments of a gate that are about the rows of the new model, and of the old one.
_COLUMNS = (
    *("y_true", "new", "new_decision", "positive", "negative", "labels"),
    *("families", "clusters", "counts"),
)
_OLD = ("old", "old_decision")
_NOTHING = "run {run} holds neither rows nor a tally, so that no rule can be judged against it"


def gate_against_run(
    run: Run,
    rows: KeptRows,
    *,
    rules: Sequence[Rule],
    threshold: float | None = None,
    old_threshold: float | None = None,
    **given: Any,
) -> Gate:
    """Judge a new model by rules, with the model of a run as the old one.

    ``rows`` are those of the new model with their ids, ``given`` the other arguments of
    :func:`assay.gate`. Rules are judged row by row where the run kept exactly these rows; else a
    difference is that of two estimates, each of its own rows, and the gate says so.
    """
    columns = {key: given[key] for key in _COLUMNS if key in given}
    options = {key: value for key, value in given.items() if key not in (*_COLUMNS, *_OLD)}
    if old_threshold is None:
        old_threshold = threshold_of(run)
    kept = run.rows()
    paired = None if kept is None else _paired(kept, rows, run)
    if kept is not None and paired is not None:
        judged = gate(
            **columns,
            **paired,
            rules=rules,
            threshold=threshold,
            old_threshold=old_threshold,
            **options,
        )
        must_share_positive(kept.positive, judged.positive)
        told = f"The baseline is run {run.id}, row by row."
        return replace(judged, notes=(told, *judged.notes))
    why = OTHER_ROWS if kept is not None else NOT_KEPT.format(runs=f"run {run.id}")
    old = _of_tally(run) if kept is None else _of_rows(kept, run, columns)
    return _apart(columns, old, rules, (threshold, old_threshold), why, options)


def _paired(kept: KeptRows, rows: KeptRows, run: Run) -> Columns | None:
    """What the old model said of the new model's rows, in their order; None where rows differ."""
    matched = matched_rows(kept, rows)
    if matched is None or not len(matched[0]) == len(kept) == len(rows):
        return None
    said = _said(matched[0], run)
    return {f"old{'_decision' if isinstance(said, Labels) else ''}": said}


def _said(rows: KeptRows, run: Run) -> Any:
    found: Mapping[str, Any] = {**rows.scores, **rows.decisions}
    if not found:
        raise StoreError(_NOTHING.format(run=run.id))
    return found.get(NEW, next(iter(found.values())))


def _of_rows(rows: KeptRows, run: Run, new: Mapping[str, Any]) -> Columns:
    """The rows that a run kept; which labels are the alarm is said as for the new model's rows."""
    said = _said(rows, run)
    one = {"positive": rows.positive}
    return {
        "y_true": rows.truth,
        f"new{'_decision' if isinstance(said, Labels) else ''}": said,
        # All labels but one are no label, but a name for them.
        **(one if rows.positive in rows.truth.names else {"negative": new.get("negative")}),
    }


def _of_tally(run: Run) -> Columns:
    """The rows that a tally stands for: one a label and distinct score, with its count."""
    tally = run.tally()
    if isinstance(tally, Tally):
        tally, _ = resolve(tally, **tally.sides)
    if not isinstance(tally, Resolved) or tally.positive is None:
        raise StoreError(_NOTHING.format(run=run.id))
    names = np.array(tally.labels, object)
    if tally.scores is None:
        table: npt.NDArray[np.int64] = np.array(tally.confusion.cells)
        truth, said = np.nonzero(table)
        told = {"new_decision": names[said].tolist(), "counts": table[truth, said]}
    else:
        scores = tally.scores[0]
        if scores.squares is not None:
            raise StoreError(f"run {run.id} was judged with sampling weights, which rules are not")
        truth, at = np.nonzero(scores.counts)
        told = {"new": scores.scores[at], "counts": scores.counts[truth, at].astype(np.int64)}
    return {"y_true": names[truth].tolist(), "positive": tally.positive, **told}


# -- each by itself --------------------------------------------------------------------------------


def _apart(
    columns: Mapping[str, Any],
    old: Columns,
    rules: Sequence[Rule],
    thresholds: tuple[float | None, float | None],
    why: str,
    options: Mapping[str, Any],
) -> Gate:
    alone = [_alone(rule) if rule.compares else rule for rule in rules if rule.subject != OLD]
    of_old = [_alone(rule) for rule in rules if OLD in rule.models]
    for rule in of_old:
        if rule.family is not None or rule.every_family:
            raise InputError(
                f"the rule {rule.text!r} needs the families of the baseline, and a run has none; "
                f"give the baseline as a file"
            )
    judged = gate(**columns, rules=alone or of_old, threshold=thresholds[0], **options)
    options = {**options, "level": judged.rule_level, "joint": False}
    at = thresholds[0] if thresholds[1] is None else thresholds[1]
    before = gate(**old, rules=of_old, threshold=at, **options) if of_old else None
    if before is not None:
        must_share_positive(before.positive, judged.positive)
    # The rules were judged in their order, one of each family once a family.
    every = sum(rule.every_family for rule in alone)
    families = (len(judged.rules) - len(alone) + every) // every if every else 0
    of_new, of_run = iter(judged.rules), iter(before.rules if before else ())
    found: list[Judged] = []
    for rule in rules:
        new = [next(of_new) for _ in range(families if rule.every_family else rule.subject != OLD)]
        if rule.compares:
            found.append(_difference(rule, new[0], next(of_run)))
        elif rule.subject == OLD:
            found.append(_as_old(rule, next(of_run)))
        else:
            found += new
    return replace(judged, rules=tuple(found), notes=(UNPAIRED.format(why=why), *judged.notes))


def _alone(rule: Rule) -> Rule:
    """The rule's measure of one model, with a bound that decides nothing."""
    low, high = replace(rule, subject=NEW).range
    middle = (low + high) / 2 if math.isfinite(low + high) else 1.0
    asked = replace(rule, subject=NEW, operator=">=", bound=middle)
    return replace(asked, text=asked.canonical())


def _difference(rule: Rule, new: Judged, old: Judged) -> Judged:
    estimate, _ = unpaired_difference(old.estimate, new.estimate)
    outcome = rule.outcome(estimate.low, estimate.high)
    values = {NEW: float(new.estimate), OLD: float(old.estimate)}
    at = {NEW: new.thresholds.get(NEW), OLD: old.thresholds.get(NEW)}
    thresholds = {model: at[model] for model in at if new.thresholds}
    return Judged(rule, outcome, estimate, reason_of(rule, estimate, outcome), values, thresholds)


def _as_old(rule: Rule, judged: Judged) -> Judged:
    estimate = judged.estimate
    outcome = rule.outcome(estimate.low, estimate.high)
    values = {OLD: float(estimate)}
    thresholds = {OLD: judged.thresholds[NEW]} if judged.thresholds else {}
    return Judged(rule, outcome, estimate, reason_of(rule, estimate, outcome), values, thresholds)
