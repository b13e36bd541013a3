"""Every measure that scikit-learn can compute, against scikit-learn, in one table.

The data are random and of several kinds; a row of the table says how scikit-learn gets the number
and on which kinds it can. What no single function of scikit-learn gives is put together from those
that it has: specificity is the recall of the other label. Conventions that differ on purpose are
in ``test_sklearn_conventions.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import product

import numpy as np
import pytest
import sklearn.metrics as sk
from scipy import optimize, spatial, special, stats
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from tests.laws.counted import Counted, counted

from assay.measures import AVERAGE_PRECISION, AVERAGES, CATALOGUE, PARTIAL_AUC, Costs, catalogue
from assay.measures.calibration import reliability
from assay.measures.curves import precision_recall, roc, sweep

TOLERANCE = 1e-12
SEEDS = range(3)
POSITIVE, NEGATIVE = "attack", "benign"
CLASSES = ("benign", "botnet", "ddos", "probe", "worm")
SHARES = (0.6, 0.2, 0.12, 0.06, 0.02)

BINARY = ("balanced", "imbalanced", "tied", "counted", "weighted")
MULTI = ("classes", "classes counted", "classes weighted")
# What one false alarm and one missed attack cost.
COST_FP, COST_FN = 1.5, 20.0
# Every eighth row is of a class that the model does not know.
OPEN = ("open", "open counted", "open weighted")
UNKNOWN = "new"


@dataclass(frozen=True, eq=False)
class Data:
    """Rows as scikit-learn takes them, and our counts of the same rows."""

    truth: np.ndarray
    decision: np.ndarray
    score: np.ndarray
    weight: np.ndarray | None
    ours: Counted

    def __call__(self, metric: Callable[..., float], said: str = "decision", **options) -> float:
        """What a metric of scikit-learn says of the decisions or the scores."""
        return metric(self.truth, getattr(self, said), sample_weight=self.weight, **options)

    @property
    def is_positive(self) -> np.ndarray:
        return self.truth == POSITIVE


def _binary(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    rows, share = {"imbalanced": (4000, 0.01), "many": (120_000, 0.02)}.get(kind, (1500, 0.5))
    is_positive = rng.random(rows) < share
    is_positive[:2] = [True, False]
    score = 1 / (1 + np.exp(-rng.normal(size=rows) - 1.5 * (is_positive - 0.5)))
    if kind == "tied":
        score = np.round(score, 1)
    return is_positive, score


def _classes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    rows = 1200
    codes = rng.choice(len(CLASSES), rows, p=SHARES)
    codes[: len(CLASSES)] = range(len(CLASSES))
    strength = rng.normal(size=(rows, len(CLASSES)))
    strength[np.arange(rows), codes] += 1.5
    shares = np.exp(strength)
    return codes, shares / shares.sum(axis=1, keepdims=True)


@cache
def data(kind: str, seed: int) -> Data:
    rng = np.random.default_rng([seed, *kind.encode()])
    if kind in MULTI + OPEN:
        labels = CLASSES
        truth, said = _classes(rng)
        decision = said.argmax(axis=1)
        # Some decisions are not that of the largest probability.
        wild = rng.random(len(truth)) < 0.1
        decision[wild] = rng.integers(0, len(labels), wild.sum())
        if kind in OPEN:
            truth = np.where(np.arange(len(truth)) % 8 == 7, len(labels), truth)
    else:
        labels = (NEGATIVE, POSITIVE)
        truth, said = _binary(kind, rng)
        decision = said >= 0.4
    weight, often, amounts = None, np.ones(len(truth), int), {}
    if kind.endswith("weighted"):
        weight = amounts["weights"] = rng.gamma(2.0, size=len(truth))
    if kind.endswith("counted"):
        often = amounts["counts"] = rng.integers(0, 6, len(truth))
        often[: len(CLASSES)] = 1
    options = {"costs": Costs(Fraction(COST_FP), Fraction(COST_FN)), "unknown": kind in OPEN}
    ours = counted(labels, truth, decision, said, **amounts, **options)
    names = np.array([*labels, UNKNOWN])
    columns = names[truth.astype(int)], names[decision.astype(int)], said
    return Data(*(np.repeat(column, often, axis=0) for column in columns), weight, ours)


# -- how scikit-learn computes each ----------------------------------------------------------------

Theirs = Callable[[Data], float]


@dataclass(frozen=True)
class Row:
    """The name of an estimate, how scikit-learn gets it, and the kinds of data that allow it."""

    name: str
    theirs: Theirs
    kinds: tuple[str, ...] = BINARY
    tolerance: float = TOLERANCE


def _of_label(metric: Callable[..., float], label: str, **options) -> Theirs:
    """A metric of one label against the rest."""
    return lambda d: d(metric, labels=[label], average="macro", **options)


def _averaged(metric: Callable[..., float], average: str, **options) -> Theirs:
    return lambda d: d(metric, average=average, **options)


def _cells(d: Data) -> np.ndarray:
    """For each label, in sorted order, its cells [[tn, fp], [fn, tp]]."""
    return d(sk.multilabel_confusion_matrix)


def _ratio(top: tuple[int, int], bottom: tuple[int, int]) -> Callable[[np.ndarray], float]:
    """A cell over itself and another one; a cell is (truth, decision)."""
    return lambda cells: cells[..., *top] / (cells[..., *top] + cells[..., *bottom])


TN, FP, FN, TP = (0, 0), (0, 1), (1, 0), (1, 1)
# What scikit-learn has no average of, from its table of each label against the rest.
RATES = {
    "specificity": _ratio(TN, FP),
    "false_positive_rate": _ratio(FP, TN),
    "false_negative_rate": _ratio(FN, TP),
    "false_discovery_rate": _ratio(FP, TP),
    "false_omission_rate": _ratio(FN, TN),
    "negative_predictive_value": _ratio(TN, FN),
}
F_SCORES = {
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "f1": sk.f1_score,
    "f2": partial(sk.fbeta_score, beta=2),
    "f0.5": partial(sk.fbeta_score, beta=0.5),
    "jaccard": sk.jaccard_score,
}


def _rate(name: str, average: str) -> Theirs:
    def theirs(d: Data) -> float:
        cells = _cells(d).astype(float)
        if average == "micro":
            return RATES[name](cells.sum(axis=0))
        each = RATES[name](cells)
        support = cells[:, 1].sum(axis=1) if average == "weighted" else None
        return np.average(each, weights=support)

    return theirs


@cache
def _pairs(d: Data, label: str) -> dict[str, float]:
    """Binary numbers made of the precision and the recall of a label and of the rest."""
    rest = next(name for name in np.unique(d.truth) if name != label)
    two = [np.where(a == label, label, rest) for a in (d.truth, d.decision)]
    weight = {"sample_weight": d.weight}
    precision, recall = (
        metric(*two, pos_label=label, **weight) for metric in (sk.precision_score, sk.recall_score)
    )
    npv, specificity = (
        metric(*two, pos_label=rest, **weight) for metric in (sk.precision_score, sk.recall_score)
    )
    positive, negative = sk.class_likelihood_ratios(*two, labels=[rest, label], **weight)
    always = np.full(len(d.truth), label)
    prevalence = sk.accuracy_score(two[0], always, **weight)
    odds = prevalence / (1 - prevalence)
    table = sk.confusion_matrix(*two, **weight)
    truth, alarm, both = (
        stats.entropy(part) for part in (table.sum(axis=1), table.sum(axis=0), table.ravel())
    )
    return {
        "specificity": specificity,
        "false_positive_rate": 1 - specificity,
        "false_negative_rate": 1 - recall,
        "false_discovery_rate": 1 - precision,
        "false_omission_rate": 1 - npv,
        "negative_predictive_value": npv,
        "g_mean": math.sqrt(recall * specificity),
        "informedness": recall + specificity - 1,
        "markedness": precision + npv - 1,
        "fowlkes_mallows": math.sqrt(precision * recall),
        "positive_likelihood_ratio": positive,
        "negative_likelihood_ratio": negative,
        "diagnostic_odds_ratio": positive / negative,
        "prevalence": prevalence,
        "alert_rate": sk.accuracy_score(two[1], always, **weight),
        "lift": precision / prevalence,
        "precision_gain": 1 - odds * (1 - precision) / precision,
        "recall_gain": 1 - odds * (1 - recall) / recall,
        "c_id": (truth + alarm - both) / truth,
    }


def _pair(name: str, label: str = POSITIVE) -> Theirs:
    return lambda d: _pairs(d, label)[name]


PAIRS = (
    "specificity",
    "false_positive_rate",
    "false_negative_rate",
    "false_discovery_rate",
    "false_omission_rate",
    "negative_predictive_value",
    "informedness",
    "markedness",
    "fowlkes_mallows",
    "positive_likelihood_ratio",
    "negative_likelihood_ratio",
    "diagnostic_odds_ratio",
    "prevalence",
    "alert_rate",
    "lift",
    "precision_gain",
    "recall_gain",
    "c_id",
)


def _fowlkes_mallows(average: str) -> Theirs:
    """The formula, since scikit-learn's index of that name compares clusterings."""

    def theirs(d: Data) -> float:
        if average == "micro":
            return math.sqrt(
                math.prod(d(F_SCORES[n], average="micro") for n in ("precision", "recall"))
            )
        precision, recall, _, support = d(sk.precision_recall_fscore_support)
        weights = support if average == "weighted" else None
        return np.average(np.sqrt(precision * recall), weights=weights)

    return theirs


def _scored(metric: Callable[..., float], **options) -> Theirs:
    """A metric of the score of the positive label."""
    return lambda d: metric(d.is_positive, d.score, sample_weight=d.weight, **options)


def _of_probabilities(metric: Callable[..., float], **options) -> Theirs:
    return lambda d: d(metric, "score", **options)


def _against_rest(metric: Callable[..., float], label: str) -> Theirs:
    column = CLASSES.index(label)
    return lambda d: metric(d.truth == label, d.score[:, column], sample_weight=d.weight)


def _one_hot_average_precision(average: str) -> Theirs:
    def theirs(d: Data) -> float:
        truth = d.truth[:, None] == np.array(CLASSES)
        return sk.average_precision_score(truth, d.score, average=average, sample_weight=d.weight)

    return theirs


def _half_brier(d: Data) -> float:
    """For K classes scikit-learn's ranges up to 2 unless it is halved."""
    return d(sk.brier_score_loss, "score", scale_by_half=True)


def _known(*, right_only: bool) -> Theirs:
    """Known against unknown rows by the largest probability; wrong decisions may come last."""

    def theirs(d: Data) -> float:
        known, largest = d.truth != UNKNOWN, d.score.max(axis=1)
        if right_only:
            largest = np.where(known & (d.decision != d.truth), -1.0, largest)
        return sk.roc_auc_score(known, largest, sample_weight=d.weight)

    return theirs


def _calibration_error(d: Data) -> float:
    observed, predicted = calibration_curve(d.is_positive, d.score, n_bins=15)
    rows, _ = np.histogram(d.score, np.linspace(0, 1, 16))
    return float(np.average(np.abs(observed - predicted), weights=rows[rows > 0]))


# -- points of the curves of scikit-learn ---------------------------------------------------------


def _roc(d: Data) -> tuple[np.ndarray, np.ndarray]:
    fpr, tpr, _ = sk.roc_curve(
        d.is_positive, d.score, sample_weight=d.weight, drop_intermediate=False
    )
    return fpr, tpr


def _rows(d: Data) -> tuple[float, float]:
    """Positives and all rows, or their weights."""
    weight = np.ones(len(d.truth)) if d.weight is None else d.weight
    return float(weight[d.is_positive].sum()), float(weight.sum())


def _recall_at(rate: float) -> Theirs:
    def theirs(d: Data) -> float:
        fpr, tpr = _roc(d)
        return tpr[fpr <= rate].max()

    return theirs


def _equal_error_rate(d: Data) -> float:
    """Where the two errors of the DET curve cross, on the line between its points."""
    fpr, fnr, _ = sk.det_curve(d.is_positive, d.score, sample_weight=d.weight)
    order = np.argsort(fpr - fnr, kind="stable")
    return np.interp(0, (fpr - fnr)[order], fpr[order])


def _farthest(d: Data) -> float:
    fpr, tpr = _roc(d)
    return (tpr - fpr).max()


def _top_decile_lift(d: Data) -> float:
    fpr, tpr = _roc(d)
    positives, rows = _rows(d)
    flagged = tpr * positives / rows + fpr * (1 - positives / rows)
    return np.interp(0.1, flagged, tpr) / 0.1


def _gain_area(d: Data) -> float:
    """Trapezoids under precision gain over recall gain, from where the latter is 0."""
    fpr, tpr = _roc(d)
    positives, rows = _rows(d)
    share = positives / rows
    start = np.searchsorted(tpr, share)
    part = (share - tpr[start - 1]) / (tpr[start] - tpr[start - 1])
    alarms = fpr[start - 1] + part * (fpr[start] - fpr[start - 1])
    recall = np.append(share, tpr[start:])
    precision = share * recall / (share * recall + (1 - share) * np.append(alarms, fpr[start:]))
    gains = [(rate - share) / ((1 - share) * rate) for rate in (recall, precision)]
    return np.trapezoid(gains[1], gains[0])


def _h(prior: Callable[[float], tuple[float, float]]) -> Theirs:
    """The H measure by parts: what the slopes of the least loss change by, at each cost.

    The corners come from qhull. The loss of a cost c is a broken line, so its mean over costs is a
    sum over its bends of how much less than c the cost is on average.
    """

    def theirs(d: Data) -> float:
        points = np.unique(np.column_stack(_roc(d)), axis=0)
        points = np.vstack([points, [1, 0]])
        corners = points[spatial.ConvexHull(points).vertices]
        corners = corners[(corners[:, 1] > 0) | (corners[:, 0] == 0)]
        fpr, tpr = corners[np.lexsort((corners[:, 1], corners[:, 0]))].T
        positives, rows = _rows(d)
        share = positives / rows
        trivial = _mean_loss(np.array([0.0, 1.0]), np.array([0.0, 1.0]), share, prior(share))
        return 1 - _mean_loss(fpr, tpr, share, prior(share)) / trivial

    return theirs


def _mean_loss(fpr: np.ndarray, tpr: np.ndarray, share: float, prior: tuple[float, float]) -> float:
    a, b = prior

    def below(cost: np.ndarray) -> np.ndarray:
        """The mean of how far a drawn cost lies below this one."""
        part = a / (a + b) * special.betainc(a + 1, b, cost)
        return cost * special.betainc(a, b, cost) - part

    slopes = (1 - share) * fpr - share * (1 - tpr)
    up, across = share * np.diff(tpr), (1 - share) * np.diff(fpr)
    bends = up / (up + across)
    at_one = (1 - share) * fpr[0]
    return (
        at_one
        - slopes[0] * (1 - a / (a + b))
        - float(((slopes[1:] - slopes[:-1]) * below(bends)).sum())
    )


# -- probabilities ---------------------------------------------------------------------------------


def _in_bins(d: Data) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of 15 bins their weight, mean probability and share of positives."""
    weight = np.ones(len(d.truth)) if d.weight is None else d.weight
    at = np.searchsorted(np.arange(1, 15) / 15, d.score, side="right")
    sums = [np.bincount(at, weight * x, 15) for x in (1.0, d.score, d.is_positive)]
    kept = sums[0] > 0
    return sums[0][kept], sums[1][kept] / sums[0][kept], sums[2][kept] / sums[0][kept]


def _reliability(d: Data) -> float:
    weight, predicted, observed = _in_bins(d)
    return np.average((predicted - observed) ** 2, weights=weight)


def _resolution(d: Data) -> float:
    weight, _, observed = _in_bins(d)
    return np.average((observed - np.average(observed, weights=weight)) ** 2, weights=weight)


def _calibration_slope(d: Data) -> float:
    line = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-13, max_iter=1000)
    line.fit(special.logit(d.score)[:, None], d.is_positive, sample_weight=d.weight)
    return line.coef_[0, 0]


def _calibration_intercept(d: Data) -> float:
    """What makes the mean probability the share of positives."""
    odds = special.logit(d.score)
    share = np.average(d.is_positive, weights=d.weight)

    def excess(added: float) -> float:
        return np.average(special.expit(odds + added), weights=d.weight) - share

    return optimize.brentq(excess, -50, 50, xtol=1e-14, rtol=1e-14)


def _error_sums(d: Data) -> tuple[float, float, float, float]:
    (tn, fp), (fn, tp) = d(sk.confusion_matrix, labels=[NEGATIVE, POSITIVE])
    return tp, fp, fn, tn


def _expected_cost(d: Data) -> float:
    _, fp, fn, _ = cells = _error_sums(d)
    return (COST_FP * fp + COST_FN * fn) / sum(cells)


def _net_benefit(d: Data) -> float:
    """At the odds of the threshold that such costs make the best."""
    tp, fp, _, _ = cells = _error_sums(d)
    threshold = COST_FP / (COST_FP + COST_FN)
    return (tp - threshold / (1 - threshold) * fp) / sum(cells)


EVERYWHERE = BINARY + MULTI
# Where no probability is 0 or 1, which have no odds.
PROPER = ("balanced", "imbalanced", "counted", "weighted")
# A rate of 1 in 1,000 asks for so many negatives; these have them.
AT_RATES = {2: (*BINARY, "many"), 3: ("imbalanced", "counted", "many"), 4: ("many",), 5: ("many",)}

TABLE = (
    # Of all classes at once.
    Row("accuracy", lambda d: d(sk.accuracy_score), EVERYWHERE),
    Row("error_rate", lambda d: d(sk.zero_one_loss), EVERYWHERE),
    Row("balanced_accuracy", lambda d: d(sk.balanced_accuracy_score), EVERYWHERE),
    Row("mcc", lambda d: d(sk.matthews_corrcoef), EVERYWHERE),
    Row("kappa", lambda d: d(sk.cohen_kappa_score), EVERYWHERE),
    Row("jaccard", _averaged(sk.jaccard_score, "macro"), MULTI),
    Row("g_mean", _pair("g_mean")),
    Row("g_mean", lambda d: math.prod(d(sk.recall_score, average=None)) ** (1 / 5), MULTI),
    Row("log_loss", _scored(sk.log_loss)),
    Row("log_loss", _of_probabilities(sk.log_loss), MULTI),
    Row("brier", _scored(sk.brier_score_loss)),
    Row("brier", _half_brier, MULTI),
    # Of one label.
    *(Row(n, _of_label(m, POSITIVE)) for n, m in F_SCORES.items()),
    *(Row(f"{n}.{NEGATIVE}", _of_label(m, NEGATIVE)) for n, m in F_SCORES.items()),
    *(Row(f"{n}.{c}", _of_label(m, c), MULTI) for n, m in F_SCORES.items() for c in CLASSES),
    *(Row(n, _pair(n)) for n in PAIRS),
    *(Row(f"{n}.{c}", _pair(n, c), MULTI) for n in PAIRS for c in CLASSES),
    # Averages.
    *(
        Row(f"{n}.{average}", _averaged(m, average), EVERYWHERE)
        for n, m in F_SCORES.items()
        for average in ("macro", "micro", "weighted")
    ),
    *(
        Row(f"{n}.{average}", _rate(n, average), EVERYWHERE)
        for n in RATES
        for average in ("macro", "micro", "weighted")
    ),
    *(
        Row(f"fowlkes_mallows.{average}", _fowlkes_mallows(average), EVERYWHERE)
        for average in ("macro", "micro", "weighted")
    ),
    # Of scores.
    Row("roc_auc", _scored(sk.roc_auc_score)),
    Row("partial_auc", _scored(sk.roc_auc_score, max_fpr=0.1)),
    Row("average_precision", _scored(sk.average_precision_score)),
    *(Row(f"roc_auc.{c}", _against_rest(sk.roc_auc_score, c), MULTI) for c in CLASSES),
    *(
        Row(f"average_precision.{c}", _against_rest(sk.average_precision_score, c), MULTI)
        for c in CLASSES
    ),
    *(
        Row(
            f"roc_auc.{average}",
            _of_probabilities(sk.roc_auc_score, multi_class="ovr", average=average),
            MULTI,
        )
        for average in ("macro", "weighted")
    ),
    *(
        Row(f"average_precision.{average}", _one_hot_average_precision(average), MULTI)
        for average in ("macro", "weighted")
    ),
    *(
        Row(f"recall_at_fpr_1e{exponent}", _recall_at(10.0**-exponent), kinds)
        for exponent, kinds in AT_RATES.items()
    ),
    Row("equal_error_rate", _equal_error_rate),
    Row("ks", _farthest),
    Row("top_decile_lift", _top_decile_lift),
    Row("precision_recall_gain_area", _gain_area),
    Row("h_measure", _h(lambda share: (2, 1 + (1 - share) / share))),
    Row("h_measure_symmetric", _h(lambda share: (2, 2))),
    # Of costs.
    Row("expected_cost", _expected_cost),
    Row("net_benefit", _net_benefit),
    # Of probabilities.
    Row("brier_reliability", _reliability),
    Row("brier_resolution", _resolution),
    Row("calibration_slope", _calibration_slope, PROPER, tolerance=1e-9),
    Row("calibration_intercept", _calibration_intercept, PROPER),
    # scikit-learn refuses weights for pairs of classes.
    Row(
        "roc_auc_ovo",
        _of_probabilities(sk.roc_auc_score, multi_class="ovo"),
        ("classes", "classes counted"),
    ),
    Row("known_auc", _known(right_only=False), OPEN),
    Row("oscr", _known(right_only=True), OPEN),
    # Its calibration curve takes no weights, and puts a score on an edge into the lower bin.
    Row("expected_calibration_error", _calibration_error, ("balanced", "imbalanced", "counted")),
)


@pytest.mark.sampled(30)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_the_measure_agrees_with_scikit_learn(row: Row) -> None:
    for kind, seed in product(row.kinds, SEEDS):
        case = data(kind, seed)
        ours = case.ours[row.name].value
        theirs = float(row.theirs(case))
        near = pytest.approx(theirs, rel=row.tolerance, abs=row.tolerance)
        assert ours == near, (kind, seed)


def test_no_measure_of_the_catalogue_is_forgotten() -> None:
    assert {measure.name for measure in CATALOGUE} <= {row.name for row in TABLE}


def test_no_average_of_a_measure_is_forgotten() -> None:
    names = {row.name for row in TABLE}
    for measure in CATALOGUE:
        if measure.averages and measure.formula is not None:
            assert {f"{measure.name}.{average}" for average in AVERAGES} <= names


@pytest.mark.parametrize("kind", BINARY)
def test_the_other_label_of_two_is_judged_as_if_it_were_the_positive(kind: str) -> None:
    case = data(kind, 0)
    for name in PAIRS:
        theirs = _pair(name, NEGATIVE)(case)
        near = pytest.approx(theirs, rel=TOLERANCE, abs=TOLERANCE)
        assert case.ours[f"{name}.{NEGATIVE}"].value == near, name


# -- tables and curves -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_the_confusion_matrix_agrees(kind: str) -> None:
    case = data(kind, 0)
    theirs = case(sk.confusion_matrix, labels=list(case.ours.labels))
    ours = np.array(case.ours.confusion.cells)
    if kind.endswith("weighted"):
        np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE)
    else:
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", BINARY)
def test_the_roc_curve_agrees_at_every_threshold(kind: str) -> None:
    case = data(kind, 0)
    fpr, tpr, thresholds = sk.roc_curve(
        case.is_positive, case.score, sample_weight=case.weight, drop_intermediate=False
    )
    ours = roc(sweep(case.ours.scores[0], points=None))
    np.testing.assert_array_equal(ours["threshold"], thresholds)
    np.testing.assert_allclose(ours["false_positive_rate"], fpr, rtol=TOLERANCE, atol=TOLERANCE)
    np.testing.assert_allclose(ours["recall"], tpr, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("kind", BINARY)
def test_the_precision_recall_curve_agrees_at_every_threshold(kind: str) -> None:
    """scikit-learn's rises from the lowest threshold, and ends at a point without one."""
    case = data(kind, 0)
    precision, recall, thresholds = sk.precision_recall_curve(
        case.is_positive, case.score, sample_weight=case.weight
    )
    ours = precision_recall(sweep(case.ours.scores[0], points=None))
    np.testing.assert_array_equal(ours["threshold"], thresholds[::-1])
    np.testing.assert_allclose(ours["precision"], precision[-2::-1], rtol=TOLERANCE)
    np.testing.assert_allclose(ours["recall"], recall[-2::-1], rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("kind", BINARY)
@pytest.mark.parametrize("max_fpr", [0.01, 0.05, 0.2, 0.5, 0.999])
def test_the_partial_auc_agrees_at_other_limits(kind: str, max_fpr: float) -> None:
    case = data(kind, 1)
    theirs = _scored(sk.roc_auc_score, max_fpr=max_fpr)(case)
    table, up_to = case.ours.scores[0], PARTIAL_AUC.of_scores.up_to
    ours = up_to(max_fpr).value(table)
    assert ours == pytest.approx(theirs, rel=TOLERANCE)
    # Without McClish's correction it is the area itself.
    least = max_fpr**2 / 2
    area = least + (2 * theirs - 1) * (max_fpr - least)
    raw = up_to(max_fpr, corrected=False).value(table)
    assert raw == pytest.approx(area, rel=TOLERANCE, abs=TOLERANCE)


@pytest.mark.parametrize("kind", ["balanced", "imbalanced", "counted"])
def test_the_reliability_diagram_agrees(kind: str) -> None:
    case = data(kind, 0)
    observed, predicted = calibration_curve(case.is_positive, case.score, n_bins=15)
    ours = reliability(case.ours.scores[0])
    np.testing.assert_allclose(ours.observed, observed, rtol=TOLERANCE)
    np.testing.assert_allclose(ours.predicted, predicted, rtol=TOLERANCE)


@pytest.mark.parametrize("kind", ["balanced", "imbalanced", "tied", "counted"])
def test_the_intrusion_detection_capability_is_shared_information_over_entropy(kind: str) -> None:
    """scikit-learn's mutual information takes whole numbers alone."""
    case = data(kind, 1)
    shared = sk.mutual_info_score(case.truth, case.decision)
    to_know = sk.mutual_info_score(case.truth, case.truth)
    assert case.ours["c_id"].value == pytest.approx(shared / to_know, rel=1e-10)


@pytest.mark.parametrize("kind", ["balanced", "imbalanced", "tied", "counted"])
def test_the_farthest_point_is_the_one_sided_statistic_of_kolmogorov_and_smirnov(kind: str) -> None:
    case = data(kind, 1)
    own, other = (case.score[case.is_positive == side] for side in (True, False))
    theirs = stats.ks_2samp(own, other, alternative="less", method="asymp")
    assert case.ours["ks"].value == pytest.approx(theirs.statistic, rel=TOLERANCE)


@pytest.mark.parametrize("kind", BINARY)
def test_the_parts_of_the_brier_score_are_those_of_probabilities_rounded_to_their_bins(
    kind: str,
) -> None:
    """Murphy's parts add up to the score where all rows of a bin have one probability."""
    case = data(kind, 0)
    at = np.searchsorted(np.arange(1, 15) / 15, case.score, side="right")
    weight = np.ones(len(at)) if case.weight is None else case.weight
    sums = [np.bincount(at, weight * x, 15) for x in (1.0, case.score)]
    rounded = (sums[1] / np.maximum(sums[0], 1e-300))[at]
    theirs = sk.brier_score_loss(case.is_positive, rounded, sample_weight=case.weight)
    parts = [case.ours[f"brier_{part}"].value for part in ("reliability", "resolution")]
    uncertainty = case.ours["brier"].parts["uncertainty"]
    assert parts[0] - parts[1] + uncertainty == pytest.approx(theirs, rel=1e-10)


@pytest.mark.parametrize(
    ("kind", "rate"),
    [
        # A low rate asks for as many negatives as can tell it.
        ("many", 0.002),
        *((kind, rate) for kind in BINARY for rate in (0.05, 0.9)),
    ],
)
def test_average_precision_at_a_base_rate_is_that_of_reweighted_classes(
    kind: str, rate: float
) -> None:
    case = data(kind, 0)
    positives, rows = _rows(case)
    by = np.where(case.is_positive, rate / positives, (1 - rate) / (rows - positives))
    weight = by if case.weight is None else by * case.weight
    theirs = sk.average_precision_score(case.is_positive, case.score, sample_weight=weight)
    ours = case.ours.of(AVERAGE_PRECISION, base_rate=rate)
    assert ours.value == pytest.approx(theirs, rel=1e-10)


@pytest.mark.parametrize("kind", BINARY)
@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8])
def test_net_benefit_at_the_odds_of_a_threshold_is_that_of_the_threshold(
    kind: str, threshold: float
) -> None:
    case = data(kind, 0)
    odds = Fraction(repr(threshold))
    ours = counted(
        (NEGATIVE, POSITIVE),
        case.is_positive,
        scores=case.score,
        threshold=threshold,
        weights=case.weight,
        costs=Costs(odds, 1 - odds),
    )
    decision = np.where(case.score >= threshold, POSITIVE, NEGATIVE)
    labels = [NEGATIVE, POSITIVE]
    (tn, fp), (fn, tp) = sk.confusion_matrix(
        case.truth, decision, labels=labels, sample_weight=case.weight
    )
    benefit = (tp - threshold / (1 - threshold) * fp) / (tp + fp + fn + tn)
    assert ours["net_benefit"].value == pytest.approx(benefit, rel=TOLERANCE)


def test_where_scikit_learn_takes_no_weights_they_are_repetitions_too() -> None:
    truth, said = _classes(np.random.default_rng(0))
    weight = np.random.default_rng(0).integers(0, 4, len(truth))
    ours = counted(CLASSES, truth, scores=said, weights=weight)
    often = np.repeat(np.arange(len(weight)), weight)
    theirs = sk.roc_auc_score(truth[often], said[often], multi_class="ovo")
    assert ours.value("roc_auc_ovo") == pytest.approx(theirs, rel=TOLERANCE)
    case = data("balanced", 0)
    weight = np.random.default_rng(1).integers(0, 4, len(case.truth))
    labels = NEGATIVE, POSITIVE
    ours = counted(labels, case.is_positive, scores=case.score, weights=weight)
    often = np.repeat(np.arange(len(weight)), weight)
    repeated = Data(case.truth[often], case.decision[often], case.score[often], None, ours)
    theirs = _calibration_error(repeated)
    assert ours.value("expected_calibration_error") == pytest.approx(theirs, rel=TOLERANCE)


@pytest.mark.parametrize("beta", [0.25, 1, 1.5, 3, 10])
def test_f_beta_agrees_for_any_beta(beta: float) -> None:
    case = data("balanced", 0)
    ours = case.ours.of(catalogue.find("fbeta", beta=beta))
    assert ours.value == pytest.approx(_of_label(sk.fbeta_score, POSITIVE, beta=beta)(case))
