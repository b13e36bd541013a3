"""Measures of probabilities: mean losses, and whether a probability means what it says."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts import Confusion
from assay.counts.losses import SMALLEST_PROBABILITY
from assay.measures.calibration import (
    BinRanges,
    calibration_intercept_in_blocks,
    calibration_intercept_influence,
    calibration_slope_in_blocks,
    calibration_slope_influence,
    certain,
    resolution_in_blocks,
    resolution_influence,
)
from assay.measures.measure import (
    HIGHER,
    LOWER,
    NEITHER,
    Definition,
    Law,
    Measure,
)
from assay.measures.roc_points import LOPSIDED
from assay.measures.scores import Binned, MeanLoss, Ranked

Floats: TypeAlias = npt.NDArray[np.float64]

GROUP = "probability"


def _log_loss(probability: Floats, truth: Any) -> Floats:
    given = np.where(np.equal(truth, 1), probability, 1 - probability)
    return np.asarray(-np.log(np.maximum(given, SMALLEST_PROBABILITY)))


def _squared_distance(probability: Floats, truth: Any) -> Floats:
    return np.asarray((probability - truth) ** 2)


def _log_loss_of_classes(probabilities: Floats, truth: Any) -> Floats:
    return _log_loss(_probability_of_truth(probabilities, truth), 1)


def _squared_distance_of_classes(probabilities: Floats, truth: Any) -> Floats:
    # The square of what the true class lacks takes the place of that of what it was given.
    given = _probability_of_truth(probabilities, truth)
    squares = np.square(probabilities).sum(axis=1) - given**2 + (1 - given) ** 2
    return np.asarray(squares / 2)


def _probability_of_truth(probabilities: Floats, truth: Any) -> Floats:
    """The probability that each row gave to its true label."""
    return np.asarray(probabilities[np.arange(len(truth)), truth])


def _beside_brier(confusion: Confusion) -> dict[str, float]:
    """Murphy's uncertainty: the score of always saying how frequent each class is."""
    total = float(confusion.total)
    return {"uncertainty": (1 - math.fsum((float(n) / total) ** 2 for n in confusion.rows)) / 2}


def _beside_log_loss(confusion: Confusion) -> dict[str, float]:
    """A coin's, and that of always saying how frequent each class is."""
    total = float(confusion.total)
    shares = [float(rows) / total for rows in confusion.rows if rows]
    entropy = -math.fsum(share * math.log(share) for share in shares)
    return {"ln 2": math.log(2), "prevalence entropy": entropy}


LOG_LOSS = Measure(
    name="log_loss",
    group=GROUP,
    aliases=("cross_entropy",),
    headings=("cross entropy loss",),
    better=LOWER,
    range=(0, math.inf),
    of_scores=MeanLoss(
        loss=_log_loss,
        largest=-math.log(SMALLEST_PROBABILITY),
        of_classes=_log_loss_of_classes,
        sums=lambda losses: losses.log_loss,
        beside=_beside_log_loss,
        clipped=lambda losses: losses.clipped,
        invariant_under=(Law.CLASS_SWAP,),
    ),
    definition=Definition(
        "mean of -ln p_i",
        r"-\frac{1}{n} \sum_i \ln p_i",
        "p is the probability that was given to the true label.",
    ),
    reads="The mean of -ln of the probability given to what was true; ln 2 = 0.693 is a coin.",
    misleads="One confident mistake can outweigh thousands of good rows, and its size depends on "
    "where probabilities are clipped (here at 2^-52).",
    reference="Good 1952",
)

BRIER = Measure(
    name="brier",
    title="Brier score",
    group=GROUP,
    aliases=("brier_score",),
    better=LOWER,
    range=(0, 1),
    averaged=False,
    of_scores=MeanLoss(
        loss=_squared_distance,
        largest=1.0,
        of_classes=_squared_distance_of_classes,
        sums=lambda losses: losses.brier,
        beside=_beside_brier,
        invariant_under=(Law.CLASS_SWAP,),
    ),
    definition=Definition(
        "mean of (p_i - y_i)^2",
        r"\frac{1}{n} \sum_i \left( p_i - y_i \right)^2",
        "p is the probability of the positive, y is 1 for positives and 0 for others. For K "
        "classes the squares are added over the classes and halved.",
    ),
    reads="The mean squared distance of the probability from what happened; always saying 0.5 "
    "scores 0.25.",
    misleads="Where attacks are rare, always saying the prevalence looks good.",
    reference="Brier 1950",
)

EXPECTED_CALIBRATION_ERROR = Measure(
    name="expected_calibration_error",
    short="ECE",
    group=GROUP,
    aliases=("ece",),
    better=LOWER,
    range=(0, 1),
    averaged=False,
    of_scores=Binned(
        value=lambda bins: bins.expected_calibration_error,
        if_calibrated=lambda bins: bins.if_calibrated,
        bound=BinRanges.calibration_error,
        invariant_under=(Law.CLASS_SWAP,),
    ),
    definition=Definition(
        "sum over bins b of n_b / n |mean p - mean y|",
        r"\sum_b \frac{n_b}{n} \left\vert \overline{p}_b - \overline{y}_b \right\vert",
        "The bins b are 15 of equal width; means are over a bin.",
    ),
    reads="How far predicted probability and observed share lie apart, averaged over 15 bins.",
    misleads="A perfectly calibrated model does not score 0 on a finite test set: compare it with "
    "what one of this size would show.",
    reference="Naeini et al. 2015",
)

# -- Murphy's parts of the Brier score -------------------------------------------------------------

_BINS = "The bins b are 15 of equal width; n_b rows of the bin have the mean probability p_b and "
_PARTS = "the share y_b of positives, y is that share of all rows."

BRIER_RELIABILITY = Measure(
    name="brier_reliability",
    title="reliability of the Brier score",
    group=GROUP,
    better=LOWER,
    range=(0, 1),
    averaged=False,
    of_scores=Binned(
        value=lambda bins: bins.squared_gap,
        if_calibrated=lambda bins: bins.squared_gap_if_calibrated,
        bound=BinRanges.squared_gap,
        invariant_under=(Law.CLASS_SWAP,),
    ),
    definition=Definition(
        "sum over bins b of n_b / n (p_b - y_b)^2",
        r"\sum_b \frac{n_b}{n} \left( p_b - y_b \right)^2",
        _BINS + _PARTS,
    ),
    reads="The part of the Brier score that recalibration could take away: the mean squared "
    "distance of what was said from what happened.",
    misleads="A perfectly calibrated model does not score 0 on a finite test set: compare it with "
    "what one of this size would show.",
    reference="Murphy 1973",
)

BRIER_RESOLUTION = Measure(
    name="brier_resolution",
    title="resolution of the Brier score",
    group=GROUP,
    better=HIGHER,
    range=(0, 0.25),
    averaged=False,
    of_scores=Ranked(
        influence=resolution_influence,
        in_blocks=resolution_in_blocks,
        probabilities=True,
        bound=lambda table: BinRanges.of(table).resolution(),
        invariant_under=(Law.CLASS_SWAP,),
    ),
    definition=Definition(
        "sum over bins b of n_b / n (y_b - y)^2",
        r"\sum_b \frac{n_b}{n} \left( y_b - y \right)^2",
        _BINS + _PARTS,
    ),
    reads="The part of the uncertainty that the probabilities take away: how far the shares of "
    "attacks in the bins differ.",
    misleads="Bins of few rows differ by chance, which looks like resolution; and all below a "
    "fifteenth is one bin, which is where rare attacks are told apart.",
    reference="Murphy 1973",
)

# -- a line through the log odds -------------------------------------------------------------------

_PARTED = "the scores part the classes, or are all alike, so no slope fits best"

CALIBRATION_SLOPE = Measure(
    name="calibration_slope",
    group=GROUP,
    better=NEITHER,
    range=(-math.inf, math.inf),
    averaged=False,
    of_scores=Ranked(
        influence=calibration_slope_influence,
        in_blocks=calibration_slope_in_blocks,
        probabilities=True,
        undefined=_PARTED,
        clipped=certain,
        invariant_under=(Law.CLASS_SWAP,),
    ),
    definition=Definition(
        "b in ln odds(y) = a + b ln odds(p), fitted by maximum likelihood",
        r"b \;\mbox{in}\; \ln \frac{P(y)}{1 - P(y)} = a + b \ln \frac{p}{1 - p}",
        "p is the probability that was said, y what was true; a and b are fitted by maximum "
        "likelihood.",
    ),
    reads="1 where probabilities are as extreme as they should be; below 1 they are too extreme, "
    "as of a model that learned its training rows by heart, above 1 not extreme enough.",
    misleads="A few rows of probability 0 or 1 that turned out otherwise decide it; such are read "
    "as 2^-52 and counted.",
    reference="Cox 1958; Van Calster et al. 2016",
)

CALIBRATION_INTERCEPT = Measure(
    name="calibration_intercept",
    title="calibration intercept (in the large)",
    short="calibration intercept",
    group=GROUP,
    aliases=("calibration_in_the_large",),
    better=NEITHER,
    range=(-math.inf, math.inf),
    averaged=False,
    of_scores=Ranked(
        influence=calibration_intercept_influence,
        in_blocks=calibration_intercept_in_blocks,
        probabilities=True,
        undefined=LOPSIDED,
        clipped=certain,
        invariant_under=(),
    ),
    definition=Definition(
        "a in ln odds(y) = a + ln odds(p), fitted by maximum likelihood",
        r"a \;\mbox{in}\; \ln \frac{P(y)}{1 - P(y)} = a + \ln \frac{p}{1 - p}",
        "p is the probability that was said, y what was true; a is fitted by maximum likelihood, "
        "the slope is held at 1.",
    ),
    reads="0 where as many rows turn out positive as the probabilities promise; below 0 they "
    "promise too many, above 0 too few.",
    misleads="It says nothing of single rows: always saying the prevalence has an intercept of 0. "
    "The intercept of the line whose slope is fitted too is another number.",
    reference="Cox 1958; Van Calster et al. 2016",
)

PROBABILITIES = (
    LOG_LOSS,
    BRIER,
    BRIER_RELIABILITY,
    BRIER_RESOLUTION,
    EXPECTED_CALIBRATION_ERROR,
    CALIBRATION_SLOPE,
    CALIBRATION_INTERCEPT,
)
