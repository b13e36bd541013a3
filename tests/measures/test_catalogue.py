"""The catalogue: what is declared, what it is called, how it is read."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formula.tables import PROPORTIONS

from assay.counts import Sample
from assay.errors import InputError, MethodError, UnknownMeasure
from assay.formula import evaluate, value
from assay.measures import (
    AVERAGES,
    CATALOGUE,
    EXPECTED_COST,
    ROC_AUC,
    Better,
    Counts,
    Interval,
    Law,
    MeanLoss,
    Measure,
    Needs,
    catalogue,
    f_beta,
    find,
    names,
    parse,
)
from assay.measures.catalogue import GROUPS

# As the contract writes them.
NAMES = [
    "accuracy",
    "error_rate",
    "precision",
    "recall",
    "specificity",
    "f1",
    "f2",
    "f0.5",
    "false_positive_rate",
    "false_negative_rate",
    "false_discovery_rate",
    "false_omission_rate",
    "negative_predictive_value",
    "balanced_accuracy",
    "g_mean",
    "informedness",
    "markedness",
    "mcc",
    "kappa",
    "jaccard",
    "fowlkes_mallows",
    "prevalence",
    "alert_rate",
    "positive_likelihood_ratio",
    "negative_likelihood_ratio",
    "diagnostic_odds_ratio",
    "roc_auc",
    "roc_auc_ovo",
    "partial_auc",
    "average_precision",
    "log_loss",
    "brier",
    "expected_calibration_error",
]

ALIASES = {
    "recall": "tpr sensitivity hit_rate detection_rate dr",
    "precision": "ppv",
    "specificity": "tnr selectivity",
    "false_positive_rate": "fpr fall_out type_1_error",
    "false_negative_rate": "fnr miss_rate type_2_error",
    "false_discovery_rate": "fdr far false_alarm_rate",
    "false_omission_rate": "for",
    "negative_predictive_value": "npv",
    "f1": "f_measure f_score",
    "error_rate": "misclassification_rate misclassification_error classification_error_rate",
    "jaccard": "iou csi threat_score",
    "informedness": "youden_j",
    "mcc": "phi",
    "average_precision": "pr_auc ap",
    "roc_auc": "auc auroc",
    "expected_calibration_error": "ece",
}

WITH_EXAMPLES = [measure for measure in CATALOGUE if measure.example is not None]


def _name(measure: Measure) -> str:
    return measure.name


def test_the_catalogue_holds_the_measures_of_the_contract() -> None:
    assert {measure.name for measure in CATALOGUE} >= set(NAMES)


def test_no_name_is_given_twice() -> None:
    given_names = [name for measure in CATALOGUE for name in (measure.name, *measure.aliases)]
    assert len(given_names) == len(set(given_names))


@pytest.mark.parametrize(
    ("alias", "name"), [(alias, name) for name, text in ALIASES.items() for alias in text.split()]
)
def test_an_alias_of_the_contract_is_understood(alias: str, name: str) -> None:
    assert find(alias).name == name
    assert parse(alias) == (find(name), None)
    assert parse(f"{alias}.macro") == (find(name), "macro")


@pytest.mark.parametrize("measure", CATALOGUE, ids=_name)
def test_every_name_finds_its_measure(measure: Measure) -> None:
    for name in (measure.name, *measure.aliases):
        assert names()[name] is measure
        assert find(name) is measure


@pytest.mark.parametrize("measure", CATALOGUE, ids=_name)
def test_a_declaration_is_whole(measure: Measure) -> None:
    assert measure.name.replace(".", "").isidentifier()
    for text in (measure.reads, measure.misleads):
        assert text.endswith(".")
        assert "  " not in text
    assert measure.reference.strip()
    assert measure.group in GROUPS
    assert isinstance(measure.better, Better)
    assert measure.range[0] < measure.range[1]
    assert len(set(measure.invariant_under)) == len(measure.invariant_under)
    assert (measure.formula is None) is (measure.needs is not Needs.CONFUSION)
    assert (measure.of_costs is None) is (measure.needs is not Needs.COSTS)
    assert (measure.example is None) is (measure.formula is None)


@pytest.mark.parametrize("measure", WITH_EXAMPLES, ids=_name)
def test_the_example_of_a_measure_is_right(measure: Measure) -> None:
    assert measure.example is not None
    assert measure.formula is not None
    counts, expected = measure.example
    assert isinstance(counts, Counts)
    assert isinstance(expected, Fraction)
    assert value(measure.formula, counts.cells()) == float(expected)


@pytest.mark.parametrize("measure", WITH_EXAMPLES, ids=_name)
def test_an_example_tells_more_than_an_edge(measure: Measure) -> None:
    assert measure.example is not None
    if measure.name == "c_id":
        pytest.skip("a share of information is a ratio only where it is 0 or 1")
    assert measure.range[0] < measure.example[1] < measure.range[1]


@pytest.mark.parametrize("measure", WITH_EXAMPLES, ids=_name)
def test_matrices_reach_the_finite_ends_of_a_range_and_no_further(measure: Measure) -> None:
    assert measure.formula is not None
    few = np.array(list(itertools.product(range(3), repeat=4)), np.float64).T
    given = evaluate(measure.formula, dict(zip(("TP", "FP", "FN", "TN"), few, strict=True)))
    finite = given[np.isfinite(given)]
    for end, reached in zip(measure.range, (finite.min(), finite.max()), strict=True):
        if math.isfinite(end):
            assert reached == pytest.approx(end, abs=1e-12)


def test_shares_of_rows_are_told_by_their_form() -> None:
    assert {m.name for m in CATALOGUE if m.is_proportion} == PROPORTIONS


# -- what follows from a formula -------------------------------------------------------------------

SWAPPED = {
    "precision": "negative_predictive_value",
    "recall": "specificity",
    "false_positive_rate": "false_negative_rate",
    "false_discovery_rate": "false_omission_rate",
}
COMPLEMENTS = {
    "accuracy": "error_rate",
    "precision": "false_discovery_rate",
    "recall": "false_negative_rate",
    "specificity": "false_positive_rate",
    "negative_predictive_value": "false_omission_rate",
}


def test_what_a_measure_becomes_with_the_classes_swapped_is_found() -> None:
    both = SWAPPED | {other: name for name, other in SWAPPED.items()}
    assert {m.name: m.swapped for m in CATALOGUE if m.swapped is not None} == both


def test_complements_are_found() -> None:
    both = COMPLEMENTS | {other: name for name, other in COMPLEMENTS.items()}
    assert {m.name: m.complement for m in CATALOGUE if m.complement is not None} == both


def test_complements_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    missed = replace(find("false_negative_rate"), name="missed", aliases=())
    before = missed.complement, missed.swapped
    monkeypatch.setattr(catalogue, "CATALOGUE", ())
    assert (missed.complement, missed.swapped) == before


def test_a_measure_that_is_no_part_of_the_catalogue_has_its_complement_too() -> None:
    missed = replace(find("false_negative_rate"), name="missed", aliases=())
    assert missed.complement == "recall"
    assert missed.swapped == "false_positive_rate"


def test_f1_alone_has_the_interval_of_the_jaccard_index() -> None:
    assert [m.name for m in CATALOGUE if m.interval is Interval.BY_JACCARD] == ["f1"]


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("accuracy", Law.TRANSPOSE),
        ("f1", Law.TRANSPOSE),
        ("recall", Law.PREVALENCE),
        ("precision", Law.TRUE_NEGATIVES),
        ("mcc", Law.CLASS_SWAP),
        ("diagnostic_odds_ratio", Law.PREVALENCE),
    ],
)
def test_what_a_formula_is_indifferent_to_is_found(name: str, law: Law) -> None:
    assert law in find(name).invariant_under


@pytest.mark.parametrize("measure", WITH_EXAMPLES, ids=_name)
@given(st.tuples(*[st.integers(0, 30)] * 4), st.sampled_from(["TP", "FP", "FN", "TN"]))
def test_a_measure_moves_with_its_cells_as_its_slopes_say(
    measure: Measure, counts: tuple[int, ...], cell: str
) -> None:
    assert measure.formula is not None
    cells = dict(zip(("TP", "FP", "FN", "TN"), counts, strict=True))
    before = value(measure.formula, cells)
    after = value(measure.formula, {**cells, cell: cells[cell] + 1})
    slope = measure.slopes.get(cell, 0)
    if slope is not None and not math.isnan(before) and not math.isnan(after):
        assert (after - before) * slope >= -1e-15
        assert slope or after == before


def test_few_measures_both_rises_and_falls_with_a_cell() -> None:
    both = {m.name: {c for c, s in m.slopes.items() if s is None} for m in CATALOGUE}
    assert {name: cells for name, cells in both.items() if cells} == {
        "kappa": {"FP", "FN"},
        "lift": {"TP"},
        # No sign is seen of a logarithm.
        "c_id": {"TP", "FP", "FN", "TN"},
    }


def test_what_has_no_end_is_told_by_the_range() -> None:
    endless = {m.name for m in CATALOGUE if m.endless}
    ratios = {"positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio"}
    assert endless == ratios | {
        "lift",
        "log_loss",
        "expected_cost",
        "calibration_slope",
        "calibration_intercept",
    }


@pytest.mark.parametrize(
    "changes",
    [{"formula": None}, {"of_scores": find("roc_auc").of_scores}],
    ids=["neither", "both"],
)
def test_a_declaration_that_is_not_one_thing_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(MethodError, match="precision"):
        replace(find("precision"), **changes)


def test_a_measure_of_scores_says_how_it_is_written() -> None:
    with pytest.raises(MethodError, match="roc_auc is of_scores: say its definition too"):
        replace(find("roc_auc"), definition=None)


def test_symmetric_means_that_the_classes_may_be_swapped() -> None:
    assert find("mcc").symmetric
    assert not find("precision").symmetric
    for measure in CATALOGUE:
        assert measure.symmetric is (Law.CLASS_SWAP in measure.invariant_under)


def test_averages_are_of_one_sided_bounded_measures() -> None:
    averaged = {measure.name for measure in CATALOGUE if measure.averages}
    assert {"precision", "recall", "f1", "jaccard", "roc_auc", "average_precision"} <= averaged
    never = {"accuracy", "mcc", "prevalence", "alert_rate", "positive_likelihood_ratio", "brier"}
    assert averaged.isdisjoint(never | {"partial_auc", "roc_auc_ovo", "log_loss"})


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "measure", "suffix"),
    [
        ("f1", "f1", None),
        ("f1.macro", "f1", "macro"),
        ("f0.5", "f0.5", None),
        ("f0.5.macro", "f0.5", "macro"),
        ("f0.5.5", "f0.5", "5"),
        ("f2.weighted", "f2", "weighted"),
        ("f3", "f3", None),
        ("f3.micro", "f3", "micro"),
        ("f3.5.normal", "f3.5", "normal"),
        ("precision.normal", "precision", "normal"),
        ("precision.v1.2", "precision", "v1.2"),
        ("recall.a.b.c", "recall", "a.b.c"),
        ("detection_rate.DoS", "recall", "DoS"),
        ("roc_auc_ovo", "roc_auc_ovo", None),
        ("roc_auc.b", "roc_auc", "b"),
        ("for.x", "false_omission_rate", "x"),
        ("precision.", "precision", None),
    ],
)
def test_a_name_is_parsed_as_measure_and_suffix(
    name: str, measure: str, suffix: str | None
) -> None:
    declaration, rest = parse(name)
    assert (declaration.name, rest) == (measure, suffix)


@pytest.mark.parametrize("name", ["nonsense", "nonsense.macro", "f", "fx", "precision_macro", ""])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(UnknownMeasure, match="there is no measure"):
        parse(name)


def test_a_misspelt_name_brings_the_right_one() -> None:
    with pytest.raises(UnknownMeasure, match="did you mean precision"):
        find("precison")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("F1-Score", "f1"), ("Macro F1", "f1"), ("RECAL", "recall"), ("ROC-AUC", "roc_auc")],
)
def test_a_name_as_papers_write_it_brings_the_right_one(written: str, meant: str) -> None:
    with pytest.raises(UnknownMeasure, match=f"did you mean {meant}"):
        find(written)


def test_a_name_like_no_other_brings_no_hint() -> None:
    with pytest.raises(UnknownMeasure) as refused:
        find("zzzzzzzz")
    assert "did you mean" not in str(refused.value)


def test_averages_are_those_of_the_contract() -> None:
    assert AVERAGES == ("macro", "micro", "weighted")


# -- F-beta ----------------------------------------------------------------------------------------


@given(
    st.decimals("0.01", "50", places=2),
    st.integers(0, 99),
    st.integers(0, 99),
    st.integers(0, 99),
)
def test_f_beta_is_exact_for_any_beta(beta: object, tp: int, fp: int, fn: int) -> None:
    share = Fraction(str(beta)) ** 2
    below = (1 + share) * tp + share * fn + fp
    formula = f_beta(float(str(beta))).of_counts
    number = value(formula, {"TP": tp, "FP": fp, "FN": fn, "TN": 0})
    if below == 0:
        assert math.isnan(number)
    else:
        assert number == float((1 + share) * tp / below)


@pytest.mark.parametrize("beta", [0.1, 0.5, 2, 3, 7.25])
def test_f_beta_has_its_example(beta: float) -> None:
    measure = f_beta(beta)
    assert measure.example is not None
    assert measure.formula is not None
    counts, expected = measure.example
    assert value(measure.formula, counts.cells()) == float(expected)
    assert measure.name == f"f{beta:g}"


def test_f_beta_of_one_is_f1() -> None:
    assert f_beta(1) is find("f1")
    assert find("f1.0") is find("f1")


def test_f_beta_says_to_which_side_it_leans() -> None:
    assert "recall" in f_beta(2).reads
    assert "precision" in f_beta(0.5).reads.partition("leaning towards")[2]


@pytest.mark.parametrize("beta", [0, -1, math.nan])
def test_a_beta_that_is_not_positive_is_refused(beta: float) -> None:
    with pytest.raises(InputError, match="beta must be"):
        f_beta(beta)


# -- bands -----------------------------------------------------------------------------------------


def _just_below(number: float) -> float:
    return math.nextafter(number, -math.inf)


@pytest.mark.parametrize(
    ("edge", "below", "above"),
    [
        (0.2, "slight agreement", "fair agreement"),
        (0.4, "fair agreement", "moderate agreement"),
        (0.6, "moderate agreement", "substantial agreement"),
        (0.8, "substantial agreement", "almost perfect agreement"),
        (1.0, "almost perfect agreement", "perfect agreement"),
    ],
)
def test_bands_of_kappa_hold_their_lower_edge(edge: float, below: str, above: str) -> None:
    kappa = find("kappa")
    assert kappa.reading(_just_below(edge)) == below
    assert kappa.reading(edge) == above


def test_kappa_around_zero() -> None:
    kappa = find("kappa")
    assert kappa.reading(-1.0) == "worse than chance"
    assert kappa.reading(_just_below(0.0)) == "worse than chance"
    assert kappa.reading(0.0) == "no more agreement than by chance"
    assert kappa.reading(math.nextafter(0.0, 1.0)) == "slight agreement"


@pytest.mark.parametrize(
    ("auc", "reading"),
    [
        (0.0, "worse than random: are labels or scores inverted?"),
        (_just_below(0.5), "worse than random: are labels or scores inverted?"),
        (0.5, "random"),
        (math.nextafter(0.5, 1), "poor"),
        (_just_below(0.7), "poor"),
        (0.7, "acceptable"),
        (_just_below(0.8), "acceptable"),
        (0.8, "excellent"),
        (_just_below(0.9), "excellent"),
        (0.9, "outstanding"),
        (_just_below(1.0), "outstanding"),
        (1.0, "perfect"),
    ],
)
def test_bands_of_auc(auc: float, reading: str) -> None:
    assert find("roc_auc").reading(auc) == reading


@pytest.mark.parametrize(
    ("mcc", "reading"),
    [
        (-1.0, "every decision is wrong: the model is inverted"),
        (math.nextafter(-1.0, 0.0), "worse than chance"),
        (_just_below(0.0), "worse than chance"),
        (0.0, "no better than chance"),
        (math.nextafter(0.0, 1.0), "better than chance"),
        (_just_below(1.0), "better than chance"),
        (1.0, "every decision is right"),
    ],
)
def test_bands_of_mcc(mcc: float, reading: str) -> None:
    assert find("mcc").reading(mcc) == reading


@pytest.mark.parametrize("measure", [m for m in CATALOGUE if m.bands], ids=_name)
@given(share=st.floats(0, 1))
def test_bands_cover_the_range_without_gap_or_overlap(measure: Measure, share: float) -> None:
    low, high = measure.range
    number = low + share * (high - low)
    holding = [band for band in measure.bands if band.low <= number < band.high]
    assert len(holding) == 1
    assert measure.reading(number) == holding[0].reading


def test_a_measure_without_bands_has_no_reading() -> None:
    assert find("precision").reading(0.9) is None


@pytest.mark.parametrize("name", ["kappa", "mcc", "roc_auc"])
def test_an_undefined_value_has_no_reading(name: str) -> None:
    assert find(name).reading(math.nan) is None


@pytest.mark.parametrize("measure", [ROC_AUC, EXPECTED_COST], ids=lambda measure: measure.name)
def test_a_measure_without_a_formula_says_so(measure: Measure) -> None:
    with pytest.raises(MethodError, match=f"{measure.name} is no formula of counts"):
        _ = measure.of_counts


def test_a_loss_of_two_classes_has_no_value_for_a_row_of_more() -> None:
    declared = MeanLoss(loss=lambda said, truth: np.abs(said - truth), largest=1.0)
    rows = Sample.of_rows(("a", "b", "c"), np.array([0, 2]), {"m": np.full((2, 3), 1 / 3)})
    with pytest.raises(MethodError, match="a loss of two classes"):
        declared.of_rows(rows, 0)


def test_the_table_of_names_is_made_once_and_anew_where_measures_are_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = catalogue.names()
    assert catalogue.names() is table
    added = replace(catalogue.find("recall"), name="recall_too", aliases=("too",))
    monkeypatch.setattr(catalogue, "CATALOGUE", (*catalogue.CATALOGUE, added))
    assert catalogue.parse("too.attack.x") == (added, "attack.x")
    monkeypatch.undo()
    assert "too" not in catalogue.names()
