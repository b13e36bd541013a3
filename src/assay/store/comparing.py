"""Two runs beside each other: row by row where their rows were kept, else by their intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.decisions import Comparison, compare
from assay.errors import LabelError, MethodError, StoreError
from assay.inference import Estimate, holm
from assay.inference.estimation import DEFAULT_LEVEL
from assay.inference.not_finite import finite
from assay.inference.significance import p_text
from assay.inference.trend import MOVER, unpaired_difference
from assay.sources.coded import Labels
from assay.store.rows import KeptRows
from assay.store.run import Run
from assay.store.summary import stored_estimate, summary_of

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
        told = ", ".join(
            f"{each.measure} {each.difference} ({p_text(each.p_adjusted or 0)})"
            for each in sure[:5]
        )
        more = f" and {len(sure) - 5} more" if len(sure) > 5 else ""
        first = f"No difference of {len(tested)} measures can be told from chance."
        if sure:
            first = f"{new} differs from {old} beyond chance in {told}{more}."
        adjusted = " p-values are adjusted for all measures by Holm."
        why = untested and (untested[0].undefined or untested[0].note)
        rest = f" {len(untested)} could not be tested ({why})." if untested else ""
        verdict = f"{first}{adjusted}{rest}" if tested else f"Nothing could be tested: {why}."
        return (verdict, UNPAIRED.format(why=self.why))

    @classmethod
    def of(
        cls, names: tuple[str, str], pairs: Mapping[str, tuple[Estimate, Estimate]], **told: Any
    ) -> Unpaired:
        """The differences of pairs, old and new, by their measures."""
        found = [
            UnpairedDifference(measure, *pair, *unpaired_difference(*pair))
            for measure, pair in pairs.items()
        ]
        adjusted = iter(holm([each.p for each in found if not math.isnan(each.p)]))
        differences = tuple(
            each if math.isnan(each.p) else replace(each, p_adjusted=next(adjusted))
            for each in found
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
    old: Run, new: Run, *, models: Sequence[str | None] = (None, None), **options: Any
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
    said = [
        _said(kept, run, model)
        for kept, run, model in zip((first, second), (old, new), models, strict=True)
    ]
    kinds = {kind for kind, _ in said}
    if len(kinds) > 1:
        return _unpaired(old, new, names, "one has scores and the other decisions", **options)
    (kind,) = kinds
    columns = {kind: dict(zip(names, (column for _, column in said), strict=True))}
    known = {name: threshold_of(run) for name, run in zip(names, (old, new), strict=True)}
    thresholds = {name: at for name, at in known.items() if at is not None}
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
    paired = f"Paired: {len(first):,} rows of both runs were kept, and matched by {notes[0]}."
    return replace(comparison, notes=(paired, *notes[1:], *comparison.notes))


def must_share_positive(old: str | None, new: str | None) -> None:
    """Refuse to set what is the alarm in one run against what is not in the other."""
    if old != new:
        raise LabelError(
            f"the alarm is {old!r} in the old run and {new!r} in the new one; judge both with one "
            f"positive="
        )


def names_of(old: Run, new: Run) -> tuple[str, str]:
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
    first, second = _of_rows(old, at_old), _of_rows(new, at_new)
    _must_agree(first, second)
    apart = len(old) + len(new) - 2 * len(both)
    more = (f"{apart:,} rows are in one of the two runs only, and left out.",) if apart else ()
    return first, second, ("id", *more)


def _of_rows(rows: KeptRows, at: Any) -> KeptRows:
    assert rows.ids is not None  # noqa: S101 - matched by them
    return KeptRows(
        rows.truth.of_rows(at),
        {name: column[at] for name, column in rows.scores.items()},
        {name: column.of_rows(at) for name, column in rows.decisions.items()},
        tuple(rows.ids[i] for i in at.tolist()),
        rows.positive,
    )


def _must_agree(first: KeptRows, second: KeptRows) -> None:
    """Refuse rows that were labelled otherwise in the other run."""
    labels = [np.array(rows.truth.names, object)[rows.truth.codes] for rows in (first, second)]
    odd = np.flatnonzero(labels[0] != labels[1])
    if len(odd):
        at = int(odd[0])
        assert first.ids is not None  # noqa: S101 - matched by them
        raise LabelError(
            f"{len(odd):,} rows have another label in the other run, such as {first.ids[at]!r}: "
            f"{labels[0][at]!r} and {labels[1][at]!r}. A comparison needs one truth"
        )


def _said(rows: KeptRows, run: Run, model: str | None) -> tuple[str, Any]:
    """What a run's model said: the only one, the new one of a gate, or the one that was named."""
    found: Mapping[str, Any] = {**rows.scores, **rows.decisions}
    if model is None:
        model = "new" if "new" in found else next(iter(found))
        if len(found) > 1 and model != "new" and set(found) != {"score", "decision"}:
            raise StoreError(
                f"run {run.id} holds several models ({', '.join(found)}); say which one as "
                f"{run.id[:6]}:{model}"
            )
    if model not in found:
        raise StoreError(f"run {run.id} has no model {model!r}; there are {', '.join(found)}")
    column = found[model]
    return ("decisions", column) if isinstance(column, Labels) else ("scores", column)


def threshold_of(run: Run) -> float | None:
    """Where a run flagged rows, if it says so; a gate may say it of its rules alone."""
    plain = json.loads(run.document)
    told = [plain.get("threshold")]
    told += [
        rule.get("thresholds", {}).get("new")
        for rule in plain.get("rules", ())
        if not rule.get("at")
    ]
    return next((float(at) for at in told if isinstance(at, int | float)), None)


# -- unpaired --------------------------------------------------------------------------------------


def _unpaired(old: Run, new: Run, names: tuple[str, str], why: str, **options: Any) -> Unpaired:
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
    """What of an estimate is stored, for :func:`assay.store.summary.stored_estimate`."""
    ends = {"low": estimate.low, "high": estimate.high}
    return {"value": float(estimate), **ends, "n": estimate.n, "level": estimate.level}
