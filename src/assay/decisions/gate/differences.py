"""The difference of the two models, new less old, on the same rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.gate.rule import NEW, OLD, Rule
from assay.decisions.gate.single import of_scores, resampled, undefined, values
from assay.decisions.gate.tallies import GateTallies, flagged_by
from assay.formula import cells, proportion
from assay.inference import Bootstrap, ClopperPearson, Estimate, paired_scores
from assay.inference.chosen import Chosen
from assay.inference.differences import has_difference
from assay.inference.mcnemar import paired_difference
from assay.measures import Needs

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]

NO_SPREAD = "all resamples gave one value, which does not make it sure: the interval is not known"
# The cell of a row by (truth, decision), and those that one truth has.
_CELLS = {(0, 0): "TN", (0, 1): "FP", (1, 0): "FN", (1, 1): "TP"}
_OF_TRUTH = (frozenset({"TN", "FP"}), frozenset({"FN", "TP"}))


# -- decisions -------------------------------------------------------------------------------------


def between(
    tallies: GateTallies, rule: Rule, found: Mapping[str, Chosen], method: Bootstrap
) -> Estimate:
    """The difference of a measure of decisions, by the paired bootstrap.

    Never narrower than Newcombe's paired interval, where there is one: a resample can't hold a
    disagreement that the rows don't, and a few rows hold few of them.
    """
    both = {model: values(tallies, rule, found[model]) for model in (NEW, OLD)}
    for model, (value, _) in both.items():
        if math.isnan(value):
            why = f"of the {model} model: {undefined(tallies, rule, found[model])}"
            return Estimate(math.nan, level=tallies.level, undefined=why)
    value = both[NEW][0] - both[OLD][0]
    draws = both[NEW][1] - both[OLD][1]
    alike = tallies.same and found[NEW].threshold == found[OLD].threshold
    paired = _paired(tallies, rule, joint_table(tallies, rule, found), tallies.level)
    n = sum(tallies.sizes) if paired is None else paired.n
    floor = (math.nan, math.nan)
    if paired is not None and not alike:
        floor = (paired.low, paired.high)
    answer = resampled(value, draws, floor, method, n, clustered=tallies.clustered)
    if answer.low == answer.high and not alike:
        return Estimate(value, n=n, level=tallies.level, note=NO_SPREAD)
    return answer


def joint_table(
    tallies: GateTallies, rule: Rule, found: Mapping[str, Chosen]
) -> npt.NDArray[np.int64]:
    """Rows by truth, old decision and new decision; of one family where the rule is of one."""
    sample = tallies.sample(rule)
    old, new = (flagged_by(sample, model, found[model].threshold) for model in (OLD, NEW))
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
) -> dict[str, Chosen]:
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


def _fixed(threshold: float) -> Chosen:
    nothing = np.zeros(0)
    return Chosen(threshold, *(nothing for _ in range(7)))


def _chosen(threshold: float, table: Array, tables: Floats, family: int) -> Chosen:
    """A model's tables, whose positives are those of one family where the rule is of one."""
    width = family + 1
    hits, sizes = np.zeros(width), np.zeros(width)
    group_hits, group_sizes = np.zeros((len(tables), width)), np.zeros((len(tables), width))
    hits[family], sizes[family] = table[1, 1], table[1].sum()
    group_hits[:, family], group_sizes[:, family] = tables[:, 1, 1], tables[:, 1].sum(axis=1)
    thresholds = np.full(len(tables), threshold)
    whole = table.astype(np.float64)
    return Chosen(threshold, whole, tables, thresholds, hits, sizes, group_hits, group_sizes)


# -- scores ----------------------------------------------------------------------------------------


def of_both_scores(tallies: GateTallies, rule: Rule) -> Estimate:
    """The difference of a measure of scores: DeLong's for the AUC, else by each row's influence."""
    assert rule.measure is not None  # noqa: S101 - only measures are of scores
    each = {model: of_scores(tallies, rule, model) for model in (NEW, OLD)}
    for model, single in each.items():
        if math.isnan(single):
            why = f"of the {model} model: {single.undefined}"
            return Estimate(math.nan, level=tallies.level, undefined=why)
    if not all(tallies.sizes):
        return Estimate(math.nan, level=tallies.level, undefined="there is only one class")
    value = float(each[NEW]) - float(each[OLD])
    if not has_difference(rule.measure):
        return Estimate(value, n=each[NEW].n, level=tallies.level, note=each[NEW].note)
    sample, known = tallies.paired(rule.measure)
    test = paired_scores(sample, rule.measure, level=tallies.level, known=known)
    assert test.effect is not None  # noqa: S101 - tests of two models have one
    found = test.effect
    if found.low < found.high or tallies.same or math.isnan(found.low):
        return found
    if rule.measure.needs is Needs.LOSSES:
        return found.changed(low=math.nan, high=math.nan, note=NO_SPREAD)
    if tallies.same_order:
        return found
    # Both rank these few rows alike, as two perfect models do; others they may not.
    smaller = min(tallies.sizes)
    reach = 1 - float(ClopperPearson(tallies.level)(smaller, smaller)[0])
    return found.changed(low=found.low - reach, high=found.high + reach, method="clopper-pearson")
