"""What a choice of threshold found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.curves import Sweep
from assay.decisions.threshold.plotting import ChoicePlots
from assay.errors import UnknownMeasure
from assay.evaluation.findings import Finding
from assay.inference import Estimate
from assay.inference.significance import finite
from assay.measures import parse

SCHEMA = "assay.threshold/1"

# The share of days with more alerts than the budget, rows being independent.
DAYS_OVER_BUDGET = "days_over_budget"


@dataclass(frozen=True)
class Shown:
    """An estimate and what it is of: a measure, perhaps of a family, perhaps at a base rate."""

    measure: str
    estimate: Estimate
    label: str | None = None
    family: str | None = None
    base_rate: float | None = None

    def to_dict(self, column: str | None) -> dict[str, Any]:
        """The estimate as the plain values of the contract; ``column`` holds the families."""
        found = self.estimate
        where = None
        if self.family is not None:
            where = {"column": column or "family", "value": self.family}
        return {
            "measure": self.measure,
            "label": self.label,
            "average": None,
            "slice": where,
            "base_rate": self.base_rate,
            "value": finite(float(found)),
            "low": finite(found.low),
            "high": finite(found.high),
            "method": found.method or None,
            "n": found.n,
            "undefined": found.undefined,
            "note": found.note,
        }


@dataclass(frozen=True)
class Point:
    """A threshold and what it would mean.

    ``rule`` says in words how it was found, and ends with its ``worth`` on new data where nothing
    is promised. ``confidence`` is how sure its constraints hold on new data (None where nothing is
    promised). ``estimates`` have intervals that carry the choice.
    """

    threshold: float | None
    rule: str
    confidence: float | None
    estimates: tuple[Shown, ...]
    name: str = ""
    worth: str = ""

    def __getitem__(self, measure: str) -> Estimate:
        """The estimate of a measure over all rows, at the base rate where there is one."""
        known = {e.measure: e.estimate for e in self.estimates if e.family is None}
        # Estimates at the base rate come after those of the test set, and so win.
        if measure in known:
            return known[measure]
        name = parse(measure)[0].name
        if name in known:
            return known[name]
        raise UnknownMeasure(f"a point has no {measure!r}; it has {', '.join(known)}")

    def of_family(self, family: str) -> Estimate:
        """The detection rate of one family."""
        known = {e.family: e.estimate for e in self.estimates if e.family is not None}
        if family not in known:
            raise UnknownMeasure(f"there is no family {family!r}; there are {list(known)}")
        return known[family]

    def to_dict(self, column: str | None = None) -> dict[str, Any]:
        """The point as the plain values of the contract; ``column`` holds the families."""
        return {
            "name": self.name or None,
            "threshold": None if self.threshold is None else finite(self.threshold),
            "rule": self.rule,
            "confidence": self.confidence,
            "estimates": [shown.to_dict(column) for shown in self.estimates],
        }


@dataclass(frozen=True)
class Choice:
    """Where to set the alarm: the empirical optimum, the guaranteed one, or why there is none.

    ``constraints`` maps max_far, max_fpr, min_dr, max_alerts, cost_fp and cost_fn to what was
    asked, and ``min_dr.FAMILY`` to what was asked of a family. ``infeasible`` tells why nothing can
    be promised (or found), and what would help. ``candidates`` are the usual points, where there is
    no constraint.

    ``holdout`` is the chosen point judged on unseen rows: ``of`` ("guaranteed" or "empirical"), its
    ``threshold``, ``source``, ``estimates`` (each a :class:`Shown`), and ``constraints``, a mapping
    each: the ``constraint`` and its ``limit``, the ``value`` with ``low`` and ``high``, whether it
    ``held`` (None where it is undefined), and whether that is ``sure``: all of the interval is on
    the same side. ``source`` tells where the rows are from, and how many are ``positives`` and
    ``negatives``. ``sweep`` is the curve that figures show.
    """

    constraints: Mapping[str, float]
    objective: str
    empirical: Point | None
    guaranteed: Point | None
    infeasible: str | None
    candidates: tuple[Point, ...] = ()
    holdout: Mapping[str, Any] | None = None
    positive: str = ""
    labels: tuple[str, ...] = ()
    confidence: float = 0.9
    level: float = 0.95
    base_rate: float | None = None
    volume: float | None = None
    family: str | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    source: Mapping[str, Any] = field(default_factory=dict)
    sweep: Sweep | None = field(default=None, compare=False, repr=False)

    @property
    def plot(self) -> ChoicePlots:
        """Figures by matplotlib: ``choice.plot.roc()``; needs the extra ``plot``."""
        return ChoicePlots(self)

    @property
    def chosen(self) -> Point | None:
        """The guaranteed point where there is one, else the empirical one."""
        return self.guaranteed or self.empirical

    def to_dict(self) -> dict[str, Any]:
        """The choice as the plain values of the contract, ready for JSON."""

        def point(found: Point | None) -> dict[str, Any] | None:
            return None if found is None else found.to_dict(self.family)

        return {
            "schema": SCHEMA,
            "source": _plain_source(self.source),
            "positive": self.positive,
            "labels": list(self.labels),
            "constraints": dict(self.constraints),
            "objective": self.objective,
            "confidence": self.confidence,
            "level": self.level,
            "base_rate": self.base_rate,
            "volume": self.volume,
            "infeasible": self.infeasible,
            "empirical": point(self.empirical),
            "guaranteed": point(self.guaranteed),
            "candidates": [found.to_dict(self.family) for found in self.candidates],
            "holdout": self._judged(),
            "notes": list(self.notes),
            "findings": [asdict(finding) for finding in self.findings],
        }

    def _judged(self) -> dict[str, Any] | None:
        if self.holdout is None:
            return None
        estimates = [shown.to_dict(self.family) for shown in self.holdout["estimates"]]
        constraints = [
            {name: finite(v) if isinstance(v, float) else v for name, v in each.items()}
            for each in self.holdout["constraints"]
        ]
        source = _plain_source(self.holdout["source"])
        judged = {"source": source, "estimates": estimates, "constraints": constraints}
        return {**self.holdout, **judged}


def _plain_source(source: Mapping[str, Any]) -> dict[str, Any]:
    """Where rows are from, without the columns that were read."""
    return {name: part for name, part in source.items() if name != "chosen"}
