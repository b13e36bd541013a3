"""From counts by name to a tally with sides: the same as rows that are counted whole."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import evaluate
from assay.engines import Ask, Columns, count_coded, frames, resolve
from assay.engines.arrays import resolved_arrays
from assay.engines.resolving import kinds_of, sided_families
from assay.errors import EmptyInput, InputError, LabelError, ScoreError
from assay.sources import code_arrays
from assay.sources.labelling import sided
from assay.tally import Resolved, Sample, Tally, from_bytes
from assay.tally.keeping import Cuts, Exact, Grid
from assay.tally.named_tally import SCORE, Refusals

PAIR = ("normal", "attack")
FAMILIES = ("dos", "normal", "probe", "worm")
CLASSES = ("dos", "normal", "probe")
SIDES = ("positive", "negative", "labels")
SOME = settings(max_examples=80)

scores = st.one_of(st.sampled_from([0.0, -0.0, 0.25, 0.5, 1.0]), st.floats(0, 1), st.floats(-2, 2))
places = (
    st.sampled_from(["h1", "h2", "h3"]),
    st.sampled_from(["x", "y"]),
    st.sampled_from(["2026-11-16", "2026-11-17"]),
    st.integers(1, 3),
)
binary_rows = st.lists(st.tuples(st.sampled_from(PAIR), scores, *places), min_size=1, max_size=20)
family_rows = st.lists(
    st.tuples(st.sampled_from(FAMILIES), scores, *places), min_size=1, max_size=20
)
class_rows = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.tuples(*[st.integers(1, 9)] * 3), *places),
    min_size=1,
    max_size=20,
)
decision_rows = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES), *places), min_size=1, max_size=20
)


def counted(*columns: Any, **more: Any) -> Resolved:
    """The tally of columns, with sides."""
    return resolved_arrays(*columns, **more)[0]


def _columns(rows: Sequence[Any], said: str) -> dict[str, Any]:
    truth, opinion, host, site, day, number = (list(column) for column in zip(*rows, strict=True))
    if said == "y_proba":
        table = np.array(opinion, np.float64)
        table /= table.sum(axis=1, keepdims=True)
        opinion = {name: table[:, i] for i, name in enumerate(CLASSES)}
    return {
        "y_true": truth,
        said: opinion,
        "clusters": host,
        "slices": {"site": site},
        "times": day,
        "counts": number,
    }


def _by_name(columns: dict[str, Any]) -> Tally:
    """Rows counted by name; what is said of labels matters only to probabilities."""
    given = {name: c for name, c in columns.items() if name not in ("threshold", *SIDES[:2])}
    rows = sided(code_arrays(**given), columns.get("positive"), columns.get("negative"))
    return count_coded(rows, Ask(threshold=columns.get("threshold")))


def _parts(rows: Sequence[Any], seed: int) -> list[Sequence[Any]]:
    rng = random.Random(seed)
    cuts = sorted(rng.choices(range(1, len(rows) + 1), k=3))
    parts = [rows[i:j] for i, j in itertools.pairwise([0, *cuts, len(rows)]) if i < j]
    rng.shuffle(parts)
    return parts


def _must_agree(rows: Sequence[Any], said: str, seed: int, **options: Any) -> Resolved:
    """Parts in any order, resolved on their sum, are the rows counted whole, to the bit."""
    whole, inferred, *_ = resolved_arrays(**_columns(rows, said), **options)
    sides = {name: options[name] for name in SIDES if name in options}
    parts = [_by_name(_columns(part, said) | options) for part in _parts(rows, seed)]
    total = Tally.merge(parts)
    assert total == _by_name(_columns(rows, said) | options)
    resolved, notes = resolve(total, **sides)
    assert resolved.to_bytes() == whole.to_bytes()
    assert notes == inferred
    again = resolve(from_bytes(total.to_bytes()), **sides)
    assert again == (resolved, notes)
    return resolved


@SOME
@given(rows=binary_rows, threshold=st.sampled_from([None, 0.25, -1.0]), seed=st.integers(0, 999))
def test_two_labels_and_a_score(rows: Any, threshold: float | None, seed: int) -> None:
    asked = {} if threshold is None else {"threshold": threshold}
    resolved = _must_agree(rows, "y_score", seed, labels=PAIR, **asked)
    assert resolved.labels == PAIR
    _must_agree(rows, "y_score", seed, labels=PAIR, positive="normal", **asked)


@SOME
@given(rows=family_rows, seed=st.integers(0, 999))
def test_every_label_but_the_negative_is_a_positive_and_a_family(rows: Any, seed: int) -> None:
    _must_agree(
        [("normal", *rows[0][1:]), ("worm", *rows[0][1:]), *rows],
        "y_score",
        seed,
        negative="normal",
    )


@SOME
@given(rows=decision_rows, seed=st.integers(0, 999))
def test_decisions_over_classes(rows: Any, seed: int) -> None:
    resolved = _must_agree(rows, "y_pred", seed, labels=CLASSES)
    assert resolved.positive is None
    _must_agree(
        [*rows, (*CLASSES[:2], *rows[0][2:])], "y_pred", seed, labels=CLASSES, positive="dos"
    )


@SOME
@given(rows=class_rows, seed=st.integers(0, 999))
def test_probabilities_of_classes(rows: Any, seed: int) -> None:
    resolved = _must_agree(rows, "y_proba", seed)
    assert resolved.labels == CLASSES
    assert resolved.scores is not None
    assert len(resolved.scores) == 3


@SOME
@given(rows=class_rows, side=st.sampled_from(["positive", "negative"]), seed=st.integers(0, 999))
def test_probabilities_of_the_positive_labels_are_one_score(
    rows: Any, side: str, seed: int
) -> None:
    seen = [*rows, *((name, *rows[0][1:]) for name in CLASSES)]
    resolved = _must_agree(seen, "y_proba", seed, **{side: "normal"})
    assert resolved.scores is not None
    assert len(resolved.scores) == 1


@SOME
@given(rows=class_rows, outside=class_rows, seed=st.integers(0, 999))
def test_an_open_set_is_its_known_rows_and_the_ranks_of_the_others(
    rows: Any, outside: Any, seed: int
) -> None:
    known = [*rows, *((name, *rows[0][1:]) for name in CLASSES)]
    every = [*known, *(("novel", *row[1:]) for row in outside)]
    total = Tally.merge(
        _by_name(_columns(part, "y_proba") | {"unknown": "novel"}) for part in _parts(every, seed)
    )
    resolved, notes = resolve(total, unknown="novel")
    whole = counted(**_columns(known, "y_proba"))
    assert resolved.confusion == whole.confusion
    assert resolved.scores == whole.scores
    assert resolved.losses == whole.losses
    assert resolved.clusters == whole.clusters
    assert resolved.slices == whole.slices
    table = np.array([row[1] for row in every], np.float64)
    table /= table.sum(axis=1, keepdims=True)
    right = [CLASSES[i] == row[0] for i, row in zip(table.argmax(axis=1), every, strict=True)]
    truth = [0 if row[0] == "novel" else 1 + r for row, r in zip(every, right, strict=True)]
    assert resolved.open_set is not None
    expected = Sample.of_rows(
        ("novel", "wrong", "right"),
        np.array(truth, np.uint16),
        {"model": table.max(axis=1)},
        counts=np.array([row[-1] for row in every]),
    )
    marginal = resolved.open_set.score_tally(0)
    assert marginal == expected.score_tally(0)
    inside, beside = (sum(row[-1] for row in part) for part in (known, outside))
    assert f"{beside:,} {'row is' if beside == 1 else 'rows are'} labelled 'novel'" in notes[-1]
    assert f"the {inside:,} others" in notes[-1]


@SOME
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(PAIR),
            st.floats(0, 1),
            *places[:3],
            st.floats(1e-3, 1e3),
        ),
        min_size=2,
        max_size=20,
    ),
    seed=st.integers(0, 999),
)
def test_weights_agree_to_twelve_digits(rows: Any, seed: int) -> None:
    def columns(some: Any) -> dict[str, Any]:
        given = _columns(some, "y_score")
        return given | {"counts": None, "sample_weight": given["counts"], "labels": PAIR}

    whole = counted(**columns(rows))
    total = Tally.merge(_by_name(columns(part)) for part in _parts(rows, seed))
    resolved, _ = resolve(total, labels=PAIR)
    assert resolved.scores is not None
    assert whole.scores is not None
    assert resolved.clusters is not None
    assert whole.clusters is not None
    assert resolved.losses is not None
    assert whole.losses is not None
    assert list(resolved.slices) == list(whole.slices)
    pairs = [
        (resolved.confusion.cells, whole.confusion.cells),
        (resolved.confusion.squares, whole.confusion.squares),
        (resolved.scores[0].scores, whole.scores[0].scores),
        (resolved.scores[0].counts, whole.scores[0].counts),
        (resolved.scores[0].squares, whole.scores[0].squares),
        (resolved.clusters.cells, whole.clusters.cells),
        (resolved.losses.weighted, whole.losses.weighted),
        *((resolved.slices[key].cells, whole.slices[key].cells) for key in whole.slices),
    ]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-300)


# -- booleans beside numbers -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ([True, False, True], [1, 0, 0]),
        ([1, 0, 1], [True, False, False]),
        ([True, True, True], [0, 0, 1]),
        ([1, 1, 1], [True, False, False]),
        ([True, False, True], [True, False, False]),
    ],
)
def test_true_and_one_are_the_same_label(truth: list[Any], said: list[Any]) -> None:
    whole, inferred, *_ = resolved_arrays(truth, y_pred=said)
    frame = pl.DataFrame({"y": truth, "d": said})
    columns = Columns("y", decision="d")
    parts = [frames.count_polars(frame[i : i + 1], columns) for i in range(3)]
    for total in (frames.count_polars(frame, columns), Tally.merge(parts[::-1])):
        resolved, notes = resolve(total)
        assert resolved == whole
        assert notes == inferred


def test_numbers_stand_in_the_order_of_numbers() -> None:
    resolved, _ = resolve(count_coded(code_arrays([10, 9, 2], y_pred=[9, 9, 2]), Ask()))
    assert resolved.labels == counted([10, 9, 2], y_pred=[9, 9, 2]).labels


# -- notes and refusals ----------------------------------------------------------------------------


def test_what_was_inferred_is_said_once_on_the_sum() -> None:
    first = count_coded(code_arrays(["attack"], y_score=[7.0]), Ask())
    second = count_coded(code_arrays(["normal", "normal"], y_score=[2, 3], counts=[0, 1]), Ask())
    resolved, notes = resolve(first + second)
    assert resolved.positive == "attack"
    assert not resolved.decided
    assert len(notes) == 3
    assert "attack" in notes[0]
    assert notes[1].startswith("1 row has a count or weight of 0")
    assert "from 3 to 7" in notes[2]


def test_scores_are_probabilities_where_those_of_all_parts_are() -> None:
    inside = count_coded(code_arrays(["attack", "normal"], y_score=[0.9, 0.1]), Ask())
    beyond = count_coded(code_arrays(["attack"], y_score=[1.5]), Ask())
    resolved, _ = resolve(inside)
    assert (resolved.kind, resolved.threshold, resolved.decided) == ("probability", 0.5, True)
    resolved, _ = resolve(inside + beyond)
    assert (resolved.kind, resolved.threshold, resolved.decided) == ("score", None, False)
    assert resolved.losses is None
    assert resolved.confusion.cells == ((1, 0), (2, 0))


def test_a_threshold_that_was_asked_for_decides_on_any_scores() -> None:
    rows = code_arrays(["attack", "normal"], y_score=[7.0, 2.0])
    resolved, notes = resolve(count_coded(rows, Ask(threshold=5.0)))
    assert resolved.threshold == 5.0
    assert resolved.confusion.cells == ((1, 0), (0, 1))
    assert len(notes) == 1


def _resolved(sides: dict[str, Any], **columns: Any) -> Any:
    return resolve(count_coded(code_arrays(**columns), Ask()), **sides)


THREE = {"dos": [0.2, 0.3], "normal": [0.3, 0.3], "probe": [0.5, 0.4]}


@pytest.mark.parametrize(
    ("sides", "columns", "error", "message"),
    [
        (
            {"positive": "worm"},
            {"y_true": ["dos", "normal"], "y_score": [1, 0]},
            LabelError,
            "worm",
        ),
        ({}, {"y_true": ["yak", "zebra"], "y_score": [1, 0]}, LabelError, "'yak'.*'zebra'"),
        ({}, {"y_true": ["a", "b", "c"], "y_score": [1, 0, 1]}, ScoreError, "'a', 'b'"),
        ({"unknown": "x"}, {"y_true": ["dos", "normal"], "y_score": [1, 0]}, ScoreError, "y_proba"),
        (
            {"unknown": "x"},
            {"y_true": ["dos", "normal"], "y_proba": THREE},
            LabelError,
            "'x' does not occur",
        ),
        (
            {"unknown": "dos"},
            {"y_true": ["dos", "normal"], "y_proba": THREE},
            LabelError,
            "the model knows it",
        ),
        (
            {"unknown": "x", "positive": "dos"},
            {"y_true": ["dos", "x"], "y_proba": THREE, "unknown": "x"},
            InputError,
            "not both",
        ),
        (
            {},
            {"y_true": ["dos", "x"], "y_proba": THREE, "unknown": "x"},
            LabelError,
            "labelled 'x', of which y_proba has no",
        ),
        (
            {"unknown": "x"},
            {"y_true": ["x", "x"], "y_proba": THREE, "unknown": "x"},
            LabelError,
            "every row is labelled 'x'",
        ),
        (
            {"negative": "normal"},
            {"y_true": ["dos", "normal"], "y_proba": THREE},
            ScoreError,
            "when rows are counted",
        ),
    ],
)
def test_what_can_not_be_resolved_is_refused(
    sides: dict[str, Any], columns: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        _resolved(sides, **columns)


def test_no_rows_are_nothing_to_judge() -> None:
    with pytest.raises(EmptyInput, match="there are no rows"):
        resolve(Tally())
    with pytest.raises(EmptyInput, match=r"all 2 rows were refused: no label \(2\)"):
        resolve(Tally(rows=2, refused=Refusals({"no label": 2})))


def test_rows_by_label_and_family_give_the_clusters_of_rows_by_label() -> None:
    rows = code_arrays(
        ["attack", "attack", "normal", "attack", "normal"],
        y_score=[0.9, 0.2, 0.7, 0.6, 0.1],
        clusters=["h1", "h1", "h2", "h2", "h2"],
        slices={"family": ["dos", "worm", "-", "worm", "-"]},
    )
    kinds = count_coded(kinds_of(rows, "family"), Ask())
    sided = sided_families(kinds, {"positive": "attack"}, by_family=True).resolved
    assert sided.clusters is not None
    assert sided.clusters.labels == ("normal", "attack")
    assert sided.clusters.clusters == ("h1", "h2")
    assert sided.clusters.cells.tolist() == [[[0, 0], [1, 1]], [[1, 1], [0, 1]]]


def test_tables_that_no_memory_has_room_for_are_refused() -> None:
    labels = [f"family {i}" for i in range(400)]
    hosts = np.arange(700).astype(str)
    truth = np.resize(labels, 700)
    with pytest.raises(InputError, match=r"700 slices have a table of 400 labels by 400 each.*pos"):
        evaluate(truth, y_pred=truth, slices={"host": hosts})
    two = evaluate(truth, y_pred=truth, slices={"host": hosts}, positive="family 1")
    assert len(two.slices) == 700


# -- another threshold on the sum ------------------------------------------------------------------


def of_scores(threshold: float | None = None, kept: Any = None, **beside: Any) -> Tally:
    truth = np.where(np.arange(200) % 3, "normal", "attack")
    rows = code_arrays(truth, y_score=(np.arange(200) * 37 % 200) / 256, **beside)
    return count_coded(rows, Ask(threshold=threshold, scores=kept or Exact()))


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.3, 0.78, 5.0, -1.0])
def test_a_threshold_is_resolved_on_the_sum(threshold: float) -> None:
    later, notes = resolve(of_scores(), positive="attack", threshold=threshold)
    before, said = resolve(of_scores(threshold), positive="attack")
    assert later == before
    assert notes == said


def test_parts_that_were_counted_add_and_then_get_their_threshold() -> None:
    both = of_scores() + of_scores()
    assert (
        resolve(both, positive="attack", threshold=0.3)[0]
        == (resolve(of_scores(0.3) + of_scores(0.3), positive="attack")[0])
    )


@pytest.mark.parametrize("kept", [Grid(4), Cuts()])
def test_cells_and_cuts_tell_of_a_threshold_where_they_begin(kept: Any) -> None:
    tally = of_scores(kept=kept)
    start = float(tally.scores[SCORE].scores[20])
    later = resolve(tally, positive="attack", threshold=start)[0]
    assert later.confusion == resolve(of_scores(start), positive="attack")[0].confusion
    with pytest.raises(ScoreError, match=r"does not tell how many reach 0\.3011: count the rows"):
        resolve(tally, positive="attack", threshold=0.3011)


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ({"slices": {"site": ["a", "b"] * 100}}, "decisions of slices are kept"),
        ({"clusters": ["a", "b"] * 100}, "decisions of clusters are kept"),
        ({"sample_weight": np.full(200, 0.5)}, "decisions of sampling weights are kept"),
    ],
)
def test_what_is_decided_part_by_part_is_counted_anew(beside: Any, said: str) -> None:
    with pytest.raises(ScoreError, match=said):
        resolve(of_scores(**beside), positive="attack", threshold=0.3)
    asked = of_scores(0.3, **beside)
    assert resolve(asked, positive="attack", threshold=0.3)[0].threshold == 0.3


def test_decisions_get_no_threshold() -> None:
    decided = count_coded(code_arrays(["a", "b"], y_pred=["a", "a"]), Ask())
    with pytest.raises(ScoreError, match="no scores that a threshold could decide on"):
        resolve(decided, positive="a", threshold=0.3)
