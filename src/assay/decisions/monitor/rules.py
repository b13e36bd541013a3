"""Rules that a confidence sequence can judge, and how they stand at every look."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from assay.decisions.gate.grammar import parse_rule
from assay.decisions.gate.rule import OLD, Outcome, Rule
from assay.decisions.monitor.figures import DIFFERENCES
from assay.decisions.monitor.result import Period, RuleOutcome, WatchedRule
from assay.errors import InputError
from assay.evaluation.deployment import ALERTS, FALSE_ALARMS


def watched_rules(rules: str | Rule | Iterable[str | Rule]) -> tuple[Rule, ...]:
    """Rules that a confidence sequence can judge; others are refused."""
    given = [rules] if isinstance(rules, str | Rule) else list(rules)
    found = tuple(
        rule if isinstance(rule, Rule) else parse_rule(rule, watched=True) for rule in given
    )
    for rule in found:
        must_be_followed(rule)
    return found


def must_be_followed(rule: Rule) -> None:
    """Refuse a rule about what has no confidence sequence here."""
    start = f"the rule {rule.text!r} can't be judged at every look:"
    conditions = (rule.at, rule.base_rate, rule.family, rule.volume, rule.label, rule.average)
    if any(each is not None for each in conditions) or rule.every_family:
        raise InputError(
            f"{start} it has a condition, a label or an average. Write it without, as "
            f"'precision >= 0.5'; the threshold is that of threshold="
        )
    if rule.measure is None and rule.written not in (ALERTS, FALSE_ALARMS):
        raise InputError(f"{start} of {rule.written} nothing is known, since misses raise no alert")
    if rule.measure is not None and not rule.measure.is_proportion:
        raise InputError(
            f"{start} {rule.measure.name} is no share of rows. Take one that is, such as "
            f"precision, recall or false_positive_rate"
        )
    if rule.compares and rule.measure not in DIFFERENCES:
        names = ", ".join(measure.name for measure in DIFFERENCES)
        raise InputError(f"{start} differences are followed of {names}; found {rule.written}")


def must_have_old(rules: Sequence[Rule], *, has_old: bool) -> None:
    """Refuse rules about a second model where there is none."""
    for rule in rules:
        if OLD in rule.models and not has_old:
            raise InputError(
                f"the rule {rule.text!r} needs a second model: name its column with old_score= or "
                f"old_decision="
            )


def judged_rule(rule: Rule, periods: Sequence[Period]) -> WatchedRule:
    """How a rule stands after the last look, and since when."""
    name = rule.written if rule.measure is None else rule.measure.name
    looks = [period.figure(name, "cumulative", rule.subject).estimate for period in periods]
    outcomes = [rule.outcome(each.low, each.high) for each in looks]
    last = looks[-1]
    if Outcome.FAIL in outcomes:
        first = outcomes.index(Outcome.FAIL)
        seen = looks[first]
        why = (
            f"at the end of {periods[first].end} the whole confidence sequence, "
            f"{seen.low:.3g} to {seen.high:.3g}, broke it"
        )
        return WatchedRule(rule, RuleOutcome.BROKEN, periods[first].end, last, why)
    if outcomes[-1] is Outcome.PASS:
        first = len(outcomes) - 1
        while first and outcomes[first - 1] is Outcome.PASS:
            first -= 1
        why = "the whole confidence sequence keeps it"
        return WatchedRule(rule, RuleOutcome.HOLDS, periods[first].end, last, why)
    why = "part of the confidence sequence keeps it and part does not"
    if math.isnan(last.low):
        why = last.undefined or "there is no confidence sequence"
    return WatchedRule(rule, RuleOutcome.OPEN, None, last, why)
