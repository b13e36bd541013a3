"""What measures declare, written down once more: ranges, formulas, identities, costs and bands."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from assay.errors import InputError, UnknownMeasure
from assay.formula import Cell, Expression, enclosure, value
from assay.measures import CATALOGUE, EXPECTED_COST, NET_BENEFIT, Costs, Law, find
from assay.measures.measure import Interval, Measure, spoken
from assay.measures.rates import ALL, LARGEST_BETA, f_beta

INF = math.inf


def _words(text: str) -> list[str]:
    return text.split()


SHARES = _words(
    """accuracy error_rate precision recall specificity f1 f2 f0.5 false_positive_rate
false_negative_rate false_discovery_rate false_omission_rate negative_predictive_value
balanced_accuracy g_mean prevalence alert_rate jaccard fowlkes_mallows c_id roc_auc roc_auc_ovo oscr
known_auc partial_auc average_precision recall_at_fpr_1e2 recall_at_fpr_1e3 recall_at_fpr_1e4
recall_at_fpr_1e5 equal_error_rate ks h_measure h_measure_symmetric brier brier_reliability
expected_calibration_error"""
)
RANGES = dict.fromkeys(SHARES, (0, 1)) | {
    "informedness": (-1, 1),
    "markedness": (-1, 1),
    "mcc": (-1, 1),
    "kappa": (-1, 1),
    "positive_likelihood_ratio": (0, INF),
    "negative_likelihood_ratio": (0, INF),
    "diagnostic_odds_ratio": (0, INF),
    "lift": (0, INF),
    "precision_gain": (-INF, 1),
    "recall_gain": (-INF, 1),
    "expected_cost": (0, INF),
    "net_benefit": (-INF, 1),
    "precision_recall_gain_area": (-INF, 1),
    "top_decile_lift": (0, 10),
    "log_loss": (0, INF),
    "brier_resolution": (0, 0.25),
    "calibration_slope": (-INF, INF),
    "calibration_intercept": (-INF, INF),
}
# Those of which a mean over classes is of use.
AVERAGED = set(
    _words("""accuracy error_rate precision recall specificity f1 f2 f0.5 false_positive_rate
    false_negative_rate false_discovery_rate false_omission_rate negative_predictive_value
    balanced_accuracy g_mean informedness markedness mcc kappa jaccard fowlkes_mallows
    positive_likelihood_ratio negative_likelihood_ratio diagnostic_odds_ratio lift roc_auc
    average_precision log_loss""")
)


def test_every_measure_has_its_range() -> None:
    assert {measure.name: measure.range for measure in CATALOGUE} == RANGES


def test_what_is_averaged_over_classes() -> None:
    assert {measure.name for measure in CATALOGUE if measure.averaged} == AVERAGED
    one_sided = """precision recall specificity f1 f2 f0.5 false_positive_rate false_negative_rate
    false_discovery_rate false_omission_rate negative_predictive_value jaccard fowlkes_mallows
    roc_auc average_precision"""
    assert {measure.name for measure in CATALOGUE if measure.averages} == set(_words(one_sided))


def test_the_readings_that_praise() -> None:
    praised = {m.name: [b.reading for b in m.bands if b.praise] for m in CATALOGUE if m.bands}
    assert praised == {
        "mcc": [],
        "kappa": ["substantial agreement", "almost perfect agreement", "perfect agreement"],
        "roc_auc": ["excellent", "outstanding", "perfect"],
    }


@pytest.mark.parametrize("name", ["mcc", "kappa", "roc_auc"])
def test_a_band_begins_where_the_one_before_ends(name: str) -> None:
    bands = find(name).bands
    assert all(one.high == other.low for one, other in pairwise(bands))
    assert bands[-1].high == INF
    assert bands[0].low == (-1 if name == "mcc" else -INF)


# -- formulas, at one matrix -----------------------------------------------------------------------

TP, FP, FN, TN = 7, 3, 5, 11
CELLS = {"TP": TP, "FP": FP, "FN": FN, "TN": TN}
P, R, S, V = Fraction(7, 10), Fraction(7, 12), Fraction(11, 14), Fraction(11, 16)
PI = Fraction(12, 26)


def _entropy(*counts: int) -> float:
    total = sum(counts)
    return -sum(n / total * math.log(n / total) for n in counts)


VALUES: dict[str, Fraction | float] = {
    "accuracy": Fraction(18, 26),
    "error_rate": Fraction(8, 26),
    "precision": P,
    "recall": R,
    "specificity": S,
    "f1": Fraction(14, 22),
    "f2": Fraction(35, 35 + 20 + 3),
    "f0.5": Fraction(35, 35 + 5 + 12),
    "false_positive_rate": 1 - S,
    "false_negative_rate": 1 - R,
    "false_discovery_rate": 1 - P,
    "false_omission_rate": 1 - V,
    "negative_predictive_value": V,
    "balanced_accuracy": (R + S) / 2,
    "g_mean": math.sqrt(R * S),
    "prevalence": PI,
    "alert_rate": Fraction(10, 26),
    "informedness": R + S - 1,
    "markedness": P + V - 1,
    "mcc": (7 * 11 - 3 * 5) / math.sqrt(10 * 12 * 14 * 16),
    "kappa": (Fraction(18, 26) - Fraction(10 * 12 + 16 * 14, 26**2))
    / (1 - Fraction(10 * 12 + 16 * 14, 26**2)),
    "jaccard": Fraction(7, 15),
    "fowlkes_mallows": math.sqrt(P * R),
    "positive_likelihood_ratio": R / (1 - S),
    "negative_likelihood_ratio": (1 - R) / S,
    "diagnostic_odds_ratio": Fraction(77, 15),
    "lift": P / PI,
    "precision_gain": (P - PI) / ((1 - PI) * P),
    "recall_gain": (R - PI) / ((1 - PI) * R),
    # The information that both share is what knowing the one takes from the other.
    "c_id": (_entropy(12, 14) + _entropy(10, 16) - _entropy(TP, FP, FN, TN)) / _entropy(12, 14),
}


def test_every_formula_has_its_value() -> None:
    values = {m.name: value(m.formula, CELLS) for m in CATALOGUE if m.formula is not None}
    assert values == pytest.approx({name: float(x) for name, x in VALUES.items()}, rel=1e-13)


def test_examples_are_of_one_matrix_but_for_those_that_it_gives_no_ratio() -> None:
    """In the order tp, fp, fn, tn."""
    others = {
        "mcc": (4, 1, 1, 4),
        "kappa": (4, 1, 1, 4),
        "fowlkes_mallows": (1, 0, 3, 4),
        "g_mean": (4, 3, 0, 1),
        "c_id": (3, 0, 0, 4),
    }
    for measure in CATALOGUE:
        if measure.example is not None:
            counts, expected = measure.example
            assert counts == others.get(measure.name, (3, 1, 2, 4))
            assert value(measure.of_counts, counts.cells()) == float(expected)


IDENTITIES = [(m, identity) for m in (*CATALOGUE, f_beta(3)) for identity in m.identities]


@pytest.mark.parametrize(
    ("measure", "identity"),
    IDENTITIES,
    ids=[f"{m.name}-{n}" for n, (m, _) in enumerate(IDENTITIES)],
)
def test_an_identity_gives_the_value_of_its_measure(measure: Measure, identity) -> None:
    beta = Fraction(9)
    known = VALUES | {"f3": (1 + beta) * TP / ((1 + beta) * TP + beta * FN + FP)}
    table = {name: Fraction(x) for name, x in VALUES.items()}
    low, high = enclosure(identity.expression, table)
    assert float((low + high) / 2) == pytest.approx(float(known[measure.name]), rel=1e-12)


def test_how_many_identities_there_are() -> None:
    counted = {m.name: len(m.identities) for m in CATALOGUE if m.identities}
    twice = {"precision", "f1", "mcc", "jaccard", "diagnostic_odds_ratio", "lift"}
    once = _words("""f2 f0.5 negative_predictive_value balanced_accuracy g_mean prevalence
    alert_rate informedness markedness kappa fowlkes_mallows positive_likelihood_ratio
    negative_likelihood_ratio precision_gain recall_gain""")
    assert counted == dict.fromkeys(twice, 2) | dict.fromkeys(once, 1) | {"accuracy": 3}


# -- three classes ---------------------------------------------------------------------------------

MATRIX = np.array([[5, 2, 1], [3, 7, 4], [0, 6, 9]])  # truth down, decision across


def test_formulas_of_all_classes_are_those_of_the_rows() -> None:
    truth, said = np.repeat(np.indices((3, 3)).reshape(2, 9), MATRIX.ravel(), axis=1)
    rows, hits = len(truth), np.diag(MATRIX)
    true, decided = MATRIX.sum(axis=1), MATRIX.sum(axis=0)
    one, other = np.eye(3)[truth], np.eye(3)[said]

    def covariance(a: np.ndarray, b: np.ndarray) -> float:
        return float(((a - a.mean(axis=0)) * (b - b.mean(axis=0))).sum())

    agreed = float((truth == said).mean())
    chance = float((true * decided).sum()) / rows**2
    expected = {
        "accuracy": agreed,
        "error_rate": 1 - agreed,
        "balanced_accuracy": float((hits / true).mean()),
        "g_mean": float((hits / true).prod()) ** (1 / 3),
        "mcc": covariance(one, other) / math.sqrt(covariance(one, one) * covariance(other, other)),
        "kappa": (agreed - chance) / (1 - chance),
        "jaccard": float((hits / (true + decided - hits)).mean()),
    }
    table = {
        "HIT": tuple(hits.tolist()), "ROW": tuple(true.tolist()), "COL": tuple(decided.tolist()),
        "N": rows, "K": 3,
    }  # fmt: skip
    values = {m.name: value(m.classes, table) for m in CATALOGUE if m.classes is not None}
    assert values == pytest.approx(expected, rel=1e-12)
    parts = {name: value(part, table) for name, part in find("kappa").parts.items()}
    assert parts == pytest.approx({"p_o": agreed, "p_e": chance}, rel=1e-14)


# -- costs -----------------------------------------------------------------------------------------


def test_costs_by_hand() -> None:
    costs = Costs(Fraction(2), Fraction(8))
    cost, benefit = EXPECTED_COST.priced(costs), NET_BENEFIT.priced(costs)
    assert value(cost.of_counts, CELLS) == (2 * 3 + 8 * 5) / 26
    assert value(benefit.of_counts, CELLS) == (7 - 3 / 4) / 26
    # A row costs between nothing and a miss, and is worth between a false alarm and an attack.
    assert cost.range == (0, 8)
    assert benefit.range == (-0.25, 1)
    assert find("recall").priced(costs) is find("recall")


# -- F of any beta ---------------------------------------------------------------------------------


def test_betas_reach_from_a_millionth_to_a_million() -> None:
    assert LARGEST_BETA == 10**6
    for beta in (1e-6, 1e6):
        assert f_beta(beta).beta == Fraction(repr(beta))
        assert find(f"f{Fraction(repr(beta)) if beta > 1 else '0.000001'}") is not None
    for beta in (0.9e-6, 1.1e6, 0.0):
        with pytest.raises(InputError, match="beta must be"):
            f_beta(beta)
    for name in ("f0.0000009", "f1000001", "f0"):
        with pytest.raises(UnknownMeasure):
            find(name)


def test_an_f_score_is_named_by_its_beta() -> None:
    assert f_beta(0.1234567).name == "f0.1234567"
    assert f_beta(3.0).name == "f3"
    assert f_beta(1) is f_beta(1.0) is find("f1")
    assert "leaning towards recall" in f_beta(1.5).reads
    assert "leaning towards precision" in f_beta(0.9).reads
    assert f_beta(3).example == ((3, 1, 2, 4), Fraction(30, 30 + 18 + 1))
    assert (f_beta(2).range, find("f1").beta) == ((0, 1), 1)


# -- what follows ----------------------------------------------------------------------------------


def test_what_each_formula_is_indifferent_to() -> None:
    swap, transpose, often, quiet = (
        Law.CLASS_SWAP,
        Law.TRANSPOSE,
        Law.PREVALENCE,
        Law.TRUE_NEGATIVES,
    )
    laws = {
        "accuracy": {swap, transpose}, "error_rate": {swap, transpose}, "precision": {quiet},
        "recall": {often, quiet}, "specificity": {often}, "f1": {transpose, quiet}, "f2": {quiet},
        "f0.5": {quiet}, "false_positive_rate": {often}, "false_negative_rate": {often, quiet},
        "false_discovery_rate": {quiet}, "false_omission_rate": set(),
        "negative_predictive_value": set(), "balanced_accuracy": {swap, often},
        "g_mean": {swap, often}, "prevalence": set(), "alert_rate": set(),
        "informedness": {swap, often}, "markedness": {swap}, "mcc": {swap, transpose},
        "kappa": {swap, transpose}, "jaccard": {transpose, quiet},
        "fowlkes_mallows": {transpose, quiet}, "positive_likelihood_ratio": {often},
        "negative_likelihood_ratio": {often}, "diagnostic_odds_ratio": {swap, transpose, often},
        "lift": {transpose}, "precision_gain": {often}, "recall_gain": set(), "c_id": {swap},
        "expected_cost": set(), "net_benefit": set(),
    }  # fmt: skip
    invariances = {m.name: set(m.invariant_under) for m in CATALOGUE if m.of_scores is None}
    assert invariances == laws


def test_how_the_default_interval_of_each_formula_is_found() -> None:
    shaped = {m.name: m.interval for m in CATALOGUE if m.of_scores is None}
    assert {name for name, way in shaped.items() if way is Interval.TOUCHING} == {"c_id"}
    assert {name for name, way in shaped.items() if way is Interval.BY_JACCARD} == {"f1"}
    assert set(shaped.values()) == {Interval.TOUCHING, Interval.BY_JACCARD, Interval.BY_SHAPE}


def test_a_share_that_is_flat_at_nothing_alone_has_the_interval_of_a_square() -> None:
    rows = ALL * ALL
    off = (Cell("TP") * Cell("TN") - Cell("FP") * Cell("FN")) / rows
    square = off * off

    def interval(formula: Expression, **changes: object) -> Interval:
        return replace(find("c_id"), name="made", formula=formula, **changes).interval

    assert interval(square) is Interval.TOUCHING
    # It has a slope, if only by two cells; it is flat where it is 1; it reaches below 0; it is a
    # share of rows.
    assert interval(off) is Interval.BY_SHAPE
    assert interval((Cell("TP") - Cell("FP") / 2) / ALL) is Interval.BY_SHAPE
    assert interval(1 - square) is Interval.BY_SHAPE
    assert interval(square, range=(-1, 1)) is Interval.BY_SHAPE
    assert interval(Cell("TP") / ALL) is Interval.BY_SHAPE
    assert replace(EXPECTED_COST, range=(0, 1)).interval is Interval.BY_SHAPE


def test_twice_a_share_over_one_more_is_mapped_from_it() -> None:
    hits, errors = Cell("TP"), Cell("FP") + Cell("FN")

    def interval(formula: Expression) -> Interval:
        return replace(find("f1"), name="made", formula=formula).interval

    assert interval(2 * hits / (2 * hits + errors)) is Interval.BY_JACCARD
    assert interval(3 * hits / (3 * hits + errors)) is Interval.BY_SHAPE
    assert interval(hits / (hits + errors)) is Interval.BY_SHAPE


def test_names_as_they_are_spoken() -> None:
    assert spoken("roc_auc_ovo") == "ROC AUC ovo"
    assert (spoken("f1"), spoken("f0.5"), spoken("mcc"), spoken("ks")) == (
        "F1",
        "F0.5",
        "MCC",
        "KS",
    )
    assert spoken("false_alarm_rate") == "false alarm rate"
