"""What holds for every tally: it is a commutative monoid, and shards are the whole."""

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.engines import Ask, Columns, count_coded, frames
from assay.errors import TallyError
from assay.sources import code_arrays
from assay.tally import (
    ClusterTally,
    Confusion,
    Crosstab,
    JointScores,
    LossSums,
    PairTally,
    Resolved,
    Sample,
    ScoreTally,
    Tally,
    from_bytes,
    weight_sums,
)
from assay.tally.keeping import Grid
from assay.tally.named_tally import Refusals

from .kinds import DAYS, HOSTS, KINDS, NAMES, THREE, TWO, Kind, Row, no_record

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
SOME = settings(max_examples=60)


def _rows(kind: Kind, data: st.DataObject, least: int = 0) -> list[Row]:
    return data.draw(st.lists(kind.rows, min_size=least, max_size=25))


def _sum(parts: list[Any]) -> Any:
    result = parts[0]
    for part in parts[1:]:
        result = result + part
    return result


def _same(a: Any, b: Any) -> bool:
    """Equal, and the same to the bit."""
    return a == b and a.to_bytes() == b.to_bytes()


# -- the laws of a commutative monoid ------------------------------------------------------------


@every_kind
@SOME
@given(data=st.data())
def test_zero_is_neutral(kind: Kind, data: st.DataObject) -> None:
    tally = kind.count(_rows(kind, data), None)
    assert _same(tally + kind.zero(), tally)
    assert _same(kind.zero() + tally, tally)


@every_kind
def test_no_rows_count_to_zero(kind: Kind) -> None:
    assert _same(kind.count([], None), kind.zero())
    assert _same(kind.zero() + kind.zero(), kind.zero())


@every_kind
@SOME
@given(data=st.data())
def test_addition_is_commutative(kind: Kind, data: st.DataObject) -> None:
    a, b = (kind.count(_rows(kind, data), None) for _ in range(2))
    assert _same(a + b, b + a)


@every_kind
@SOME
@given(data=st.data())
def test_addition_is_associative(kind: Kind, data: st.DataObject) -> None:
    a, b, c = (kind.count(_rows(kind, data), None) for _ in range(3))
    assert _same((a + b) + c, a + (b + c))


@every_kind
@SOME
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_shards_in_any_order_are_the_whole_to_the_bit(
    kind: Kind, data: st.DataObject, seed: int
) -> None:
    rows = _rows(kind, data, least=1)
    rng = random.Random(seed)
    cuts = sorted(rng.choices(range(len(rows) + 1), k=rng.randint(1, 4)))
    edges = [0, *cuts, len(rows)]
    shards = [kind.count(rows[i:j], None) for i, j in itertools.pairwise(edges)]
    rng.shuffle(shards)
    assert _same(_sum(shards), kind.count(rows, None))


@every_kind
@SOME
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(kind: Kind, data: st.DataObject, seed: int) -> None:
    rows = _rows(kind, data, least=1)
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)
    assert _same(kind.count(mixed, None), kind.count(rows, None))


@every_kind
@SOME
@given(data=st.data())
def test_one_row_more_is_another_tally(kind: Kind, data: st.DataObject) -> None:
    rows = _rows(kind, data, least=1)
    fewer, more = kind.count(rows[1:], None), kind.count(rows, None)
    assert fewer != more
    assert fewer.to_bytes() != more.to_bytes()


@every_kind
@SOME
@given(data=st.data())
def test_bytes_go_there_and_back(kind: Kind, data: st.DataObject) -> None:
    tally = kind.count(_rows(kind, data), None)
    again = from_bytes(tally.to_bytes())
    assert type(again) is type(tally)
    assert _same(again, tally)
    assert hash(again) == hash(tally)
    assert _same(again + tally, tally + tally)


@every_kind
@SOME
@given(data=st.data())
def test_counts_are_repetition_and_zero_counts_are_absence(kind: Kind, data: st.DataObject) -> None:
    rows = _rows(kind, data, least=1)
    counts = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    repeated = [row for row, n in zip(rows, counts, strict=True) for _ in range(n)]
    counted = kind.count(rows, np.array(counts, np.int64))
    assert _same(kind.amounts(counted), kind.amounts(kind.count(repeated, None)))


@every_kind
def test_a_tally_equals_nothing_of_another_kind(kind: Kind) -> None:
    assert kind.zero() != 0
    assert kind.zero() != b""
    for other in KINDS:
        if type(other.zero()) is not type(kind.zero()):
            assert kind.zero() != other.zero()


@every_kind
def test_a_tally_adds_to_nothing_but_its_kind(kind: Kind) -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        kind.zero() + 1
    with pytest.raises(TypeError, match="unsupported operand"):
        kind.zero() + object()


@every_kind
def test_a_tally_is_frozen(kind: Kind) -> None:
    with pytest.raises(AttributeError):
        kind.zero().labels = ("other",)


@every_kind
@SOME
@given(data=st.data())
def test_counting_does_not_write_to_what_was_given(kind: Kind, data: st.DataObject) -> None:
    parts = [kind.count(_rows(kind, data), None) for _ in range(2)]
    before = [part.to_bytes() for part in parts]
    _sum(parts)
    assert [part.to_bytes() for part in parts] == before


# -- unlike tables ---------------------------------------------------------------------------------

_ONE = np.zeros(1, np.uint8)
_SCORE = np.array([0.5])
_WEIGHT = np.array([2.5])


def _sample_of(clusters: bool) -> Sample:
    if clusters:
        return Sample.of_rows(TWO, _ONE, {"a": _SCORE}, cluster=_ONE, clusters=HOSTS)
    return Sample.of_rows(TWO, _ONE, {"a": _SCORE})


def _tally(
    y_true: Sequence[Any] = ("dos",), *, threshold: float | None = None, **columns: Any
) -> Tally:
    """One row, by name."""
    rows = code_arrays(list(y_true), **{"y_score": [0.5], **columns})
    return count_coded(rows, Ask(threshold=threshold))


UNLIKE = {
    "confusion labels": lambda: (Confusion.zero(TWO), Confusion.zero(THREE), "unlike labels.*dos"),
    "confusion label order": lambda: (
        Confusion.zero(TWO),
        Confusion.zero(TWO[::-1]),
        "unlike labels",
    ),
    "pairs labels": lambda: (
        PairTally.zero(TWO, ("a",)),
        PairTally.zero(THREE, ("a",)),
        "unlike labels",
    ),
    "pairs models": lambda: (
        PairTally.zero(TWO, ("a",)),
        PairTally.zero(TWO, ("b",)),
        "unlike .*models",
    ),
    "clusters labels": lambda: (ClusterTally.zero(TWO), ClusterTally.zero(THREE), "unlike labels"),
    "scores weights": lambda: (
        ScoreTally.of_rows(TWO, _SCORE, _ONE),
        ScoreTally.of_rows(TWO, _SCORE, _ONE, weights=_WEIGHT),
        "with and without sampling weights",
    ),
    "joint models": lambda: (
        JointScores.zero(TWO, ("a", "b")),
        JointScores.zero(TWO, ("a", "c")),
        "unlike models.*'c'",
    ),
    "sample labels": lambda: (
        Sample.zero(TWO, ("a",)),
        Sample.zero(THREE, ("a",)),
        "unlike labels",
    ),
    "sample models": lambda: (
        Sample.zero(TWO, ("a",)),
        Sample.zero(TWO, ("b",)),
        "unlike .*models",
    ),
    "sample clusters": lambda: (
        _sample_of(True),
        _sample_of(False),
        "with clusters and one without",
    ),
    "losses weights": lambda: (
        LossSums.of_binary(_ONE, _SCORE),
        LossSums.of_binary(_ONE, _SCORE, weights=_WEIGHT),
        "with and without sampling weights",
    ),
    "record labels": lambda: (
        Resolved.of_confusion(Confusion.zero(TWO)),
        Resolved.of_confusion(Confusion.zero(THREE)),
        "unlike labels",
    ),
    "record positive": lambda: (
        Resolved.of_confusion(Confusion.zero(TWO), positive="attack"),
        Resolved.of_confusion(Confusion.zero(TWO)),
        "unlike positive.*'attack' and None",
    ),
    "record threshold": lambda: (
        Resolved(TWO, "attack", Confusion.zero(TWO), threshold=0.5),
        Resolved(TWO, "attack", Confusion.zero(TWO), threshold=0.6),
        r"unlike threshold.*0\.5 and 0\.6",
    ),
    "record parts": lambda: (
        Resolved(TWO, "attack", Confusion.zero(TWO), summed_losses=LossSums()),
        Resolved(TWO, "attack", Confusion.zero(TWO)),
        "one counted losses and the other did not",
    ),
    "record scores": lambda: (
        Resolved(TWO, "attack", Confusion.zero(TWO), kind="score", scores=(ScoreTally.zero(TWO),)),
        Resolved(TWO, "attack", Confusion.zero(TWO)),
        "one counted scores and the other did not",
    ),
    "crosstab weights": lambda: (
        Crosstab({("benign", "flagged"): 2}),
        Crosstab({("benign", "flagged"): 2.0}, {("benign", "flagged"): 4.0}),
        "with and without sampling weights",
    ),
    "names threshold": lambda: (
        _tally(threshold=0.5),
        _tally(threshold=0.6),
        r"unlike threshold.*0\.5 and 0\.6; count both with the same threshold=",
    ),
    "names usual threshold": lambda: (
        _tally(),
        _tally(threshold=0.5),
        r"unlike threshold.*None and 0\.5",
    ),
    "names decisions": lambda: (
        _tally(y_pred=["dos"]),
        _tally(),
        "one counted decisions and the other did not",
    ),
    "names clusters": lambda: (
        _tally(clusters=["alpha"]),
        _tally(),
        "one counted clusters and the other did not",
    ),
    "names days": lambda: (
        _tally(times=["2026-11-16"]),
        _tally(),
        "one counted days and the other did not",
    ),
    "names scores": lambda: (
        _tally(y_pred=["dos"]),
        _tally(y_pred=["dos"], y_score=None),
        "one counted scores and the other did not",
    ),
    "names weights": lambda: (
        _tally(sample_weight=[2.5]),
        _tally(),
        "with and without sampling weights",
    ),
    "names probabilities": lambda: (
        _tally(y_score=None, y_proba={"dos": [0.5], "probe": [0.5], "benign": [0.0]}),
        _tally(y_score=None, y_proba={"dos": [0.5], "worm": [0.5], "benign": [0.0]}),
        "unlike probabilities.*'probe'.*'worm'",
    ),
    "names sides": lambda: (
        _tally().asked(positive="dos"),
        _tally().asked(negative="benign"),
        "it was said positive='dos', of the other negative='benign'",
    ),
    "names kinds": lambda: (
        _tally(),
        _tally([1]),
        r"labels are text in one part \('dos'\) and numbers in another \('1'\).*Convert one",
    ),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_unlike_tables_refuse_to_be_added(name: str) -> None:
    a, b, message = UNLIKE[name]()
    with pytest.raises(TallyError, match=message):
        a + b
    with pytest.raises(TallyError):
        b + a


def test_rows_that_were_all_refused_add_to_any_others() -> None:
    refused = Tally(rows=2, refused=Refusals({"no label": 2}))
    for part in (_tally(threshold=0.7), _tally([1], clusters=["alpha"])):
        total = part + refused
        assert _same(total, refused + part)
        assert total.rows == 3
        assert total.refused.reasons == {"no label": 2}
        assert total.threshold == part.threshold


@pytest.mark.parametrize("labels", [("benign", "dos"), np.array(["benign", "dos"])])
@pytest.mark.parametrize("positive", ["dos", np.str_("dos"), np.int64(1), True])
def test_what_was_said_of_labels_goes_to_bytes_and_adds(labels: Any, positive: Any) -> None:
    tally = _tally().asked(positive=positive, labels=labels)
    again = from_bytes(tally.to_bytes())
    assert _same(again, tally)
    assert (again + tally).sides == {"labels": ["benign", "dos"], "positive": positive}


def test_slices_of_either_side_are_kept() -> None:
    a, b = Confusion(TWO, ((1, 0), (0, 1))), Confusion(TWO, ((0, 2), (2, 0)))
    left = Resolved(TWO, None, a, slices={("site", "x"): a, ("site", "z"): b})
    right = Resolved(TWO, None, b, slices={("site", "y"): b, ("site", "x"): b})
    merged = (left + right).slices
    assert list(merged) == [("site", "x"), ("site", "y"), ("site", "z")]
    assert merged["site", "x"] == a + b


def test_there_is_nothing_to_merge_in_no_tallies() -> None:
    with pytest.raises(TallyError, match="no tallies"):
        Resolved.merge([])


def test_a_merge_of_one_is_itself() -> None:
    tally = no_record()
    assert Resolved.merge([tally]) == tally
    assert ScoreTally.merge([ScoreTally.zero(TWO)]) == ScoreTally.zero(TWO)


@given(data=st.data())
def test_scores_that_are_no_probabilities_somewhere_are_none_anywhere(
    data: st.DataObject,
) -> None:
    record = next(kind for kind in KINDS if kind.name == "record")
    rows = _rows(record, data, least=2)
    whole = record.count(rows, None)
    assume(whole.kind == "score")
    each = [record.count([row], None) for row in rows]
    assert _sum(each).kind == "score"
    assert _sum(each).losses is None
    assert Resolved.merge(each) == whole
    assert Resolved.merge(each[::-1]) == whole


# -- sampling weights ------------------------------------------------------------------------------

# Weights that no float adds without rounding, and those in the middle between two floats.
weights = st.one_of(
    st.floats(1e-3, 1e3),
    st.sampled_from([0.1, 1.0, 2.0**-53, 2.0**-54, 3 * 2.0**-54, 2.0**60, 1e-100, 1e100]),
)
weighted_rows = st.lists(
    st.tuples(
        st.integers(0, 1), st.integers(0, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0]), weights
    ),
    min_size=2,
    max_size=30,
)


def _weighted(part: str, rows: list[Row]) -> Any:
    truth, decision = (np.array([row[i] for row in rows], np.uint8) for i in range(2))
    score, weight = (np.array([row[i] for row in rows], np.float64) for i in (2, 3))
    host = (score * 4).astype(np.int64) % 3
    if part == "confusion":
        return Confusion.of_codes(TWO, truth, decision, weights=weight)
    if part == "crosstab":
        return Crosstab.of_codes(NAMES, truth, TWO, decision, weights=weight)
    if part == "scores":
        return ScoreTally.of_rows(TWO, score, truth, weights=weight)
    if part == "grid":
        return ScoreTally.of_rows(TWO, score, truth, weights=weight, kept=Grid(2))
    if part == "sample":
        return Sample.of_rows(TWO, truth, {"a": score}, weights=weight)
    if part == "clusters":
        return ClusterTally.of_codes(TWO, truth, decision, host, HOSTS, amounts=weight)
    if part == "losses":
        return LossSums.of_binary(truth, score, weights=weight)
    frame = {
        "label": [NAMES[i] for i in truth],
        "score": score,
        "weight": weight,
        "host": [HOSTS[i] for i in host],
        "day": [DAYS[i] for i in host],
    }
    columns = Columns(
        label="label", score="score", weight="weight", slices=("day",), time="day", cluster="host"
    )
    return frames.count_polars(pl.DataFrame(frame), columns, Ask())


_PARTS = pytest.mark.parametrize(
    "part",
    ["confusion", "crosstab", "scores", "grid", "sample", "clusters", "losses", "names"],
)


@_PARTS
@SOME
@given(rows=weighted_rows, data=st.data())
def test_weighted_rows_give_the_same_bytes_in_any_order_and_in_any_shards(
    part: str, rows: list[Row], data: st.DataObject
) -> None:
    whole = _weighted(part, rows)
    shuffled = data.draw(st.permutations(rows))
    assert _weighted(part, shuffled).to_bytes() == whole.to_bytes()
    cuts = sorted(data.draw(st.lists(st.integers(1, len(rows) - 1), max_size=3)))
    shards = [
        _weighted(part, shuffled[i:j])
        for i, j in zip([0, *cuts], [*cuts, len(rows)], strict=True)
        if i < j
    ]
    assert _sum(shards).to_bytes() == whole.to_bytes()
    assert _sum(shards[::-1]).to_bytes() == whole.to_bytes()


def test_digits_that_are_added_at_once_make_no_sum_that_a_float_rounds() -> None:
    assert weight_sums._MOST_ROWS * weight_sums._DIGIT <= 2**53


@given(rows=weighted_rows)
def test_sums_of_weights_are_rounded_once(rows: list[Row]) -> None:
    table = _weighted("scores", rows)
    for truth, score in itertools.product((0, 1), (0.0, 0.25, 0.5, 1.0)):
        own = [row[3] for row in rows if row[0] == truth and row[2] == score]
        at = table.scores.tolist().index(score) if score in table.scores else None
        for sums, values in ((table.counts, own), (table.squares, [w * w for w in own])):
            assert (0.0 if at is None else sums[truth, at]) == math.fsum(values)
    cells = _weighted("confusion", rows).cells
    for truth, decision in itertools.product((0, 1), (0, 1)):
        own = [row[3] for row in rows if row[:2] == (truth, decision)]
        assert cells[truth][decision] == math.fsum(own)


def test_many_weights_of_many_scores_are_the_same_in_any_order_and_in_any_shards() -> None:
    rng = np.random.default_rng(5)
    size = 150_000
    score = rng.integers(0, 60_000, size) / 2**16
    truth = rng.integers(0, 2, size).astype(np.uint8)
    weight = rng.gamma(0.5, 3, size) * 10.0 ** rng.integers(-30, 30, size)
    order = rng.permutation(size)

    def counted(rows: Any) -> list[Any]:
        return [
            ScoreTally.of_rows(TWO, score[rows], truth[rows], weights=weight[rows]),
            Confusion.of_codes(TWO, truth[rows], truth[rows] ^ 1, weights=weight[rows]),
            LossSums.of_binary(truth[rows], score[rows], weights=weight[rows]),
        ]

    wholes = counted(slice(None))
    shards = [counted(order[i : i + 40_000]) for i in range(0, size, 40_000)]
    for whole, parts in zip(wholes, zip(*shards, strict=True), strict=True):
        assert _sum(list(parts)).to_bytes() == whole.to_bytes()
        assert from_bytes(whole.to_bytes()).to_bytes() == whole.to_bytes()
    totals = [math.fsum(weight[(truth == 1) & (score == s)]) for s in wholes[0].scores[:50]]
    assert wholes[0].counts[1, :50].tolist() == totals


@_PARTS
@given(rows=weighted_rows)
def test_weighted_tallies_go_to_bytes_and_back(part: str, rows: list[Row]) -> None:
    tally = _weighted(part, rows)
    again = from_bytes(tally.to_bytes())
    assert again == tally
    assert again.to_bytes() == tally.to_bytes()


@pytest.mark.parametrize("part", ["confusion", "scores", "clusters", "losses"])
def test_zero_is_neutral_to_a_weighted_tally(part: str) -> None:
    tally = _weighted(part, [(0, 1, 0.5, 2.5), (1, 1, 1.0, 0.1)])
    zeros = {
        "confusion": Confusion.zero(TWO),
        "scores": ScoreTally.zero(TWO),
        "clusters": ClusterTally.zero(TWO),
        "losses": LossSums(),
    }
    assert tally + zeros[part] == tally
    assert zeros[part] + tally == tally


def test_weights_that_are_whole_numbers_sum_as_counts_do() -> None:
    rows = [(0, 1, 0.5, 3.0), (1, 1, 1.0, 2.0), (0, 0, 0.0, 1.0), (0, 1, 0.5, 4.0)]
    table, scores = _weighted("confusion", rows), _weighted("scores", rows)
    assert table.cells == ((1.0, 7.0), (0.0, 2.0))
    assert table.squares == ((1.0, 25.0), (0.0, 4.0))
    assert scores.counts.tolist() == [[1.0, 7.0, 0.0], [0.0, 0.0, 2.0]]
    assert scores.squares.tolist() == [[1.0, 25.0, 0.0], [0.0, 0.0, 4.0]]
    assert _weighted("clusters", rows).clusters == ("alpha", "beta", "gamma")
