"""Which label is the alarm, and the tables that measures read off counts."""

import dataclasses
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.counts import ClusterCounts, Confusion, Counts, Grid, LossSums, Sample, ScoreCounts
from assay.counts.labels import label_text, resolve_labels
from assay.errors import EmptyInput, LabelError, ScoreError

# -- labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "options", "labels", "places"),
    [
        (["spam", "ham"], {}, ("ham", "spam"), {"ham": 0, "spam": 1}),
        (["Benign", "worm"], {}, ("Benign", "worm"), {"Benign": 0, "worm": 1}),
        (["1", "0"], {}, ("0", "1"), {"0": 0, "1": 1}),
        (["TRUE", "FALSE"], {}, ("FALSE", "TRUE"), {"FALSE": 0, "TRUE": 1}),
        (["yes", "no"], {}, ("no", "yes"), {"no": 0, "yes": 1}),
        (["1"], {}, ("0", "1"), {"1": 1}),
        (["clean"], {}, ("clean", "not clean"), {"clean": 0}),
        (["-1", "1"], {"positive": -1}, ("1", "-1"), {"1": 0, "-1": 1}),
        (["1", "0"], {"positive": True}, ("0", "1"), {"0": 0, "1": 1}),
        (["false", "true"], {"positive": 1}, ("false", "true"), {"false": 0, "true": 1}),
        (["a", "b"], {"positive": "c", "labels": ["a", "b", "c"]}, ("not c", "c"), None),
        (["a"], {"positive": "b", "labels": ["a", "b"]}, ("a", "b"), {"a": 0, "b": 1}),
        (["b", "a", "c"], {}, ("a", "b", "c"), {"a": 0, "b": 1, "c": 2}),
        (["b", "a", "c"], {"positive": "b"}, ("not b", "b"), {"a": 0, "b": 1, "c": 0}),
        (["b", "a", "c"], {"negative": "b"}, ("b", "not b"), {"a": 1, "b": 0, "c": 1}),
        (["1"], {"positive": "1"}, ("0", "1"), {"1": 1}),
    ],
)
def test_sides_follow_the_contract(names: Any, options: Any, labels: Any, places: Any) -> None:
    sides = resolve_labels(names, **options)
    assert sides.labels == labels
    assert sides.positive == (labels[1] if len(labels) == 2 else None)
    if places is not None:
        assert sides.places == places
    assert bool(sides.notes) == (not options and len(labels) == 2)


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["a", "b"], {}, "the labels are 'a' and 'b', and neither is known to be harmless: give "),
        (["normal", "clean"], {}, "neither is known to be harmless"),
        (["0", "2"], {}, "give positive=0 or positive=2"),
        (
            ["1", "-1"],
            {},
            r"textbooks the alarm is 1 \(say positive=1\), for scikit-learn's outlier ",
        ),
        (["x"], {}, "there is only the label 'x': give positive='x' or negative='x'"),
        ([], {}, "no row has a label"),
        (["a", "b"], {"positive": "c"}, "positive='c' does not occur; the labels are 'a', 'b'. If"),
        (["a", "b"], {"negative": 3}, "negative=3 does not occur"),
        (["a", "b"], {"positive": "a", "negative": "b"}, "give positive= or negative=, not both"),
        (["a", "b"], {"labels": ["a"]}, "the data have 'b', which labels= does not list: 'a'"),
        (["a", "b"], {"labels": "ab"}, "labels= is a list of labels; found 'ab'"),
        (["a", "b"], {"positive": 1.5}, "a label is text, an integer or a boolean; found 1.5"),
    ],
)
def test_what_can_not_be_resolved_says_what_to_do(names: Any, options: Any, message: str) -> None:
    with pytest.raises(LabelError, match=message):
        resolve_labels(names, **options)


def test_labels_are_text() -> None:
    values = [True, np.True_, 3.0, np.int64(-1), np.float32(2), "007", "NA"]
    assert [label_text(value) for value in values] == ["true", "true", "3", "-1", "2", "007", "NA"]


# -- views -----------------------------------------------------------------------------------------

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["normal", "dos", "worm"]),
        st.sampled_from([0.0, 1.0, 0.5, 1e-17, 1e-3, 0.9999, 0.25, 1 - 2.0**-53]) | st.floats(0, 1),
        st.sampled_from(["h1", "h2", "h10"]),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=30,
).filter(lambda rows: any(row[0] == "normal" for row in rows))
Rows = list[tuple[str, float, str, int]]


def columns(rows: Rows) -> tuple[pl.DataFrame, Any, Any, Any]:
    names = ["label", "score", "cluster", "weight"]
    frame = pl.DataFrame(rows, schema=names, orient="row").with_columns(pl.col("weight") / 4)
    truth = (frame["label"] != "normal").cast(pl.UInt8).to_numpy()
    return frame, truth, frame["score"].to_numpy() + 0.0, frame["weight"].to_numpy()


def resolved(frame: pl.DataFrame, *keys: str, mode: str = "exact", **options: Any) -> Any:
    return Counts.of(frame, keys, mode=mode).resolve(negative="normal", **options)


@given(ROWS, st.booleans())
def test_the_confusion_and_clusters_are_those_of_the_rows(rows: Rows, weighted: bool) -> None:
    frame, truth, score, weight = columns(rows)
    frame = frame if weighted else frame.drop("weight")
    view = resolved(frame, "label", "score", "cluster")
    decision = (score >= 0.5).astype(int)
    direct = Confusion.of_rows(view.labels, truth, decision, weights=weight if weighted else None)
    assert np.allclose(view.confusion().cells, direct.cells, rtol=1e-12)
    assert weighted or view.confusion() == direct
    hosts = ["h1", "h10", "h2"]
    place = np.array([hosts.index(row[2]) for row in rows])
    amounts = {"amounts": weight} if weighted else {}
    clusters = ClusterCounts.of_rows(view.labels, truth, decision, place, hosts, **amounts)
    assert view.clusters().clusters == clusters.clusters
    assert np.allclose(view.clusters().cells, clusters.cells, rtol=1e-12)
    asked = resolved(frame, "label", "cluster", "score>=0.5")
    assert np.allclose(asked.clusters().cells, clusters.cells, rtol=1e-12)
    assert asked.threshold == view.threshold == 0.5


@given(ROWS, st.booleans(), st.sampled_from(["exact", "grid"]))
def test_the_scores_are_those_of_the_rows(rows: Rows, weighted: bool, mode: str) -> None:
    frame, truth, score, weight = columns(rows)
    frame = frame if weighted else frame.drop("weight")
    view = resolved(frame, "label", "score", "cluster", mode=mode)
    weights = {"weights": weight} if weighted else {}
    table = view.scores()
    direct = ScoreCounts.of_rows(view.labels, score, truth, kept=view.counts.kept, **weights)
    assert (table.labels, table.kept) == (direct.labels, direct.kept)
    assert np.array_equal(table.scores, direct.scores)
    assert np.allclose(table.counts, direct.counts, rtol=1e-12)
    assert table.counts.dtype == direct.counts.dtype
    if weighted:
        assert np.allclose(table.squares, direct.squares, rtol=1e-12)


@given(ROWS, st.booleans(), st.sampled_from(["exact", "grid"]))
def test_losses_follow_from_the_counts(rows: Rows, weighted: bool, mode: str) -> None:
    frame, truth, score, weight = columns(rows)
    frame = frame if weighted else frame.drop("weight")
    losses = resolved(frame, "label", "score", "cluster", mode=mode).losses()
    weights = {"weights": weight} if weighted else {}
    direct = LossSums.of_rows(truth, score, **weights)
    assert (losses.rows, losses.clipped) == (direct.rows, direct.clipped)
    for name in ("log_loss", "brier"):
        moments, expected = (dataclasses.astuple(getattr(each, name)) for each in (losses, direct))
        assert moments == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_losses_of_many_close_scores_follow_from_the_cells() -> None:
    random = np.random.default_rng(4)
    score = np.concatenate([random.random(20_000), random.beta(0.05, 0.05, 20_000)])
    truth = random.random(len(score)) < score
    frame = pl.DataFrame({"label": truth, "score": score, "weight": random.random(len(score))})
    for rows, weights in ((frame, {"weights": frame["weight"].to_numpy()}), (frame[:, :2], {})):
        losses = Counts.of(rows, ["label", "score"], mode="grid").resolve().losses()
        direct = LossSums.of_rows(truth, score, **weights)
        assert losses is not None
        for name in ("log_loss", "brier"):
            moments, expected = (dataclasses.astuple(getattr(x, name)) for x in (losses, direct))
            assert moments == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("mode", ["exact", "grid"])
def test_probabilities_of_classes_are_counted_one_against_the_rest(mode: str) -> None:
    random = np.random.default_rng(6)
    table = random.dirichlet([1, 1, 1], 500).round(3)
    truth = random.integers(0, 3, 500)
    frame = pl.DataFrame(
        {"label": np.array([*"bac"])[truth]}
        | {f"probability:{name}": table[:, i] for i, name in enumerate("bac")}
    )
    view = Counts.of(frame, ["label", "probability"], mode=mode).resolve()
    order = [1, 0, 2]
    place = np.array([order.index(each) for each in truth])
    for i, counts in enumerate(view.scores()):
        kept = view.counts.kept
        direct = ScoreCounts.of_rows([*"abc"], table[:, order[i]], place, kept=kept)
        assert np.array_equal(counts.scores, direct.scores)
        assert np.array_equal(counts.counts, direct.counts)
    losses, direct_losses = view.losses(), LossSums.of_rows(truth, table)
    for name in ("log_loss", "brier"):
        moments, expected = (dataclasses.astuple(getattr(x, name)) for x in (losses, direct_losses))
        assert moments == pytest.approx(expected, rel=1e-9)
    decided = Counts.of(frame, ["label", "decision"]).resolve().confusion()
    largest = np.argmax(table[:, order], axis=1)
    assert decided == Confusion.of_rows([*"abc"], place, largest)
    joint = ["label", "probability:a", "probability:b", "probability:c"]
    sample = Counts.of(frame, joint).resolve().sample()
    expected_sample = Sample.of_rows([*"abc"], place, {"": table[:, order]})
    assert np.array_equal(sample.scores, expected_sample.scores)
    assert np.array_equal(sample.counts, expected_sample.counts)


def test_slices_days_and_families_are_the_same_question_of_some_rows() -> None:
    frame = pl.DataFrame(
        {
            "label": ["normal", "dos", "worm", "dos"],
            "score": [0.9, 0.8, 0.1, 0.7],
            "slice:site": ["x", "x", "y", None],
            "period": ["2026-01-01", "2026-01-02", "2026-01-02", "2026-01-02"],
        }
    )
    view = Counts.of(frame).resolve(negative="normal")
    sites = {name: part.confusion().cells for name, part in view.by("slice:site").items()}
    assert sites == {None: ((0, 0), (0, 1)), "x": ((0, 1), (0, 1)), "y": ((0, 0), (1, 0))}
    assert {day: part.confusion().total for day, part in view.days().items()} == {
        "2026-01-01": 1,
        "2026-01-02": 3,
    }
    families = {name: part.confusion().cells[1] for name, part in view.families().items()}
    assert families == {"dos": (0, 2), "normal": (0, 0), "worm": (1, 0)}
    named = Counts.of({"label": [0, 1], "score": [0.1, 0.9], "family": ["none", "dos"]}).resolve()
    assert list(named.families()) == ["dos", "none"]


def test_decisions_decide_and_a_label_of_decisions_alone_is_a_class() -> None:
    frame = pl.DataFrame({"label": ["a", "b", "b"], "decision": ["a", "b", "c"]})
    view = Counts.of(frame).resolve()
    assert (view.labels, view.threshold) == (("a", "b", "c"), None)
    assert view.confusion().cells == ((1, 0, 0), (0, 1, 1), (0, 0, 0))
    with pytest.raises(LabelError, match="have no value in common"):
        Counts.of({"label": ["a", "b"], "decision": ["c", "d"]}).resolve(positive="a")


def test_what_scores_do_not_decide_says_why() -> None:
    def view(scores: list[float], mode: str = "exact", **options: Any) -> Any:
        counts = Counts.of({"label": [0, 1] * 2, "score": scores}, ["label", "score"], mode=mode)
        return counts.resolve(**options)

    for scores, advice in (
        ([-4.0, 3, 1, 0], "threshold=0 if these are logits"),
        ([0.0, 99, 1, 5], "threshold=50 if these are percentages"),
        ([0.0, 7, 1, 5], "give threshold=, the score"),
    ):
        undecided = view(scores)
        assert (undecided.threshold, undecided.losses()) == (None, None)
        with pytest.raises(ScoreError, match=advice):
            undecided.confusion()
        assert view(scores, threshold=5).confusion().total == 4
    for threshold in (np.nan, "x", True):
        with pytest.raises(ScoreError, match="threshold= is a finite number"):
            view([0.0] * 4, threshold=threshold)
    grid = view([0.1, 0.2, 0.3, 0.4], "grid", threshold=0.25)
    assert (grid.counts.kept, grid.confusion().cells) == (Grid(), ((1, 1), (1, 1)))
    with pytest.raises(ScoreError, match=r"how many reach 0\.3: count rows by score>=0\.3 too"):
        view([0.1, 0.2, 0.3, 0.4], "grid", threshold=0.3).confusion()
    both = Counts.of(
        {"label": [0, 1], "score": [0.1, 0.3]}, ["label", "score", "score>=0.3"], mode="grid"
    )
    assert both.resolve(threshold=0.3).confusion().cells == ((1, 0), (0, 1))
    with pytest.raises(ScoreError, match=r"count them by score>=0\.4"):
        both.select("label").resolve(threshold=0.4).confusion()
    with pytest.raises(ScoreError, match="without decisions and scores"):
        both.select("label").resolve().confusion()
    with pytest.raises(ScoreError, match="ranks rows for one positive label, but there are 3"):
        Counts.of({"label": [*"abc"], "score": [0.1] * 3}).resolve()
    with pytest.raises(EmptyInput):
        Counts.zero(["label"]).resolve()


def test_unlabelled_rows_are_left_out() -> None:
    view = Counts.of({"label": ["ham", None, "spam"], "score": [0.1, 0.2, 0.9]}).resolve()
    assert view.confusion().total == 2
    assert view.scores().counts.sum() == 2
