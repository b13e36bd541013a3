"""The estimate that a rule asks for: of one model, or of the difference of two on the same rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.compare.comparison import effect_of
from assay.v02.decisions.gate_tallies import GateTallies, flagged_by
from assay.v02.decisions.rule import NEW, OLD, Rule, held_by
from assay.errors import InputError
from assay.v02.evaluation.deployment import ALERTS, FALSE_ALARMS, MISSED, daily
from assay.v02.evaluation.judge import formula_of
from assay.v02.evaluation.wording import none_keeps, untried
from assay.v02.formula import FN, FP, TN, TP, Expression, at_base_rate, cells, of_classes, proportion
from assay.v02.inference import Bootstrap, ClopperPearson, Estimate, Quantity, estimate, paired_scores
from assay.v02.inference.differences import has_difference
from assay.v02.inference.paired_tests import paired_difference
from assay.v02.inference.threshold_resampling import ChosenTables
from assay.v02.inference.threshold_rules import AtThreshold, MaxFar
from assay.v02.measures import Measure, Needs
from assay.v02.sources import FAMILY
from assay.v02.tally import Confusion

Array: TypeAlias = npt.NDArray[Any]

Floats: TypeAlias = npt.NDArray[np.float64]

NO_FAMILY = "no row of this family is positive"

_ROWS = TP + FP + FN + TN
_OF_DAY: dict[str, Expression] = {
    ALERTS: (TP + FP) / _ROWS,
    FALSE_ALARMS: FP / _ROWS,
    MISSED: FN / _ROWS,
}


def at_threshold(tallies: GateTallies, rule: Rule, model: str, threshold: float) -> Estimate:
    """One model at a fixed threshold: what an evaluation says of it."""
    judge = tallies.judge(model, threshold)
    if rule.measure is None:
        return daily(judge, rule.written, rule.volume or math.nan, rule.base_rate)
    if rule.family is not None:
        if tallies.family(rule.family) is None:
            return Estimate(math.nan, level=tallies.level, undefined=NO_FAMILY)
        return judge.of_slice(rule.measure, (FAMILY, rule.family))
    if rule.average is not None:
        return judge.averaged(rule.measure, rule.average)
    label = position(rule, tallies)
    if rule.base_rate is not None:
        return judge.at_base_rate(rule.measure, rule.base_rate)
    return judge.of_label(rule.measure, label)


def of_scores(tallies: GateTallies, rule: Rule, measure: Measure, model: str) -> Estimate:
    """A measure of one model's scores."""
    if rule.label is not None and tallies.label(rule.label) != 1:
        return Estimate(
            math.nan,
            level=tallies.level,
            undefined=f"scores rank {tallies.positive!r}, not {rule.label!r}",
        )
    return tallies.judge(model).scored(measure)


def with_choice(
    tallies: GateTallies, rule: Rule, chosen: ChosenTables, method: Bootstrap
) -> Estimate:
    """One model where the threshold is chosen anew in each resample.

    Never narrower than the interval that takes the threshold as given.
    """
    value, draws = values(tallies, rule, chosen)
    if math.isnan(value):
        return Estimate(value, level=tallies.level, undefined=undefined(tallies, rule, chosen))
    if rule.family is not None:
        where = tallies.family(rule.family)
        hits, size = chosen.hits[where], chosen.sizes[where]
        low, high = (float(end) for end in ClopperPearson(tallies.level)(hits, size))
        ends = (1 - high, 1 - low) if _of_misses(rule.measure) else (low, high)
        n = float(size)
    else:
        quantity, bounds = quantity_of(rule, tallies)
        floor = estimate(quantity, confusion_of(tallies, chosen.table), bounds, level=tallies.level)
        ends, n = (floor.low, floor.high), floor.n
    return resampled(value, draws, ends, method, n, clustered=tallies.clustered)


def values(tallies: GateTallies, rule: Rule, chosen: ChosenTables) -> tuple[float, Floats]:
    """The value on the data, and on each resample; nan where undefined."""
    if rule.family is not None:
        where = tallies.family(rule.family)
        if where is None:
            return math.nan, np.full(len(chosen.tables), math.nan)
        missed = _of_misses(rule.measure)
        share = float(chosen.hits[where]) / float(chosen.sizes[where])
        with np.errstate(invalid="ignore"):
            shares = chosen.group_hits[:, where] / chosen.group_sizes[:, where]
        value, draws = (1 - share, 1 - shares) if missed else (share, shares)
    else:
        quantity, _ = quantity_of(rule, tallies)
        value = quantity.value(confusion_of(tallies, chosen.table))
        draws = quantity.of_tables(chosen.tables)
    if not isinstance(rule.at, AtThreshold | None):
        # Without both classes there is no rate to choose a threshold by.
        value = math.nan if not all(tallies.sizes) else value
        draws = np.where(chosen.tables.sum(axis=2).all(axis=1), draws, math.nan)
    return value, draws


def _of_misses(measure: Measure | None) -> bool:
    """Whether a share of a family's rows is of those that were missed."""
    return measure is not None and measure.slopes["TP"] == -1


def undefined(tallies: GateTallies, rule: Rule, chosen: ChosenTables) -> str:
    """Why there is no value."""
    if rule.family is not None and tallies.family(rule.family) is None:
        return NO_FAMILY
    if not all(tallies.sizes):
        return f"there are no {'negatives' if tallies.sizes[1] else 'positives'}"
    quantity, _ = quantity_of(rule, tallies)
    why = quantity.reason(confusion_of(tallies, chosen.table)) or "it has no value"
    if chosen.threshold is None and isinstance(rule.at, MaxFar):
        because = f"{none_keeps('', rule.at, tallies.mode)}, so {why}"
        return f"{because}. {untried(tallies.mode)}".removesuffix(". ")
    return why


def confusion_of(tallies: GateTallies, table: Floats) -> Confusion:
    """A table of counts as a confusion matrix."""
    cells = tuple(tuple(round(cell) for cell in row) for row in table.tolist())
    return Confusion(tallies.labels, cells)


def resampled(
    value: float,
    draws: Floats,
    floor: tuple[float, float],
    method: Bootstrap,
    n: float,
    *,
    clustered: bool,
) -> Estimate:
    """The percentile interval of resampled values, at least as wide as ``floor``.

    Where more resamples are undefined than lie beyond an end, nobody knows where that end is.
    """
    ends = method.ends(draws, value, None)
    name = f"cluster {method.name}" if clustered else method.name
    left_out = f"undefined in {ends.undefined} of {ends.drawn} resamples"
    if ends.undefined > (1 - method.level) / 2 * ends.drawn:
        note = f"{left_out}: the interval is not known"
        return Estimate(value, n=n, level=method.level, note=note)
    lows = [end for end in (ends.low, floor[0], value) if not math.isnan(end)]
    highs = [end for end in (ends.high, floor[1], value) if not math.isnan(end)]
    return Estimate(
        value,
        min(lows),
        max(highs),
        method=name,
        n=n,
        level=method.level,
        note=f"{left_out}, which were left out" if ends.undefined else None,
    )


# -- what a rule about decisions computes from a confusion matrix ----------------------------------


def quantity_of(rule: Rule, tallies: GateTallies) -> tuple[Quantity, tuple[float, float]]:
    """The formula of a rule, and the range of its values."""
    if rule.measure is None:
        formula, bounds = _OF_DAY[rule.written], (0.0, rule.volume or math.nan)
    else:
        formula, bounds = formula_of(rule.measure), rule.measure.range
    if rule.average is not None:
        return Quantity(of_classes(formula, rule.average)), bounds
    label = position(rule, tallies)
    if rule.base_rate is not None:
        formula = at_base_rate(formula, Fraction(repr(rule.base_rate)))
    if rule.volume is not None:
        formula = Fraction(repr(rule.volume)) * formula
    return Quantity(formula, label=label), bounds


def position(rule: Rule, tallies: GateTallies) -> int:
    """The label that a rule is about; refuses what its condition keeps as it is."""
    if rule.label is None or rule.measure is None:
        return 1
    label = tallies.label(rule.label)
    if label == 1:
        return label
    if rule.base_rate is not None:
        raise InputError(
            f"the rule {rule.text!r} is about {rule.label!r}, and a base rate is the share of the "
            f"positive {tallies.positive!r}"
        )
    swapped = rule.measure.swapped
    if swapped is not None and swapped in held_by(rule.at):
        raise InputError(f"the rule {rule.text!r} could not fail: its condition keeps {swapped}")
    return label


# -- the difference of the two models, new less old ------------------------------------------------


NO_SPREAD = "all resamples gave one value, which does not make it sure: the interval is not known"
# The cell of a row by (truth, decision), and those that one truth has.
_CELLS = {(0, 0): "TN", (0, 1): "FP", (1, 0): "FN", (1, 1): "TP"}
_OF_TRUTH = (frozenset({"TN", "FP"}), frozenset({"FN", "TP"}))


def between(
    tallies: GateTallies, rule: Rule, chosen: Mapping[str, ChosenTables], method: Bootstrap
) -> Estimate:
    """The difference of a measure of decisions, by the paired bootstrap.

    Never narrower than Newcombe's paired interval, where there is one: a resample can't hold a
    disagreement that the rows don't, and a few rows hold few of them.
    """
    both = {model: values(tallies, rule, chosen[model]) for model in (NEW, OLD)}
    for model, (value, _) in both.items():
        if math.isnan(value):
            why = f"of the {model} model: {undefined(tallies, rule, chosen[model])}"
            return Estimate(math.nan, level=tallies.level, undefined=why)
    value = both[NEW][0] - both[OLD][0]
    draws = both[NEW][1] - both[OLD][1]
    alike = tallies.same and chosen[NEW].threshold == chosen[OLD].threshold
    paired = _paired(tallies, rule, joint_table(tallies, rule, chosen), tallies.level)
    n = sum(tallies.sizes) if paired is None else paired.n
    floor = (math.nan, math.nan)
    if paired is not None and not alike:
        floor = (paired.low, paired.high)
    answer = resampled(value, draws, floor, method, n, clustered=tallies.clustered)
    if answer.low == answer.high and not alike:
        return Estimate(value, n=n, level=tallies.level, note=NO_SPREAD)
    return answer


def joint_table(
    tallies: GateTallies, rule: Rule, chosen: Mapping[str, ChosenTables]
) -> npt.NDArray[np.int64]:
    """Rows by truth, old decision and new decision; of one family where the rule is of one."""
    sample = tallies.sample(rule)
    old, new = (flagged_by(sample, model, chosen[model].threshold) for model in (OLD, NEW))
    code = 4 * (sample.truth > 0) + 2 * old + new
    counts = sample.counts
    if rule.family is not None:
        where = tallies.family(rule.family)
        kept = np.zeros(len(code), bool) if where is None else sample.truth == where + 1
        code, counts = code[kept], counts[kept]
    table = np.zeros(8, np.int64)
    np.add.at(table, code, counts)
    return table.reshape(2, 2, 2)


def _paired(tallies: GateTallies, rule: Rule, joint: Array, level: float) -> Estimate | None:
    """Newcombe's paired interval where the measure is a share of the same rows for both models."""
    if rule.measure is None or rule.measure.formula is None or rule.average is not None:
        return None
    if rule.label is not None and tallies.label(rule.label) != 1:
        # The same rows with the classes in each other's place.
        joint = joint[::-1, ::-1, ::-1]
    share = proportion(rule.measure.formula)
    if share is None:
        return None
    above, below = set(cells(share.successes)), set(cells(share.trials))
    sides = [truth for truth, names in enumerate(_OF_TRUTH) if names <= below]
    mixed = below != set().union(*(_OF_TRUTH[truth] for truth in sides))
    if mixed or (rule.base_rate is not None and len(sides) == 2):
        return None
    sums = {(old, new): 0 for old in (True, False) for new in (True, False)}
    for truth in sides:
        for old in (0, 1):
            for new in (0, 1):
                hit = _CELLS[truth, old] in above, _CELLS[truth, new] in above
                sums[hit] += int(joint[truth, old, new])
    return paired_difference(
        sums[True, True], sums[True, False], sums[False, True], sums[False, False], level
    )


def at_given(
    tallies: GateTallies, rule: Rule, thresholds: Mapping[str, float], method: Bootstrap
) -> dict[str, ChosenTables]:
    """Both models at fixed thresholds, on the data and on resamples of the joint table.

    Half a row goes to each kind of disagreement that no row shows, or no resample ever would.
    """
    plain = {model: _fixed(thresholds[model]) for model in (OLD, NEW)}
    joint = joint_table(tallies, rule, plain)
    total = sum(tallies.sizes)
    cells_of = joint.astype(np.float64)
    if not (tallies.same and thresholds[NEW] == thresholds[OLD]):
        seen = joint.sum(axis=(1, 2)) > 0
        for old, new in ((0, 1), (1, 0)):
            cells_of[:, old, new] += np.where(seen & (joint[:, old, new] == 0), 0.5, 0.0)
    shares = np.append(cells_of.ravel(), total - int(joint.sum()))
    drawn = np.random.default_rng(method.seed).multinomial(
        total, shares / shares.sum(), size=method.resamples
    )
    tables = drawn[:, :8].reshape(-1, 2, 2, 2).astype(np.float64)
    where = 0 if rule.family is None else tallies.family(rule.family) or 0
    return {
        model: _chosen(thresholds[model], joint.sum(axis=axis), tables.sum(axis=axis + 1), where)
        for model, axis in ((OLD, 2), (NEW, 1))
    }


def _fixed(threshold: float) -> ChosenTables:
    nothing = np.zeros(0)
    return ChosenTables(threshold, *(nothing for _ in range(7)))


def _chosen(threshold: float, table: Array, tables: Floats, family: int) -> ChosenTables:
    """A model's tables, whose positives are those of one family where the rule is of one."""
    width = family + 1
    hits, sizes = np.zeros(width), np.zeros(width)
    group_hits, group_sizes = np.zeros((len(tables), width)), np.zeros((len(tables), width))
    hits[family], sizes[family] = table[1, 1], table[1].sum()
    group_hits[:, family], group_sizes[:, family] = tables[:, 1, 1], tables[:, 1].sum(axis=1)
    thresholds = np.full(len(tables), threshold)
    counts = table.astype(np.float64)
    return ChosenTables(threshold, counts, tables, thresholds, hits, sizes, group_hits, group_sizes)


# -- scores ----------------------------------------------------------------------------------------


def of_both_scores(tallies: GateTallies, rule: Rule, measure: Measure) -> Estimate:
    """The difference of a measure of scores: DeLong's for the AUC, else by each row's influence."""
    each = {model: of_scores(tallies, rule, measure, model) for model in (NEW, OLD)}
    for model, single in each.items():
        if math.isnan(single):
            why = f"of the {model} model: {single.undefined}"
            return Estimate(math.nan, level=tallies.level, undefined=why)
    if not all(tallies.sizes):
        return Estimate(math.nan, level=tallies.level, undefined="there is only one class")
    value = float(each[NEW]) - float(each[OLD])
    if not has_difference(measure):
        return Estimate(value, n=each[NEW].n, level=tallies.level, note=each[NEW].note)
    sample, known = tallies.paired(measure)
    effect = effect_of(paired_scores(sample, measure, level=tallies.level, known=known))
    if effect.low < effect.high or tallies.same or math.isnan(effect.low):
        return effect
    if measure.needs is Needs.LOSSES:
        return effect.changed(low=math.nan, high=math.nan, note=NO_SPREAD)
    if tallies.same_order:
        return effect
    # Both rank these few rows alike, as two perfect models do; others they may not.
    smaller = min(tallies.sizes)
    reach = 1 - float(ClopperPearson(tallies.level)(smaller, smaller)[0])
    return effect.changed(
        low=effect.low - reach, high=effect.high + reach, method="clopper-pearson"
    )
