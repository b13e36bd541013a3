"""What a reader of a chosen threshold must know, each with a code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from assay.decisions.threshold.result import Point
from assay.decisions.threshold.sweep import Swept
from assay.decisions.threshold.wanted import Wanted
from assay.decisions.threshold.words import rate
from assay.evaluation.findings import Finding, urgent_first
from assay.evaluation.findings.finding import Code
from assay.evaluation.words import count, listed, name, percent, some
from assay.measures import EXPECTED_COST

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
    swept: Swept,
    wanted: Wanted,
    chosen: Point | None,
    holdout: Swept | None,
    judged: Mapping[str, Any] | None,
) -> tuple[Finding, ...]:
    """All findings, warnings first, then in the order of their codes."""
    found = [
        *_same_rows(swept, holdout),
        *_few(swept, wanted),
        *_base_rate(swept, wanted),
        *_extreme(swept, chosen),
        *_nothing_is_cheaper(swept, wanted, chosen),
        *_broken(judged),
    ]
    return urgent_first(found)


def _same_rows(swept: Swept, holdout: Swept | None) -> Iterator[Finding]:
    if holdout is None:
        yield SAME_ROWS.found(
            "The threshold was chosen and judged on the same rows. Intervals carry the choice, but "
            "not a change of the data: judge it on rows that it has not seen (a holdout).",
        )
        return
    shared = _shared(swept, holdout)
    if shared:
        all_ = "All" if shared == holdout.rows else count(shared)
        yield SEEN_HOLDOUT.found(
            f"{all_} of the {count(holdout.rows)} rows of the holdout are in the rows that "
            f"the threshold was chosen on, so it judges nothing new. Give rows that were kept "
            f"aside.",
        )


def _shared(swept: Swept, holdout: Swept) -> int:
    """How many rows of the holdout are rows that the threshold was chosen on."""
    here, there = swept.tally, holdout.tally
    if np.array_equal(here.scores, there.scores) and np.array_equal(here.counts, there.counts):
        return holdout.rows
    if min(swept.tally.size / swept.rows, holdout.tally.size / holdout.rows) < _MOST_DIFFER:
        return 0
    _, mine, theirs = np.intersect1d(
        here.scores, there.scores, assume_unique=True, return_indices=True
    )
    both = np.minimum(here.counts[:, mine], there.counts[:, theirs])
    shared = int(both.sum(dtype=np.int64))
    return shared if 2 * shared > holdout.rows else 0


def _few(swept: Swept, wanted: Wanted) -> Iterator[Finding]:
    positives, negatives = swept.positives, swept.negatives
    few = [f"{count(positives)} positives"] if positives < FEWEST else []
    few += [f"{count(negatives)} negatives"] if negatives < FEWEST else []
    few += [
        f"{count(family.size)} of {name(family.name)}"
        for family in swept.families
        if family.name in wanted.families and family.size < FEWEST
    ]
    if few:
        yield FEW_ROWS.found(
            f"There are only {some(few)}: a single row moves such a share by more than three "
            f"points, so the threshold is a matter of chance.",
        )


def _base_rate(swept: Swept, wanted: Wanted) -> Iterator[Finding]:
    if wanted.base_rate is not None:
        return
    asked = ["the FAR"] if wanted.max_far is not None else []
    asked += ["the number of alerts"] if wanted.volume is not None else []
    asked += ["the cost"] if wanted.cost_fp is not None else []
    if asked:
        verb = "are" if len(asked) > 1 else "is"
        yield NO_BASE_RATE.found(
            f"No base rate was given, so {listed(asked)} {verb} at the share of attacks in these "
            f"rows, {percent(swept.share)}. Where attacks are rarer the same threshold does far "
            f"worse: say the base rate of deployment.",
        )


def _extreme(swept: Swept, chosen: Point | None) -> Iterator[Finding]:
    if chosen is None or chosen.threshold is None:
        return
    position = int(swept.positions(chosen.threshold))
    if not swept.counts_at(position).tp:
        yield NOTHING_DETECTED.found(
            f"The threshold {chosen.threshold:.6g} keeps what was asked by detecting nothing: "
            f"negatives have the highest scores.",
        )
    elif position == swept.last:
        yield EVERYTHING_FLAGGED.found(
            f"The threshold {chosen.threshold:.6g} is the lowest score: it flags every row.",
        )


def _nothing_is_cheaper(swept: Swept, wanted: Wanted, chosen: Point | None) -> Iterator[Finding]:
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
        said = listed(
            [
                f"{each['constraint']} ({rate(each['value'])} where {rate(each['limit'])} was "
                f"asked)"
                for each in broken
            ]
        )
        if any(each["sure"] for each in broken):
            yield BROKEN_ON_HOLDOUT.found(f"On the holdout the threshold breaks {said}.")
        else:
            yield BROKEN_ON_HOLDOUT.found(
                f"On the holdout the threshold does not keep {said}, by no more than chance "
                f"allows.",
                "info",
            )
