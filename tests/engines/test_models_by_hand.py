"""Two models on a few rows, each table written down by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay.engines import Ask, count_coded, models
from assay.engines.models import (
    CountedModels,
    Flags,
    ModelCounter,
    ModelRows,
    SidedModels,
    count_models,
)
from assay.errors import ScoreError
from assay.sources import FAMILY, code_arrays
from assay.sources.coded import Labels, NameColumn
from assay.sources.files.several_models import ModelLot
from assay.sources.labelling import Labelling
from assay.tally import JointScores, PairTally
from assay.tally.keeping import Grid

TRUTH = ["normal", "dos", "worm", "dos", "normal"]
A, B = [0.5, 0.5, 0.2, 0.9, 0.1], [0.4, 0.6, 0.7, 0.5, 0.3]


def rows(truth: Any = TRUTH, /, thresholds: Any = None, **sides: Any) -> ModelRows:
    coded = {"a": code_arrays(truth, y_score=A), "b": code_arrays(truth, y_score=B)}
    return ModelRows.of(coded, thresholds or {}, **sides)


def cells(table: PairTally | None) -> dict[tuple[int, ...], int]:
    """How many rows have each label and decisions of the models."""
    assert table is not None
    codes = map(tuple, table.codes.tolist())
    return dict(zip(codes, table.counts.tolist(), strict=True))


def lot(truth: list[str], *more: Any, names: tuple[str, ...], **options: Any) -> ModelLot:
    codes = np.array([names.index(name) for name in truth], np.uint8)
    scores = {"a": np.array(A), "b": np.array(B)}
    return ModelLot(Labels(codes, names, "text"), scores, *more, **options)


NAMES = ("dos", "normal", "worm")
WHOLE = {(0, 0, 0): 1, (0, 1, 0): 1, (1, 0, 1): 1, (1, 1, 1): 2}


# -- rows that are kept ----------------------------------------------------------------------------


def test_decisions_of_two_models_on_the_same_rows() -> None:
    counted = count_models(rows(negative="normal"))
    assert counted.decisions is not None
    assert counted.decisions.labels == ("normal", "not normal")
    assert cells(counted.decisions) == WHOLE
    assert {name: cells(table) for name, table in counted.families.items()} == {
        "normal": {(0, 0, 0): 1, (0, 1, 0): 1},
        "dos": {(1, 1, 1): 2},
        "worm": {(1, 0, 1): 1},
    }
    assert (counted.mode, dict(counted.undecided)) == ("exact", {})
    assert counted.first.slices == {}


def test_one_label_beside_the_negative_or_a_positive_has_no_families() -> None:
    two = ["normal", "dos", "dos", "dos", "normal"]
    assert rows(two, negative="normal").families is None
    assert rows(positive="dos").families is None
    assert count_models(rows(positive="dos")).families == {}


def test_thresholds_decide() -> None:
    counted = count_models(rows(thresholds={"a": 0.2, "b": 0.7}, negative="normal"))
    assert cells(counted.decisions) == {(0, 0, 0): 1, (0, 1, 0): 1, (1, 1, 0): 2, (1, 1, 1): 1}
    assert [tally.threshold for tally in counted.tallies.values()] == [0.2, 0.7]


def test_notes_are_those_on_any_model() -> None:
    coded = {
        "first": code_arrays(["attack", "normal"], y_score=[0.9, 0.1]),
        "second": code_arrays(["attack", "normal"], y_score=[9.0, 1.0]),
    }
    counted = count_models(ModelRows.of(coded, {}))
    assert len(counted.notes) == 2
    assert counted.decisions is None
    assert dict(counted.undecided) == {"second": (1.0, 9.0)}
    turned = count_models(ModelRows.of(dict(reversed(coded.items())), {}))
    assert turned.notes == counted.notes


def test_scores_rank_for_one_label() -> None:
    with pytest.raises(ScoreError, match="a score ranks rows for one positive label"):
        rows()


def test_a_score_that_is_no_number_is_refused() -> None:
    coded = code_arrays(TRUTH, y_score=A)
    odd = replace(coded, score=np.array([0.5, np.nan, 0.2, 0.9, 0.1]))
    with pytest.raises(ScoreError):
        ModelRows.of({"a": coded, "b": odd}, {}, negative="normal")


TABLE = {
    "dos": [0.25, 0.5, 0.25, 0.5, 0.0],
    "normal": [0.5, 0.25, 0.25, 0.0, 0.75],
    "worm": [0.25, 0.25, 0.5, 0.5, 0.25],
}


@pytest.mark.parametrize("at", [{"a": 0.5}, {"a": None, "b": 0.5}])
def test_of_several_classes_no_threshold_decides(at: dict[str, float | None]) -> None:
    coded = {name: code_arrays(TRUTH, y_proba=TABLE) for name in "ab"}
    with pytest.raises(ScoreError, match="decides on one positive label"):
        ModelRows.of(coded, at)
    several = ModelRows.of(coded, {"a": None, "b": None})
    assert several.decisions("a").tolist() == [1, 0, 2, 0, 1]


def test_probabilities_of_positive_labels_are_one_score() -> None:
    coded = {name: code_arrays(TRUTH, y_proba=TABLE) for name in "ab"}
    against = ModelRows.of(coded, {}, negative="normal").scores("a")
    assert against is not None
    assert against.tolist() == [0.5, 0.75, 0.75, 1.0, 0.25]
    alone = ModelRows.of(coded, {}, positive="worm").scores("b")
    assert alone is not None
    assert alone.tolist() == TABLE["worm"]


def test_decisions_have_no_pairs_of_scores() -> None:
    said = ["normal", "dos", "normal", "dos", "dos"]
    two = ["normal", "dos", "dos", "dos", "normal"]
    coded = {name: code_arrays(two, y_pred=said) for name in "ab"}
    counted = count_models(ModelRows.of(coded, {}, negative="normal"))
    assert counted.paired("a", "b") is None
    assert cells(counted.decisions) == {(0, 0, 0): 1, (0, 1, 1): 1, (1, 0, 0): 1, (1, 1, 1): 2}


def test_a_sample_has_clusters_and_counts() -> None:
    more = {"clusters": ["g", "h", "g", "h", "g"], "counts": [1, 2, 3, 4, 5]}
    coded = {n: code_arrays(TRUTH, y_score=s, **more) for n, s in (("a", A), ("b", B))}
    sample = ModelRows.of(coded, {}, negative="normal").sample("a", "b")
    assert sample is not None
    assert sample.clusters == ("g", "h")
    kept = zip(
        sample.scores[:, 0].tolist(), sample.scores[:, 1].tolist(), sample.counts.tolist(),
        sample.cluster.tolist(), sample.truth.tolist(), strict=True,
    )  # fmt: skip
    assert sorted(kept) == [
        (0.1, 0.3, 5, 0, 0),
        (0.2, 0.7, 3, 0, 1),
        (0.5, 0.4, 1, 0, 0),
        (0.5, 0.6, 2, 1, 1),
        (0.9, 0.5, 4, 1, 1),
    ]


def test_rows_of_count_zero_are_told_with_the_first_lot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "LOT", 2)
    counts = [1, 0, 2, 0, 1, 3]
    families = np.array(["x", "y", "x", "y", "y", "x"])
    coded = {
        name: code_arrays(
            ["attack", "normal"] * 3, y_score=[0.1] * 6, counts=counts, slices={FAMILY: families}
        )
        for name in "ab"
    }
    lots = list(ModelRows.of(coded, {}).lots())
    assert [each.empty for each in lots] == [2, 0]
    assert [each.counts.tolist() for each in lots if each.counts is not None] == [[1, 2], [1, 3]]
    told = [(each.families.names, each.families.codes.tolist()) for each in lots if each.families]
    assert [[names[code] for code in codes] for names, codes in told] == [["x", "x"], ["y", "x"]]
    assert [list(each.scores) for each in lots] == [["a", "b"], ["a", "b"]]


# -- flags -----------------------------------------------------------------------------------------

SIDES = Labelling(("normal", "alarm"), "alarm", {"normal": 0, "dos": 1, "worm": 1})


def test_flags_of_labels_and_families() -> None:
    flags = Flags({"a": 0.5, "b": 0.5})
    families = NameColumn(np.array([2, 0, 1, 1, 2]), ("x", "y", "z"))
    flags.add(lot(TRUTH, np.array([1, 2, 3, 4, 5]), families, names=NAMES))
    assert dict(flags.counts) == {
        ("normal", "z", (1, 0)): 1,
        ("dos", "x", (1, 1)): 2,
        ("worm", "y", (0, 1)): 3,
        ("dos", "y", (1, 1)): 4,
        ("normal", "z", (0, 0)): 5,
    }
    tables = flags.tables(SIDES, one_negative=True)
    assert cells(tables.whole) == {(0, 0, 0): 5, (0, 1, 0): 1, (1, 0, 1): 3, (1, 1, 1): 6}
    assert {name: cells(table) for name, table in tables.families.items()} == {
        "x": {(1, 1, 1): 2},
        "y": {(1, 0, 1): 3, (1, 1, 1): 4},
        "z": {(0, 0, 0): 5, (0, 1, 0): 1},
    }


def test_labels_are_families_beside_one_negative() -> None:
    flags = Flags({"a": 0.5, "b": 0.5})
    flags.add(lot(TRUTH, names=NAMES))
    flags.add(lot(["dos"] * 5, names=("dos",)))
    assert flags.counts["dos", None, (1, 1)] == 4
    tables = flags.tables(SIDES, one_negative=True)
    assert {name: cells(table) for name, table in tables.families.items()} == {
        "dos": {(1, 0, 0): 1, (1, 0, 1): 1, (1, 1, 0): 1, (1, 1, 1): 4},
        "normal": {(0, 0, 0): 1, (0, 1, 0): 1},
        "worm": {(1, 0, 1): 1},
    }
    assert flags.tables(SIDES, one_negative=False).families == {}
    two = Labelling(("normal", "dos"), "dos", {"normal": 0, "dos": 1})
    few = Flags({"a": 0.5, "b": 0.5})
    few.add(lot(["normal", "dos"] * 2 + ["dos"], names=("dos", "normal")))
    assert few.tables(two, one_negative=True).families == {}


def test_the_negative_of_several_labels_has_the_name_of_its_side() -> None:
    flags = Flags({"a": 0.5, "b": 0.5})
    flags.add(lot(TRUTH, names=NAMES))
    sides = Labelling(("harmless", "alarm"), "alarm", {"normal": 0, "dos": 1, "worm": 1})
    assert list(flags.tables(sides, one_negative=True).families) == ["dos", "harmless", "worm"]


# -- lots ------------------------------------------------------------------------------------------


def sided(thresholds: dict[str, float | None], *lots: ModelLot, **sides: Any) -> SidedModels:
    counter = ModelCounter(thresholds)
    for each in lots:
        counter.add(each)
    return counter.done(lambda _: sides)


def beyond(truth: list[str]) -> ModelLot:
    """The first model gives percentages."""
    plain = lot(truth, names=NAMES)
    return replace(plain, scores={**plain.scores, "a": 100 * plain.scores["a"]})


def test_lots_are_counted_like_rows() -> None:
    sided_models = sided({"a": None, "b": 0.5}, lot(TRUTH, names=NAMES), negative="normal")
    assert sided_models.one_negative
    counted = sided_models.counted({})
    assert cells(counted.decisions) == WHOLE
    assert sorted(counted.families) == ["dos", "normal", "worm"]
    assert list(sided_models.scores()) == ["a", "b"]
    assert sided_models.scores()["b"].at_least(0.5) == [0, 3]
    assert sided_models.extremes == {"a": (0.1, 0.9), "b": (0.3, 0.7)}
    assert counted.mode == "grid"
    alone = sided({"a": None, "b": None}, lot(TRUTH, names=NAMES), positive="dos")
    assert not alone.one_negative
    assert alone.counted({}).families == {}


def test_one_model_that_decides_nothing_leaves_no_decisions() -> None:
    sided_models = sided({"a": None, "b": None}, beyond(TRUTH), negative="normal")
    counted = sided_models.counted({})
    assert counted.decisions is None
    assert counted.families == {}
    assert dict(counted.undecided) == {"a": (10.0, 90.0)}
    assert len(counted.notes) == 1 + len(sided({"a": 50.0, "b": None}, beyond(TRUTH),
                                               negative="normal").counted({}).notes)  # fmt: skip


def test_thresholds_that_are_chosen_later_decide() -> None:
    sided_models = sided({"a": None, "b": None}, beyond(TRUTH), negative="normal")
    flags = Flags({"a": 50.0, "b": 0.7})
    flags.add(beyond(TRUTH))
    counted = sided_models.counted({"a": 50.0, "b": 0.7}, flags)
    assert cells(counted.decisions) == {(0, 0, 0): 1, (0, 1, 0): 1, (1, 0, 1): 1, (1, 1, 0): 2}
    assert dict(counted.undecided) == {}
    assert [tally.decided for tally in counted.tallies.values()] == [True, True]
    assert [tally.threshold for tally in counted.tallies.values()] == [50.0, 0.7]
    assert counted.tallies["b"].confusion.cells == ((2, 0), (2, 1))


def test_pairs_of_scores_are_added_lot_by_lot() -> None:
    sided_models = sided(
        {"a": None, "b": None}, lot(TRUTH, names=NAMES), lot(["dos"] * 5, names=("dos",)),
        negative="normal",
    )  # fmt: skip
    joint = sided_models.counted({}).paired("a", "b")
    assert joint is not None
    assert (joint.rows, joint.labels) == (10, ("normal", "not normal"))
    assert sorted(np.unique(joint.truth).tolist()) == [0, 1]


def test_what_was_counted_elsewhere_is_added() -> None:
    part = lot(TRUTH, names=NAMES)
    elsewhere = ModelCounter({"a": None, "b": None})
    elsewhere.add(part)
    joint = JointScores.of_rows(NAMES, part.truth.codes, part.scores, bits=16)
    tallies = {name: count_coded(part.rows_of(name), Ask(scores=Grid(16))) for name in part.scores}
    for _ in range(2):
        elsewhere.add_counted(tallies, part, {("a", "b"): joint})
    thrice = sided({"a": None, "b": None}, part, part, part, negative="normal").counted({})
    counted_models = elsewhere.done(lambda _: {"negative": "normal"}).counted({})
    assert counted_models.decisions == thrice.decisions
    assert counted_models.families == thrice.families
    assert counted_models.paired("a", "b") == thrice.paired("a", "b")
    assert [each.scores for each in counted_models.tallies.values()] == [
        each.scores for each in thrice.tallies.values()
    ]


def test_levels_are_counted_lot_by_lot() -> None:
    sided_models = sided({"a": None, "b": None}, lot(TRUTH, names=NAMES), negative="normal")
    levels = {"a": np.array([0.0, 0.5]), "b": np.array([0.0, 0.5, 0.7])}
    joint, flags = sided_models.joint_at([lot(TRUTH, names=NAMES)], levels, {"a": 0.5, "b": 0.7})
    table = joint["a", "b"]
    told = zip(
        table.truth.tolist(),
        *[table.scores(i).tolist() for i in (0, 1)],
        table.counts.tolist(),
        strict=True,
    )
    assert sorted(told) == [(0, 0.0, 0.0, 1), (0, 0.5, 0.0, 1), (1, 0.0, 0.7, 1), (1, 0.5, 0.5, 2)]
    assert flags.counts["worm", None, (0, 1)] == 1


def test_numbers_as_labels_stand_in_their_order() -> None:
    codes = np.array([0, 1, 2, 1, 0], np.uint8)
    scores = {"a": np.array(A), "b": np.array(B)}
    numbers = ModelLot(Labels(codes, ("0", "10", "9"), "numbers"), scores)
    sided_models = sided({"a": None, "b": None}, numbers, negative=0)
    assert sided_models.labelling.labels[0] == "0"
    assert list(sided_models.labelling.position) == ["0", "9", "10"]


def test_how_finely_scores_and_pairs_are_kept() -> None:
    assert (models.BITS, models.MOST_PAIRS) == (16, 4_194_304)


@pytest.mark.parametrize("kind", [CountedModels, ModelRows, SidedModels])
def test_what_holds_arrays_is_compared_as_an_object(kind: type) -> None:
    assert kind.__eq__ is object.__eq__
