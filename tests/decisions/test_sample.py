"""Rows drawn by strata of their score: how many, which, and whatever their order."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay import Request, sample
from assay.decisions.sample import SampleRequest, sample_files, tickets_of_ids, tickets_of_places
from assay.decisions.sample_strata import allocated, borders
from assay.errors import InputError
from assay.report import Document
from assay.report.markdown import render
from assay.report.plan import sample_report


def frame(rows: int = 5000, seed: int = 1) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "flow": [f"f{i}" for i in range(rows)],
            "score": np.round(random.beta(0.4, 6, rows), 5),
            "note": random.choice(["a", "b"], rows),
        }
    )


def test_weights_tell_the_rows_of_each_stratum_exactly() -> None:
    rows = frame()
    drawn = sample(rows, score="score", labels=500)
    assert drawn.frame is not None
    assert drawn.labels == len(drawn.frame) == 500
    assert sum(stratum.rows for stratum in drawn.strata) == drawn.rows == 5000
    told = drawn.frame.group_by("stratum").agg(pl.len(), pl.col("weight").sum())
    for stratum, number, weight in told.iter_rows():
        (here,) = (s for s in drawn.strata if s.stratum == stratum)
        inside = rows.filter(pl.col("score").is_between(here.low, here.high))
        assert (here.rows, here.drawn) == (len(inside), number)
        assert weight == pytest.approx(here.rows, rel=1e-12)
    assert drawn.frame.columns == ["flow", "score", "note", "stratum", "weight"]
    assert drawn.frame.join(rows, on=["flow", "score", "note"]).height == 500


def test_alerts_are_a_stratum_of_their_own() -> None:
    rows = frame()
    drawn = sample(rows, score="score", labels=500, threshold=0.3)
    first, *others = drawn.strata
    assert first.alerts
    assert first.rows == drawn.alerts == rows.filter(pl.col("score") >= 0.3).height
    assert first.drawn == 150
    assert not any(stratum.alerts for stratum in others)
    every = sample(rows, score="score", labels=500, threshold=0.4, alerts="all")
    assert every.strata[0].drawn == every.alerts
    half = sample(rows, score="score", labels=500, threshold=0.4, alerts=0.5)
    assert half.strata[0].drawn == round((half.alerts or 0) / 2)


@given(st.integers(0, 10**6), st.integers(1, 2000))
@settings(max_examples=15, deadline=None)
def test_with_ids_neither_order_nor_pieces_matter(seed: int, piece: int) -> None:
    rows = frame(2000)
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=seed)
    one = sample(rows, score="score", labels=100, id="flow", seed=seed)
    other = sample(shuffled, score="score", labels=100, id="flow", seed=seed)
    assert one.frame is not None
    assert other.frame is not None
    assert one.frame.sort("flow").equals(other.frame.sort("flow"))


def test_pieces_of_a_file_do_not_matter(tmp_path: Path) -> None:
    rows = frame()
    path = tmp_path / "flows.csv"
    rows.write_csv(path)
    wanted = SampleRequest("score", 300)
    whole, *others = (
        sample_files(str(path), wanted, Request(chunk_bytes=size)).frame
        for size in (1 << 22, 1 << 12, 4321)
    )
    assert all(whole.equals(other) for other in others)
    direct = sample(rows, score="score", labels=300).frame
    assert whole["flow"].to_list() == direct["flow"].to_list()


def test_another_seed_draws_other_rows() -> None:
    rows = frame()
    one, other, again = (sample(rows, score="score", labels=200, seed=s).frame for s in (1, 2, 1))
    assert one.equals(again)
    assert set(one["flow"]) != set(other["flow"])


@pytest.mark.slow
def test_every_row_of_a_stratum_is_as_likely() -> None:
    rows = pl.DataFrame({"score": [0.9] * 10 + [0.1] * 90})
    drawn = np.zeros(100)
    for seed in range(400):
        stratified_sample = sample(
            rows.with_row_index("at"), score="score", labels=20, strata=2, seed=seed
        )
        drawn[stratified_sample.frame["at"].to_numpy()] += 1
    share = (20 - 6) / 90
    # A chi-squared of 89 degrees of freedom, which is above 150 once in 10,000 times.
    expected = 400 * share
    spread = ((drawn[10:] - expected) ** 2 / (expected * (1 - share))).sum()
    assert spread < 150


@given(
    st.lists(st.tuples(st.integers(2, 10**7), st.floats(0.01, 1e6)), min_size=1, max_size=9),
    st.integers(18, 10**6),
)
def test_labels_are_shared_out_to_the_last(strata: list[tuple[int, float]], labels: int) -> None:
    rows, sizes = [r for r, _ in strata], [s for _, s in strata]
    allocation = allocated(rows, sizes, labels)
    assert sum(allocation) == min(labels, sum(rows))
    assert all(2 <= n <= r for n, r in zip(allocation, rows, strict=True))
    free = [(n, s) for n, r, s in zip(allocation, rows, sizes, strict=True) if 2 < n < r]
    drawn, size = sum(n for n, _ in free), sum(s for _, s in free)
    # One label by rounding, and one of a stratum that rounding has brought to an end of its range.
    assert all(abs(n - s * drawn / size) <= 2 for n, s in free)


def test_borders_grow_by_one_factor_and_cut_no_group() -> None:
    counts = np.ones(10_000, np.int64)
    edges = borders(counts, 5, 1000)
    sizes = np.diff([*edges, len(counts)])
    assert edges[0] == 0
    assert sizes[0] == 100
    assert list(sizes) == sorted(sizes)
    ends = np.cumsum(sizes)
    ratios = ends[1:] / ends[:-1]
    assert ratios == pytest.approx(np.full(4, 100**0.25), rel=0.02)
    assert borders(np.array([5, 5000]), 7, 100) == [0, 1]


def test_ties_make_fewer_strata_and_it_is_said() -> None:
    rows = {"score": [0.0] * 900 + [0.7] * 100}
    drawn = sample(rows, score="score", labels=50)
    assert len(drawn.strata) == 2
    assert any("2 strata instead of 7" in note for note in drawn.notes)


def test_as_many_labels_as_rows_are_all_rows() -> None:
    drawn = sample(frame(100), score="score", labels=1000)
    assert {stratum.weight for stratum in drawn.strata} == {1.0}
    assert any("all of them" in note for note in drawn.notes)
    assert "may still be there" not in render(sample_report(drawn))


def test_no_more_attacks_may_be_unseen_than_rows_without_a_label() -> None:
    drawn = sample(frame(100), score="score", labels=98, strata=1, allocation="proportional")
    (stratum,) = (each for each in drawn.strata if each.weight > 1)
    assert f"up to {stratum.rows - stratum.drawn} may still" in render(sample_report(drawn))


def test_scores_without_a_scale_have_no_alerts() -> None:
    rows = frame().with_columns(pl.col("score") * 100 - 3)
    drawn = sample(rows, score="score", labels=200)
    assert drawn.threshold is None
    assert drawn.alerts is None
    assert {stratum.alerts for stratum in drawn.strata} == {None}
    with pytest.raises(InputError, match="say threshold="):
        sample(rows, score="score", labels=200, alerts="all")
    with pytest.raises(InputError, match="allocation='sqrt'"):
        sample(rows, score="score", labels=200, allocation="optimal")


@pytest.mark.parametrize("allocation", ["sqrt", "optimal", "proportional", "equal"])
def test_each_allocation_shares_out_in_its_way(allocation: str) -> None:
    drawn = sample(frame(), score="score", labels=700, allocation=allocation, threshold=0.9)
    others = [s for s in drawn.strata if not s.alerts and s.drawn < s.rows]
    sizes = [
        {
            "sqrt": math.sqrt(s.rows),
            "proportional": s.rows,
            "equal": 1,
            "optimal": s.rows * math.sqrt((s.low + s.high) / 2),
        }[allocation]
        for s in others
    ]
    ratios = [s.drawn / size for s, size in zip(others, sizes, strict=True)]
    loose = 0.5 if allocation == "optimal" else 0.05
    assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=loose)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"labels": 1}, "labels= is a whole number from 2 to"),
        ({"labels": 10**400}, "labels= is a whole number from 2 to"),
        ({"labels": 100, "strata": 2**63}, "strata= is a whole number from 1 to 10,000"),
        ({"labels": 5, "strata": 7}, "2 each; found labels=5"),
        ({"labels": 100, "allocation": "best"}, "allocation= is one of"),
        ({"labels": 100, "alerts": 2.0}, "share above 0"),
        ({"labels": 100, "alerts": "some"}, "'all' or a share"),
        ({"labels": 100, "alerts": "all", "threshold": 0.01}, "would take all of the 100 labels"),
        ({"labels": 100, "score": "scores"}, "no column 'scores'"),
        ({"labels": 100, "id": "note"}, "occur more than once"),
        ({"labels": 100, "alerts": []}, r"share above 0 and up to 1, or 'all'; found \[\]"),
        ({"labels": 100, "alerts": True}, "share above 0 and up to 1, or 'all'; found True"),
        ({"labels": 100, "alerts": math.nan}, "share above 0"),
        ({"labels": 100, "score": None}, "score= is the name of a column, a text; found None"),
        ({"labels": 100, "id": 1}, "id= is the name of a column, a text; found 1"),
        ({"labels": 100, "rows": {"score": 1}}, "score is a column, a value a row; found 1"),
        ({"labels": 100, "rows": {"score": [1], "b": [1, 2]}}, "as long as each other"),
        ({"labels": 100, "rows": {"score": [0.5, math.nan]}}, "Correct the row, or take it out"),
    ],
)
def test_what_can_not_be_drawn_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        sample(**{"rows": frame(), "score": "score", **given})


def test_a_threshold_may_be_written_as_text() -> None:
    asked: dict[str, Any] = {"score": "score", "labels": 100}
    assert sample(frame(), threshold="0.3", **asked).strata == (
        sample(frame(), threshold=0.3, **asked).strata
    )


def test_scores_as_large_as_floats_get_are_drawn_without_a_warning() -> None:
    rows = {"score": np.linspace(-1, 1, 100) * 1.7e308}
    assert sample(rows, score="score", labels=40).labels == 40


def test_columns_that_it_adds_may_not_be_there() -> None:
    rows = frame().with_columns(weight=pl.lit(1.0))
    with pytest.raises(InputError, match="'weight' already"):
        sample(rows, score="score", labels=100)


def test_bad_rows_are_refused_or_counted(tmp_path: Path) -> None:
    path = tmp_path / "flows.csv"
    path.write_text("flow,score\n" + "".join(f"{i},{i / 100}\n" for i in range(100)) + "x,nan\n")
    with pytest.raises(InputError, match="line 102"):
        sample_files(str(path), SampleRequest("score", 20))
    drawn_sample = sample_files(str(path), SampleRequest("score", 20), Request(on_bad_row="skip"))
    assert (
        drawn_sample.source["rows_read"],
        drawn_sample.source["rows_refused"],
        drawn_sample.rows,
    ) == (101, 1, 100)
    with pytest.raises(InputError, match="read but once"):
        sample_files("-", SampleRequest("score", 20))


def test_files_of_unlike_columns_are_refused(tmp_path: Path) -> None:
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    frame(100).write_csv(one)
    frame(100).drop("note").write_csv(other)
    with pytest.raises(InputError, match="differ in their columns"):
        sample_files([str(one), str(other)], SampleRequest("score", 20))


def test_tickets_are_the_same_on_every_machine() -> None:
    places = tickets_of_places(np.arange(3), 42).tolist()
    ids = tickets_of_ids(pl.Series(["a", "b"]), 42).tolist()
    assert places == [10109587198136592316, 5975220110235019444, 9862612277524123993]
    assert ids == [6846231409834232552, 3960573906360089046]


def test_a_document_gives_back_what_it_is_of() -> None:
    drawn = sample(frame(), score="score", labels=100)
    again = Document.from_json(Document(drawn).to_json()).result
    assert again.strata == drawn.strata
    assert again.frame is None


@pytest.mark.slow
def test_estimates_of_many_samples_are_right_on_average() -> None:
    """The weights are those of the design: the mean over samples is the population's count."""
    rows = frame(20_000)
    random = np.random.default_rng(3)
    truth = random.random(20_000) < rows["score"].to_numpy() ** 1.5
    rows = rows.with_columns(pl.Series("label", np.where(truth, "attack", "normal")))
    recalls, counts = [], []
    for seed in range(60):
        drawn = sample(rows, score="score", labels=1000, seed=seed, threshold=0.3).frame
        evaluation = assay.evaluate(
            drawn, label="label", score="score", weight="weight", strata="stratum", threshold=0.3
        )
        recalls.append(evaluation["recall"])
        counts.append(evaluation.confusion.rows[1])
    whole = assay.evaluate(rows, label="label", score="score", threshold=0.3)
    exact = whole.confusion.rows[1]
    error = np.std(counts) / math.sqrt(60)
    assert abs(np.mean(counts) - exact) < 4 * error
    covered = [each.low <= whole["recall"].value <= each.high for each in recalls]
    assert sum(covered) >= 54
