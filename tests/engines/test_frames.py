"""Rows of frames are checked like those of files, and counted like arrays."""

from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import assay
from assay.engines import Accumulator, Ask, Columns, count_coded, frames
from assay.errors import AssayError, InputError, LabelError, ScoreError, TallyError
from assay.sources import code_arrays
from assay.sources.coded import Coded
from assay.tally import Tally
from assay.tally.keeping import Cuts, Grid

COLUMNS = Columns("y", score="p", count="n", cluster="h", slices=("s",), time="t")


def _frame(size: int = 200) -> pl.DataFrame:
    generator = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "y": generator.choice(["normal", "dos", "worm"], size),
            "p": generator.random(size).round(2),
            "n": generator.integers(1, 4, size),
            "h": generator.choice(["alpha", "beta"], size),
            "s": generator.choice(["x", "y"], size),
            "t": generator.choice(["2026-11-16", "2026-11-17"], size),
        }
    )


@pytest.mark.parametrize("kept", [Ask(), Ask(Grid()), Ask(threshold=0.25)])
def test_a_frame_is_counted_as_its_columns_are(kept: Ask) -> None:
    frame = _frame()
    arrays = code_arrays(
        frame["y"],
        y_score=frame["p"],
        counts=frame["n"],
        clusters=frame["h"],
        slices={"s": frame["s"]},
        times=frame["t"],
    )
    assert frames.count_polars(frame, COLUMNS, kept) == count_coded(arrays, kept)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("size", [1, 7, 200])
def test_frames_that_follow_each_other_are_one(size: int) -> None:
    frame = _frame()
    pieces = [frame[i : i + size] for i in range(0, 200, size)]
    whole = frames.count_polars(frame, COLUMNS)
    assert frames.count_polars(iter(pieces), COLUMNS) == whole
    assert Tally.merge(frames.count_polars(piece, COLUMNS) for piece in pieces[::-1]) == whole


def test_a_frame_in_hand_is_counted_in_larger_lots(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, sizes = _frame(), []

    def counted(rows: Coded, *asked: Any) -> Tally:
        sizes.append(rows.size)
        return count_coded(rows, *asked)

    monkeypatch.setattr("assay.engines.frames.PIECE", 10)
    monkeypatch.setattr("assay.engines.parts.LOT", 20)
    monkeypatch.setattr("assay.engines.parts.count_coded", counted)
    in_hand = frames.count_polars(frame, COLUMNS)
    assert sizes == [160, 40]
    assert frames.count_polars(iter([frame]), COLUMNS).to_bytes() == in_hand.to_bytes()
    assert sizes[2:] == [20] * 10


def test_cuts_are_found_in_a_first_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, ask = _frame(), Ask(Cuts())
    whole = frames.count_polars(frame, COLUMNS, ask)
    monkeypatch.setattr("assay.engines.parts.LOT", 30)
    pieces = [frame[i : i + 20] for i in range(0, 200, 20)]
    assert frames.count_polars(pieces, COLUMNS, ask).to_bytes() == whole.to_bytes()
    with pytest.raises(InputError, match="twice, and these come once"):
        frames.count_polars(iter(pieces), COLUMNS, ask)


def test_parts_that_are_not_told_where_to_cut_are_refused() -> None:
    rows = code_arrays(["normal", "dos"], y_score=[0.2, 0.9])
    with pytest.raises(TallyError, match="give a cutting"):
        Accumulator(Ask(Cuts())).add(rows)


def test_cuts_take_the_sum_of_the_positive_probabilities_and_refuse_several() -> None:
    frame = pl.DataFrame({"y": ["a", "b", "b"], "a": [0.9, 0.2, 0.3], "b": [0.1, 0.8, 0.7]})
    columns = Columns("y", probabilities={"a": "a", "b": "b"})
    one = frames.count_polars(frame, Columns("y", score="a"), Ask(Cuts()))
    assert frames.count_polars(frame, columns, Ask(Cuts(), positive="a")).scores == one.scores
    with pytest.raises(InputError, match="mode='cuts' is for rows with one score"):
        frames.count_polars(frame, columns, Ask(Cuts()))


def test_rows_that_can_not_be_used_are_counted_by_their_reason() -> None:
    bad = _frame(4).with_columns(
        y=pl.Series(["dos", None, "dos", "normal"]),
        p=pl.Series([0.5, 0.5, float("nan"), 0.25]),
    )
    tally = frames.count_polars(bad, COLUMNS, Ask(on_bad_row="skip"))
    assert tally.rows == 4
    assert tally.refused.total == 2
    assert len(tally.refused.reasons) == 2
    good = frames.count_polars(bad[[0, 3]], COLUMNS)
    assert tally.decided == good.decided
    assert tally.scores == good.scores
    parts = [frames.count_polars(bad[i : i + 1], COLUMNS, Ask(on_bad_row="skip")) for i in range(4)]
    assert Tally.merge(parts) == tally


def test_a_row_that_can_not_be_used_stops_the_count_unless_it_is_skipped() -> None:
    bad = _frame(3).with_columns(p=pl.Series([0.5, None, 0.5], dtype=pl.Float64))
    with pytest.raises(AssayError, match="'p'"):
        frames.count_polars(bad, COLUMNS)


def test_rows_that_were_grouped_stand_for_many() -> None:
    grouped = pl.DataFrame({"y": ["dos", "normal", None], "p": [0.5, 0.25, 0.5], "k": [3, 2, 4]})
    rows = pl.DataFrame(
        {"y": ["dos"] * 3 + ["normal"] * 2 + [None] * 4, "p": [0.5] * 3 + [0.25] * 2 + [0.5] * 4}
    )
    skip = Ask(on_bad_row="skip")
    by_group = frames.count_polars(grouped, Columns("y", score="p", rows="k"), skip)
    assert by_group == frames.count_polars(rows, Columns("y", score="p"), skip)
    assert by_group.rows == 9
    assert by_group.refused.total == 4


def test_no_rows_are_the_tally_of_none() -> None:
    assert frames.count_polars(_frame()[:0], COLUMNS).is_zero
    assert frames.count_polars([], COLUMNS) == Tally()


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(AssayError, match="score"):
        frames.count_polars(_frame(), Columns("y", score="score"))


def test_every_column_that_is_read_is_named_once() -> None:
    columns: Any = frames.roles_of_columns(Columns("y", score="p", slices=("s",), family="s"))
    assert columns.slices == ("s",)
    assert columns.family == "s"


def test_a_frame_is_no_column_to_compare_by() -> None:
    frame = pl.DataFrame({"y": [0, 1], "a": [0.1, 0.9]})
    relation = duckdb.from_arrow(frame.to_arrow())
    with pytest.raises(InputError, match=r"duckdb DuckDBPyRelation is a frame.*\.pl\(\)"):
        assay.compare(relation, scores={"a": "a", "b": "a"})
    with pytest.raises(InputError, match=r"pyarrow Table is a frame: .* give its columns"):
        assay.gate(frame.to_arrow(), new="a", rules="new(recall) >= 0.1")


@pytest.mark.parametrize("named", [{"score": "p"}, {"decision": "p"}])
def test_messages_use_the_words_of_whoever_names_columns(named: dict[str, str]) -> None:
    odd = pl.DataFrame({"y": [1.5, 0.0], "p": [0.1, 0.2]})
    with pytest.raises(LabelError, match=r"if these are scores, say so with score=\)") as error:
        assay.evaluate(odd, label="y", **named)
    assert "y_" not in str(error.value)


def test_a_score_of_three_labels_asks_for_probabilities_in_words_of_arrays_and_frames() -> None:
    truth, scores = ["a", "b", "c"], [0.1, 0.2, 0.3]
    asked = "or give probabilities with a column a label"
    with pytest.raises(ScoreError, match=asked):
        assay.evaluate(pl.DataFrame({"y": truth, "p": scores}), label="y", score="p")
    with pytest.raises(ScoreError, match=asked):
        assay.evaluate(truth, y_score=scores)


def test_rows_of_a_lazy_frame_are_numbered_in_its_order() -> None:
    parts = [pl.DataFrame({"y": [1, 0] * 500, "p": [0.5] * 1_000}).lazy() for _ in range(8)]
    odd = pl.DataFrame({"y": [1, 0], "p": [0.5, float("nan")]}).lazy()
    for _ in range(5):
        with pytest.raises(ScoreError, match=r"row 1,?002\b"):
            frames.count(pl.concat([parts[0], odd, *parts[1:]]), Columns("y", score="p"), Ask())
