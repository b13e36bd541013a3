r"""A threshold for alerts by constraint: false incidents a day, time to detect.

**What is asked.** ``max_false_incidents``: at most so many false incidents a day. ``max_delay``:
the median time to detect is at most so many seconds, that is, at least half of all incidents are
detected within them. With a limit on false incidents the threshold is taken that detects most
incidents; without, the one with the fewest false incidents.

**What is promised.** Each promise fails with a chance of at most its share of the risk.

*False incidents.* Those at a threshold are taken to arrive independently of each other and of the
incidents, at a steady rate: over D days their number is Poisson. The thresholds are scores of
alerts of incidents, so they are fixed whatever the false alarms do. At each one "more than L a day"
is a plain hypothesis, rejected where :math:`P(\mathrm{Poisson}(LD) \le N)` is at most the risk,
which is where Garwood's upper bound is at most L. They are tested from high to low, and testing
stops at the first that is not rejected: a wrong rejection has to reject the first true hypothesis,
so their number costs nothing, and it does not matter that false incidents may become fewer as
alerts join them.

*Time to detect.* Incidents are independent draws. With n of them let k be the largest number for
which :math:`P(\mathrm{Bin}(n, 1/2) \le k)` is at most the risk: every threshold at which no
more than k are missed or found later keeps the promise. A lower threshold only ever finds sooner,
so this is the promise of a detection rate in :mod:`assay.decisions.threshold.guaranteed`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.decisions.incidents.operating import OperatingCharacteristic, OperatingPoint
from assay.errors import InputError
from assay.inference.binomial import least_shown, most_allowed

Bools = npt.NDArray[np.bool_]

ASSUMPTION = (
    "false incidents arrive independently of each other and at a steady rate, incidents are "
    "independent draws, and new data are like these"
)
_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class OperatingChoice:
    """Where to set the threshold of alerts: by the data at hand, and with a promise.

    ``constraints`` maps ``max_false_incidents`` (a day) and ``max_delay`` (seconds) to what was
    asked. ``infeasible`` tells why nothing can be found or promised, and what would help.
    ``assumption`` is what the promise rests on. At ``guaranteed`` all constraints hold on new data
    with the ``confidence``.
    """

    constraints: Mapping[str, float]
    objective: str
    empirical: OperatingPoint | None
    guaranteed: OperatingPoint | None
    infeasible: str | None
    confidence: float
    assumption: str = ASSUMPTION

    def turned(self) -> OperatingChoice:
        """The same for a score of which a low number is the more suspicious."""
        points = {name: getattr(self, name) for name in ("empirical", "guaranteed")}
        return replace(
            self,
            **{n: p and replace(p, threshold=-p.threshold) for n, p in points.items()},
        )


def choose_operating_point(
    characteristic: OperatingCharacteristic,
    *,
    max_false_incidents: float | None = None,
    max_delay: float | None = None,
    confidence: float = 0.9,
) -> OperatingChoice:
    """The threshold that keeps what was asked, on this data and, where it can be had, on new."""
    asked = {"max_false_incidents": max_false_incidents, "max_delay": max_delay}
    constraints = {name: float(limit) for name, limit in asked.items() if limit is not None}
    _check(constraints, confidence)
    risk = (1 - Fraction(str(confidence))) / len(constraints)
    held = {name: _HELD[name](characteristic, limit) for name, limit in constraints.items()}
    promised = {
        name: _PROMISED[name](characteristic, limit, risk) for name, limit in constraints.items()
    }
    most_detected = max_false_incidents is not None
    empirical = _best(characteristic, list(held.values()), most_detected=most_detected)
    guaranteed = _best(characteristic, list(promised.values()), most_detected=most_detected)
    infeasible = None
    if empirical is None:
        infeasible = _not_found(characteristic, constraints, held)
    elif guaranteed is None:
        infeasible = _not_promised(characteristic, constraints, promised, risk)
    return OperatingChoice(
        constraints=constraints,
        objective="most incidents detected" if most_detected else "fewest false incidents a day",
        empirical=empirical,
        guaranteed=guaranteed,
        infeasible=infeasible,
        confidence=confidence,
    )


def _check(constraints: Mapping[str, float], confidence: float) -> None:
    if not constraints:
        raise InputError("nothing was asked; give max_false_incidents= or max_delay=, or both")
    for name, limit in constraints.items():
        if not (math.isfinite(limit) and limit >= 0):
            raise InputError(f"{name}= must be a number of at least 0; found {limit!r}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence= must lie between 0 and 1, such as 0.9; found {confidence!r}")


# -- which thresholds keep a constraint ------------------------------------------------------------


def _few_false(of: OperatingCharacteristic, limit: float) -> Bools:
    return np.asarray(of.false_incidents <= limit * of.days)


def _prompt(of: OperatingCharacteristic, limit: float) -> Bools:
    return np.asarray(2 * of.within(limit) >= max(of.first_alerts.total, 1))


def _few_false_promised(of: OperatingCharacteristic, limit: float, risk: Fraction) -> Bools:
    """Tested from high to low thresholds until one is not shown to keep it."""
    from scipy.special import pdtr

    chance = pdtr(of.false_incidents.astype(float), limit * of.days)
    shown = np.asarray(chance <= float(risk)) & _fixed(of)
    return np.logical_and.accumulate(shown)


def _prompt_promised(of: OperatingCharacteristic, limit: float, risk: Fraction) -> Bools:
    total = of.first_alerts.total
    most = most_allowed(total, _HALF, risk) if total else None
    if most is None:
        return np.zeros(len(of.thresholds), bool)
    return np.asarray(total - of.within(limit) <= most)


def _fixed(of: OperatingCharacteristic) -> Bools:
    return np.arange(len(of.thresholds)) < of.fixed


_HELD: Mapping[str, Any] = {"max_false_incidents": _few_false, "max_delay": _prompt}
_PROMISED: Mapping[str, Any] = {
    "max_false_incidents": _few_false_promised,
    "max_delay": _prompt_promised,
}


def _best(
    of: OperatingCharacteristic, kept: list[Bools], *, most_detected: bool
) -> OperatingPoint | None:
    """The best of the thresholds that all keep; of equals the highest."""
    places = np.flatnonzero(np.logical_and.reduce(kept))
    if not len(places):
        return None
    detected, false = of.within(math.inf)[places], of.false_incidents[places]
    first, second = (-detected, false) if most_detected else (false, -detected)
    return of.curve.point(int(places[np.lexsort([places, second, first])[0]]))


# -- why there is none, and what would help --------------------------------------------------------


def _not_found(
    of: OperatingCharacteristic, constraints: Mapping[str, float], held: Mapping[str, Bools]
) -> str:
    if not len(of.thresholds):
        return "Not possible on this data: there are no alerts."
    lead = "Not possible on this data: no threshold keeps"
    for name, limit in constraints.items():
        if held[name].any():
            continue
        if name == "max_delay":
            within, total = int(of.within(limit).max()), of.first_alerts.total
            return (
                f"{lead} a median delay of {limit:g} s: with all alerts {within} of {total} "
                "incidents are detected by then. A longer delay, or rules that fire sooner, would "
                "help."
            )
        fewest = float(of.false_incidents.min()) / of.days
        return (
            f"{lead} {limit:g} false incidents a day and detects anything: there are {fewest:.3g} "
            "a day at the least. A higher limit, or leaving out rules that are never right, would "
            "help."
        )
    few, prompt = held["max_false_incidents"], held["max_delay"]
    in_time = of.within(constraints["max_delay"])
    cheapest = float(of.false_incidents[prompt].min()) / of.days
    return (
        f"{lead} both constraints at once: with {constraints['max_false_incidents']:g} false "
        f"incidents a day {int(in_time[few].max())} of {of.first_alerts.total} are detected within "
        f"{constraints['max_delay']:g} s, and half of them take {cheapest:.3g} a day. Relax one of "
        "them."
    )


def _not_promised(
    of: OperatingCharacteristic,
    constraints: Mapping[str, float],
    promised: Mapping[str, Bools],
    risk: Fraction,
) -> str:
    from scipy.special import gammaincinv

    lead = "Nothing can be promised"
    for name, limit in constraints.items():
        if promised[name].any():
            continue
        if name == "max_delay":
            within, total = int(of.within(limit).max()), of.first_alerts.total
            needed = _incidents_needed(risk)
            more = f"With all of them in time it takes {needed}."
            if total >= needed:
                most = most_allowed(total, _HALF, risk)
                more = f"It takes {total - (most or 0)} of {total}, or more incidents like these."
            return (
                f"{lead}: {within} of {total} incidents within {limit:g} s do not show that half "
                f"of all are. {more}"
            )
        without = -math.log(float(risk)) / limit if limit else math.inf
        if of.days < without:
            longer = "No time is long enough." if not limit else f"It takes {without:.3g} days."
            return (
                f"{lead}: {of.days:.3g} days are too few to show at most {limit:g} false incidents "
                f"a day, even without a single one. {longer}"
            )
        found = int(of.false_incidents[0])
        shown = float(gammaincinv(found + 1, 1 - float(risk))) / of.days
        return (
            f"{lead}: {found} false incidents in {of.days:.3g} days, at the highest score of an "
            f"incident, show at most {shown:.3g} a day and not {limit:g}. More days would help, or "
            "a higher limit."
        )
    return (
        f"{lead}: each constraint can be promised by itself, but at no threshold both. Relax one "
        "of them."
    )


def _incidents_needed(risk: Fraction) -> int:
    """How many incidents, all detected in time, show that half are."""
    needed = 1
    while least_shown(needed, float(risk)) > 0.5:
        needed += 1
    return needed
