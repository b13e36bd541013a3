"""What a choice of threshold found, and what its reader must know, each with a code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import numpy as np

from assay.v02.curves import Sweep
from assay.v02.decisions.threshold.constraints import Requirements
from assay.v02.decisions.threshold.explanations import rate
from assay.v02.decisions.threshold.sweep import ThresholdSweep
from assay.errors import UnknownMeasure
from assay.v02.escaping import plural
from assay.v02.evaluation.findings import Finding, urgent_first
from assay.v02.evaluation.findings.finding import Code
from assay.v02.evaluation.wording import listed, name, some
from assay.v02.inference import Estimate
from assay.v02.inference.fields import Recorded, Result, codec_of, field_error, stored
from assay.v02.measures import EXPECTED_COST, parse
from assay.v02.number_text import count, rate_percent, threshold_text
from assay.v02.sources.files.request import RowSource

if TYPE_CHECKING:
    from assay.v02.decisions.plotting import ChoicePlots


# The share of days with more alerts than the budget, rows being independent.
DAYS_OVER_BUDGET = "days_over_budget"


_FAMILY = "family"


def _slice_written(family: str | None) -> dict[str, str] | None:
    return None if family is None else {"column": _FAMILY, "value": family}


def _slice_read(given: Any, at: str) -> str | None:
    if given is None:
        return None
    if not isinstance(given, dict) or not isinstance(given.get("value"), str):
        raise field_error(at, given, "a slice, with its column and value")
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
    name: str | None = codec_of(str | None).read(given, at)
    return name or ""


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
        estimates = {e.measure: e.estimate for e in self.estimates if e.family is None}
        # Estimates at the base rate come after those of the test set, and so win.
        if measure in estimates:
            return estimates[measure]
        name = parse(measure)[0].name
        if name in estimates:
            return estimates[name]
        raise UnknownMeasure(f"a point has no {measure!r}; it has {', '.join(estimates)}")

    def of_family(self, family: str) -> Estimate:
        """The detection rate of one family."""
        estimates = {e.family: e.estimate for e in self.estimates if e.family is not None}
        if family not in estimates:
            raise UnknownMeasure(f"there is no family {family!r}; there are {list(estimates)}")
        return estimates[family]


class HeldConstraint(TypedDict):
    """A constraint on the holdout: its value there, whether it held, and whether that is sure."""

    constraint: str
    limit: float
    value: float
    low: float
    high: float
    held: bool | None
    sure: bool


class _HoldoutMode(TypedDict, total=False):
    """What older documents do not tell: how scores of the holdout were kept."""

    mode: str


class HoldoutEstimates(_HoldoutMode):
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
    ``negatives``. ``mode`` is how scores were kept: ``exact``, ``cuts`` or ``grid``; None in
    documents that do not tell. ``sweep`` is the curve that figures show.
    """

    SCHEMA: ClassVar[str] = "assay.threshold/1"

    constraints: Mapping[str, float]
    objective: str
    empirical: Point | None
    guaranteed: Point | None
    infeasible: str | None
    candidates: tuple[Point, ...] = ()
    holdout: HoldoutEstimates | None = None
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
    mode: str | None = None
    sweep: Sweep | None = field(
        default=None, compare=False, repr=False, metadata=stored(left_out=True)
    )

    @property
    def plot(self) -> ChoicePlots:
        """Figures by matplotlib: ``choice.plot.roc()``; needs the extra ``plot``."""
        from assay.v02.decisions.plotting import ChoicePlots

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


# -- findings --------------------------------------------------------------------------------------


# Below this many a share moves by more than three points with a single row.
FEWEST = 30
# Where most scores differ, rows of two data sets with equal scores are the same rows.
_MOST_DIFFER = 0.9


SAME_ROWS = Code(
    "T001",
    "info",
    "no unseen rows judge the threshold",
    "On the rows that it was chosen by, a threshold looks better than it is.",
    "Keep rows aside, and judge it on them: a holdout.",
)
SEEN_HOLDOUT = Code(
    "T002",
    "warning",
    "the holdout was seen before",
    "Rows that chose the threshold can't tell how it does on others.",
    "Give a holdout whose rows were kept aside from the start.",
    mistake=True,
)
FEW_ROWS = Code(
    "T003",
    "warning",
    "too few rows of a kind",
    "A single row moves such a share by points, and so the threshold.",
    "Label more rows of that kind; assay plan says how many.",
)
NO_BASE_RATE = Code(
    "T004",
    "warning",
    "no base rate",
    "The share of attacks in a test set is seldom that of deployment, and alarms depend on it.",
    "Say the base rate of deployment.",
)
NOTHING_DETECTED = Code(
    "T005",
    "warning",
    "nothing is detected",
    "A threshold above every attack keeps any limit on alarms, and is of no use.",
    "Allow more false alarms, or use a detector that ranks attacks higher.",
)
EVERYTHING_FLAGGED = Code(
    "T006",
    "warning",
    "every row is flagged",
    "A threshold below every row tells nothing apart.",
    "Ask for fewer alarms, or less detection.",
)
DOES_NOT_PAY = Code(
    "T007",
    "warning",
    "the detector does not pay",
    "At these costs it is cheaper to raise no alert at all.",
    "Check the costs and the base rate, or leave the detector switched off.",
)
BROKEN_ON_HOLDOUT = Code(
    "T008",
    "warning",
    "the holdout breaks a constraint",
    "What held where the threshold was chosen does not hold on rows that it has not seen.",
    "Choose it anew with rows of both times, or ask for less.",
)
CODES = (
    *(SAME_ROWS, SEEN_HOLDOUT, FEW_ROWS, NO_BASE_RATE),
    *(NOTHING_DETECTED, EVERYTHING_FLAGGED, DOES_NOT_PAY, BROKEN_ON_HOLDOUT),
)


def findings_of(
    swept: ThresholdSweep,
    wanted: Requirements,
    chosen: Point | None,
    holdout: ThresholdSweep | None,
    judged: Mapping[str, Any] | None,
) -> tuple[Finding, ...]:
    """All findings, warnings first, then in the order of their codes."""
    findings = [
        *_same_rows(swept, holdout),
        *_few(swept, wanted),
        *_base_rate(swept, wanted),
        *_extreme(swept, chosen),
        *_nothing_is_cheaper(swept, wanted, chosen),
        *_broken(judged),
    ]
    return urgent_first(findings)


def _same_rows(swept: ThresholdSweep, holdout: ThresholdSweep | None) -> Iterator[Finding]:
    if holdout is None:
        yield SAME_ROWS.found(
            "The threshold was chosen and judged on the same rows. Intervals carry the choice, but "
            "not a change of the data: judge it on rows that it has not seen (a holdout).",
        )
        return
    shared = _shared_rows(swept, holdout)
    if shared:
        all_ = "All" if shared == holdout.rows else count(shared)
        yield SEEN_HOLDOUT.found(
            f"{all_} of the {count(holdout.rows)} rows of the holdout are in the rows that "
            f"the threshold was chosen on, so it judges nothing new. Give rows that were kept "
            f"aside.",
        )


def _shared_rows(swept: ThresholdSweep, holdout: ThresholdSweep) -> int:
    """How many rows of the holdout are rows that the threshold was chosen on."""
    chosen_on, held_out = swept.tally, holdout.tally
    if np.array_equal(chosen_on.scores, held_out.scores) and np.array_equal(
        chosen_on.counts, held_out.counts
    ):
        return holdout.rows
    if min(swept.tally.size / swept.rows, holdout.tally.size / holdout.rows) < _MOST_DIFFER:
        return 0
    _, places, holdout_places = np.intersect1d(
        chosen_on.scores, held_out.scores, assume_unique=True, return_indices=True
    )
    both = np.minimum(chosen_on.counts[:, places], held_out.counts[:, holdout_places])
    shared = int(both.sum(dtype=np.int64))
    return shared if 2 * shared > holdout.rows else 0


def _few(swept: ThresholdSweep, wanted: Requirements) -> Iterator[Finding]:
    positives, negatives = swept.positives, swept.negatives
    rare = (
        [f"{count(positives)} {plural(positives, 'positive', 'positives')}"]
        if positives < FEWEST
        else []
    )
    rare += (
        [f"{count(negatives)} {plural(negatives, 'negative', 'negatives')}"]
        if negatives < FEWEST
        else []
    )
    rare += [
        f"{count(family.size)} of {name(family.name)}"
        for family in swept.families
        if family.name in wanted.families and family.size < FEWEST
    ]
    if rare:
        fewest = positives if positives < FEWEST else negatives
        yield FEW_ROWS.found(
            f"There {plural(fewest, 'is', 'are')} only {some(rare)}: a single row moves such a "
            f"share by more than three "
            f"points, so the threshold is a matter of chance.",
        )


def _base_rate(swept: ThresholdSweep, wanted: Requirements) -> Iterator[Finding]:
    if wanted.base_rate is not None:
        return
    asked = ["the FAR"] if wanted.max_far is not None else []
    asked += ["the number of alerts"] if wanted.volume is not None else []
    asked += ["the cost"] if wanted.cost_fp is not None else []
    if asked:
        verb = "are" if len(asked) > 1 else "is"
        yield NO_BASE_RATE.found(
            f"No base rate was given, so {listed(asked)} {verb} at the share of attacks in these "
            f"rows, {rate_percent(swept.share)}. Where attacks are rarer the same threshold does "
            f"far worse: say the base rate of deployment.",
        )


def _extreme(swept: ThresholdSweep, chosen: Point | None) -> Iterator[Finding]:
    if chosen is None or chosen.threshold is None:
        return
    position = int(swept.positions(chosen.threshold))
    if not swept.counts_at(position).tp:
        yield NOTHING_DETECTED.found(
            f"The threshold {threshold_text(chosen.threshold)} keeps what was asked by detecting "
            f"nothing: negatives have the highest scores.",
        )
    elif position == swept.last:
        yield EVERYTHING_FLAGGED.found(
            f"The threshold {threshold_text(chosen.threshold)} is the lowest score: it flags every "
            f"row.",
        )


def _nothing_is_cheaper(
    swept: ThresholdSweep, wanted: Requirements, chosen: Point | None
) -> Iterator[Finding]:
    if wanted.cost_fp is None or wanted.cost_fn is None or chosen is None:
        return
    share = float(wanted.base_rate or swept.share)
    without = share * float(wanted.cost_fn)
    if chosen[EXPECTED_COST.name] > without:
        yield DOES_NOT_PAY.found(
            f"Without any alert a row would cost {rate(without)}, less than the "
            f"{rate(chosen[EXPECTED_COST.name])} of this threshold: at these costs the detector "
            f"does not pay.",
        )


def _broken(judged: Mapping[str, Any] | None) -> Iterator[Finding]:
    broken = [each for each in judged["constraints"] if each["held"] is False] if judged else []
    if broken:
        promises = listed(
            [
                f"{each['constraint']} ({rate(each['value'])} where {rate(each['limit'])} was "
                f"asked)"
                for each in broken
            ]
        )
        if any(each["sure"] for each in broken):
            yield BROKEN_ON_HOLDOUT.found(f"On the holdout the threshold breaks {promises}.")
        else:
            yield BROKEN_ON_HOLDOUT.found(
                f"On the holdout the threshold does not keep {promises}, by no more than chance "
                f"allows.",
                "info",
            )
