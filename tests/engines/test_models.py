"""Several models on the same rows, counted in lots and at once: the same tables."""

import itertools
from typing import Any

import numpy as np
import pytest

from assay.engines import models
from assay.engines.models import (
    CountedModels,
    LevelCounts,
    ModelCounter,
    ModelRows,
    count_models,
    levels_reached,
)
from assay.sources import FAMILY, code_arrays
from assay.sources.coded import Labels, NameColumn
from assay.sources.files.several_models import ModelLot
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


def rows(*, sliced: bool = False, models: str = "abc") -> ModelRows:
    truth, scores, families = columns()
    slices = {FAMILY: np.array(["x", "y", "z"])[families]} if sliced else None
    coded = {name: code_arrays(truth, y_score=scores[name], slices=slices) for name in models}
    return ModelRows.of(coded, {}, positive=1)


def on_grid(of: ModelRows) -> CountedModels:
    counter = ModelCounter(dict.fromkeys(of.models))
    for each in of.lots():
        counter.add(each)
    return counter.done(lambda _: of.sides).counted({})


def lot(some: slice) -> ModelLot:
    truth, scores, families = columns()
    return ModelLot(
        Labels(truth[some].astype(np.uint8), ("0", "1"), "numbers"),
        {name: score[some] for name, score in scores.items()},
        None,
        NameColumn(families[some], ("x", "y", "z")),
    )


def test_pairs_are_rows_or_cells_of_a_grid() -> None:
    kept, cells = count_models(rows()), on_grid(rows())
    assert isinstance(kept.paired("a", "b"), Sample)
    joint = cells.paired("a", "c")
    assert isinstance(joint, JointScores)
    assert joint.rows == SIZE
    assert (kept.mode, cells.mode) == ("exact", "grid")
    assert kept.decisions == cells.decisions
    for name, tally in cells.tallies.items():
        assert tally.confusion == kept.tallies[name].confusion
        assert tally.scores is not None
        assert kept.tallies[name].scores is not None
        assert tally.scores[0] == kept.tallies[name].scores[0].to_grid(16)


def test_what_all_decided_holds_what_two_did() -> None:
    whole = count_models(rows()).decisions
    assert whole is not None
    two = count_models(rows(models="ac")).decisions
    assert whole.of_models("a", "c") == two


def test_families_add_up_to_the_whole() -> None:
    counted = count_models(rows(sliced=True))
    assert counted.decisions is not None
    x, y, z = (counted.families[name] for name in ("x", "y", "z"))
    assert x + y + z == counted.decisions


def test_two_labels_beside_the_negative_are_families_and_one_is_none() -> None:
    def families(*truth: str) -> NameColumn | None:
        scores = np.linspace(0, 1, len(truth))
        coded = {name: code_arrays(truth, y_score=scores) for name in "ab"}
        return ModelRows.of(coded, {}, negative="normal").families

    name_column = families("normal", "dos", "worm", "dos")
    assert name_column is not None
    assert [name_column.names[code] for code in name_column.codes[1:]] == ["dos", "worm", "dos"]
    assert families("normal", "dos", "dos") is None


def test_one_label_has_no_pairs_to_rank() -> None:
    coded = {name: code_arrays([1, 1], y_score=[0.1, 0.9]) for name in "ab"}
    alike = ModelRows.of(coded, {}, positive=1, labels=[0, 1])
    assert count_models(alike).paired("a", "b") is None
    assert on_grid(alike).paired("a", "b") is None


def test_a_limit_of_pairs_makes_the_grid_coarser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MOST_PAIRS", 300)
    monkeypatch.setattr(models, "LOT", 100)
    joint = on_grid(rows()).paired("a", "b")
    assert isinstance(joint, JointScores)
    assert joint.size <= 300
    assert isinstance(joint.kept, Grid)
    assert joint.kept.bits < 12
    truth, scores, _ = columns()
    two = {name: scores[name] for name in ("a", "b")}
    labels = ("0", "1")
    assert joint == JointScores.of_rows(labels, truth, two).within(300)


def test_decisions_are_as_given_by_the_threshold_or_the_largest_probability() -> None:
    truth = ["a", "b", "c"]
    table = [[0.2, 0.3, 0.5], [0.4, 0.4, 0.2], [0.1, 0.45, 0.45]]
    coded = {
        "said": code_arrays(truth, y_pred=["c", "b", "b"]),
        "ranked": code_arrays(truth, y_proba=table),
    }
    many = ModelRows.of(coded, {}, labels=truth)
    assert many.decisions("said").tolist() == [2, 1, 1]
    assert many.decisions("ranked").tolist() == [2, 0, 1]
    assert many.decisions("ranked", slice(1, 3)).tolist() == [0, 1]
    two = ModelRows.of({"a": code_arrays([1, 0], y_score=[0.5, 0.49])}, {"a": 0.5})
    assert two.decisions("a").tolist() == [1, 0]


@pytest.mark.parametrize("cuts", [[0, SIZE], [0, 1, 400, 401, SIZE]])
def test_lots_in_any_number_give_the_tables_of_all_rows(cuts: list[int]) -> None:
    counter = ModelCounter(dict.fromkeys(("a", "b", "c")))
    for i, j in itertools.pairwise(cuts):
        counter.add(lot(slice(i, j)))
    sided = counter.done(lambda kind: {"positive": 1})
    counted = sided.counted({})
    whole = on_grid(rows(sliced=True))
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
    truth, scores, _ = columns()
    rounded = {
        name: levels[name][np.searchsorted(levels[name], scores[name], side="right") - 1]
        for name in ("a", "c")
    }
    assert joint["a", "c"] == JointScores.of_rows(("0", "1"), truth, rounded, bits=None)
    counted = sided.counted(thresholds, flags)
    assert counted.decisions is not None
    for i, name in enumerate("abc"):
        flagged = scores[name] >= thresholds[name]
        expected = [[int((flagged[truth == y] == f).sum()) for f in (0, 1)] for y in (0, 1)]
        assert [list(row) for row in counted.decisions.confusion(i).cells] == expected
        assert counted.tallies[name].threshold == thresholds[name]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_are_counted_at_the_levels_that_they_reach(kind: Any) -> None:
    levels = {"a": np.array([0.0, 0.1, 0.7]), "b": np.array([-1.0, 0.5])}
    scores = {"a": np.array([0.1, 0.7, 0.69], kind), "b": np.array([0.5, 0.4, 0.6], kind)}
    table = LevelCounts(("0", "1"), levels)
    reached = [levels_reached(levels[name], scores[name]) for name in levels]
    table.add(np.array([0, 1, 0]), reached, None)
    table.add(np.array([0, 1, 0]), reached, np.array([2, 0, 4]))
    truth, rounded, counts = table.rows()
    rows = zip(truth, rounded["a"], rounded["b"], counts, strict=True)
    # The float32 of 0.1 lies above 0.1, that of 0.7 below 0.7.
    second = 0.1 if kind is np.float32 else 0.7
    assert sorted(rows) == [(0, 0.1, 0.5, 8), (1, second, -1.0, 1)]


def test_rows_of_count_zero_are_not_there() -> None:
    truth, scores, _ = columns()
    counts = np.arange(SIZE) % 2
    labels = Labels(truth.astype(np.uint8), ("0", "1"), "numbers")
    counter, fewer = (ModelCounter({"a": None, "b": None}) for _ in range(2))
    two = {name: scores[name] for name in ("a", "b")}
    counter.add(ModelLot(labels, two, counts))
    fewer.add(ModelLot(labels, two).where(counts > 0))
    tally, expected = (each.done(lambda kind: {"positive": 1}) for each in (counter, fewer))
    assert tally.counted({}).decisions == expected.counted({}).decisions
    assert tally.counted({}).paired("a", "b") == expected.counted({}).paired("a", "b")
    assert any("count or weight of 0" in note for note in tally.notes)
