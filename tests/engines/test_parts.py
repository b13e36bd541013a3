"""Rows that come part by part: how their scores are kept, and what is said of that."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from assay import Evaluation
from assay.engines import Accumulator, Ask, Parts, count_coded
from assay.engines.parts import COARSE, CUT, DistinctNumbers
from assay.errors import InputError
from assay.measures import CATALOGUE, Binned, MeanLoss
from assay.sources import Coded, code_arrays
from assay.sources.files import memory_limit
from assay.tally import Tally
from assay.tally.keeping import Cuts, Exact, Grid
from assay.tally.named_tally import SCORE
from assay.tally.pattern_counter import PatternCounter

ROWS = 3000
SMALL = 1 << 13
TINY = 1 << 8


def _columns(rare: float = 0.01) -> dict[str, Any]:
    generator = np.random.default_rng(3)
    attack = generator.random(ROWS) < rare
    score = np.clip(generator.normal(0.3 + 0.3 * attack, 0.15), 0, 1)
    return {
        "y_true": np.where(attack, "attack", "normal"),
        "y_score": score,
        "counts": generator.integers(1, 4, ROWS),
        "times": np.where(np.arange(ROWS) % 2, "2026-11-16", "2026-11-17"),
        "slices": {"site": np.where(np.arange(ROWS) % 3, "x", "y")},
    }


def _some(columns: dict[str, Any], rows: Any) -> dict[str, Any]:
    return {
        name: _some(column, rows) if isinstance(column, dict) else column[rows]
        for name, column in columns.items()
    }


@dataclass
class Feed:
    """Parts of rows, and how often they were gone through."""

    parts: list[Coded]
    passes: int = field(default=0)

    def __call__(self) -> Iterator[Coded]:
        self.passes += 1
        return iter(self.parts)


def _feed(columns: dict[str, Any], size: int = 100, order: Any = None) -> Feed:
    if order is not None:
        columns = _some(columns, order)
    starts = range(0, ROWS, size)
    return Feed([code_arrays(**_some(columns, slice(i, i + size))) for i in starts])


def _whole(columns: dict[str, Any], ask: Ask | None = None) -> Tally:
    return count_coded(code_arrays(**columns), ask or Ask())


def _kept(tally: Tally) -> Any:
    return tally.scores[SCORE].kept


@pytest.mark.parametrize(("again", "note", "kept"), [(True, CUT, Cuts), (False, COARSE, Grid)])
def test_scores_that_a_watched_process_has_no_room_for_are_kept_as_less(
    again: bool, note: str, kept: type
) -> None:
    with memory_limit(0, lambda now: None):
        tally, notes = Parts(_feed(_columns()), again).count(Ask())
        exact, silence = Parts(_feed(_columns()), again).count(Ask(), "exact")
    assert notes == (note,)
    assert isinstance(_kept(tally), kept)
    assert (_kept(exact), silence) == (Exact(), ())
    with memory_limit(1 << 60, lambda now: None):
        assert _kept(Parts(_feed(_columns()), again).count(Ask())[0]) == Exact()


@pytest.mark.parametrize(("again", "note"), [(True, CUT), (False, COARSE)])
def test_a_watched_process_keeps_less_before_it_has_no_room_to_add_up(
    again: bool, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed, left = _feed(_columns()), iter([1 << 20] * 5)
    seen: list[int] = []

    def room() -> int:
        # Of the first lots there is room for many times what they hold, then for too little.
        seen.append(1)
        return next(left, 1 << 12)

    monkeypatch.setattr("assay.engines.parts.room", room)
    tally, notes = Parts(feed, again=again, limit=1 << 17).count(Ask(), "auto")
    assert notes == (note,)
    assert tally.rows == ROWS
    # Looked at after each part, of which there are 30, until one was too much.
    assert len(seen) < 30
    monkeypatch.setattr("assay.engines.parts.room", lambda: 1 << 30)
    assert Parts(feed, again=again, limit=1 << 17).count(Ask(), "auto")[1] == ()


@pytest.mark.parametrize("limit", [None, 1 << 30])
@pytest.mark.parametrize("mode", ["auto", "exact"])
def test_every_score_is_kept_while_it_fits(mode: str, limit: int | None) -> None:
    feed = _feed(_columns())
    tally, notes = Parts(feed, limit=limit).count(Ask(), mode)
    assert tally == _whole(_columns())
    assert _kept(tally) == Exact()
    assert notes == ()
    assert feed.passes == 1


@pytest.mark.parametrize("again", [True, False])
def test_a_grid_takes_one_pass_and_is_that_of_the_rows_counted_whole(again: bool) -> None:
    feed = _feed(_columns())
    tally, notes = Parts(feed, again, TINY).count(Ask(), "grid")
    assert tally == _whole(_columns(), Ask(Grid()))
    assert tally.scores[SCORE] == _whole(_columns()).scores[SCORE].to_grid(12)
    assert notes == ()
    assert feed.passes == 1


@pytest.mark.parametrize("first", ["attack", "normal"])
def test_cuts_are_those_of_the_rows_counted_whole(first: str) -> None:
    columns = _columns()
    order = np.argsort(columns["y_true"] != first, kind="stable")
    feed = _feed(columns, size=20, order=order)
    tally, notes = Parts(feed).count(Ask(), "cuts")
    assert tally == _whole(columns, Ask(Cuts()))
    assert _kept(tally).name == "cuts"
    assert notes == ()
    # A wrong guess of the most frequent label, made on the first part, costs one more pass.
    assert feed.passes == (3 if first == "attack" else 2)


def test_the_most_frequent_label_of_the_first_rows_is_told_by_their_counts() -> None:
    columns = {
        "y_true": np.array(["worm", "dos", "dos", "worm"]),
        "y_score": np.array([0.1, 0.9, 0.8, 0.2]),
        "counts": np.array([9, 1, 1, 1]),
    }
    feed = Feed([code_arrays(**_some(columns, slice(i, i + 3))) for i in (0, 3)])
    tally, _ = Parts(feed).count(Ask(), "cuts")
    assert tally == _whole(columns, Ask(Cuts()))
    assert feed.passes == 2


def test_what_does_not_fit_is_cut_and_that_is_said() -> None:
    tally, notes = Parts(_feed(_columns()), limit=SMALL).count(Ask())
    assert tally == _whole(_columns(), Ask(Cuts()))
    assert notes == (CUT,)
    assert "mode cuts" in CUT


def test_what_can_not_be_cut_either_becomes_a_grid_and_that_is_said() -> None:
    columns = _columns(rare=0.5)
    tally, notes = Parts(_feed(columns), limit=SMALL).count(Ask())
    assert tally == _whole(columns, Ask(Grid()))
    assert notes == (COARSE,)
    assert "mode grid" in COARSE
    assert "max_memory=" in COARSE


@pytest.mark.parametrize("limit", [TINY, SMALL])
def test_rows_that_come_once_become_a_grid_on_the_way(limit: int) -> None:
    feed = _feed(_columns())
    tally, notes = Parts(feed, again=False, limit=limit).count(Ask())
    assert tally == _whole(_columns(), Ask(Grid()))
    assert notes == (COARSE,)
    assert feed.passes == 1


def test_exact_scores_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match=r"raise max_memory=, or say mode='cuts' or mode='grid'"):
        Parts(_feed(_columns()), limit=SMALL).count(Ask(), "exact")


def test_rows_that_come_once_are_not_cut() -> None:
    with pytest.raises(InputError, match="twice, and these come once"):
        Parts(_feed(_columns()), again=False).count(Ask(), "cuts")


def test_cuts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="MB are allowed"):
        Parts(_feed(_columns(rare=0.5)), limit=TINY).count(Ask(), "cuts")


def test_cuts_of_many_labels_take_more() -> None:
    columns = _columns()
    kinds = np.array([f"attack {i}" for i in range(30)])
    attack = columns["y_true"] == "attack"
    many = {**columns, "y_true": np.where(attack, kinds[np.arange(ROWS) % 30], "normal")}
    limit = 1 << 12
    assert Parts(_feed(columns), limit=limit).count(Ask(), "cuts")[1] == ()
    with pytest.raises(InputError, match="MB are allowed"):
        Parts(_feed(many), limit=limit).count(Ask(), "cuts")


def test_decisions_are_not_cut() -> None:
    rows = code_arrays(["a", "b"], y_pred=["a", "a"])
    with pytest.raises(InputError, match="mode='cuts' is for rows with one score"):
        Parts(lambda: iter([rows])).count(Ask(), "cuts")


def test_a_mode_of_no_name_is_refused() -> None:
    with pytest.raises(InputError, match="auto, exact, cuts, grid; found 'exactly'"):
        Parts(_feed(_columns())).count(Ask(), "exactly")


@pytest.mark.parametrize("mode", ["auto", "exact", "grid", "cuts"])
def test_no_rows_are_the_tally_of_none(mode: str) -> None:
    tally, notes = Parts(lambda: iter(())).count(Ask(), mode)
    assert tally == Tally()
    assert notes == ()


def test_cuts_give_every_value_but_calibration() -> None:
    exact, cut = (Evaluation(_whole(_columns(), Ask(kept))) for kept in (Exact(), Cuts()))
    groups = {measure.name: measure.group for measure in CATALOGUE}
    lost = set()
    for mine, theirs in zip(cut.to_dict()["estimates"], exact.to_dict()["estimates"], strict=True):
        if mine["value"] is None and theirs["value"] is not None:
            assert "kept as cuts; count with exact scores" in mine["undefined"]
            assert groups[mine["measure"]] == "probability"
            lost.add(mine["measure"])
        elif theirs["value"] is not None:
            assert mine["value"] == pytest.approx(theirs["value"], rel=1e-12)
    binned = {measure.name for measure in CATALOGUE if isinstance(measure.of_scores, Binned)}
    means = {measure.name for measure in CATALOGUE if isinstance(measure.of_scores, MeanLoss)}
    assert binned <= lost
    assert not means & lost


@pytest.mark.parametrize("lots", [1, 5, 9, 70])
def test_lots_add_up_whatever_their_number(lots: int) -> None:
    columns = _columns()
    counting = Accumulator(Ask(), limit=TINY)
    for part in _feed(columns, size=-(-ROWS // lots)).parts:
        counting.add(part)
    assert counting.done() == _whole(columns)
    assert counting.done() == _whole(columns)
    assert counting.nbytes > 0


def test_distinct_numbers_are_gathered_once() -> None:
    numbers = DistinctNumbers()
    assert numbers.done().tolist() == []
    numbers.add(np.array([0.5, -0.0, 0.5]))
    numbers.add(np.array([0.25, 0.0], np.float32))
    assert numbers.done().tolist() == [0.0, 0.25, 0.5]
    assert not np.signbit(numbers.done()[0])


def _plain(kind: Any, extra: str = "") -> dict[str, Any]:
    """Labels and scores alone; one label comes late, some scores lie outside [0, 1]."""
    columns = _columns(rare=0.1)
    truth = columns["y_true"].astype(object)
    if extra:
        truth[2500:2600] = extra
    score = columns["y_score"].astype(kind)
    score[1200:1210] = [0, -0.0, 1, 0.5, 1e-30, 5, -3, 1 - 2**-20, 2**-60, 1e30]
    return {"y_true": truth.astype(str), "y_score": score}


@pytest.mark.parametrize("extra", ["", "worm"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("ask", [Ask(), Ask(scores=Grid(5)), Ask(threshold=0.3)], ids=str)
def test_many_rows_of_one_score_are_counted_as_few_are(ask: Ask, kind: Any, extra: str) -> None:
    columns = _plain(kind, extra)
    counting = Accumulator(ask, limit=SMALL)
    for part in _feed(columns).parts:
        counting.add(part)
    assert counting.nbytes > 0
    assert counting.done().to_bytes() == _whole(columns, ask).to_bytes()


@pytest.mark.parametrize("labels", [1, 2, 3, 16])
@pytest.mark.parametrize("bits", [12, 16, 17])
def test_counters_of_a_grid_take_no_more_than_a_lot_of_rows(labels: int, bits: int) -> None:
    names = [f"label {i}" for i in range(labels)]
    rows = code_arrays(names * 300, y_score=np.linspace(0, 1, 300 * labels))
    counting = Accumulator(Ask(Grid(bits)), limit=SMALL)
    counting.add(rows)
    assert counting.nbytes <= 1 << 28
    assert counting.done() == count_coded(rows, Ask(Grid(bits)))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_many_rows_between_cuts_are_counted_as_few_are(kind: Any) -> None:
    columns = _plain(kind)
    feed = _feed(columns)
    tally, _ = Parts(feed, limit=1 << 17).count(Ask(), "cuts")
    assert tally.to_bytes() == _whole(columns, Ask(scores=Cuts())).to_bytes()
    assert feed.passes == 2


def _far_apart() -> dict[str, Any]:
    generator = np.random.default_rng(6)
    score = (generator.normal(size=ROWS) * 10.0 ** generator.integers(-30, 30, ROWS)).astype("f4")
    return {"y_true": np.where(score > 1, "attack", "normal"), "y_score": score}


@pytest.mark.parametrize("pages", [0, 1, 128])
def test_scores_that_lie_far_apart_leave_the_counters_once(
    pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.tally.pattern_counter._ROOM", pages << 13)
    monkeypatch.setattr("assay.tally.pattern_counter._ROOM_A_ROW", 0)
    made: list[PatternCounter] = []

    def counter(labels: tuple[str, ...]) -> PatternCounter:
        made.append(PatternCounter(labels))
        return made[-1]

    monkeypatch.setattr("assay.engines.local.PatternCounter", counter)
    columns = _far_apart()
    counting = Accumulator(Ask(), limit=SMALL)
    for part in _feed(columns).parts:
        counting.add(part)
    assert counting.done().to_bytes() == _whole(columns).to_bytes()
    assert len(made) == 1


@pytest.mark.sampled(9)
@pytest.mark.parametrize("threads", ["1", "2", "5"])
@pytest.mark.parametrize("pages", [1, 64, None])
@pytest.mark.parametrize("ask", [Ask(), Ask(Grid()), Ask(Grid(), threshold=0.3)], ids=str)
def test_parts_that_are_counted_by_threads_add_up(
    ask: Ask, pages: int | None, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_THREADS", threads)
    monkeypatch.setattr("assay.engines.local._ALONE", 1)
    if pages is not None:
        monkeypatch.setattr("assay.tally.pattern_counter._ROOM", pages << 13)
        monkeypatch.setattr("assay.tally.pattern_counter._ROOM_A_ROW", 0)
    columns = _far_apart()
    columns["y_score"][: ROWS // 2] = np.linspace(0, 1, ROWS // 2, dtype="f4")
    counting = Accumulator(ask, limit=SMALL)
    for part in _feed(columns).parts:
        counting.add(part)
    assert counting.done().to_bytes() == _whole(columns, ask).to_bytes()


def test_scores_far_apart_become_a_grid_where_they_do_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.tally.pattern_counter._ROOM", 0)
    columns = _far_apart()
    tally, notes = Parts(_feed(columns), again=False, limit=SMALL).count(Ask())
    assert tally.to_bytes() == _whole(columns, Ask(Grid())).to_bytes()
    assert notes == (COARSE,)


def test_what_goes_wrong_while_reading_is_raised_where_rows_are_counted() -> None:
    first = _feed(_columns()).parts[:7]

    def rows() -> Iterator[Coded]:
        yield from first
        raise InputError("row 701: found 'x', expected a number")

    with pytest.raises(InputError, match="row 701"):
        Parts(rows).count(Ask())


def test_reading_stops_where_counting_does() -> None:
    given: list[int] = []

    def rows() -> Iterator[Coded]:
        for number, part in enumerate(_feed(_columns()).parts):
            given.append(number)
            yield part

    with pytest.raises(InputError, match="max_memory="):
        Parts(rows, limit=TINY).count(Ask(), "exact")
    assert len(given) < 10
    assert not [thread for thread in threading.enumerate() if thread.name == "assay-reader"]


@pytest.mark.parametrize("at", [0, 5, 29])
def test_rows_in_clusters_that_were_coarsened_are_those_of_the_grid(at: int) -> None:
    columns = _columns() | {"clusters": np.arange(ROWS) % 7}
    del columns["counts"]
    coarsened = Accumulator(Ask(), limit=SMALL)
    grid = Accumulator(Ask(scores=Grid()), limit=SMALL)
    for i, rows in enumerate(_feed(columns)()):
        coarsened.add(rows)
        grid.add(rows)
        if i == at:
            coarsened.coarsen(Grid().bits)
    assert coarsened.done().to_bytes() == grid.done().to_bytes()
