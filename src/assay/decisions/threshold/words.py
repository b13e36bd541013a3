"""Constraints and rules in words."""

from __future__ import annotations

from fractions import Fraction

from assay.decisions.threshold.guaranteed import RANKS
from assay.decisions.threshold.sweep import Swept
from assay.decisions.threshold.wanted import LOWEST_COST, LOWEST_FAR, Wanted
from assay.evaluation.words import below, count, listed, name
from assay.inference.binomial import most_allowed


def rate(share: Fraction | float) -> str:
    """A rate to six digits, without trailing zeros; more where it would read as 1 and is less."""
    return below(float(share), 1, 6)


def at(base_rate: Fraction | None) -> str:
    """At which share of attacks something holds."""
    if base_rate is None:
        return "at the share of attacks in these rows"
    return f"at a base rate of {rate(base_rate)}"


def asked(wanted: Wanted) -> list[str]:
    """Each constraint in words."""
    found = []
    if wanted.max_far is not None:
        found.append(f"a FAR of at most {rate(wanted.max_far)} {at(wanted.base_rate)}")
    if wanted.max_fpr is not None:
        found.append(f"a false positive rate of at most {rate(wanted.max_fpr)}")
    if wanted.max_alerts is not None and wanted.volume is not None:
        found.append(
            f"at most {count(float(wanted.max_alerts))} alerts expected a day among "
            f"{count(float(wanted.volume))} rows {at(wanted.base_rate)}"
        )
    if wanted.min_dr is not None:
        found.append(f"a detection rate of at least {rate(wanted.min_dr)}")
    found += [
        f"a detection rate of at least {rate(limit)} for {name(family)}"
        for family, limit in wanted.families.items()
    ]
    return found


def empirical(wanted: Wanted) -> str:
    """How the empirical optimum was found."""
    best = f"The {wanted.objective}"
    if wanted.objective == LOWEST_COST:
        best += f" {at(wanted.base_rate)}"
    if not wanted.size:
        return f"{best} on these rows."
    tie = "the one that detects most" if wanted.objective == LOWEST_FAR else "the highest"
    return f"{best} on these rows with {listed(asked(wanted))}; of equal thresholds {tie}."


def guaranteed(wanted: Wanted, swept: Swept) -> str:
    """How the guaranteed threshold was found."""
    said = _bounds(wanted, swept)
    together = ""
    if wanted.size > 1:
        together = (
            f" The {wanted.size} constraints hold together: they share the error, each fails with "
            f"a chance of at most {rate(wanted.risk)} (Bonferroni)."
        )
    best = "the lowest of these thresholds, which detects most"
    if wanted.objective == LOWEST_FAR:
        best = "the highest of these thresholds, which raises the fewest alarms"
    if wanted.objective == LOWEST_COST:
        best = f"of these thresholds the one with the {wanted.objective} on these rows"
    return (
        f"{'; '.join(said)}; {best}. Fixed by the number of rows before scores are seen.{together}"
    )


def _bounds(wanted: Wanted, swept: Swept) -> list[str]:
    found = []
    if wanted.max_far is not None:
        found.append(
            f"FAR <= {rate(wanted.max_far)} {at(wanted.base_rate)}: bounds on the detection rate "
            f"and the false positive rate along up to {count(min(swept.positives, RANKS))} ranks "
            f"of the attacks, from high scores to low until the first failure"
        )
    if wanted.max_fpr is not None:
        most = most_allowed(swept.negatives, wanted.max_fpr, wanted.risk)
        found.append(
            f"FPR <= {rate(wanted.max_fpr)}: at most {count(most or 0)} of {_of(swept.negatives)} "
            f"negatives flagged"
        )
    if wanted.budget is not None and wanted.budget < 1:
        flagged = f"alerts <= {rate(wanted.budget)} of all rows"
        if wanted.base_rate is None:
            most = most_allowed(swept.rows, wanted.budget, wanted.risk)
            found.append(f"{flagged}: at most {count(most or 0)} of {_of(swept.rows)} rows flagged")
        else:
            found.append(
                f"{flagged} {at(wanted.base_rate)}: an upper bound on the detection rate and one "
                f"on the false positive rate"
            )
    if wanted.min_dr is not None:
        found.append(_misses("DR", wanted.min_dr, swept.positives, wanted.risk))
    sizes = {family.name: family.size for family in swept.families}
    found += [
        _misses(f"DR of {name(family)}", limit, sizes[family], wanted.risk)
        for family, limit in wanted.families.items()
    ]
    return found


def _misses(what: str, limit: Fraction, positives: int, risk: Fraction) -> str:
    most = most_allowed(positives, 1 - limit, risk) or 0
    return f"{what} >= {rate(limit)}: at most {count(most)} of {_of(positives)} positives missed"


def _of(rows: int) -> str:
    return f"the {count(rows)}"
