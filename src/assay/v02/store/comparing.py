"""A run beside another, or as the baseline of a gate: row by row where rows were kept, else apart.

Apart means by the intervals of both, each of its own rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions import Comparison, compare
from assay.v02.decisions.gate_rules import Gate, JudgedRule, gate, reason_of
from assay.v02.decisions.rule import NEW, OLD, Rule
from assay.v02.engines import resolve
from assay.errors import InputError, LabelError, MethodError, StoreError
from assay.v02.escaping import plural
from assay.v02.inference import Estimate, holm
from assay.v02.inference.estimation import DEFAULT_LEVEL
from assay.v02.inference.fields import finite
from assay.v02.inference.time_courses import MOVER, unpaired_difference
from assay.v02.number_text import p_text
from assay.v02.sources.coded import Labels
from assay.v02.store.run import KeptRows, KeptRun, stored_estimate, summary_of
from assay.v02.tally import Resolved, Tally

SCHEMA = "assay.unpaired/1"
UNPAIRED = (
    "Unpaired, by both intervals alone: {why}. Between runs on the same rows that is cautious."
)
NOT_KEPT = "the rows of {runs} were not kept (--keep-rows keeps them)"
OTHER_ROWS = "they judged other rows"


@dataclass(frozen=True)
class UnpairedDifference:
    """One measure of both runs, and new less old."""

    measure: str
    old: Estimate
    new: Estimate
    difference: Estimate
    p: float
    p_adjusted: float | None = None


@dataclass(frozen=True)
class Unpaired:
    """Two runs whose rows can't be matched; ``why`` says so."""

    names: tuple[str, str]
    differences: tuple[UnpairedDifference, ...]
    why: str
    same_test_set: bool
    level: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it comes to."""
        tested = [each for each in self.differences if each.p_adjusted is not None]
        untested = [each.difference for each in self.differences if each.p_adjusted is None]
        sure = [each for each in tested if (each.p_adjusted or 0) < 1 - self.level]
        old, new = self.names
        differing = ", ".join(
            f"{each.measure} {each.difference} ({p_text(each.p_adjusted or 0)})"
            for each in sure[:5]
        )
        more = f" and {len(sure) - 5} more" if len(sure) > 5 else ""
        first = (
            f"No difference of {len(tested)} {plural(len(tested), 'measure', 'measures')} can "
            f"be told from chance."
        )
        if sure:
            first = f"{new} differs from {old} beyond chance in {differing}{more}."
        adjusted = " p-values are adjusted for all measures by Holm."
        why = untested and (untested[0].undefined or untested[0].note)
        untested_note = f" {len(untested)} could not be tested ({why})." if untested else ""
        verdict = (
            f"{first}{adjusted}{untested_note}" if tested else f"Nothing could be tested: {why}."
        )
        return (verdict, UNPAIRED.format(why=self.why))

    @classmethod
    def of(
        cls, names: tuple[str, str], pairs: Mapping[str, tuple[Estimate, Estimate]], **told: Any
    ) -> Unpaired:
        """The differences of pairs, old and new, by their measures."""
        untested = [
            UnpairedDifference(measure, *pair, *unpaired_difference(*pair))
            for measure, pair in pairs.items()
        ]
        adjusted = iter(holm([each.p for each in untested if not math.isnan(each.p)]))
        differences = tuple(
            each if math.isnan(each.p) else replace(each, p_adjusted=next(adjusted))
            for each in untested
        )
        return cls(names, differences, **told)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Unpaired:
        """What :meth:`to_dict` wrote."""
        return cls.of(
            tuple(plain["models"]),
            {
                each["measure"]: (stored_estimate(**each["old"]), stored_estimate(**each["new"]))
                for each in plain["differences"]
            },
            **{key: plain[key] for key in ("why", "same_test_set", "level")},
        )

    def to_dict(self) -> dict[str, Any]:
        """The comparison as the plain values of the contract."""
        old, new = self.names
        return {
            "schema": SCHEMA,
            "models": list(self.names),
            "paired": False,
            "same_test_set": self.same_test_set,
            "level": self.level,
            "differences": [
                finite(
                    {
                        "measure": each.measure,
                        "a": old,
                        "b": new,
                        "value_a": float(each.old),
                        "value_b": float(each.new),
                        "difference": float(each.difference),
                        "low": each.difference.low,
                        "high": each.difference.high,
                        "p": each.p,
                        "p_adjusted": each.p_adjusted,
                        "method": MOVER,
                        "old": _parts(each.old),
                        "new": _parts(each.new),
                    }
                )
                for each in self.differences
            ],
            "why": self.why,
            "tests": [],
            "verdicts": [{"a": old, "b": new, "text": self.sentences[0]}],
            "notes": [self.sentences[1]],
            "headline": list(self.sentences),
        }


def compare_runs(
    old: KeptRun, new: KeptRun, *, models: Sequence[str | None] = (None, None), **options: Any
) -> Comparison | Unpaired:
    """Whether the new run is really better: paired where rows of both were kept, else unpaired.

    Rows are matched by id; rows without ids by their order, where the labels are the same in that
    order. ``models`` say whose scores are meant in runs of several models. Further options are
    those of :func:`assay.compare`.
    """
    names = names_of(old, new)
    rows = [old.rows(), new.rows()]
    lacking = [name for name, kept in zip(names, rows, strict=True) if kept is None]
    if rows[0] is None or rows[1] is None:
        why = NOT_KEPT.format(runs=" and ".join(lacking))
        return _unpaired(old, new, names, why, **options)
    matched = matched_rows(rows[0], rows[1])
    if matched is None:
        return _unpaired(old, new, names, OTHER_ROWS, **options)
    first, second, notes = matched
    must_share_positive(first.positive, second.positive)
    columns_by_kind = [
        _model_column(kept, run, model)
        for kept, run, model in zip((first, second), (old, new), models, strict=True)
    ]
    kinds = {kind for kind, _ in columns_by_kind}
    if len(kinds) > 1:
        return _unpaired(old, new, names, "one has scores and the other decisions", **options)
    (kind,) = kinds
    columns = {kind: dict(zip(names, (column for _, column in columns_by_kind), strict=True))}
    threshold_by_run = {
        name: threshold_of(run) for name, run in zip(names, (old, new), strict=True)
    }
    thresholds = {name: at for name, at in threshold_by_run.items() if at is not None}
    fixed = len(thresholds) == 2 and kind == "scores" and options.get("at") is None
    comparison = compare(
        first.truth,
        scores=columns.get("scores"),
        decisions=columns.get("decisions"),
        positive=first.positive,
        threshold=thresholds if fixed else None,
        ids=None if first.ids is None else np.array(first.ids, object),
        **options,
    )
    paired = (
        f"Paired: {len(first):,} "
        f"{plural(len(first), 'row of both runs was', 'rows of both runs were')} kept, and "
        f"matched by {notes[0]}."
    )
    return replace(comparison, notes=(paired, *notes[1:], *comparison.notes))


def must_share_positive(old: str | None, new: str | None) -> None:
    """Refuse to set what is the alarm in one run against what is not in the other."""
    if old != new:
        raise LabelError(
            f"the alarm is {old!r} in the old run and {new!r} in the new one; judge both with one "
            f"positive="
        )


def names_of(old: KeptRun, new: KeptRun) -> tuple[str, str]:
    """What two runs are called beside each other."""
    if old.id == new.id:
        raise StoreError(f"run {old.id} can't be compared with itself; name another")
    if old.name != new.name:
        return old.name, new.name
    return f"{old.name} {old.id[:6]}", f"{new.name} {new.id[:6]}"


def matched_rows(old: KeptRows, new: KeptRows) -> tuple[KeptRows, KeptRows, tuple[str, ...]] | None:
    """The rows that both have, and how they were matched; None where there are none."""
    if old.ids is None or new.ids is None:
        same = old.test_set == new.test_set
        return (old, new, ("their order",)) if same else None
    place = {id_: i for i, id_ in enumerate(old.ids)}
    if len(place) < len(old.ids) or len(set(new.ids)) < len(new.ids):
        raise StoreError("an id names two rows of one run; rows can't be matched by it")
    both = [(place[id_], j) for j, id_ in enumerate(new.ids) if id_ in place]
    if not both:
        return None
    at_old, at_new = (np.array(side) for side in zip(*both, strict=True))
    ids = tuple(new.ids[i] for i in at_new.tolist())
    first, second = _rows_at(old, at_old, ids), _rows_at(new, at_new, ids)
    _must_agree(first, second, ids)
    apart = len(old) + len(new) - 2 * len(both)
    rows = f"{apart:,} {plural(apart, 'row is', 'rows are')}"
    more = (f"{rows} in one of the two runs only, and left out.",) if apart else ()
    return first, second, ("id", *more)


def _rows_at(rows: KeptRows, at: Any, ids: tuple[str, ...]) -> KeptRows:
    """The rows at some places, whose ids are these."""
    return KeptRows(
        rows.truth.of_rows(at),
        {name: column[at] for name, column in rows.scores.items()},
        {name: column.of_rows(at) for name, column in rows.decisions.items()},
        ids,
        rows.positive,
    )


def _must_agree(first: KeptRows, second: KeptRows, ids: tuple[str, ...]) -> None:
    """Refuse rows that were labelled otherwise in the other run."""
    labels = [np.array(rows.truth.names, object)[rows.truth.codes] for rows in (first, second)]
    differing = np.flatnonzero(labels[0] != labels[1])
    if len(differing):
        at = int(differing[0])
        raise LabelError(
            f"{len(differing):,} {plural(len(differing), 'row has', 'rows have')} another label in "
            f"the other run, such as {ids[at]!r}: "
            f"{labels[0][at]!r} and {labels[1][at]!r}. A comparison needs one truth"
        )


def _model_column(rows: KeptRows, run: KeptRun, model: str | None) -> tuple[str, Any]:
    """What a run's model said: the only one, the new one of a gate, or the one that was named."""
    columns: Mapping[str, Any] = {**rows.scores, **rows.decisions}
    if model is None:
        model = "new" if "new" in columns else next(iter(columns))
        if len(columns) > 1 and model != "new" and set(columns) != {"score", "decision"}:
            raise StoreError(
                f"run {run.id} holds several models ({', '.join(columns)}); say which one as "
                f"{run.id[:6]}:{model}"
            )
    if model not in columns:
        raise StoreError(f"run {run.id} has no model {model!r}; there are {', '.join(columns)}")
    column = columns[model]
    return ("decisions", column) if isinstance(column, Labels) else ("scores", column)


def threshold_of(run: KeptRun) -> float | None:
    """Where a run flagged rows, if it says so; a gate may say it of its rules alone."""
    plain = json.loads(run.document)
    thresholds = [plain.get("threshold")]
    thresholds += [
        rule.get("thresholds", {}).get("new")
        for rule in plain.get("rules", ())
        if not rule.get("at")
    ]
    return next((float(at) for at in thresholds if isinstance(at, int | float)), None)


# -- unpaired --------------------------------------------------------------------------------------


def _unpaired(
    old: KeptRun, new: KeptRun, names: tuple[str, str], why: str, **options: Any
) -> Unpaired:
    for option, value in options.items():
        if value is not None and option in ("at", "families"):
            raise MethodError(f"{option}= needs the rows of both runs, and {why}")
    must_share_positive(*(json.loads(run.document).get("positive") for run in (old, new)))
    told = [summary_of(run.document) for run in (old, new)]
    estimates = [each.estimates for each in told]
    both = [measure for measure in estimates[0] if measure in estimates[1]]
    if not both:
        raise StoreError(f"runs {old.id} ({old.kind}) and {new.id} ({new.kind}) share no measure")
    return Unpaired.of(
        names,
        {measure: (estimates[0][measure], estimates[1][measure]) for measure in both},
        why=why,
        same_test_set=old.test_set is not None and old.test_set == new.test_set,
        level=told[1].level or DEFAULT_LEVEL,
    )


def _parts(estimate: Estimate) -> dict[str, float]:
    """What of an estimate is stored, for :func:`assay.store.run.stored_estimate`."""
    ends = {"low": estimate.low, "high": estimate.high}
    return {"value": float(estimate), **ends, "n": estimate.n, "level": estimate.level}


# -- a gate whose baseline is a run ----------------------------------------------------------------

Columns: TypeAlias = dict[str, Any]

# Arguments of a gate that are about the rows of the new model, and of the old one.
_COLUMNS = (
    *("y_true", "new", "new_decision", "positive", "negative", "labels"),
    *("families", "clusters", "counts"),
)
_OLD = ("old", "old_decision")
_NOTHING = "run {run} holds neither rows nor a tally, so that no rule can be judged against it"


def gate_against_run(
    run: KeptRun,
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
    paired = None if kept is None else _paired_columns(kept, rows, run)
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
    old = _old_of_tally(run) if kept is None else _old_of_rows(kept, run, columns)
    return _judged_apart(columns, old, rules, (threshold, old_threshold), why, options)


def _paired_columns(kept: KeptRows, rows: KeptRows, run: KeptRun) -> Columns | None:
    """What the old model said of the new model's rows, in their order; None where rows differ."""
    matched = matched_rows(kept, rows)
    if matched is None or not len(matched[0]) == len(kept) == len(rows):
        return None
    said = _old_column(matched[0], run)
    return {f"old{'_decision' if isinstance(said, Labels) else ''}": said}


def _old_column(rows: KeptRows, run: KeptRun) -> Any:
    columns: Mapping[str, Any] = {**rows.scores, **rows.decisions}
    if not columns:
        raise StoreError(_NOTHING.format(run=run.id))
    return columns.get(NEW, next(iter(columns.values())))


def _old_of_rows(rows: KeptRows, run: KeptRun, new: Mapping[str, Any]) -> Columns:
    """The rows that a run kept; which labels are the alarm is said as for the new model's rows."""
    said = _old_column(rows, run)
    one = {"positive": rows.positive}
    return {
        "y_true": rows.truth,
        f"new{'_decision' if isinstance(said, Labels) else ''}": said,
        # All labels but one are no label, but a name for them.
        **(one if rows.positive in rows.truth.names else {"negative": new.get("negative")}),
    }


def _old_of_tally(run: KeptRun) -> Columns:
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


# Each by itself: a difference is that of two estimates.


def _judged_apart(
    columns: Mapping[str, Any],
    old: Columns,
    rules: Sequence[Rule],
    thresholds: tuple[float | None, float | None],
    why: str,
    options: Mapping[str, Any],
) -> Gate:
    alone = [
        _unbounded_rule(rule) if rule.compares else rule for rule in rules if rule.subject != OLD
    ]
    of_old = [_unbounded_rule(rule) for rule in rules if OLD in rule.models]
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
    rules_judged: list[JudgedRule] = []
    for rule in rules:
        new = [next(of_new) for _ in range(families if rule.every_family else rule.subject != OLD)]
        if rule.compares:
            rules_judged.append(_difference(rule, new[0], next(of_run)))
        elif rule.subject == OLD:
            rules_judged.append(_as_old(rule, next(of_run)))
        else:
            rules_judged += new
    return replace(
        judged, rules=tuple(rules_judged), notes=(UNPAIRED.format(why=why), *judged.notes)
    )


def _unbounded_rule(rule: Rule) -> Rule:
    """The rule's measure of one model, with a bound that decides nothing."""
    low, high = replace(rule, subject=NEW).range
    middle = (low + high) / 2 if math.isfinite(low + high) else 1.0
    asked = replace(rule, subject=NEW, operator=">=", bound=middle)
    return replace(asked, text=asked.canonical())


def _difference(rule: Rule, new: JudgedRule, old: JudgedRule) -> JudgedRule:
    estimate, _ = unpaired_difference(old.estimate, new.estimate)
    outcome = rule.outcome(estimate.low, estimate.high)
    values = {NEW: float(new.estimate), OLD: float(old.estimate)}
    at = {NEW: new.thresholds.get(NEW), OLD: old.thresholds.get(NEW)}
    thresholds = {model: at[model] for model in at if new.thresholds}
    return JudgedRule(
        rule, outcome, estimate, reason_of(rule, estimate, outcome), values, thresholds
    )


def _as_old(rule: Rule, judged: JudgedRule) -> JudgedRule:
    estimate = judged.estimate
    outcome = rule.outcome(estimate.low, estimate.high)
    values = {OLD: float(estimate)}
    thresholds = {OLD: judged.thresholds[NEW]} if judged.thresholds else {}
    return JudgedRule(
        rule, outcome, estimate, reason_of(rule, estimate, outcome), values, thresholds
    )
