"""Records of what was counted: how they add, what a zero keeps, and which bytes are refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay.errors import TallyError
from assay.tally import (
    ClusterTally,
    Confusion,
    LossSums,
    Resolved,
    Sample,
    ScoreTally,
    codec,
    from_bytes,
    resolved_tally,
)
from assay.tally.keeping import Grid
from assay.tally.resolved_tally import confusion_at, kept_rows

from .kinds import THREE, TWO

SCORES, TRUTH = np.array([0.25, 0.5, 0.5, 0.75]), np.array([0, 1, 0, 1])
TABLE = ScoreTally.of_rows(TWO, SCORES, TRUTH)
CELLS = Confusion(TWO, ((1, 1), (0, 2)))
LOSSES = LossSums.of_binary(TRUTH, SCORES)
SAMPLE = Sample.of_rows(TWO, TRUTH, {"m": SCORES})
HOSTS = ClusterTally.of_codes(TWO, TRUTH, TRUTH, TRUTH, ("x", "y"))


def _record(**more: Any) -> Resolved:
    given = {"kind": "probability", "scores": (TABLE,), "threshold": 0.5}
    return Resolved(TWO, "attack", CELLS, **{**given, **more})


# -- losses ----------------------------------------------------------------------------------------


def test_losses_follow_from_probabilities_that_are_all_kept() -> None:
    record = _record(summed_losses=LossSums(7))
    assert record.summed_losses is None
    assert record.losses == LOSSES
    weighted = ScoreTally.of_rows(TWO, SCORES, TRUTH, weights=np.ones(4))
    for other in (
        _record(kind="score", summed_losses=LossSums(7)),
        _record(scores=(TABLE.to_grid(3),), summed_losses=LossSums(7)),
        _record(scores=(weighted,), summed_losses=LossSums(7)),
        _record(scores=None, summed_losses=LossSums(7)),
        replace(
            _record(kind="score"), positive=None, kind="probability", summed_losses=LossSums(7)
        ),
    ):
        assert other.losses == other.summed_losses == LossSums(7)
    assert _record(kind="score").losses is None


def test_losses_of_unlike_parts_are_added() -> None:
    grid = _record(scores=(TABLE.to_grid(3),), summed_losses=LOSSES)
    exact = _record()
    assert from_bytes(grid.to_bytes()).losses == from_bytes(exact.to_bytes()).losses == LOSSES
    for total in (grid + exact, exact + grid):
        assert total.losses == LOSSES + LOSSES
        assert total.scores is not None
        assert total.scores[0].kept == Grid(3)
    assert (exact + exact).summed_losses is None
    assert (exact + exact).losses == LOSSES + LOSSES


def test_scores_that_are_no_probabilities_in_one_part_are_none_in_the_sum() -> None:
    for a, b in ((_record(), _record(kind="score")), (_record(kind="score"), _record())):
        assert ((a + b).kind, (a + b).losses) == ("score", None)
    assert (_record() + _record()).kind == "probability"


# -- sums ------------------------------------------------------------------------------------------


def test_records_add_part_by_part() -> None:
    day = {"2026-11-17": _record(), "2026-11-16": _record()}
    slices = {("site", "b"): CELLS, ("site", "a"): CELLS}
    parts = {"clusters": HOSTS, "sample": SAMPLE, "slices": slices, "days": day, "open_set": SAMPLE}
    one = _record(**parts)
    other = _record(**{**parts, "days": {"2026-11-16": _record(kind="score")}})
    total = one + other
    assert total.confusion.cells == ((2, 2), (0, 4))
    assert total.scores == (ScoreTally.merge([TABLE, TABLE]),)
    assert total.clusters == HOSTS + HOSTS
    assert total.sample == total.open_set == SAMPLE + SAMPLE
    assert list(total.slices) == [("site", "a"), ("site", "b")]
    assert total.slices["site", "a"] == CELLS + CELLS
    assert total.days is not None
    assert list(total.days) == ["2026-11-16", "2026-11-17"]
    assert [part.confusion.total for part in total.days.values()] == [8, 4]
    assert (total.threshold, total.positive, total.decided) == (0.5, "attack", True)
    assert (
        one + one.zero()
        == one.zero() + one
        == replace(one, days=dict(sorted(day.items())), slices=dict(sorted(slices.items())))
    )
    assert from_bytes(total.to_bytes()) == total
    assert hash(total) == hash(one + other)


def test_slices_of_unlike_columns_are_not_added_whatever_stands_between() -> None:
    sites, hosts = (_record(slices={(column, "a"): CELLS}) for column in ("site", "host"))
    for parts in ([sites, hosts], [sites.zero(), sites, hosts], [sites, hosts.zero(), hosts]):
        with pytest.raises(TallyError, match=r"slices by 'host' .* count both with the same col"):
            Resolved.merge(parts)
    # Parts of a column may have unlike values, and those without rows any slices.
    other = _record(slices={("site", "b"): CELLS})
    assert list((sites + other + hosts.zero()).slices) == [("site", "a"), ("site", "b")]


def test_days_are_read_as_the_whole_is() -> None:
    grid = {"scores": (TABLE.to_grid(3),), "summed_losses": LOSSES}
    days = {"2026-11-16": _record(**grid)}
    whole = _record(**grid, days=days) + _record(**grid, days=days)
    assert whole.days is not None
    assert whole.days["2026-11-16"].losses == LOSSES + LOSSES
    scored = _record(**grid, days=days) + _record(kind="score", days={})
    assert scored.days is not None
    assert scored.days["2026-11-16"].kind == "score"
    assert scored.days["2026-11-16"].losses is None


def test_a_zero_has_the_parts_of_its_record_and_no_rows() -> None:
    wide = Sample.of_rows(THREE, np.array([0]), {"m": np.array([[0.5, 0.25, 0.25]])})
    record = Resolved(
        THREE, None, Confusion.of_codes(THREE, TRUTH, TRUTH), kind="probability",
        scores=(ScoreTally.zero(THREE),) * 3, summed_losses=LOSSES, sample=wide,
        clusters=ClusterTally.of_codes(THREE, TRUTH, TRUTH, TRUTH, ("x", "y")), open_set=SAMPLE,
        days={"2026-11-16": Resolved.of_confusion(Confusion.zero(THREE))},
        slices={("site", "a"): Confusion.zero(THREE)},
    )  # fmt: skip
    zero = record.zero()
    assert zero.confusion == Confusion.zero(THREE)
    assert zero.scores is not None
    assert [table.size for table in zero.scores] == [0, 0, 0]
    assert (zero.summed_losses, zero.clusters) == (LossSums(), ClusterTally.zero(THREE))
    assert zero.sample is not None
    assert (zero.sample.size, zero.sample.width, zero.sample.models) == (0, 3, ("m",))
    assert zero.open_set is not None
    assert (zero.open_set.labels, zero.open_set.size) == (TWO, 0)
    assert (zero.days, zero.slices) == ({}, {})
    plain = Resolved.of_confusion(CELLS).zero()
    assert [plain.scores, plain.summed_losses, plain.clusters, plain.sample, plain.days] == [
        None
    ] * 5


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"labels": TWO[::-1]}, "tallies of unlike labels can't be added"),
        ({"positive": "benign"}, "unlike positive can't be added: 'attack' and 'benign'$"),
        ({"threshold": 0.25}, "unlike threshold .*; count both with the same threshold=$"),
        ({"decided": False}, "unlike decided .*True and False; count both with the same"),
        ({"scores": None}, "one counted scores and the other did not"),
        ({"clusters": HOSTS}, "one counted clusters and the other did not"),
        ({"sample": SAMPLE}, "one counted sample and the other did not"),
        ({"open_set": SAMPLE}, "one counted open_set and the other did not"),
        ({"days": {}}, "one counted days and the other did not"),
        ({"slices": {("site", "a"): CELLS}}, "one counted slices by 'site' and the other did not"),
    ],
)  # fmt: skip
def test_unlike_records_are_not_added(changed: dict[str, Any], message: str) -> None:
    one, other = _record(), replace(_record(), **changed)
    with pytest.raises(TallyError, match=message):
        one + other
    with pytest.raises(TallyError, match="can't be added"):
        Resolved.merge([one, one, other])
    with pytest.raises(TallyError, match="there are no tallies to add"):
        Resolved.merge([])


def test_losses_are_asked_of_parts_of_one_kind_alone() -> None:
    grid = (TABLE.to_grid(3),)
    with pytest.raises(TallyError, match="one counted losses and the other did not"):
        _record(scores=grid, summed_losses=LOSSES) + _record(scores=grid)
    assert (
        _record(scores=grid, summed_losses=LOSSES) + _record(scores=grid, kind="score")
    ).losses is None


def test_rows_of_many_classes_may_be_missing_in_a_part() -> None:
    wide = Sample.of_rows(THREE, np.array([0]), {"m": np.array([[0.5, 0.25, 0.25]])})
    with_rows = Resolved(THREE, None, Confusion.zero(THREE), sample=wide)
    without = Resolved(THREE, None, Confusion.zero(THREE))
    assert (with_rows + without).sample is (without + with_rows).sample is None


def test_rows_are_kept_up_to_a_number_of_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolved_tally.MOST_PROBABILITIES == 20_000_000
    wide = Sample.of_rows(THREE, np.array([0, 1]), {"m": np.array([[0.5, 0.5, 0], [0, 0.5, 0.5]])})
    for most, kept in ((6, True), (5, False)):
        monkeypatch.setattr(resolved_tally, "MOST_PROBABILITIES", most)
        assert (kept_rows(wide) is wide) == kept
        assert (kept_rows(wide) is None) != kept
    assert kept_rows(None) is None
    monkeypatch.setattr(resolved_tally, "MOST_PROBABILITIES", 1)
    assert kept_rows(SAMPLE) is SAMPLE


# -- a threshold -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threshold", "cells"),
    [
        (0.25, ((0, 2), (0, 2))),
        (0.3, ((1, 1), (0, 2))),
        (0.5, ((1, 1), (0, 2))),
        (0.6, ((2, 0), (1, 1))),
        (0.75, ((2, 0), (1, 1))),
        (0.8, ((2, 0), (2, 0))),
    ],
)
def test_rows_are_flagged_from_the_threshold_on(threshold: float, cells: Any) -> None:
    confusion = confusion_at(TABLE, threshold)
    assert (confusion.labels, confusion.cells, confusion.squares) == (TWO, cells, None)
    assert all(type(cell) is int for row in confusion.cells for cell in row)
    weighted = ScoreTally.of_rows(TWO, SCORES, TRUTH, weights=np.full(4, 0.5))
    halves = confusion_at(weighted, threshold)
    assert halves.cells == tuple(tuple(cell / 2 for cell in row) for row in cells)
    assert halves.squares == tuple(tuple(cell / 4 for cell in row) for row in cells)


def test_counts_that_fill_their_type_add_up_at_a_threshold() -> None:
    full = ScoreTally(TWO, np.array([0.1, 0.2]), np.full((2, 2), 255, np.uint8))
    assert confusion_at(full, 0.0).cells == ((0, 510), (0, 510))
    assert confusion_at(full, 1.0).cells == ((510, 0), (510, 0))


# -- bytes -----------------------------------------------------------------------------------------


def _bytes(parts: dict[str, Any] | None = None, **changed: Any) -> bytes:
    header = {
        "labels": TWO, "positive": "attack", "threshold": 0.5, "kind": "score", "scores": None,
        "confusion": CELLS.to_header(), "slices": [["site", "a", CELLS.to_header()]],
    }  # fmt: skip
    arrays = {n: np.frombuffer(p.to_bytes(), np.uint8) for n, p in (parts or {}).items()}
    return codec.write("tally", header | changed, arrays)


DAY = Resolved.of_confusion(CELLS, positive="attack")
OTHERS = Confusion.zero(THREE)


def test_a_record_is_read_from_its_parts() -> None:
    parts = {
        "scores 0": TABLE, "losses": LOSSES, "clusters": HOSTS, "sample": SAMPLE,
        "open_set": Sample.zero(THREE, ("m",)), "day 2026-11-16": DAY, "day 2026-11-17": DAY,
    }  # fmt: skip
    read = from_bytes(_bytes(parts, scores=1, days=["2026-11-16", "2026-11-17"]))
    assert (read.labels, read.positive, read.threshold, read.kind) == (TWO, "attack", 0.5, "score")
    assert (read.scores, read.losses, read.clusters) == ((TABLE,), LOSSES, HOSTS)
    assert (read.sample, read.open_set) == (SAMPLE, Sample.zero(THREE, ("m",)))
    assert read.days == {"2026-11-16": DAY, "2026-11-17": DAY}
    assert read.slices == {("site", "a"): CELLS}
    assert read.decided
    plain = from_bytes(_bytes(threshold=None, positive=None, decided=False, kind=""))
    assert (plain.threshold, plain.positive, plain.decided, plain.days) == (None, None, False, None)
    assert (plain.scores, plain.summed_losses, plain.open_set) == (None, None, None)
    assert from_bytes(_bytes(scores=0)).scores == ()
    two = from_bytes(_bytes({"scores 0": TABLE, "scores 1": TABLE}, scores=2))
    assert two.scores == (TABLE, TABLE)


BROKEN: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a table too few": ({}, {"scores": 1}, "it holds 0 score tables and says 1"),
    "a table too many": ({"scores 0": TABLE}, {}, "it holds 1 score tables and says None"),
    "losses that are scores": ({"losses": TABLE}, {}, "its losses are of another kind"),
    "a sample that is a table": ({"sample": TABLE}, {}, "its sample are of another kind"),
    "scores of other labels": ({"scores 0": ScoreTally.zero(THREE)}, {"scores": 1}, "do not fit"),
    "a sample of other labels": ({"sample": Sample.zero(THREE, ())}, {}, "do not fit"),
    "a matrix of other labels": ({}, {"confusion": OTHERS.to_header()}, "do not fit"),
    "a slice of other labels": ({}, {"slices": [["a", "b", OTHERS.to_header()]]}, "do not fit"),
    "a day of other labels": (
        {"day d": Resolved.of_confusion(OTHERS)}, {"days": ["d"]}, "do not fit"),
    "a day that is a matrix": ({"day d": CELLS}, {"days": ["d"]}, "its days are of another kind"),
    "a day of days": ({"day d": replace(DAY, days={})}, {"days": ["d"]}, "its days are of another"),
    "days out of order": ({"day d": DAY, "day c": DAY}, {"days": ["d", "c"]}, "not in order"),
    "an unknown kind": ({}, {"kind": "guess"}, "its kind or positive label do not fit"),
    "an unknown positive": ({}, {"positive": "worm"}, "its kind or positive label do not fit"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_parts_that_are_no_record_are_refused(name: str) -> None:
    parts, changed, message = BROKEN[name]
    with pytest.raises(TallyError, match=message):
        from_bytes(_bytes(parts, **changed))


def test_bytes_tell_of_what_was_not_decided_and_of_later_sums() -> None:
    assert b'"decided"' not in _record().to_bytes()
    undecided = _record(decided=False)
    assert b'"decided":false' in undecided.to_bytes()
    assert from_bytes(undecided.to_bytes()) == undecided
    ones = np.ones(2, int)
    uneven = Confusion.of_codes(TWO, ones, ones, weights=np.array([0.1, 0.2]))

    def schema(record: Resolved) -> bytes:
        return record.to_bytes().partition(b'"kind":"tally","schema":')[2][:1]

    assert schema(_record()) == b"1"
    assert schema(replace(_record(), confusion=uneven)) == b"2"
    assert schema(_record(slices={("a", "b"): uneven, ("a", "c"): CELLS})) == b"2"
