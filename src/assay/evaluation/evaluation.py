"""The evaluation: a mapping from name to estimate, with all that stands behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from assay import curves
from assay.errors import InputError, MethodError, UnknownMeasure
from assay.evaluation import display
from assay.evaluation.entries import Entry, entries
from assay.evaluation.judge import Judge
from assay.inference import Estimate, Method, Wilson, method_of, with_band
from assay.measures import find, parse
from assay.sources import infer, label_text
from assay.tally import Confusion, Tally

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "assay.evaluation/1"
NO_BASE_RATE = "a base rate is the share of one positive label; there are more than two classes"


class Evaluation(Mapping[str, Estimate]):
    """What a model's decisions and scores are worth.

    A mapping from name to :class:`Estimate`: ``evaluation["f1"]``, ``evaluation["f1.macro"]``,
    ``evaluation["precision.normal"]``; aliases such as ``detection_rate`` work too.

    >>> evaluation = evaluate_counts(tp=6635, fp=167, fn=324, tn=7743, labels=["normal", "attack"])
    >>> evaluation["precision"]
    0.975 [0.971, 0.979]
    """

    def __init__(
        self,
        tally: Tally,
        *,
        level: float = 0.95,
        interval: Method | str | None = None,
        base_rate: float | Sequence[float] | None = None,
        source: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        method, self.level = method_of(interval, level)
        rates = _base_rates(base_rate)
        if rates is not None and tally.positive is None:
            raise MethodError(NO_BASE_RATE)
        self.tally = tally
        self.notes = tuple(notes)
        self._judge = Judge(tally, self.level, method)
        self._source = dict(source or {"name": "tally", "rows_read": tally.confusion.total})
        self.entries: tuple[Entry, ...] = tuple(entries(self._judge, rates))
        plain = [e for e in self.entries if e.slice is None and e.base_rate is None]
        self._by_key = {_key(entry, tally.positive): entry.estimate for entry in plain}
        # A class may be called macro; the average of that name wins.
        self._by_key |= {_key(e, tally.positive): e.estimate for e in plain if e.average}

    # -- the mapping -------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Estimate:
        if not isinstance(name, str):
            raise UnknownMeasure(f"an estimate is found by its name; found {name!r}")
        if name in self._by_key:
            return self._by_key[name]
        measure, suffix = parse(name)
        if suffix == self.tally.positive:
            suffix = None
        key = measure.name if suffix is None else f"{measure.name}.{suffix}"
        if key in self._by_key:
            return self._by_key[key]
        if measure.formula is not None and suffix is None and self.tally.positive is not None:
            return self._judge.of_label(measure, 1)
        close = [k for k in self._by_key if k.startswith(measure.name + ".")]
        raise UnknownMeasure(
            f"{name!r} is not in this evaluation of {len(self.tally.labels)} classes; of "
            f"{measure.name} there are {', '.join(close[:8]) or 'none'}"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)

    def at(self, base_rate: float) -> dict[str, Estimate]:
        """The estimates at a base rate, by measure.

        Rates that were not asked for when evaluating are computed now.
        """
        if self.positive is None:
            raise MethodError(NO_BASE_RATE)
        found = {e.measure: e.estimate for e in self.entries if e.base_rate == base_rate}
        if found:
            return found
        rates = _base_rates(base_rate)
        return {e.measure: e.estimate for e in entries(self._judge, rates) if e.base_rate}

    def of_slice(self, column: str, value: Any) -> dict[str, Estimate]:
        """The estimates of one slice, by measure."""
        key = (column, value if isinstance(value, str) else label_text(value))
        if key not in self.tally.slices:
            known = sorted(v for c, v in self.tally.slices if c == column)
            raise InputError(f"there is no slice {column}={value!r}; there are {known}")
        return {e.measure: e.estimate for e in self.entries if e.slice == key}

    # -- what stands behind it ---------------------------------------------------------------------

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels; of two, the negative first."""
        return self.tally.labels

    @property
    def positive(self) -> str | None:
        """The label that is the alarm; None for more than two classes."""
        return self.tally.positive

    @property
    def confusion(self) -> Confusion:
        """The confusion matrix; rows are the truth."""
        return self.tally.confusion

    @cached_property
    def curves(self) -> Curves:
        """ROC, precision-recall, FAR-DR, reliability, and any measure against the threshold."""
        return Curves(self)

    # -- other shapes ------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as the plain values of the contract, ready for JSON."""
        tally = self.tally
        return {
            "schema": SCHEMA,
            "source": {
                "name": self._source["name"],
                "rows_read": self._source["rows_read"],
                "rows_used": self._source["rows_read"] - len(self._source.get("refused", ())),
                "rows_refused": len(self._source.get("refused", ())),
                "refused": list(self._source.get("refused", ())),
            },
            "positive": tally.positive,
            "threshold": tally.threshold,
            "level": self.level,
            "mode": "exact",
            "labels": list(tally.labels),
            "confusion": [list(row) for row in tally.confusion.cells],
            "per_class": [self._class(i) for i in range(len(tally.labels))],
            "estimates": [_plain(entry) for entry in self.entries],
            "sweep": self._sweep(),
            "reliability": self._reliability(),
            "notes": list(self.notes),
            "findings": [],
        }

    def _class(self, label: int) -> dict[str, Any]:
        cells = self.confusion.one_versus_rest(label)
        return {
            "label": self.labels[label],
            **{name.lower(): cells[name] for name in ("TP", "FP", "FN", "TN")},
            "support": self.confusion.rows[label],
        }

    def _sweep(self) -> dict[str, list[Any]] | None:
        if self.tally.scores is None or self.positive is None:
            return None
        swept = self.curves.sweep
        whole = not self.tally.confusion.weighted
        return {
            "threshold": [_finite(t) for t in swept.threshold.tolist()],
            "tp": [int(v) if whole else v for v in swept.tp.tolist()],
            "fp": [int(v) if whole else v for v in swept.fp.tolist()],
        }

    def _reliability(self) -> dict[str, list[Any]] | None:
        if self._judge.reliability is None:
            return None
        return {name: column.tolist() for name, column in self.curves.reliability().items()}

    def to_frame(self) -> pl.DataFrame:
        """All estimates as a polars dataframe."""
        import polars as pl

        rows = []
        for entry in self.entries:
            row = _plain(entry)
            where = row.pop("slice") or {"column": None, "value": None}
            rows.append({**row, "slice_column": where["column"], "slice_value": where["value"]})
        numbers = ("base_rate", "value", "low", "high", "n")
        schema: dict[str, Any] = {
            name: pl.Float64 if name in numbers else pl.String for name in rows[0]
        }
        return pl.DataFrame(rows, schema=schema)

    def __repr__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)


class Curves:
    """The curves of a binary evaluation with scores, drawn from one sweep of its thresholds."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    @cached_property
    def sweep(self) -> curves.Sweep:
        """True and false positives at no more than 2,000 thresholds."""
        return self._swept(curves.POINTS)

    def _swept(self, points: int | None) -> curves.Sweep:
        tally = self._evaluation.tally
        if tally.scores is None or tally.positive is None:
            raise MethodError("curves need scores of one positive label; there are only decisions")
        return curves.sweep(tally.scores[0], points, keep=tally.threshold)

    def _banded(self, curve: curves.Curve, band: float | None) -> curves.Curve:
        return curve if band is None else with_band(curve, band)

    def _at(self, points: int | None) -> curves.Sweep:
        return self.sweep if points == curves.POINTS else self._swept(points)

    def roc(self, *, points: int | None = curves.POINTS, band: float | None = None) -> curves.Curve:
        """Detection rate against false positive rate; ``band`` is a level, pointwise."""
        return self._banded(curves.roc(self._at(points)), band)

    def precision_recall(
        self, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Precision against detection rate."""
        return self._banded(curves.precision_recall(self._at(points)), band)

    def far_dr(
        self, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Detection rate against false alarm rate."""
        return self._banded(curves.far_dr(self._at(points)), band)

    def measure(
        self, name: str, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Any measure of decisions against the threshold."""
        measure = find(name)
        return self._banded(curves.trace(self._at(points), measure.name, measure.name), band)

    def reliability(self, *, level: float | None = None) -> dict[str, np.ndarray[Any, Any]]:
        """Observed share against predicted probability in bins, with Wilson's interval."""
        found = self._evaluation._judge.reliability
        if found is None:
            raise MethodError("reliability needs the probability of one positive label")
        low, high = Wilson(level or self._evaluation.level)(found.observed * found.n, found.n)
        return {
            "predicted": found.predicted,
            "observed": found.observed,
            "low": low,
            "high": high,
            "n": found.n,
        }


def evaluate_counts(
    *,
    tp: int | None = None,
    fp: int | None = None,
    fn: int | None = None,
    tn: int | None = None,
    matrix: Sequence[Sequence[int]] | None = None,
    labels: Sequence[Any] | None = None,
    positive: Any = None,
    level: float = 0.95,
    interval: Method | str | None = None,
    base_rate: float | Sequence[float] | None = None,
) -> Evaluation:
    """Evaluate a confusion matrix alone: four cells, or a K x K matrix whose rows are the truth.

    ``labels`` name the classes, of four cells the negative first.

    >>> evaluate_counts(matrix=[[45, 3, 2], [4, 38, 3], [1, 2, 52]])["kappa"]
    0.849 [0.759, 0.907]
    """
    tally = counts_tally(tp, fp, fn, tn, matrix=matrix, labels=labels, positive=positive)
    return Evaluation(
        tally,
        level=level,
        interval=interval,
        base_rate=base_rate,
        source={"name": "counts", "rows_read": tally.confusion.total},
    )


def counts_tally(
    tp: int | None,
    fp: int | None,
    fn: int | None,
    tn: int | None,
    *,
    matrix: Sequence[Sequence[int]] | None = None,
    labels: Sequence[Any] | None = None,
    positive: Any = None,
) -> Tally:
    """The tally of a confusion matrix that was given as counts."""
    cells = (tp, fp, fn, tn)
    if matrix is not None:
        if any(cell is not None for cell in cells):
            raise InputError("give the four cells or a matrix, not both")
        rows = [[_count(cell) for cell in row] for row in matrix]
        names = [label_text(label) for label in labels or range(len(rows))]
        if len(names) < 2:
            raise InputError(f"a confusion matrix has two labels or more; found {len(names)}")
        if [len(row) for row in rows] != [len(names)] * len(names):
            raise InputError(
                f"a matrix of {len(names)} labels has {len(names)} rows of {len(names)} counts; "
                f"found rows of {[len(row) for row in rows]}"
            )
    else:
        named = dict(zip(("tp", "fp", "fn", "tn"), cells, strict=True))
        absent = [name for name, cell in named.items() if cell is None]
        if absent:
            raise InputError(f"four cells are needed: tp, fp, fn, tn; missing: {', '.join(absent)}")
        true_positive, false_positive, false_negative, true_negative = map(_count, cells)
        rows = [[true_negative, false_positive], [false_negative, true_positive]]
        names = [label_text(label) for label in labels or ("negative", "positive")]
        if len(names) != 2:
            raise InputError(f"four cells have two labels, the negative first; found {names}")
        positive = names[1] if positive is None else positive
    if len(set(names)) != len(names):
        raise InputError(f"labels must differ from each other; found {names}")
    if positive is None and len(names) == 2:
        positive = infer(names).positive
    if positive is not None:
        positive = label_text(positive)
        if positive not in names:
            raise InputError(f"positive={positive!r} is none of the labels {names}")
        if len(names) == 2 and names[0] == positive:
            names.reverse()
            rows = [row[::-1] for row in rows[::-1]]
    confusion = Confusion(tuple(names), tuple(tuple(row) for row in rows))
    if positive is not None and len(names) > 2:
        confusion = confusion.against_rest(names.index(positive))
    return Tally.of_confusion(confusion, positive=positive)


def _count(cell: Any) -> int:
    if isinstance(cell, bool) or not isinstance(cell, int | np.integer):
        if isinstance(cell, float) and cell.is_integer():
            return int(cell)
        raise InputError(f"a cell of a confusion matrix is a whole number; found {cell!r}")
    if cell < 0:
        raise InputError(f"a cell of a confusion matrix is not negative; found {cell}")
    return int(cell)


def _base_rates(base_rate: float | Sequence[float] | None) -> tuple[float, ...] | None:
    if base_rate is None:
        return None
    rates = tuple(base_rate) if isinstance(base_rate, Sequence) else (base_rate,)
    for rate in rates:
        if not 0 < rate < 1:
            raise InputError(f"a base rate is a share between 0 and 1; found {rate}")
    return tuple(float(rate) for rate in rates)


def _key(entry: Entry, positive: str | None) -> str:
    suffix = entry.average or (entry.label if entry.label != positive else None)
    return entry.measure if suffix is None else f"{entry.measure}.{suffix}"


def _plain(entry: Entry) -> dict[str, Any]:
    found = entry.estimate
    where = None
    if entry.slice is not None:
        where = {"column": entry.slice[0], "value": entry.slice[1]}
    return {
        "measure": entry.measure,
        "label": entry.label,
        "average": entry.average,
        "slice": where,
        "base_rate": entry.base_rate,
        "value": _finite(float(found)),
        "low": _finite(found.low),
        "high": _finite(found.high),
        "method": found.method or None,
        "n": found.n,
        "undefined": found.undefined,
        "note": found.note,
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
