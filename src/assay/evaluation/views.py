"""Parts of an evaluation that are looked at by themselves: some estimates, and its curves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from assay import curves
from assay.errors import MethodError, UnknownMeasure
from assay.evaluation.judge import Judge
from assay.inference import Estimate, Wilson, with_band
from assay.measures import FALSE_DISCOVERY_RATE, Measure, find, parse
from assay.tally import ScoreTally


class ByMeasure(Mapping[str, Estimate]):
    """Estimates by their measure, its name or an alias; each is computed when it is asked for."""

    def __init__(self, entries: Iterable[Any]) -> None:
        self._entries = {entry.measure: entry for entry in entries}

    def __getitem__(self, name: str | Measure) -> Estimate:
        if isinstance(name, Measure):
            name = name.name
        if name not in self._entries:
            written, name = name, find(name).name
            if name not in self._entries:
                there = ", ".join(self._entries)
                raise UnknownMeasure(f"{written!r} is not here; there are {there}")
        found: Estimate = self._entries[name].estimate
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"ByMeasure({dict(self)!r})"


class ByKey(Mapping[str, Estimate]):
    """Estimates by the key of what they are of, as ``f1``, ``f1.macro`` or ``precision.normal``.

    Whoever is one has ``entries``, in the order of the report, ``labels`` and ``positive``.
    """

    entries: Any
    labels: Any
    positive: Any
    base_rates: Any

    @cached_property
    def _by_key(self) -> dict[str, Any]:
        """The entries of the whole, by name."""
        whole = [e for e in self.entries if e.slice is None and e.base_rate is None]
        by_key = {_key(entry, self.positive): entry for entry in whole}
        # A class may be called macro; the average of that name wins.
        return by_key | {_key(entry, self.positive): entry for entry in whole if entry.average}

    def __getitem__(self, name: str | Measure) -> Estimate:
        found: Estimate = self._entry(name).estimate
        return found

    def __contains__(self, name: object) -> bool:
        try:
            self._entry(name)
        except UnknownMeasure:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)

    def _entry(self, name: Any) -> Any:
        """The entry of a name, an alias or a measure."""
        if isinstance(name, Measure):
            name = name.name
        if not isinstance(name, str):
            raise UnknownMeasure(f"an estimate is found by its name; found {name!r}")
        if name in self._by_key:
            return self._by_key[name]
        measure, suffix = parse(name)
        if suffix == self.positive:
            suffix = None
        key = measure.name if suffix is None else f"{measure.name}.{suffix}"
        return self._by_key[key] if key in self._by_key else self._other(name, measure, suffix)

    def _other(self, name: str, measure: Measure, suffix: str | None) -> Any:  # noqa: ARG002
        """The entry of a name that is not in the list, which there is none of."""
        close = [k for k in self._by_key if k.startswith(measure.name + ".")]
        raise UnknownMeasure(
            f"{name!r} is not in this evaluation of {len(self.labels)} classes; of "
            f"{measure.name} there are {', '.join(close[:8]) or 'none'}"
        )

    def at(self, base_rate: float) -> ByMeasure:
        """The estimates at a base rate, by measure."""
        return ByMeasure(entry for entry in self.entries if entry.base_rate == base_rate)

    @cached_property
    def mostly_false(self) -> tuple[float, float] | None:
        """The worst base rate that was asked for at which most alarms are false, and the share."""
        false = {rate: self.at(rate)[FALSE_DISCOVERY_RATE] for rate in self.base_rates}
        absurd = [rate for rate, far in false.items() if far > 0.5]
        if not absurd:
            return None
        worst = max(absurd, key=lambda rate: false[rate])
        return worst, float(false[worst])


def _key(entry: Any, positive: str | None) -> str:
    suffix = entry.average or (entry.label if entry.label != positive else None)
    return entry.measure if suffix is None else f"{entry.measure}.{suffix}"


class Curves:
    """The curves of a binary evaluation with scores, drawn from one sweep of its thresholds."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @cached_property
    def sweep(self) -> curves.Sweep:
        """True and false positives at no more than 2,000 thresholds."""
        return self._swept(curves.POINTS)

    @property
    def _scores(self) -> ScoreTally:
        tally = self._judge.tally
        if tally.scores is None or tally.positive is None:
            raise MethodError(
                "curves need scores of one positive label; give y_score, and positive="
            )
        return tally.scores[0]

    def _swept(self, points: int | None) -> curves.Sweep:
        return curves.sweep(self._scores, points, keep=self._judge.tally.threshold)

    def _banded(self, curve: curves.Curve, band: float | None) -> curves.Curve:
        if band is not None and self._judge.tally.clusters is not None:
            raise MethodError("a band takes rows as independent, and these come in clusters")
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

    def det(self, *, points: int | None = curves.POINTS, band: float | None = None) -> curves.Curve:
        """Miss rate against false positive rate, both also as normal deviates (probits)."""
        return self._banded(curves.det(self._at(points)), band)

    def gain(
        self, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Detection rate against the share of rows that raise an alert."""
        return self._banded(curves.gain(self._at(points)), band)

    def lift(
        self, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Precision over prevalence against the share of rows that raise an alert."""
        return self._banded(curves.lift(self._at(points)), band)

    def precision_recall_gain(
        self, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Precision gain against recall gain: both on a scale from the prevalence to 1."""
        return self._banded(curves.precision_recall_gain(self._at(points)), band)

    def hull(self) -> curves.Curve:
        """The convex hull of the ROC curve: which thresholds are best for which costs.

        It has no band: which thresholds are on it was chosen by these rows.
        """
        return curves.hull(curves.vertices(self._scores))

    def decision(
        self,
        *,
        base_rate: float | None = None,
        thresholds: Sequence[float] | None = None,
        band: float | None = None,
    ) -> curves.Curve:
        """Net benefit against the threshold probability, and that of flagging everything.

        ``base_rate`` is the share of positives in deployment, where it is not that of the rows.
        """
        tally = self._judge.tally
        scores = self._scores
        if tally.kind != "probability":
            raise MethodError(
                "a decision curve needs probabilities: its threshold is the probability from "
                "which on a row is flagged, and these scores are none"
            )
        curve = curves.decision(
            scores, base_rate=base_rate, thresholds=thresholds, keep=tally.threshold
        )
        return self._banded(curve, band)

    def cost(self, *, band: float | None = None) -> curves.Curve:
        """Normalised expected cost against the probability cost, at the best threshold of each.

        ``in_use`` is the cost at the evaluation's own decisions.
        """
        scores, tally = self._scores, self._judge.tally
        in_use = None
        if tally.decided and tally.confusion.rows[0] and tally.confusion.rows[1]:
            (tn, fp), (fn, tp) = tally.confusion.cells
            in_use = (float(fp / (tn + fp)), float(tp / (fn + tp)))
        return self._banded(curves.cost(scores, in_use=in_use), band)

    def measure(
        self, name: str, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Any measure of decisions against the threshold."""
        measure = find(name)
        return self._banded(curves.trace(self._at(points), measure.name, measure), band)

    def reliability(self, *, level: float | None = None) -> dict[str, npt.NDArray[np.float64]]:
        """Observed share against predicted probability in bins, with Wilson's interval."""
        found = self._judge.reliability
        if found is None:
            raise MethodError("reliability needs the probability of one positive label")
        low, high = Wilson(level or self._judge.level)(found.observed * found.n, found.n)
        return {
            "predicted": found.predicted,
            "observed": found.observed,
            "low": low,
            "high": high,
            "n": found.n,
        }
