"""What every splitter must do, and how they compare with scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB

from assay.errors import InputError, LengthMismatch
from assay.learn.validation import (
    Folds,
    GivenFolds,
    GroupFolds,
    Holdout,
    LeaveOneOut,
    Official,
    RowsToSplit,
    Since,
    Sliding,
    Splitter,
)

DAY = 86_400
rows = RowsToSplit.of_arrays


def table(n: int = 120, seed: int = 0) -> tuple[Any, Any]:
    """Classes and days of rows, in no order."""
    draw = np.random.default_rng(seed)
    days = np.datetime64("2024-01-01") + draw.permutation(n).astype("timedelta64[D]")
    return draw.permutation(np.arange(n) % 2), days


SPLITTERS: dict[str, tuple[Splitter, Any]] = {
    "holdout": (Holdout(0.3), None),
    "three-way": (Holdout((0.7, 0.2, 0.1)), None),
    "kfold": (Folds(5), None),
    "repeated": (Folds(3, repeats=2), None),
    "group": (GroupFolds(4), np.arange(120) % 11),
    "folds": (GivenFolds(), np.arange(120) % 5),
    "leave-one-out": (LeaveOneOut(), np.arange(120) % 5),
    "time": (Since("2024-03-01"), "days"),
    "sliding": (Sliding(30 * DAY, 7 * DAY), "days"),
    "official": (Official(80), None),
}
every = pytest.mark.parametrize("name", SPLITTERS)


def given_to(name: str) -> tuple[Splitter, Any, Any]:
    splitter, groups = SPLITTERS[name]
    truth, days = table()
    return splitter, truth, days if isinstance(groups, str) else groups


@every
def test_no_row_is_learned_and_judged_at_once(name: str) -> None:
    splitter, truth, groups = given_to(name)
    for train, test in splitter.split(truth, truth, groups):
        assert len(train)
        assert len(test)
        assert not set(train) & set(test)
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()


@every
def test_as_many_splits_come_as_are_announced(name: str) -> None:
    splitter, truth, groups = given_to(name)
    splits = list(splitter.split(truth, truth, groups))
    assert splitter.get_n_splits(truth, truth, groups) == len(splits)


@every
def test_the_same_seed_gives_the_same_split(name: str) -> None:
    splitter, truth, groups = given_to(name)
    first, second = (list(splitter.split(truth, truth, groups)) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@every
def test_counts_add_up_to_all_rows(name: str) -> None:
    splitter, truth, groups = given_to(name)
    for split in splitter.splits(rows(None, truth, groups)):
        counts = split.counts()
        assert counts.total == len(truth) == sum(counts.by_part)
        assert counts.by_label == (60, 60)
        parts = dict(zip(counts.parts, counts.by_part, strict=True))
        assert (parts["train"], parts["test"]) == (len(split.train), len(split.test))


@every
def test_scikit_learn_takes_it_as_cv(name: str) -> None:
    splitter, truth, groups = given_to(name)
    features = np.random.default_rng(1).normal(size=(120, 2)) + truth[:, None]
    model = GaussianNB()
    scores = cross_val_score(model, features, truth, groups=groups, cv=splitter)
    assert len(scores) == splitter.get_n_splits(features, truth, groups)
    search = GridSearchCV(model, {"var_smoothing": [1e-9]}, cv=splitter)
    assert search.fit(features, truth, groups=groups).n_splits_ == len(scores)


@pytest.mark.parametrize("name", ["kfold", "group", "folds", "leave-one-out"])
def test_folds_judge_every_row_once(name: str) -> None:
    splitter, truth, groups = given_to(name)
    judged = np.concatenate([test for _, test in splitter.split(truth, truth, groups)])
    assert sorted(judged) == list(range(len(truth)))


@pytest.mark.parametrize("name", ["group", "folds", "time", "sliding"])
def test_the_order_of_the_rows_does_not_matter_to_what_goes_by_a_column(name: str) -> None:
    splitter, truth, groups = given_to(name)
    groups = np.asarray(groups)
    order = np.random.default_rng(5).permutation(len(truth))
    straight = list(splitter.split(truth, truth, groups))
    shuffled = list(splitter.split(truth, truth[order], groups[order]))
    for (train, test), (train_too, test_too) in zip(straight, shuffled, strict=True):
        assert set(train) == set(order[train_too])
        assert set(test) == set(order[test_too])


@pytest.mark.parametrize("name", ["holdout", "kfold"])
def test_another_seed_gives_another_split(name: str) -> None:
    truth, _ = table()
    kind = {"holdout": Holdout, "kfold": Folds}[name]
    first, second = (next(kind(seed=seed).split(truth, truth))[1] for seed in (1, 2))
    assert not np.array_equal(first, second)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(10, 80), min_size=1, max_size=5), st.integers(2, 10), st.integers(0, 99)
)
def test_folds_are_as_even_as_scikit_learns(classes: list[int], k: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    truth = draw.permutation(np.repeat(np.arange(len(classes)), classes))
    mine = [test for _, test in Folds(k, seed=seed).split(truth, truth)]
    theirs = [test for _, test in StratifiedKFold(k).split(truth, truth)]
    assert sorted(map(len, mine)) == sorted(map(len, theirs))
    held = np.array([np.bincount(truth[test], minlength=len(classes)) for test in mine])
    assert (np.ptp(held, axis=0) <= 1).all()


def test_repeats_deal_the_rows_anew() -> None:
    truth, _ = table()
    splits = Folds(2, repeats=5).splits(rows(None, truth, None))
    assert [split.name for split in splits[:3]] == ["fold 1.1", "fold 1.2", "fold 2.1"]
    assert [split.repeat for split in splits] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    firsts = [tuple(split.test) for split in splits if split.name.endswith(".1")]
    assert len(set(firsts)) == 5
    for repeat in range(1, 6):
        judged = [split.test for split in splits if split.repeat == repeat]
        assert sorted(np.concatenate(judged)) == list(range(120))


def test_the_first_repeat_is_the_plain_cross_validation() -> None:
    truth, _ = table()
    plain, repeated = (list(f.split(truth, truth)) for f in (Folds(4), Folds(4, repeats=2)))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(plain, repeated, strict=False))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_no_group_is_on_both_sides(seed: int, k: int) -> None:
    draw = np.random.default_rng(seed)
    groups = draw.integers(0, 15, 200)
    groups[:15] = np.arange(15)
    truth = np.concatenate([[0, 1], draw.integers(0, 2, 198)])
    for train, test in GroupFolds(k, seed).split(truth, truth, groups):
        assert not set(groups[train]) & set(groups[test])


def _unevenness(splits: Any, truth: Any) -> float:
    held = np.array([np.bincount(truth[test], minlength=3) for _, test in splits])
    return float((held / np.bincount(truth) - 1 / len(held)).std())


def test_groups_are_shared_out_as_evenly_as_by_scikit_learn() -> None:
    mine, theirs, sizes = [], [], []
    for seed in range(20):
        draw = np.random.default_rng(seed)
        groups = draw.choice(60, 900, p=draw.dirichlet(np.ones(60)))
        # Groups have classes of their own, so that stratifying takes some care.
        lean = draw.dirichlet([0.5, 0.3, 0.2], 60)
        truth = np.array([draw.choice(3, p=lean[group]) for group in groups])
        mine.append(_unevenness(GroupFolds(5).split(truth, truth, groups), truth))
        theirs.append(_unevenness(StratifiedGroupKFold(5).split(truth, truth, groups), truth))
        whole = np.zeros(900, int)
        even = [len(test) for _, test in GroupFolds(5).split(None, None, groups)]
        sizes.append(max(even) - max(len(t) for _, t in GroupKFold(5).split(whole, whole, groups)))
    assert np.mean(mine) <= np.mean(theirs)
    assert max(sizes) <= 0  # without classes the folds are as large as those that only count rows


def test_one_group_is_refused() -> None:
    with pytest.raises(InputError, match="one group only, 'h'"):
        GroupFolds(2).splits(rows(None, [0, 1] * 5, ["h"] * 10))


def test_fewer_groups_than_folds_are_refused() -> None:
    with pytest.raises(InputError, match=r"3 groups, fewer than the 5 folds. Say k=3"):
        GroupFolds(5).splits(rows(None, [0, 1] * 6, list("abc") * 4))


def test_a_class_in_one_group_alone_is_refused() -> None:
    groups = np.repeat(["a", "b"], 10)
    with pytest.raises(InputError, match=r"leaves only class '[01]' in the training part"):
        GroupFolds(2).splits(rows(None, np.repeat([0, 1], 10), groups))


def test_a_missing_group_is_refused_with_its_row() -> None:
    with pytest.raises(InputError, match="no value in 2 rows, the first of them row 3"):
        GroupFolds(2).splits(rows(None, [0, 1] * 3, ["a", "b", None, "c", "", "d"]))


def test_given_folds_are_judged_in_the_order_of_numbers() -> None:
    splits = GivenFolds().splits(rows(None, [0, 1] * 12, list(range(12)) * 2))
    assert [split.name for split in splits] == [str(i) for i in range(12)]


def test_one_given_fold_is_refused() -> None:
    with pytest.raises(InputError, match="one fold only, '7'"):
        GivenFolds().splits(rows(None, [0, 1], [7, 7]))


def test_very_many_values_to_hold_out_are_refused() -> None:
    for splitter in (GivenFolds(), LeaveOneOut()):
        groups = np.arange(303) // 3
        with pytest.raises(InputError, match="group:groups,k=10"):
            splitter.splits(rows(None, np.arange(303) % 2, groups))


def test_a_class_with_fewer_rows_than_folds_is_refused() -> None:
    with pytest.raises(InputError, match="class 'attack' has 4 rows, fewer than the 5 folds"):
        Folds(5).splits(rows(None, ["normal"] * 50 + ["attack"] * 4, None))


def test_of_many_classes_a_rare_one_is_in_fewer_folds() -> None:
    truth = np.repeat([0, 1, 2], [50, 50, 3])
    splits = Folds(5).splits(rows(None, truth, None))
    assert sum(2 not in truth[split.test] for split in splits) == 2


def test_many_classes_that_are_all_rare_are_refused() -> None:
    with pytest.raises(InputError, match="fewer than the 5 folds"):
        Folds(5).splits(rows(None, np.repeat(np.arange(10), 2), None))


def test_a_class_of_one_row_is_refused_for_a_holdout() -> None:
    with pytest.raises(InputError, match=r"'attack' has 1 row, too few .* Take more rows of that"):
        Holdout(0.3).splits(rows(None, ["normal"] * 50 + ["attack"], None))


def test_an_empty_side_is_refused() -> None:
    with pytest.raises(InputError, match="leaves the test part empty"):
        Official(4).splits(rows(None, [0, 1, 0, 1], None))
    with pytest.raises(InputError, match="leaves the training part empty"):
        Holdout(0.9).splits(rows(np.zeros(1), None, None))


@pytest.mark.parametrize("shares", [0.0, 1.0, -0.1, 1.5, (0.7, 0.2), (0.5, 0.2, 0.2, 0.1), "x"])
def test_shares_that_do_not_add_up_are_refused(shares: Any) -> None:
    with pytest.raises(InputError):
        Holdout(shares)


def test_shares_are_the_decimals_that_were_written() -> None:
    # As floats, 0.1 + 0.2 + 0.7 is below 1 and 0.29 * 100 is below 29.
    assert len(Holdout((0.1, 0.2, 0.7)).splits(rows(np.zeros(10), None, None))[0].train) == 1
    assert len(Holdout((0.29, 0.71)).splits(rows(np.zeros(100), None, None))[0].train) == 29


def test_columns_of_unlike_length_are_refused() -> None:
    with pytest.raises(LengthMismatch):
        list(Folds(2).split(np.zeros((5, 1)), [0, 1] * 3))
    with pytest.raises(InputError, match="give X, y or groups"):
        list(Folds(2).split())


def test_a_split_by_a_column_needs_the_column() -> None:
    with pytest.raises(InputError, match="give it as groups"):
        list(GroupFolds(2).split(np.zeros(4), [0, 1, 0, 1]))


def test_counts_print_as_a_table_with_totals() -> None:
    split = Holdout((0.7, 0.2, 0.1)).splits(rows(None, ["n"] * 2000 + ["attack"] * 1000, None))[0]
    assert str(split.counts()).splitlines() == [
        "        train  test  validation  total",
        "attack    700   200         100  1,000",
        "n       1,400   400         200  2,000",
        "total   2,100   600         300  3,000",
    ]
