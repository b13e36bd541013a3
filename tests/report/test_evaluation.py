"""What a page needs to move a threshold, from an evaluation."""

import numpy as np
import pytest

from assay import Evaluation
from assay.evaluation.entries import DEFAULT_BASE_RATES
from assay.measures import CATALOGUE
from assay.measures.catalogue import MOVING
from assay.report.evaluation import panel_of
from assay.report.headline import USUAL_BASE_RATE
from assay.report.sections import Panel

from .cases import CASES, evaluation

BINARY = [name for name in CASES if evaluation(name).positive is not None]
WHOLE = [name for name in BINARY if evaluation(name).unlabelled is None]
DECIDED = [name for name in WHOLE if evaluation(name).decided]


def made(name: str) -> Panel:
    panel = panel_of(evaluation(name).snapshot())
    assert panel is not None
    return panel


@pytest.mark.parametrize("name", CASES)
def test_there_is_a_panel_for_two_classes_that_were_labelled(name: str) -> None:
    assert (panel_of(evaluation(name).snapshot()) is not None) == (name in WHOLE)


@pytest.mark.parametrize("name", DECIDED)
def test_decided_cells_are_those_of_the_confusion_matrix(name: str) -> None:
    panel = made(name)
    tp, fp, fn, tn = panel.decided
    assert evaluation(name).confusion.cells == ((tn, fp), (fn, tp))
    assert (panel.negatives, panel.positives) == evaluation(name).confusion.rows


@pytest.mark.parametrize("name", DECIDED)
def test_every_count_measure_is_there_once_with_its_estimate(name: str) -> None:
    panel = made(name)
    names = [measure.name for measure in panel.measures]
    assert sorted(names) == sorted(m.name for m in CATALOGUE if m.formula is not None)
    assert tuple(names[: len(MOVING)]) == MOVING
    assert list(panel.shown_at) == names
    for measure, estimate in panel.shown_at.items():
        assert estimate is evaluation(name)[measure] or estimate == pytest.approx(
            float(evaluation(name)[measure]), nan_ok=True
        )


@pytest.mark.parametrize("name", [name for name in WHOLE if evaluation(name).tally.scores])
def test_table_falls_from_nothing_to_everything(name: str) -> None:
    panel = made(name)
    thresholds, tp, fp = (panel.sweep[key] for key in ("threshold", "tp", "fp"))
    assert (thresholds[0], tp[0], fp[0]) == (None, 0, 0)
    assert (np.diff(np.array(thresholds[1:], float)) < 0).all()
    assert tp[-1] == pytest.approx(panel.positives)
    assert fp[-1] == pytest.approx(panel.negatives)
    assert (np.diff(np.array(tp, float)) >= 0).all()
    assert all(isinstance(count, int) for count in tp) != panel.weighted


@pytest.mark.parametrize("name", [name for name in WHOLE if evaluation(name).tally.threshold])
def test_table_holds_a_point_that_decides_like_the_report(name: str) -> None:
    panel = made(name)
    assert panel.threshold is not None
    flagged = [t is None or t >= panel.threshold for t in panel.sweep["threshold"]]
    last = max(i for i, is_flagged in enumerate(flagged) if is_flagged)
    assert panel.sweep["tp"][last] == pytest.approx(panel.decided[0])
    assert panel.sweep["fp"][last] == pytest.approx(panel.decided[1])


def test_decisions_alone_have_an_empty_table() -> None:
    panel = made("counts")
    assert panel.threshold is None
    assert set(panel.sweep.values()) == {()}
    assert panel.reliability is None


def test_probabilities_have_a_reliability_and_bare_scores_have_none() -> None:
    assert made("bare_scores").reliability is None
    reliability = made("binary").reliability
    assert reliability is not None
    assert sum(reliability["n"]) == evaluation("binary").confusion.total


def test_base_rates_are_those_that_were_asked_for_with_their_estimates() -> None:
    panel = made("binary")
    assert panel.base_rates == (0.001, 0.01)
    assert panel.volume == 1_000_000
    for rate in panel.base_rates:
        there = evaluation("binary").at(rate)
        for name in ("precision", "f1", "alerts_per_day"):
            assert float(panel.deployed[rate][name]) == float(there[name])


def test_usual_base_rates_start_with_that_of_the_sentences() -> None:
    panel = made("counts")
    assert panel.base_rates[0] == USUAL_BASE_RATE
    assert sorted(panel.base_rates) == sorted(DEFAULT_BASE_RATES)
    assert set(panel.deployed) == set(DEFAULT_BASE_RATES)


def test_a_panel_says_what_binomial_intervals_would_be_wrong_for() -> None:
    def flags(name: str) -> tuple[bool, bool]:
        return made(name).weighted, made(name).clustered

    assert flags("binary") == (False, False)
    assert flags("weighted") == (True, False)
    assert flags("clustered") == (False, True)


def test_level_is_that_of_the_evaluation() -> None:
    assessment: Evaluation = evaluation("level")
    assert made("level").level == assessment.level == 0.9
