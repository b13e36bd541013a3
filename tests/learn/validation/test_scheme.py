from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import polars as pl
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from assay.errors import InputError, LengthMismatch
from assay.learn.data import Data, data_of
from assay.learn.encoding import ColumnEncoder
from assay.learn.validation import (
    SCHEMES,
    Folds,
    GivenFolds,
    GroupFolds,
    Holdout,
    LeaveOneOut,
    Official,
    Since,
    Sliding,
    Splitter,
    parse_scheme,
)

TENTHS = (Fraction(7, 10), Fraction(1, 5), Fraction(1, 10))


@pytest.fixture
def data() -> Data:
    frame = pl.DataFrame(
        {
            "size": [float(i) for i in range(60)],
            "host": [f"h{i // 2 % 6}" for i in range(60)],
            "seen": [f"2024-01-{1 + i // 3:02}T00:00:00Z" for i in range(60)],
            "label": ["normal", "attack"] * 30,
        }
    )
    return data_of(frame, label="label", keep=["host", "seen"])


@pytest.mark.parametrize(
    ("text", "columns", "splitter"),
    [
        ("holdout:0.3", (), Holdout(Fraction(3, 10), 7)),
        ("holdout:30%", (), Holdout(Fraction(3, 10), 7)),
        ("holdout:0.7/0.2/0.1", (), Holdout(TENTHS, 7)),
        ("holdout:70%/20%/10%", (), Holdout(TENTHS, 7)),
        ("kfold:5", (), Folds(5, seed=7)),
        ("repeated:5x2", (), Folds(2, repeats=5, seed=7)),
        ("group:host", ("host",), GroupFolds(5, 7)),
        ("group:host,k=3", ("host",), GroupFolds(3, 7)),
        ("group:a,b", ("a,b",), GroupFolds(5, 7)),
        ("group:src:port , k = 3", ("src:port",), GroupFolds(3, 7)),
        ("time:seen@2024-03-01", ("seen",), Since("2024-03-01")),
        ("time:a@b@2024-03-01T10:00:00+02:00", ("a@b",), Since("2024-03-01T10:00:00+02:00")),
        ("sliding:seen,train=30d,test=7d", ("seen",), Sliding(2_592_000, 604_800)),
        ("sliding:a,b,test=90m,train=1.5h", ("a,b",), Sliding(5400, 5400)),
        ("folds:fold", ("fold",), GivenFolds()),
        ("leave-one-out:family", ("family",), LeaveOneOut(7)),
    ],
)
def test_a_scheme_is_read(text: str, columns: tuple[str, ...], splitter: Splitter) -> None:
    scheme = parse_scheme(text)
    assert (scheme.text, scheme.columns, scheme.test) == (text, columns, None)
    assert scheme.make(7) == splitter


def test_an_official_split_names_its_file() -> None:
    scheme = parse_scheme("file:../data/a test, b.csv")
    assert (scheme.test, scheme.columns) == ("../data/a test, b.csv", ())


@pytest.mark.parametrize("text", SCHEMES)
def test_every_scheme_that_is_offered_can_be_read(text: str) -> None:
    assert parse_scheme(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "holdout", "holdout:", "5", "bootstrap:5", "Holdout:0.3"),
        *("holdout:0", "holdout:1", "holdout:x", "holdout:.", "holdout:nan", "holdout:0.7/0.2"),
        *("holdout:1e-1", "holdout:-0.3", "holdout:0.25/0.25/0.25/0.25"),
        *("kfold:1", "kfold:x", "kfold:2.5", "kfold:-3", "kfold:99999999", "kfold:²"),
        *("repeated:5", "repeated:0x2", "repeated:5x1", "repeated:5x", "repeated:2.5x2"),
        *("group:host,k=1", "group:host,k=x", "group:host,k="),
        *("time:seen", "time:seen@", "time:@2024-03-01", "time:seen@soon"),
        *("sliding:seen", "sliding:seen,train=30d", "sliding:seen,train=30d,train=7d"),
        *("sliding:seen,train=30,test=7", "sliding:seen,train=0d,test=7d"),
        "sliding:,train=1d,test=1d",
        *("folds:", "leave-one-out:", "file:"),
    ],
)
def test_a_scheme_that_can_not_be_read_is_refused_in_words(text: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_scheme(text)
    assert len(str(refused.value)) > 30


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("k-fold:3", "kfold:3"),
        ("fold:3", "kfold:3"),
        ("fold:part", "folds:part"),
        ("repeat:5x2", "repeated:5x2"),
        ("Holdout:0.3", "holdout:0.3"),
        ("leave_one_out:host", "leave-one-out:host"),
        ("groups:host", "group:host"),
        ("kfold", "kfold:5"),
    ],
)
def test_a_scheme_of_a_like_name_is_offered(text: str, meant: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"; did you mean {meant}? Say one of ")):
        parse_scheme(text)


@pytest.mark.parametrize(
    ("text", "splits"),
    [
        *(("holdout:0.3", 1), ("kfold:4", 4), ("repeated:2x3", 6), ("group:host,k=3", 3)),
        *(("time:seen@2024-01-11", 1), ("sliding:seen,train=7d,test=3d", 5), ("folds:host", 6)),
        ("leave-one-out:host", 6),
    ],
)
def test_data_are_split_without_further_arguments(data: Data, text: str, splits: int) -> None:
    splitter = parse_scheme(text).splitter(data, 42)
    assert splitter.get_n_splits() == splits == len(list(splitter.split()))
    model = make_pipeline(ColumnEncoder(), DecisionTreeClassifier(random_state=0))
    assert len(cross_val_score(model, data.frame, data.truth, cv=splitter)) == splits


def test_a_bound_splitter_refuses_other_rows(data: Data) -> None:
    splitter = parse_scheme("kfold:5").splitter(data, 42)
    with pytest.raises(LengthMismatch, match="splits 60 rows; found 59"):
        list(splitter.split(data.frame[:59], data.truth[:59]))


def test_a_column_that_was_not_kept_is_named(data: Data) -> None:
    with pytest.raises(InputError, match=r"'vendor', which was not kept .* keep=\['vendor'\]"):
        parse_scheme("group:vendor").splitter(data, 42)


def test_the_row_in_the_file_is_named(data: Data) -> None:
    hosts = data.columns["host"].to_list()
    columns = {**data.columns, "host": pl.Series("host", [*hosts[:5], None, *hosts[6:]])}
    hole = replace(data, columns=columns, rows=data.rows + 100)
    with pytest.raises(InputError, match="in 1 row, row 106"):
        parse_scheme("group:host").splitter(hole, 42).splits()


def test_an_official_split_judges_the_rows_of_the_test_file(data: Data) -> None:
    scheme = parse_scheme("file:test.csv")
    split = scheme.splitter(data, 42, data.take(range(10))).splits()[0]  # type: ignore[arg-type]
    assert split.train.tolist() == list(range(60))
    assert split.test.tolist() == list(range(60, 70))
    assert split.counts().by_part == (60, 10)
    assert isinstance(scheme.splitter(data, 42, data).splitter, Official)


def test_an_official_split_without_its_rows_is_refused(data: Data) -> None:
    with pytest.raises(InputError, match="give test="):
        parse_scheme("file:test.csv").splitter(data, 42)


def test_labels_of_the_test_file_are_those_of_the_training_file(data: Data) -> None:
    turned = replace(data, labels=data.labels[::-1], truth=1 - data.truth)
    split = parse_scheme("file:t").splitter(data, 42, turned).splits()[0]
    assert split.rows.truth[60:].tolist() == data.truth.tolist()
    unknown = replace(data, labels=("normal", "worm"))
    with pytest.raises(InputError, match="label 'worm', which data does not"):
        parse_scheme("file:t").splitter(data, 42, unknown)
