"""Columns to numbers: kinds, codes, imputation, scaling and chi-square."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import LabelEncoder, MinMaxScaler, StandardScaler

from assay.errors import EmptyInput, InputError
from assay.learn.encoding import ChiSquare, ColumnEncoder, Standard, Text, chi_square

TEXTS = st.text("abxyz ", min_size=1, max_size=3)


def frame(**columns: list) -> pl.DataFrame:
    return pl.DataFrame(columns, strict=False)


@given(st.lists(TEXTS, min_size=1, max_size=30))
def test_codes_are_those_of_a_label_encoder(values: list[str]) -> None:
    codes = ColumnEncoder().fit_transform(frame(a=values))[:, 0]
    assert codes.tolist() == LabelEncoder().fit_transform(values).tolist()


def test_missing_and_unseen_texts_have_codes_of_their_own() -> None:
    columns = ColumnEncoder().fit(frame(a=["udp", "tcp", None, "tcp"]))
    assert columns.categories_ == [["tcp", "udp"]]
    values = columns.transform(frame(a=["tcp", "udp", None, "icmp"]))
    assert values[:, 0].tolist() == [0, 1, 2, 3]


def test_missing_and_unseen_texts_become_the_most_frequent_where_wanted() -> None:
    columns = ColumnEncoder(texts="most frequent").fit(frame(a=["b", "a", "b", None, None, None]))
    assert columns.transform(frame(a=[None, "new", "a"]))[:, 0].tolist() == [1, 1, 0]


def test_of_equally_frequent_texts_the_first_stands_for_the_missing() -> None:
    columns = ColumnEncoder(texts="most frequent").fit(frame(a=["b", "a", "c"]))
    assert columns.transform(frame(a=[None]))[0, 0] == 0


@given(
    st.lists(
        st.one_of(st.none(), st.floats(-1e6, 1e6), st.sampled_from([np.inf, -np.inf, np.nan])),
        min_size=1,
        max_size=30,
    )
)
def test_missing_numbers_and_infinities_become_the_median(values: list) -> None:
    numbers = ColumnEncoder().fit_transform(
        pl.DataFrame({"a": pl.Series(values, dtype=pl.Float64)})
    )
    plain = np.array([np.nan if v is None or not np.isfinite(v) else v for v in values])[:, None]
    expected = SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(plain)
    assert numbers.tolist() == expected.tolist()


def test_a_column_without_any_value_in_training_is_filled() -> None:
    rows = pl.DataFrame(
        {
            "n": pl.Series([None, None], dtype=pl.Float64),
            "t": pl.Series([None, None], dtype=pl.String),
        }
    )
    for texts in ("code", "most frequent"):
        columns = ColumnEncoder(texts=texts).fit(rows)
        values = columns.transform(frame(n=[5.0, None], t=["x", None]))
        assert np.isfinite(values).all()
        assert values[:, 0].tolist() == [5.0, 0.0]


def test_nan_stays_where_the_model_can_use_it() -> None:
    values = ColumnEncoder(numbers="nan").fit_transform(frame(a=[1.0, None, np.inf]))
    assert np.isnan(values[:, 0]).tolist() == [False, True, True]


def test_columns_in_another_order_are_accepted_and_further_ones_left_out() -> None:
    columns = ColumnEncoder().fit(frame(a=[1.0, 2.0], b=["x", "y"]))
    one = columns.transform(frame(a=[3.0], b=["y"]))
    assert columns.transform(frame(more=[9], b=["y"], a=[3.0])).tolist() == one.tolist()


def test_missing_columns_are_refused_by_name() -> None:
    columns = ColumnEncoder().fit(frame(a=[1.0], b=["x"], c=["y"]))
    with pytest.raises(InputError, match="lack 2 of the 3 columns learned: 'a', 'c'"):
        columns.transform(frame(b=["x"]))


def test_text_in_a_column_of_numbers_is_refused_with_the_value() -> None:
    columns = ColumnEncoder().fit(frame(a=[1.0, 2.0]))
    assert columns.transform(frame(a=["3", ""])).tolist() == [[3.0], [1.5]]
    with pytest.raises(InputError, match="column 'a': found 'abc', expected a number"):
        columns.transform(frame(a=["3", "abc"]))


def test_numbers_in_a_column_of_texts_are_looked_up_as_text() -> None:
    columns = ColumnEncoder().fit(frame(port=["80", "443", "x"]))
    assert columns.transform(frame(port=[80, 443]))[:, 0].tolist() == [1, 0]
    assert columns.transform(frame(port=[80.0, 443.0]))[:, 0].tolist() == [1, 0]


def test_one_hot_spreads_texts_of_few_categories_only() -> None:
    rows = frame(a=["x", "y", None], b=["p", "q", "r"], n=[1.0, 2.0, 3.0])
    columns = ColumnEncoder(one_hot=2).fit(rows)
    assert columns.get_feature_names_out().tolist() == ["a=x", "a=y", "a=(missing)", "b", "n"]
    assert columns.sources_out() == ["a", "a", "a", "b", "n"]
    values = columns.transform(frame(a=["y", None, "new"], b=["q", "q", "q"], n=[1, 2, 3]))
    assert values[:, :3].tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_what_is_learned_is_lists_text_and_arrays_alone() -> None:
    columns = ColumnEncoder().fit(frame(a=["x", None], b=[1.0, 2.0]))

    def kinds(value: object) -> set[type]:
        inside = set().union(*map(kinds, value)) if isinstance(value, list) else set()
        return {type(value)} | inside

    learned = [value for name, value in vars(columns).items() if name.endswith("_")]
    assert set().union(*map(kinds, learned)) <= {list, str, int, np.ndarray}
    assert columns.fills_.dtype == np.float64


def test_frames_of_pandas_and_matrices_are_taken_too() -> None:
    rows = pd.DataFrame({"a": [1.5, np.nan], "b": ["x", "y"]})
    assert ColumnEncoder().fit_transform(rows).tolist() == [[1.5, 0], [1.5, 1]]
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert ColumnEncoder().fit_transform(matrix).tolist() == matrix.tolist()
    with pytest.raises(InputError, match="expected a dataframe; found int"):
        ColumnEncoder().fit(3)


def test_no_rows_are_refused() -> None:
    with pytest.raises(EmptyInput, match="no rows to learn from"):
        ColumnEncoder().fit(pl.DataFrame({"a": []}))


def test_settings_survive_a_clone() -> None:
    copy = clone(ColumnEncoder(numbers="nan", texts="most frequent", one_hot=3))
    assert copy.get_params() == {"numbers": "nan", "texts": "most frequent", "one_hot": 3}


def test_texts_come_as_they_are_and_missing_ones_empty() -> None:
    text = Text("t").fit(frame(t=["some words", None]))
    assert text.transform(frame(other=[1, 2], t=["a", None])).tolist() == ["a", ""]
    with pytest.raises(EmptyInput, match="no text has a word"):
        Text("t").fit(frame(t=[None, "! ?"]))
    with pytest.raises(InputError, match="--text"):
        Text().fit(frame(t=["some words"]))


def test_the_scaler_of_document_000() -> None:
    # Mean 150 and standard deviation 100: 250 bytes are one deviation above the mean.
    scaler = Standard().fit(np.array([[50.0], [250.0]]))
    assert (scaler.mean_[0], scaler.scale_[0]) == (150.0, 100.0)
    assert scaler.transform(np.array([[250.0]]))[0, 0] == 1.0


@given(arrays(np.float64, (7, 3), elements=st.floats(-1e6, 1e6)))
def test_standardised_values_are_those_of_scikit_learn(values) -> None:
    assert np.array_equal(Standard().fit_transform(values), StandardScaler().fit_transform(values))


def test_values_far_out_stay_within_float32() -> None:
    rows = frame(a=[1.0, 1.0 + 1e-12, 1e300])
    scaler = Standard().fit(ColumnEncoder().fit_transform(rows.head(2)))
    values = scaler.transform(ColumnEncoder().fit(rows).transform(rows))
    assert np.isfinite(values.astype(np.float32)).all()


def test_min_max_scaling_clips_what_training_did_not_hold() -> None:
    scaler = MinMaxScaler(clip=True).fit(np.array([[10.0], [20.0]]))
    assert scaler.transform(np.array([[0.0], [15.0], [99.0]]))[:, 0].tolist() == [0, 0.5, 1]


def test_chi_square_by_hand() -> None:
    # Sums 3 in class 0 (2 rows of 5) and 1 in class 1: expected 8/5 and 12/5.
    values = np.array([[1.0], [2.0], [1.0], [0.0], [0.0]])
    expected = Fraction(7, 5) ** 2 / Fraction(8, 5) + Fraction(-7, 5) ** 2 / Fraction(12, 5)
    assert chi_square(values, np.array([0, 0, 1, 1, 1]))[0] == pytest.approx(float(expected))


@given(
    arrays(np.int64, (12, 4), elements=st.integers(0, 9)),
    arrays(np.int64, 12, elements=st.integers(0, 2)),
)
def test_chi_square_is_exact_for_counts(values, classes) -> None:
    statistics = chi_square(values.astype(float), classes)
    for j, total in enumerate(values.sum(axis=0).tolist()):
        if not total:
            assert np.isnan(statistics[j])
            continue
        exact = Fraction(0)
        for name in set(classes.tolist()):
            expected = Fraction(int((classes == name).sum()), 12) * total
            exact += (int(values[classes == name, j].sum()) - expected) ** 2 / expected
        assert statistics[j] == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@given(arrays(np.float64, (15, 5), elements=st.floats(0.0625, 1)), st.integers(1, 8))
def test_the_chosen_columns_are_those_of_scikit_learn(values, k: int) -> None:
    classes = np.arange(15) % 3
    select = ChiSquare(k).fit(values, classes)
    peer = SelectKBest(chi2, k=min(k, 5)).fit(values, classes)
    assert select.scores_ == pytest.approx(peer.scores_, rel=1e-9, abs=1e-12)
    # Where scores are equal but for rounding any choice is as good.
    assert sorted(select.scores_[select.chosen_]) == pytest.approx(
        sorted(peer.scores_[peer.get_support()]), rel=1e-9, abs=1e-12
    )
    assert select.transform(values).tolist() == values[:, select.chosen_].tolist()


def test_undefined_columns_are_chosen_last_and_ties_in_order() -> None:
    values = np.array([[0, 1, 1, 0.0], [0, 0, 0, 1.0]])
    select = ChiSquare(2).fit(values, [0, 1])
    assert np.isnan(select.scores_[0])
    assert select.chosen_.tolist() == [1, 2]
    assert select.get_feature_names_out(["a", "b", "c", "d"]).tolist() == ["b", "c"]


def test_negative_values_and_k_below_1_are_refused() -> None:
    with pytest.raises(InputError, match="not negative"):
        ChiSquare().fit(np.array([[-1.0]]), [0])
    with pytest.raises(InputError, match="1 or more"):
        ChiSquare(0).fit(np.array([[1.0]]), [0])
