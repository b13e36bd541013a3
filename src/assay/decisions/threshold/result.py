"""What a choice of threshold found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

from assay.curves import Sweep
from assay.errors import UnknownMeasure
from assay.evaluation.findings import Finding
from assay.inference import Estimate
from assay.inference.fields import Recorded, codec_of, stored
from assay.inference.not_finite import odd
from assay.inference.result import Result
from assay.measures import parse
from assay.sources.files.request import RowSource

if TYPE_CHECKING:
    from assay.decisions.plotting import ChoicePlots

# The share of days with more alerts than the budget, rows being independent.
DAYS_OVER_BUDGET = "days_over_budget"


_FAMILY = "family"


def _slice_written(family: str | None) -> dict[str, str] | None:
    return None if family is None else {"column": _FAMILY, "value": family}


def _slice_read(given: Any, at: str) -> str | None:
    if given is None:
        return None
    if not isinstance(given, dict) or not isinstance(given.get("value"), str):
        raise odd(at, given, "a slice, with its column and value")
    return str(given["value"])


@dataclass(frozen=True)
class Shown(Recorded):
    """An estimate and what it is of: a measure, perhaps of a family, perhaps at a base rate."""

    DERIVED: ClassVar[tuple[str, ...]] = ("average",)

    measure: str
    estimate: Estimate = field(metadata=stored(inline=True))
    label: str | None = None
    family: str | None = field(
        default=None, metadata=stored(key="slice", write=_slice_written, read=_slice_read)
    )
    base_rate: float | None = None

    @property
    def average(self) -> str | None:
        """None: a point has no averages."""
        return None


def _name_read(given: Any, at: str) -> str:
    found: str | None = codec_of(str | None).read(given, at)
    return found or ""


@dataclass(frozen=True)
class Point(Recorded):
    """A threshold and what it would mean.

    ``rule`` says in words how it was found, and ends with its ``worth`` on new data where nothing
    is promised. ``confidence`` is how sure its constraints hold on new data (None where nothing is
    promised). ``estimates`` have intervals that carry the choice. ``below`` is the next score below
    the threshold, where anything between the two is worth the same.
    """

    threshold: float | None
    rule: str
    confidence: float | None
    estimates: tuple[Shown, ...]
    name: str = field(default="", metadata=stored(write=lambda name: name or None, read=_name_read))
    worth: str = ""
    below: float | None = None

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


class HeldConstraint(TypedDict):
    """A constraint on the holdout: its value there, whether it held, and whether that is sure."""

    constraint: str
    limit: float
    value: float
    low: float
    high: float
    held: bool | None
    sure: bool


class Holdout(TypedDict):
    """The chosen point judged on unseen rows."""

    of: str
    threshold: float
    source: RowSource
    estimates: tuple[Shown, ...]
    constraints: tuple[HeldConstraint, ...]


@dataclass(frozen=True, repr=False)
class Choice(Result, Recorded):
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

    SCHEMA: ClassVar[str] = "assay.threshold/1"

    constraints: Mapping[str, float]
    objective: str
    empirical: Point | None
    guaranteed: Point | None
    infeasible: str | None
    candidates: tuple[Point, ...] = ()
    holdout: Holdout | None = None
    positive: str = ""
    labels: tuple[str, ...] = ()
    confidence: float = 0.9
    level: float = 0.95
    base_rate: float | None = None
    volume: float | None = None
    family: str | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    source: RowSource = field(default_factory=RowSource)
    sweep: Sweep | None = field(
        default=None, compare=False, repr=False, metadata=stored(left_out=True)
    )

    @property
    def plot(self) -> ChoicePlots:
        """Figures by matplotlib: ``choice.plot.roc()``; needs the extra ``plot``."""
        from assay.decisions.plotting import ChoicePlots

        return ChoicePlots(self)

    @property
    def chosen(self) -> Point | None:
        """The guaranteed point where there is one, else the empirical one."""
        return self.guaranteed or self.empirical

    def shaped(self, plain: dict[str, Any]) -> dict[str, Any]:
        """Slices have the name of the column of families; columns that were read are left out."""
        parts = [plain["empirical"], plain["guaranteed"], *plain["candidates"], plain["holdout"]]
        for shown in (shown for part in parts if part for shown in part["estimates"]):
            if shown["slice"] is not None:
                shown["slice"]["column"] = self.family or _FAMILY
        for source in (part["source"] for part in (plain, plain["holdout"]) if part):
            source.pop("chosen", None)
        return plain
