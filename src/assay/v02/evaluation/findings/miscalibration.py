"""E011: probabilities that do not mean what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.probabilities import scores_of
from assay.v02.measures import EXPECTED_CALIBRATION_ERROR, reliability
from assay.v02.measures.calibration import BINS
from assay.v02.number_text import rate

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation
    from assay.v02.tally import Sample

Floats: TypeAlias = npt.NDArray[np.float64]

# How seldom a calibrated model may be accused.
RARE = 0.01
DRAWS = 2000
SEED = 42
# Beyond chance, an error of one point changes no decision; where a class is rare, a tenth of it.
LEAST_EXCESS = 0.01
SHARE_OF_RARER = 0.1


def look(evaluation: Evaluation) -> str | None:
    """An expected calibration error beyond that of 99% of calibrated models of this size.

    Their errors are drawn: for each bin a binomial count with the bin's mean probability, or with
    clusters a normal one with the spread between clusters. The excess over what they average has to
    be more than 0.01 too, or than a tenth of the share of the rarer class.

    >>> import assay
    >>> evaluation = assay.evaluate([0, 0, 1, 0, 1] * 200, y_score=[0.1, 0.7, 0.8, 0.2, 0.9] * 200)
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    The expected calibration error is 0.26; a calibrated model of this size shows 0.0209 on
    average and stays below 0.041 in 99 of 100 test sets. Calibrate on other rows before reading
    scores as probabilities.
    """
    tally = evaluation.tally
    if evaluation.positive is None or tally.kind != "probability":
        return None
    error = evaluation[EXPECTED_CALIBRATION_ERROR]
    # As little as it can be, where scores are kept as a grid.
    lowest_error = float(error) if error.bound is None else error.bound[0]
    usual = error.parts.get("if_calibrated", np.nan)
    share = float(min(evaluation.confusion.rows)) / float(evaluation.confusion.total)
    if not lowest_error - usual > min(LEAST_EXCESS, SHARE_OF_RARER * share):
        return None
    errors = _if_calibrated(evaluation)
    if errors is None or np.mean(errors >= lowest_error) > RARE:
        return None
    return (
        f"The expected calibration error is {rate(error)}; a calibrated model of this size shows "
        f"{rate(usual)} on average and stays below {rate(float(np.quantile(errors, 1 - RARE)))} in "
        f"{100 * (1 - RARE):g} of 100 test sets. Calibrate on other rows before reading scores as "
        f"probabilities."
    )


def _if_calibrated(evaluation: Evaluation) -> Floats | None:
    """Errors that a calibrated model would show; None where the spread can't be told."""
    tally = evaluation.tally
    generator = np.random.default_rng(SEED)
    if tally.clusters is not None:
        if tally.sample is None or len(tally.sample.clusters) < 2:
            return None
        return _between_clusters(tally.sample, generator)
    bins = reliability(scores_of(tally)[0])
    trials = np.maximum(np.rint(bins.n), 1).astype(np.int64)
    chances = np.clip(bins.predicted, 0, 1)
    drawn = generator.binomial(trials, chances, (DRAWS, len(trials))) / trials
    gaps: Floats = np.abs(drawn - chances)
    return np.asarray((gaps * bins.weight).sum(axis=1) / bins.weight.sum())


def _between_clusters(sample: Sample, generator: np.random.Generator) -> Floats:
    """The same where rows come in clusters: sums of residuals, normal with their own spread."""
    probability = sample.scores[:, 0]
    place = np.searchsorted(np.arange(1, BINS) / BINS, probability, side="right")
    residual = (sample.truth - probability) * sample.counts
    size = len(sample.clusters)
    sums = np.bincount(sample.cluster * BINS + place, residual, minlength=size * BINS)
    sums = sums.reshape(size, BINS)
    spread, axes = np.linalg.eigh(sums.T @ sums * size / (size - 1))
    scale = axes * np.sqrt(np.maximum(spread, 0))
    drawn = generator.standard_normal((DRAWS, BINS)) @ scale.T
    return np.asarray(np.abs(drawn).sum(axis=1) / sample.counts.sum())


CHECK = FindingCheck(
    code="E011",
    severity="warning",
    title="miscalibration",
    why="Of rows with a probability of 0.8, eight in ten should be positive. Where that does not "
    "hold, expected costs and thresholds that are read as probabilities are wrong; the ranking is "
    "not touched.",
    remedy="Calibrate (isotonic regression, Platt scaling) on rows that are neither trained nor "
    "tested on, or read the scores as scores only.",
    look=look,
    unless=("E001", "E002", "E003", "E014"),
)
