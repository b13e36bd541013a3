"""What a choice of threshold comes to, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from assay.decisions.threshold.result import Choice, Point
from assay.evaluation.deployment import ALERTS, FALSE_ALARMS, MISSED
from assay.evaluation.words import listed
from assay.measures import FALSE_DISCOVERY_RATE, RECALL
from assay.report.names import name
from assay.report.numbers import count, daily, exact_percent, percent, shortest_between
from assay.report.words import positives, quoted

NOT_POSSIBLE = "Not possible on this data"
_ASKED = {
    "max_far": "false alarm rate (FAR) at most",
    "max_fpr": "false positive rate at most",
    "min_dr": "detection rate at least",
    "max_alerts": "alerts a day at most",
}
_COSTS = ("cost_fp", "cost_fn")


def headline(choice: Choice) -> Iterator[str]:
    """The answer first, then what it means, and what it rests on."""
    if choice.infeasible is not None:
        told = choice.infeasible
        yield told if told.startswith(NOT_POSSIBLE) else f"{NOT_POSSIBLE}. {told}"
    if choice.guaranteed is not None:
        yield (
            f"Flag from a score of {threshold_text(choice.guaranteed)} on: with "
            f"{exact_percent(choice.confidence)} confidence new data keep "
            f"{_what_is_kept(choice)}."
        )
        yield _means(choice, choice.guaranteed)
    if choice.empirical is not None:
        told = choice.empirical.worth
        at = threshold_text(choice.empirical)
        if choice.guaranteed is not None:
            yield f"On these rows the {choice.objective} is at {at}. {told}"
        else:
            left = "All that is left is the empirical optimum: flag"
            flag = "Flag" if choice.infeasible is None else left
            yield f"{flag} from a score of {at} on, the {choice.objective} on these rows. {told}"
            yield _means(choice, choice.empirical)
    elif choice.candidates:
        yield (
            "No constraint was given, so the usual thresholds stand side by side. They fit these "
            "rows, and nothing is promised of new ones."
        )
    if choice.holdout is not None:
        yield _on_the_holdout(choice.holdout)
    yield _rows(choice)


def _what_is_kept(choice: Choice) -> str:
    found = len(limits_of(choice))
    return "the constraint" if found == 1 else f"{all_of(found)} constraints together"


def all_of(number: int) -> str:
    """All of some things.

    >>> all_of(2), all_of(3)
    ('both', 'all 3')
    """
    return "both" if number == 2 else f"all {number}"


def _means(choice: Choice, point: Point) -> str:
    detected, false = point[RECALL.name], point[FALSE_DISCOVERY_RATE.name]
    parts = [f"It catches {percent(detected)} of {positives(choice.positive)}"]
    if math.isnan(false):
        parts.append("it raises no alarm on these rows")
    else:
        parts.append(f"{percent(false)} of its alarms are false {where(choice)}")
    if choice.volume is not None:
        parts.append(
            f"a day brings {daily(point[ALERTS])} alerts, {daily(point[FALSE_ALARMS])} of them "
            f"false, and {daily(point[MISSED])} are missed"
        )
    return "; ".join(parts) + "."


def where(choice: Choice) -> str:
    """At which share of attacks numbers are."""
    if choice.base_rate is None:
        return "at the share of attacks in these rows"
    return f"at a base rate of {exact_percent(choice.base_rate)}"


def _on_the_holdout(holdout: Mapping[str, Any]) -> str:
    kept = [each for each in holdout["constraints"] if each["held"]]
    broken = [each for each in holdout["constraints"] if each["held"] is False]
    where = (
        f"On the holdout {name(holdout['source'].get('name', ''))} the {holdout['of']} threshold"
    )
    if not holdout["constraints"]:
        return f"{where} was judged too."
    if not broken:
        asked = len(holdout["constraints"])
        if not kept:
            return f"{where} can't be judged: its rows tell of no constraint."
        if len(kept) < asked:
            part = f"{len(kept)} of {asked} constraints"
            return f"{where} kept {part}; its rows can't tell of the rest."
        what = "its constraint" if asked == 1 else f"{all_of(asked)} constraints"
        return f"{where} kept {what}."
    return f"{where} broke {listed([constraint_text(each['constraint']) for each in broken])}."


def _rows(choice: Choice) -> str:
    source = choice.source
    found, harmless = source.get("positives", 0), source.get("negatives", 0)
    others = [label for label in choice.labels if label != choice.positive]
    negative = quoted(others[0]) if others else "others"
    return (
        f"{count(found + harmless)} rows: {count(found)} {quoted(choice.positive)}, "
        f"{count(harmless)} {negative}."
    )


def threshold_text(point: Point) -> str:
    """As few digits as separate the same rows; with all of them where that is not known."""
    if point.threshold is None:
        return "none"
    if point.below is None:
        return repr(float(point.threshold))
    return shortest_between(point.below, float(point.threshold))


def limits_of(choice: Choice) -> dict[str, float]:
    """The constraints; costs are none."""
    return {key: limit for key, limit in choice.constraints.items() if key not in _COSTS}


def constraint_text(key: str) -> str:
    """A constraint in words.

    >>> constraint_text("max_fpr"), constraint_text("min_dr.dos")
    ('false positive rate at most', "detection rate of 'dos' at least")
    """
    if key in _ASKED:
        return _ASKED[key]
    return f"detection rate of {quoted(key.partition('.')[2])} at least"


def limit_text(key: str, limit: float) -> str:
    """The limit of a constraint."""
    return count(limit) if key == "max_alerts" else exact_percent(limit)
