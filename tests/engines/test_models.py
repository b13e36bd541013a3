"""Several models on the same rows, counted in lots and at once: the same tables."""

import itertools

import numpy as np
import pytest

from assay.engines import models
from assay.engines.model_counter import ModelCounter
from assay.engines.models import count_models, count_models_on_grid, joint_at, joint_scores
from assay.sources import FAMILY, Batch, from_arrays
from assay.sources.batch import Labels, Named
from assay.sources.files.model_lots import ModelLot
from assay.tally import JointScores, Sample
from assay.tally.keeping import Grid

SIZE = 900


def columns(size: int = SIZE) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    generator = np.random.default_rng(8)
    truth = generator.integers(0, 2, size)
    scores = {
        name: np.clip(0.3 * truth + generator.random(size) * 0.7, 0, 1) for name in ("a", "b", "c")
    }
    return truth, scores, generator.integers(0, 3, size)


def batches(**more) -> dict[str, Batch]:
    truth, scores, families = columns()
    sliced = (
        {"slices": {FAMILY: np.array(["x", "y", "z"])[families]}} if more.pop("sliced", 0) else {}
    )
    return {
        name: from_arrays(truth, y_score=score, positive=1, **sliced, **more)
        for name, score in scores.items()
    }


def lot(some: slice) -> ModelLot:
    truth, scores, families = columns()
    return ModelLot(
        Labels(truth[some].astype(np.uint8), ("0", "1"), "numbers"),
        {name: score[some] for name, score in scores.items()},
        None,
        Named(families[some], ("x", "y", "z")),
    )


def test_pairs_are_rows_or_cells_of_a_grid() -> None:
    kept, cells = count_models(batches()), count_models_on_grid(batches())
    assert isinstance(kept.paired("a", "b"), Sample)
    joint = cells.paired("a", "c")
    assert isinstance(joint, JointScores)
    assert joint.rows == SIZE
    assert (kept.mode, cells.mode) == ("exact", "grid")
    assert kept.decisions == cells.decisions
    for name, tally in cells.tallies.items():
        assert tally.confusion == kept.tallies[name].confusion
        assert tally.losses == kept.tallies[name].losses
        assert tally.scores is not None
        assert kept.tallies[name].scores is not None
        assert tally.scores[0] == kept.tallies[name].scores[0].to_grid(16)


def test_what_all_decided_holds_what_two_did() -> None:
    whole = count_models(batches()).decisions
    assert whole is not None
    two = count_models({name: batches()[name] for name in ("a", "c")}).decisions
    assert whole.of_models("a", "c") == two


def test_families_add_up_to_the_whole() -> None:
    counted = count_models(batches(sliced=True))
    assert counted.decisions is not None
    x, y, z = (counted.families[name] for name in ("x", "y", "z"))
    assert x + y + z == counted.decisions


def test_one_label_has_no_pairs_to_rank() -> None:
    alike = {
        name: from_arrays([1, 1], y_score=[0.1, 0.9], positive=1, labels=[0, 1]) for name in "ab"
    }
    assert joint_scores(alike, "a", "b") is None
    assert count_models(alike).paired("a", "b") is None


def test_a_limit_of_pairs_makes_the_grid_coarser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MOST_PAIRS", 300)
    monkeypatch.setattr(models, "_ROWS", 100)
    joint = joint_scores(batches(), "a", "b")
    assert joint is not None
    assert joint.size <= 300
    assert isinstance(joint.kept, Grid)
    assert joint.kept.bits < 12
    truth, scores, _ = columns()
    two = {name: scores[name] for name in ("a", "b")}
    labels = ("0", "1")
    assert joint == JointScores.of_rows(labels, truth, two).within(300)


def test_scores_are_rounded_down_to_levels() -> None:
    levels = {"a": np.array([0.0, 0.4, 0.8]), "b": np.array([0.0, 0.5])}
    joint = joint_at(batches(), "a", "b", levels)
    truth, scores, _ = columns()
    rounded = {
        name: steps[np.searchsorted(steps, scores[name], side="right") - 1]
        for name, steps in levels.items()
    }
    assert joint == JointScores.of_rows(("0", "1"), truth, rounded, bits=None)


@pytest.mark.parametrize("cuts", [[0, SIZE], [0, 1, 400, 401, SIZE]])
def test_lots_in_any_number_give_the_tables_of_all_rows(cuts: list[int]) -> None:
    counter = ModelCounter(dict.fromkeys(("a", "b", "c")))
    for i, j in itertools.pairwise(cuts):
        counter.add(lot(slice(i, j)))
    sided = counter.done(lambda kind: {"positive": 1})
    counted = sided.counted({})
    whole = count_models_on_grid(batches(sliced=True))
    assert counted.decisions == whole.decisions
    assert counted.families == whole.families
    assert counted.paired("b", "c") == whole.paired("b", "c")
    for name, tally in counted.tallies.items():
        assert tally.scores == whole.tallies[name].scores
        assert tally.confusion == whole.tallies[name].confusion


def test_flags_at_chosen_thresholds_are_those_of_the_rows() -> None:
    counter = ModelCounter(dict.fromkeys(("a", "b", "c")))
    counter.add(lot(slice(None)))
    sided = counter.done(lambda kind: {"positive": 1})
    levels = {name: np.array([0.0, 0.25, 0.75]) for name in ("a", "b", "c")}
    thresholds = {"a": 0.75, "b": 0.25, "c": np.inf}
    lots = (lot(slice(i, i + 300)) for i in range(0, SIZE, 300))
    joint, flags = sided.joint_at(lots, levels, thresholds)
    assert joint["a", "c"] == joint_at(batches(), "a", "c", levels)
    counted = sided.counted(thresholds, flags)
    truth, scores, _ = columns()
    assert counted.decisions is not None
    for i, name in enumerate("abc"):
        flagged = scores[name] >= thresholds[name]
        expected = [[int((flagged[truth == y] == f).sum()) for f in (0, 1)] for y in (0, 1)]
        assert [list(row) for row in counted.decisions.confusion(i).cells] == expected
        assert counted.tallies[name].threshold == thresholds[name]


def test_rows_of_count_zero_are_not_there() -> None:
    truth, scores, _ = columns()
    counts = np.arange(SIZE) % 2
    labels = Labels(truth.astype(np.uint8), ("0", "1"), "numbers")
    counter, fewer = (ModelCounter({"a": None, "b": None}) for _ in range(2))
    two = {name: scores[name] for name in ("a", "b")}
    counter.add(ModelLot(labels, two, counts))
    fewer.add(ModelLot(labels, two).where(counts > 0))
    found, expected = (each.done(lambda kind: {"positive": 1}) for each in (counter, fewer))
    assert found.counted({}).decisions == expected.counted({}).decisions
    assert found.counted({}).paired("a", "b") == expected.counted({}).paired("a", "b")
    assert any("count or weight of 0" in note for note in found.notes)
