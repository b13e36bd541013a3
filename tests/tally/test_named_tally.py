"""Tallies by name: how they add, what is left without a label, and which bytes are refused."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay.errors import TallyError
from assay.tally import (
    ClusterTally,
    Confusion,
    Crosstab,
    LossSums,
    Resolved,
    Sample,
    ScoreTally,
    Tally,
    codec,
    from_bytes,
    resolved_tally,
)
from assay.tally.named_tally import DECISION, SCORE, Names, Refusals

from .kinds import TWO

LABELS = ("dos", "good")
SCORES, TRUTH = np.array([0.25, 0.5, 0.75]), np.array([1, 0, 0])
TABLE = ScoreTally.of_rows(LABELS, SCORES, TRUTH)
CELLS = Crosstab({("dos", "flagged"): 2, ("good", "below"): 1})
SAMPLE = Sample.of_rows(LABELS, TRUTH, {"m": SCORES})
HOSTS = ClusterTally.of_codes(LABELS, TRUTH, TRUTH, TRUTH, ("x", "y"), columns=("below", "flagged"))
LOSS = LossSums.of_binary(TRUTH, SCORES)


def _tally(**more: Any) -> Tally:
    given: dict[str, Any] = {
        "labels": Names(LABELS, "text"),
        "threshold": 0.5,
        "rows": 5,
        "empty": 1,
        "refused": Refusals({"no score": 1}),
        "decided": {SCORE: CELLS},
        "scores": {SCORE: TABLE},
        "extremes": {SCORE: (0.25, 0.75)},
        "losses": {("dos", "right"): LOSS, ("good", "right"): LOSS},
        "clusters": {SCORE: HOSTS},
        "sample": SAMPLE,
        "slices": {("site", "a"): {SCORE: CELLS}},
        "days": {"2026-11-16": Tally(Names(LABELS, "text"), rows=3, decided={SCORE: CELLS})},
        "sides": {"positive": "dos"},
    }
    return Tally(**{**given, **more})


# -- sums ------------------------------------------------------------------------------------------


def test_refusals_add_by_reason() -> None:
    total = Refusals({"b": 1, "c": 2}) + Refusals({"a": 3, "b": 4})
    assert total == Refusals({"a": 3, "b": 5, "c": 2})
    assert list(total.reasons) == ["a", "b", "c"]
    assert (total.total, Refusals().total) == (10, 0)


def test_names_are_united_where_they_are_of_one_kind() -> None:
    assert Names(("b",), "text") + Names(("a", "b"), "text") == Names(("a", "b"), "text")
    assert Names() + Names(("1",), "numbers") == Names(("1",), "numbers")
    assert Names(("1",), "numbers") + Names() == Names(("1",), "numbers")
    assert Names((), "text").to_header() == ["text", []]
    with pytest.raises(TallyError, match=r"labels are text in one part \('a'\) and numbers in ano"):
        Names(("a",), "text") + Names(("1",), "numbers")
    many = Names(tuple("abcdefg"), "text")
    with pytest.raises(TallyError, match=r"\('a', 'b', 'c', 'd', 'e', 'f', \.\.\.\) and numbers"):
        many.must_be_like(Names(("1",), "numbers"))
    with pytest.raises(TallyError, match=r"\('a', 'b', 'c', 'd', 'e', 'f'\) and numbers"):
        Names(tuple("abcdef"), "text").must_be_like(Names(("1",), "numbers"))


def test_tallies_add_part_by_part() -> None:
    one = _tally(unlabelled=Tally(rows=1))
    other = _tally(
        extremes={SCORE: (0.5, 2.0)},
        losses={("dos", "right"): LOSS},
        slices={("site", "A"): {SCORE: CELLS}, ("site", "a"): {SCORE: CELLS}},
        days={"2026-11-15": Tally(Names(LABELS, "text"), rows=3, decided={SCORE: CELLS})},
    )
    total = one + other
    assert (total.rows, total.empty, total.refused.reasons) == (10, 2, {"no score": 2})
    assert (total.labels, total.threshold) == (Names(LABELS, "text"), 0.5)
    assert total.decided == {SCORE: CELLS + CELLS}
    assert total.scores == {SCORE: TABLE + TABLE}
    assert total.extremes == {SCORE: (0.25, 2.0)}
    assert total.losses == {("dos", "right"): LOSS + LOSS, ("good", "right"): LOSS}
    assert total.clusters == {SCORE: HOSTS + HOSTS}
    assert (total.sample, total.too_many) == (SAMPLE + SAMPLE, False)
    assert total.slices == {("site", "A"): {SCORE: CELLS}, ("site", "a"): {SCORE: CELLS + CELLS}}
    assert list(total.slices) == [("site", "A"), ("site", "a")]
    assert total.days is not None
    assert [(day, part.rows) for day, part in total.days.items()] == [
        ("2026-11-15", 3), ("2026-11-16", 3),
    ]  # fmt: skip
    assert total.unlabelled == Tally(rows=1)
    assert total.sides == {"positive": "dos"}
    assert total == other + one == from_bytes(total.to_bytes())
    assert repr(total) == "Tally(rows=10, labels=('dos', 'good'))"
    assert hash(total) == hash(other + one)
    assert total != one != other


def test_a_tally_of_no_rows_adds_to_any_other() -> None:
    full, none = _tally(), Tally(threshold=0.7)
    assert Tally.merge([none, full, none]) is full
    assert Tally.merge([none, Tally()]) is none
    assert Tally.merge([]) == Tally()
    assert none.is_zero
    assert not full.is_zero


def test_rows_that_were_not_counted_add_to_any_others() -> None:
    full, empty = _tally(), Tally(rows=4, empty=3, refused=Refusals({"no label": 1}), threshold=0.7)
    assert not empty.counted
    for total in (full + empty, empty + full):
        assert (total.rows, total.empty) == (9, 4)
        assert total.refused.reasons == {"no label": 1, "no score": 1}
        assert (total.threshold, total.labels.names) == (0.5, LABELS)
    both = empty + replace(empty, threshold=0.8)
    assert (both.rows, both.counted, both.threshold) == (8, False, 0.7)


def test_rows_without_a_label_are_added_apart() -> None:
    one, other = _tally(unlabelled=Tally(rows=2)), _tally(unlabelled=Tally(rows=3))
    assert (one + other).unlabelled == Tally(rows=5)
    assert (_tally() + one).unlabelled == Tally(rows=2)
    assert (_tally() + _tally()).unlabelled is None


def test_rows_that_are_too_many_stay_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.array([[0.5, 0.5], [0.25, 0.75]])
    wide = _tally(sample=Sample.of_rows(LABELS, np.array([0, 1]), {"m": table}))
    other = _tally(sample=Sample.of_rows(LABELS, np.array([0, 1]), {"m": table[::-1]}))
    gone = _tally(sample=None, too_many=True)
    for total in (wide + gone, gone + wide):
        assert (total.sample, total.too_many) == (None, True)
    monkeypatch.setattr(resolved_tally, "MOST_PROBABILITIES", 8)
    assert ((wide + other).sample is None, (wide + other).too_many) == (False, False)
    monkeypatch.setattr(resolved_tally, "MOST_PROBABILITIES", 7)
    assert ((wide + other).sample, (wide + other).too_many) == (None, True)
    without = _tally(sample=None)
    assert ((without + without).sample, (without + without).too_many) == (None, False)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_rows_that_one_part_lacks_are_gone_whatever_stands_first(order: tuple[int, ...]) -> None:
    kept, without = _tally(), _tally(sample=None)
    parts = [kept, without, kept]
    first, second, third = (parts[i] for i in order)
    total = Tally.merge(parts)
    assert (total.sample, total.too_many) == (None, True)
    assert (first + second) + third == first + (second + third) == total


def test_samples_of_unlike_labels_are_placed_by_name() -> None:
    other = Sample.of_rows(("benign", "dos"), np.array([0, 1]), {"m": np.array([0.1, 0.2])})
    total = (_tally() + _tally(sample=other)).sample
    assert total is not None
    assert total.labels == ("benign", "dos", "good")
    assert total.truth.tolist() == [0, 1, 1, 1, 2]
    assert total.scores[:, 0].tolist() == [0.1, 0.2, 0.5, 0.75, 0.25]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"labels": Names(("1",), "numbers")}, "labels are text in one part"),
        ({"threshold": None}, r"unlike threshold can't be added: 0\.5 and None"),
        ({"columns": ("a", "b")}, r"unlike probabilities can't be added: of  and of 'a', 'b'"),
        ({"sides": {}}, "of one it was said positive='dos', of the other nothing"),
        ({"decisions": Names()}, "one counted decisions and the other did not"),
        ({"clusters": None}, "one counted clusters and the other did not"),
        ({"days": None}, "one counted days and the other did not"),
        ({"decided": {DECISION: CELLS}}, "one counted scores and the other did not"),
        ({"scores": {}}, "one counted scores and the other did not"),
    ],
)
def test_unlike_tallies_are_not_added(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(TallyError, match=message):
        _tally() + _tally(**changed)
    with pytest.raises(TallyError):
        Tally.merge([_tally(), _tally(), _tally(**changed)])


def test_a_tally_by_name_does_not_add_to_one_with_sides() -> None:
    resolved = Resolved.of_confusion(Confusion.zero(TWO))
    for add in (lambda: Tally() + resolved, lambda: resolved + Tally()):
        with pytest.raises(TallyError, match="a tally by name and one whose labels have sides"):
            add()


# -- some of the rows ------------------------------------------------------------------------------


def test_without_a_label_all_of_its_rows_are_gone() -> None:
    only = Tally(Names(("dos",), "text"), rows=1, decided={SCORE: CELLS})
    days = {"2026-11-16": only, "2026-11-17": Tally(Names(LABELS, "text"), rows=1)}
    alone = {SCORE: Crosstab({("dos", "below"): 1})}
    rest = _tally(slices={("site", "a"): {SCORE: CELLS}, ("site", "b"): alone}, days=days).without(
        "dos"
    )
    assert rest.labels == Names(("good",), "text")
    assert rest.decided == {SCORE: Crosstab({("good", "below"): 1})}
    assert rest.scores[SCORE].labels == ("good",)
    assert rest.scores[SCORE].scores.tolist() == [0.25]
    assert rest.losses == {("good", "right"): LOSS}
    assert rest.clusters is not None
    assert rest.clusters[SCORE].labels == ("good",)
    assert rest.clusters[SCORE].clusters == ("y",)
    assert rest.sample is not None
    assert (rest.sample.labels, rest.sample.scores.tolist()) == (("good",), [[0.25]])
    assert rest.sample.truth.tolist() == [0]
    assert rest.slices == {("site", "a"): {SCORE: Crosstab({("good", "below"): 1})}}
    assert rest.days is not None
    assert list(rest.days) == ["2026-11-17"]
    assert rest.days["2026-11-17"].labels.names == ("good",)
    other = _tally().without("good")
    assert other.sample is not None
    assert (other.sample.labels, other.sample.truth.tolist()) == (("dos",), [0, 0])
    same = _tally().without("worm")
    assert same == _tally()
    bare = _tally(sample=None, clusters=None, days=None).without("dos")
    assert (bare.sample, bare.clusters, bare.days) == (None, None, None)


def test_what_was_said_of_labels_is_kept_as_plain_values() -> None:
    asked = Tally().asked(positive=np.int64(3), labels=np.array(["b", "a"]), negative=None)
    assert asked.sides == {"labels": ["b", "a"], "positive": 3}
    assert list(asked.sides) == ["labels", "positive"]
    nested = Tally().asked(unknown=(np.str_("x"), ("y", 2.5)), positive=True)
    assert nested.sides == {"positive": True, "unknown": ["x", ["y", 2.5]]}


# -- bytes -----------------------------------------------------------------------------------------


def _bytes(parts: dict[str, Any] | None = None, **changed: Any) -> bytes:
    header: dict[str, Any] = {
        "labels": ["text", list(LABELS)], "decisions": None, "columns": None, "threshold": 0.5,
        "rows": 3, "empty": 0, "refused": {"b": 1, "a": 2},
        "decided": [["score", "", CELLS.to_header()]], "scores": [],
        "extremes": [["score", "", [0.25, 0.25]]], "losses": [], "clusters": None,
        "too_many": False, "slices": [["site", "a", [["score", "", CELLS.to_header()]]]],
        "days": None, "sides": {},
    }  # fmt: skip
    arrays = {n: np.frombuffer(p.to_bytes(), np.uint8) for n, p in (parts or {}).items()}
    return codec.write("names", header | changed, arrays)


def test_a_tally_is_read_from_its_parts() -> None:
    parts = {
        "scores 0": TABLE, "scores 1": TABLE + TABLE, "loss 0": LOSS, "clusters 0": HOSTS,
        "sample": SAMPLE, "day 2026-11-16": Tally(rows=2), "unlabelled": Tally(rows=1),
    }  # fmt: skip
    read = from_bytes(
        _bytes(
            parts, scores=[["probability", "a"], ["score", ""]], losses=[["dos", "right"]],
            clusters=[["score", ""]], days=["2026-11-16"], decisions=["booleans", ["x"]],
            columns=["u", "v"], too_many=True, sides={"positive": "dos"},
        )
    )  # fmt: skip
    assert read.scores == {("probability", "a"): TABLE, SCORE: TABLE + TABLE}
    assert (read.losses, read.clusters) == ({("dos", "right"): LOSS}, {SCORE: HOSTS})
    assert (read.sample, read.unlabelled) == (SAMPLE, Tally(rows=1))
    assert read.days == {"2026-11-16": Tally(rows=2)}
    assert (read.decisions, read.columns) == (Names(("x",), "booleans"), ("u", "v"))
    assert (read.threshold, read.rows, read.empty, read.too_many) == (0.5, 3, 0, True)
    assert list(read.refused.reasons.items()) == [("a", 2), ("b", 1)]
    assert (read.decided, read.extremes) == ({SCORE: CELLS}, {SCORE: (0.25, 0.25)})
    assert read.slices == {("site", "a"): {SCORE: CELLS}}
    assert read.sides == {"positive": "dos"}
    plain = from_bytes(_bytes(threshold=None, labels=["numbers", ["dos", "good", "x"]]))
    assert (plain.threshold, plain.decisions, plain.columns, plain.days) == (None,) * 4
    assert (plain.sample, plain.unlabelled, plain.too_many) == (None, None, False)
    for kind in ("", "text", "numbers", "booleans"):
        assert from_bytes(_bytes(labels=[kind, list(LABELS)])).labels.kind == kind


BROKEN: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a part that is not named": ({"loss 0": LOSS}, {}, r"does not name: \['loss 0'\]"),
    "another part": ({"loss 0": TABLE}, {"losses": [["a", "b"]]}, "'loss 0' is of another kind"),
    "a sample of losses": ({"sample": LOSS}, {}, "its part 'sample' is of another kind"),
    "a label that is not named": ({}, {"labels": ["text", ["dos"]]}, "that it does not name"),
    "labels out of order": ({}, {"labels": ["text", ["good", "dos"]]}, "labels are not in order"),
    "labels twice": ({}, {"labels": ["text", ["dos", "dos", "good"]]}, "labels are not in order"),
    "labels of no kind": ({}, {"labels": ["words", list(LABELS)]}, "labels are not in order"),
    "falling extremes": ({}, {"extremes": [["score", "", [0.5, 0.25]]]}, "scores run from 0.5 to"),
    "slices out of order": ({}, {"slices": [["b", "", []], ["a", "", []]]}, "are not in order"),
    "minus one row": ({}, {"rows": -1}, "a number of rows is -1"),
    "minus one refused": ({}, {"refused": {"a": -1}}, "a number of rows is -1"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_parts_that_are_no_tally_are_refused(name: str) -> None:
    parts, changed, message = BROKEN[name]
    with pytest.raises(TallyError, match=message):
        from_bytes(_bytes(parts, **changed))


def test_only_sums_that_are_no_floats_have_a_later_schema() -> None:
    tenth = {("dos", "flagged"): 0.1}
    uneven = Crosstab(tenth, tenth) + Crosstab({("dos", "flagged"): 0.2}, tenth)

    def schema(tally: Tally) -> bytes:
        return tally.to_bytes().partition(b'"kind":"names","schema":')[2][:1]

    assert schema(Tally()) == schema(_tally()) == b"1"
    assert schema(_tally(decided={SCORE: uneven})) == b"2"
    assert schema(_tally(slices={("a", "b"): {DECISION: uneven, SCORE: CELLS}})) == b"2"
