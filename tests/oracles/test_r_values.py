"""All values that were made with R; see ``r/README.md``.

Where a convention differs on purpose, the test says so and checks ours by hand.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.laws.counted import counted, of_cells, of_matrix

from assay.counts import ScoreCounts
from assay.inference import (
    AgrestiCoull,
    ClopperPearson,
    DeLong,
    Jeffreys,
    Wald,
    Wilson,
    benjamini_hochberg,
    cochran_q,
    delong_test,
    friedman,
    holm,
    mcnemar,
    mean_ranks,
    paired_difference,
    paired_t,
)
from assay.inference.significance import normal, studentised_range_p
from assay.measures import Ranking, rank

VALUES = json.loads((Path(__file__).parent / "r" / "values.json").read_text())
TESTED = {
    "adjust",
    "cochran",
    "confusion",
    "confusion_multiclass",
    "delong",
    "delong_paired",
    "epi",
    "friedman",
    "hand_till",
    "mcnemar",
    "partial_auc",
    "proportion",
    "ptukey",
    "t_paired",
}


def test_no_section_of_the_stored_values_is_forgotten() -> None:
    assert set(VALUES) - {"meta"} == TESTED


def section(name: str) -> pytest.MarkDecorator:
    """One test a case of a section."""
    cases = [pytest.param(c["inputs"], c["outputs"], id=c["name"]) for c in VALUES[name]]
    return pytest.mark.parametrize(("given", "r"), cases)


def close(expected: float, tolerance: float = 1e-12) -> Any:
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


def ranked(given: dict[str, Any]) -> Ranking:
    truth, scores = np.array(given["labels"], np.uint8), np.array(given["scores"], float)
    return rank(ScoreCounts.of_rows(("0", "1"), scores, truth))


# -- AUC -------------------------------------------------------------------------------------------


@section("delong")
def test_the_auc_and_its_delong_variance_agree_with_proc(given: dict, r: dict) -> None:
    auc = ranked(given).auc
    assert auc.value == close(r["auc"])
    if r["variance"] is None:
        assert math.isnan(auc.variance)
    else:
        assert auc.variance == close(r["variance"])


@section("delong")
def test_proc_s_plain_interval_is_the_same_variance_before_the_logit(given: dict, r: dict) -> None:
    """pROC's interval is normal on the plain scale and cut to [0, 1]; ours is on the logit scale,
    and has another method where pROC's has no width or none at all."""
    level = given["level"]
    rows = counted("01", given["labels"], scores=given["scores"])
    roc_auc = rows.at(level, DeLong(level))["roc_auc"]
    assert 0 <= roc_auc.low <= roc_auc.value <= roc_auc.high <= 1
    if r["variance"] is None or r["auc"] in (0, 1):
        assert roc_auc.low < roc_auc.high
        return
    auc, error = r["auc"], math.sqrt(r["variance"])
    reach = normal(level) * error
    assert max(auc - reach, 0) == close(r["ci_lower"])
    assert min(auc + reach, 1) == close(r["ci_upper"])
    logit, step = math.log(auc / (1 - auc)), reach / (auc * (1 - auc))
    ends = [1 / (1 + math.exp(-(logit + sign * step))) for sign in (-1, 1)]
    assert [roc_auc.low, roc_auc.high] == close(ends)


@section("delong_paired")
def test_delong_s_paired_test_agrees_with_proc(given: dict, r: dict) -> None:
    """pROC's difference is A less B; ours is B less A, and its interval is cut to [-1, 1]."""
    significance = delong_test(
        given["labels"], given["scores_a"], given["scores_b"], level=given["level"]
    )
    assert [significance.table["a"], significance.table["b"]] == close([r["auc_a"], r["auc_b"]])
    (of_a, shared), (shared_too, of_b) = significance.table["covariance"]
    assert [of_a, of_b, shared] == close([r["variance_a"], r["variance_b"], r["covariance"]])
    assert shared == shared_too
    assert significance.statistic == close(-r["z"], 1e-11)
    assert significance.p == close(r["p"], 1e-11)
    effect = significance.effect
    assert effect is not None
    assert effect.value == close(r["auc_b"] - r["auc_a"])
    if r["p"] < 1:
        assert [effect.low, effect.high] == close([-r["ci_upper"], -r["ci_lower"]], 1e-11)


@section("partial_auc")
def test_the_partial_auc_agrees_with_proc(given: dict, r: dict) -> None:
    """Below the diagonal pROC corrects only when told to (``corrected_strict`` is null there);
    ours gives the formula's value."""
    ranking = ranked(given)
    raw = [ranking.partial_auc(limit, corrected=False).value for limit in given["max_fpr"]]
    corrected = [ranking.partial_auc(limit).value for limit in given["max_fpr"]]
    assert raw == close(r["pauc"])
    assert corrected == close(r["corrected"])
    for ours, strict, limit in zip(corrected, r["corrected_strict"], given["max_fpr"], strict=True):
        assert (strict is None) == (ours < 0.5 - 1e-12), limit


@section("hand_till")
def test_the_mean_auc_over_pairs_of_classes_agrees_with_proc(given: dict, r: dict) -> None:
    classes, truth = np.unique(given["labels"], return_inverse=True)
    rows = counted(map(str, classes), truth, scores=given["probabilities"])
    assert rows.value("roc_auc_ovo") == close(r["auc"])


# -- confusion matrices ----------------------------------------------------------------------------

CARET = {
    "sensitivity": "recall",
    "recall": "recall",
    "specificity": "specificity",
    "pos_pred_value": "precision",
    "precision": "precision",
    "neg_pred_value": "negative_predictive_value",
    "f1": "f1",
    "prevalence": "prevalence",
    "detection_prevalence": "alert_rate",
}
# caret goes through sensitivity, specificity and prevalence, or through precision and recall, and
# is NA where one of them is; ours is the ratio of counts, which may still be there.
FROM_RATES = {"pos_pred_value", "neg_pred_value", "f1"}


def ratio(top: float, bottom: float) -> float:
    return top / bottom if bottom else math.nan


def by_counts(key: str, tp: int, fp: int, fn: int, tn: int) -> float:
    if key == "pos_pred_value":
        return ratio(tp, tp + fp)
    if key == "neg_pred_value":
        return ratio(tn, tn + fn)
    return ratio(2 * tp, 2 * tp + fp + fn)


def expected(key: str, value: float | None, cells: dict[str, int]) -> Any:
    if value is not None:
        return close(value)
    if key in FROM_RATES:
        return pytest.approx(by_counts(key, **cells), nan_ok=True)
    return pytest.approx(math.nan, nan_ok=True)


@section("confusion")
def test_a_binary_matrix_agrees_with_caret(given: dict, r: dict) -> None:
    rows = of_matrix(given["matrix"], given["classes"], given["positive"])
    rows = rows.at(method=ClopperPearson())
    (tn, fp), (fn, tp) = rows.confusion.cells
    cells = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    for key, name in CARET.items():
        assert rows[name].value == expected(key, r[key], cells), key
    assert rows["balanced_accuracy"].value == expected("", r["balanced_accuracy"], cells)
    # caret subtracts the agreement by chance from 1, which costs digits where it is near 1.
    kappa = math.nan if r["kappa"] is None else r["kappa"]
    assert rows["kappa"].value == pytest.approx(kappa, rel=2e-11, nan_ok=True)
    # caret's "Detection Rate" is TP / N; ours is another word for recall.
    assert tp / (tp + fp + fn + tn) == close(r["detection_rate"])
    accuracy = rows["accuracy"]
    assert accuracy.value == close(r["accuracy"])
    ends = [r["accuracy_lower"], r["accuracy_upper"]]
    assert [accuracy.low, accuracy.high] == close(ends, 1e-11)


@section("confusion_multiclass")
def test_a_matrix_of_several_classes_agrees_with_caret(given: dict, r: dict) -> None:
    rows = of_matrix(given["matrix"], given["classes"]).at(method=ClopperPearson())
    assert rows["accuracy"].value == close(r["accuracy"])
    assert rows["kappa"].value == close(r["kappa"])
    accuracy = rows["accuracy"]
    ends = [r["accuracy_lower"], r["accuracy_upper"]]
    assert [accuracy.low, accuracy.high] == close(ends, 1e-11)
    for i, label in enumerate(given["classes"]):
        of_class = rows.confusion.one_versus_rest(i)
        cells = {name.lower(): cell for name, cell in of_class.items()}
        for key, name in CARET.items():
            value = r["per_class"][key][i]
            assert rows[f"{name}.{label}"].value == expected(key, value, cells), (key, label)
        both = (rows[f"recall.{label}"] + rows[f"specificity.{label}"]) / 2
        assert both == expected("", r["per_class"]["balanced_accuracy"][i], cells)
        assert cells["tp"] / rows.confusion.total == close(r["per_class"]["detection_rate"][i])


@section("epi")
def test_likelihood_and_odds_ratios_agree_with_epir(given: dict, r: dict) -> None:
    """Both have their interval on the log scale. A ratio x/0 is undefined for us and infinite for
    epiR; beside an empty cell epiR's interval is NA, and ours adds half a count to each cell."""
    cells = {name: given[name] for name in ("tp", "fp", "fn", "tn")}
    rows = of_cells(**cells).at(given["level"])
    for key, name in (
        ("lr_pos", "positive_likelihood_ratio"),
        ("lr_neg", "negative_likelihood_ratio"),
        ("dor", "diagnostic_odds_ratio"),
    ):
        ours = rows[name]
        if r[key] == "Inf":
            assert math.isnan(ours)
            assert ours.undefined
            continue
        assert ours.value == close(r[key])
        if 0 in cells.values():
            assert 0 <= ours.low <= ours.value <= ours.high < math.inf
            assert ours.low < ours.high
        else:
            ends = [r[f"{key}_lower"], r[f"{key}_upper"]]
            assert [ours.low, ours.high] == close(ends, 1e-11)
    assert rows["informedness"].value == close(r["youden"])


# -- shares ----------------------------------------------------------------------------------------


@pytest.mark.sampled(60)
@section("proportion")
def test_the_interval_of_a_share_agrees_with_r(given: dict, r: dict) -> None:
    """Wald's, Agresti and Coull's and Jeffreys' of R are neither cut to [0, 1] nor stretched to
    hold the share at k = 0 and n; ours are."""
    k, n, level = given["k"], given["n"], given["level"]
    for key, method, tolerance in (
        ("clopper_pearson", ClopperPearson, 1e-11),
        ("wilson", Wilson, 1e-12),
        ("agresti_coull", AgrestiCoull, 1e-12),
        ("jeffreys", Jeffreys, 1e-11),
        ("wald", Wald, 1e-12),
    ):
        low, high = r[key]
        low = 0.0 if k == 0 else max(low, 0.0)
        high = 1.0 if k == n else min(high, 1.0)
        if method is Wald and k in (0, n):
            low = high = k / n
        ours = [float(end) for end in method(level)(k, n)]
        # Of a tiny lower end all digits count.
        assert ours == pytest.approx([low, high], rel=tolerance, abs=1e-16), key


# -- tests of significance -------------------------------------------------------------------------


@section("mcnemar")
def test_mcnemar_s_test_agrees_with_r(given: dict, r: dict) -> None:
    """Without discordant pairs R says NA; nothing tells the models apart, so ours is p = 1.
    With b = c R leaves the correction out, ours does not let it turn the sign: both are 0."""
    (both, b), (c, neither) = given["table"]
    for method, statistic, p in (
        ("corrected", r["statistic_corrected"], r["p_corrected"]),
        ("uncorrected", r["statistic"], r["p"]),
        ("exact", None, r["p_exact"]),
    ):
        significance = mcnemar(b, c, both_right=both, both_wrong=neither, method=method)
        if b + c == 0:
            assert p is None
            assert significance.p == 1
            assert significance.statistic is None
            assert "nothing tells them apart" in significance.sentence
            continue
        # R's exact p goes through its own sums: nine digits and more agree.
        assert significance.p == pytest.approx(p, rel=1e-11)
        if statistic is not None:
            assert significance.statistic == close(statistic)
    chosen = mcnemar(b, c).method
    assert chosen == ("exact" if b + c < 25 else "corrected")


@section("mcnemar")
def test_the_paired_difference_has_the_sign_of_mcnemar_s_test(given: dict, r: dict) -> None:
    (both, b), (c, neither) = given["table"]
    estimate = paired_difference(both, b, c, neither)
    assert estimate.value == close((c - b) / (both + b + c + neither))
    assert estimate.low <= estimate.value <= estimate.high
    if r["p_exact"] is not None and r["p_exact"] < 0.01:
        assert (estimate.low > 0) == (c > b)
        assert (estimate.high < 0) == (b > c)


@section("t_paired")
def test_the_paired_t_test_agrees_with_r(given: dict, r: dict) -> None:
    """R's difference is A less B, ours B less A."""
    significance = paired_t(given["a"], given["b"], level=given["level"])
    assert significance.statistic == close(-r["statistic"], 1e-10)
    assert significance.df == (r["df"],)
    assert significance.p == close(r["p"], 1e-10)
    effect = significance.effect
    assert effect is not None
    assert effect.value == close(-r["mean_difference"])
    assert [effect.low, effect.high] == close([-r["ci_upper"], -r["ci_lower"]], 1e-11)


@section("friedman")
def test_friedman_s_test_agrees_with_r(given: dict, r: dict) -> None:
    """R's rank 1 is the lowest value, ours the highest."""
    significance = friedman(given["matrix"])
    assert significance.statistic == close(r["statistic"])
    assert significance.df == (r["df"],)
    assert significance.p == close(r["p"])
    models = len(given["matrix"][0])
    turned = [models + 1 - mean for mean in r["mean_ranks"]]
    assert mean_ranks(given["matrix"]).tolist() == close(turned)
    assert list(significance.table["mean_ranks"].values()) == close(turned)


@section("ptukey")
def test_the_studentised_range_agrees_with_r(given: dict, r: dict) -> None:
    """R sums this integral by a fixed rule, which is good to about 1e-7."""
    p_value = studentised_range_p(given["q"], given["k"])
    assert p_value == pytest.approx(r["p"], rel=1e-7)


@section("cochran")
def test_cochran_s_q_agrees_with_r(given: dict, r: dict) -> None:
    """Where all models agree on every row the statistic is 0/0 in R; ours says p = 1."""
    significance = cochran_q(given["matrix"])
    assert significance.df == (r["df"],)
    if r["statistic"] is None:
        assert (significance.statistic, significance.p) == (0, 1)
    else:
        assert significance.statistic == close(r["statistic"])
        assert significance.p == close(r["p"])


@section("adjust")
def test_adjusted_p_values_agree_with_r(given: dict, r: dict) -> None:
    assert holm(given["p"]) == pytest.approx(r["holm"], rel=1e-14)
    assert benjamini_hochberg(given["p"]) == pytest.approx(r["bh"], rel=1e-14)
