"""From columns to numbers: what scikit-learn's models need of a table, learned from training rows.

Everything that is kept after fitting is a list, a text or a NumPy array, so that a saved model
holds no types but these. It can be told as a table, from which people encode without the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from assay.errors import EmptyInput, InputError
from assay.v02.inference.fields import finite
from assay.v02.learn.feature_values import cells_of, not_numbers, numbers_in, texts_in
from assay.v02.sources.columns import MISSING
from assay.v02.sources.row_checks import value_shown

if TYPE_CHECKING:
    import polars as pl

Floats: TypeAlias = npt.NDArray[np.float64]

# Far beyond any measurement, and safe to be squared or to become float32.
_LARGEST = 1e30
_LISTED = 10
_WORD = r"\w\w"


class ColumnEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A frame as a matrix: numbers as they are, text as codes in sorted order.

    A missing number (infinity too) becomes the median of the training rows with
    ``numbers="median"``, and nan with ``"nan"``; a column without any number in training is 0. With
    ``texts="code"`` a missing text has a code of its own, K for K categories, and one that was not
    seen in training K + 1; with ``"most frequent"`` both become the most frequent category. With
    ``one_hot`` each text of at most that many categories becomes one column of 0 and 1 a category,
    and one for what is missing; a value not seen in training is 0 in all of them.

    Columns may come in any order, and further ones are left out; a missing one is refused.
    """

    def __init__(
        self,
        *,
        numbers: Literal["median", "nan"] = "median",
        texts: Literal["code", "most frequent"] = "code",
        one_hot: int = 0,
    ) -> None:
        self.numbers = numbers
        self.texts = texts
        self.one_hot = one_hot

    def fit(self, X: Any, y: Any = None) -> ColumnEncoder:  # noqa: ARG002 - scikit-learn's form
        """Learn names, kinds, categories and what stands for a missing number."""
        import polars as pl

        frame = frame_of(X)
        if not frame.height:
            raise EmptyInput("there are no rows to learn from")
        self.names_: list[str] = list(frame.columns)
        self.numbers_: list[str] = []
        self.categories_: list[list[str]] = []
        fills: list[float] = []
        for name in self.names_:
            cells = cells_of(frame[name])
            if cells.dtype == pl.String:
                texts = cells.drop_nulls()
                categories = sorted(texts.unique().to_list())
                self.categories_.append(categories)
                fills.append(_most_frequent(texts, categories))
            else:
                self.numbers_.append(name)
                self.categories_.append([])
                present = _clamped(numbers_in(cells))
                present = present[~np.isnan(present)]
                fills.append(float(np.median(present)) if len(present) else 0.0)
        self.fills_: Floats = np.array(fills)
        self.n_features_in_ = len(self.names_)
        return self

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """The columns, as scikit-learn calls them."""
        return np.array(self.names_, object)

    def transform(self, X: Any) -> Floats:
        """The matrix of a frame, a row a row, in the order of the columns learned."""
        check_is_fitted(self)
        frame = frame_of(X)
        must_have_columns(frame, self.names_)
        numeric = frozenset(self.numbers_)
        table = np.empty((frame.height, len(self._outputs())))
        at = 0
        for name, categories, fill in zip(self.names_, self.categories_, self.fills_, strict=True):
            cells = cells_of(frame[name])
            if name not in numeric and self._spread(categories):
                width = len(categories) + 1
                table[:, at : at + width] = _indicators(texts_in(cells), categories)
                at += width
                continue
            if name in numeric:
                table[:, at] = self._number(cells, fill)
            else:
                table[:, at] = self._codes(texts_in(cells), categories, fill)
            at += 1
        return table

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:  # noqa: ARG002
        """The name of each column of the matrix."""
        return np.array([name for name, _ in self._outputs()], object)

    def sources_out(self) -> list[str]:
        """The column that each column of the matrix comes from."""
        return [source for _, source in self._outputs()]

    def _outputs(self) -> list[tuple[str, str]]:
        check_is_fitted(self)
        numeric = frozenset(self.numbers_)
        outputs: list[tuple[str, str]] = []
        for name, categories in zip(self.names_, self.categories_, strict=True):
            if name not in numeric and self._spread(categories):
                outputs += [(f"{name}={category}", name) for category in (*categories, MISSING)]
            else:
                outputs.append((name, name))
        return outputs

    def _spread(self, categories: list[str]) -> bool:
        return 0 < len(categories) <= self.one_hot

    def _number(self, cells: pl.Series, fill: float) -> Floats:
        numbers = numbers_in(cells)
        no_numbers = not_numbers(cells, numbers)
        if no_numbers.any():
            shown = value_shown(cells.filter(no_numbers)[0])
            raise InputError(f"column {cells.name!r}: found {shown}, expected a number or nothing")
        values = _clamped(numbers)
        return np.where(np.isnan(values), fill, values) if self.numbers == "median" else values

    def _codes(self, texts: pl.Series, categories: list[str], fill: float) -> Floats:
        codes = _coded(texts, categories)
        if self.texts == "most frequent":
            codes = np.where(codes >= len(categories), fill, codes)
        return codes


# What model files of 0.1 and recipes of its users call it.
Columns = ColumnEncoder


class Text(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """One column of a frame as an array of texts; what is missing is an empty text."""

    def __init__(self, column: str | None = None) -> None:
        self.column = column

    def fit(self, X: Any, y: Any = None) -> Text:  # noqa: ARG002 - scikit-learn's form
        """Check that the column is there."""
        if self.column is None:
            raise InputError("a column of texts is needed: say which with --text")
        frame = frame_of(X)
        must_have_columns(frame, [self.column])
        if not texts_in(cells_of(frame[self.column])).str.contains(_WORD).any():
            raise EmptyInput(f"column {self.column!r}: no text has a word in it to learn from")
        self.names_: list[str] = [self.column]
        self.numbers_: list[str] = []
        self.n_features_in_ = 1
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """The texts."""
        check_is_fitted(self)
        frame = frame_of(X)
        must_have_columns(frame, self.names_)
        texts = texts_in(cells_of(frame[self.names_[0]])).fill_null("")
        column = np.empty(len(texts), object)
        column[:] = texts.to_list()
        return column

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:  # noqa: ARG002
        """The column."""
        return np.array(self.names_, object)


class Standard(StandardScaler):  # type: ignore[misc]
    """z = (x - mean) / sd with the sd of the population, held within what float32 can hold."""

    def transform(self, X: Any, copy: bool | None = None) -> Floats:  # noqa: FBT001 - as inherited
        """The standardised matrix."""
        scaled: Floats = np.clip(super().transform(X, copy=copy), -_LARGEST, _LARGEST)
        return scaled


class ChiSquare(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The ``k`` columns with the largest chi-square against the class.

    For a column x >= 0 and classes c: the sum of (o_c - e_c)^2 / e_c, where o_c is the sum of x
    over the rows of c, and e_c the sum over all rows times the share of c. It is nan for a column
    of zeros. For counts this is Pearson's statistic; for values scaled to [0, 1] it ranks columns,
    and is no test.
    """

    def __init__(self, k: int = 20) -> None:
        self.k = k

    def fit(self, X: Any, y: Any) -> ChiSquare:
        """Compute the statistic of each column and choose."""
        values = np.asarray(X, np.float64)
        if self.k < 1:
            raise InputError(f"k, how many columns are kept, must be 1 or more; found {self.k}")
        if values.size and values.min() < 0:
            raise InputError("chi-square needs values that are not negative; scale them first")
        self.scores_: Floats = chi_square(values, np.asarray(y))
        # Undefined ones last, ties in the order of the columns.
        order = np.argsort(-np.nan_to_num(self.scores_, nan=-1.0), kind="stable")
        self.chosen_: npt.NDArray[np.intp] = np.sort(order[: self.k])
        self.n_features_in_ = values.shape[1]
        return self

    def transform(self, X: Any) -> Floats:
        """The chosen columns, in their order."""
        check_is_fitted(self)
        columns: Floats = np.asarray(X, np.float64)[:, self.chosen_]
        return columns

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The names of the chosen columns."""
        check_is_fitted(self)
        names = input_features
        if names is None:
            names = [f"x{i}" for i in range(self.n_features_in_)]
        return np.array(names, object)[self.chosen_]


def chi_square(values: Floats, classes: npt.NDArray[Any]) -> Floats:
    """The chi-square of each column against the classes; nan where a column sums to 0.

    >>> chi_square(np.array([[1.0], [1.0], [0.0], [0.0]]), np.array([1, 1, 0, 0])).tolist()
    [2.0]
    """
    names, codes = np.unique(classes, return_inverse=True)
    shares = np.bincount(codes, minlength=len(names)) / len(codes)
    observed = np.vstack([values[codes == code].sum(axis=0) for code in range(len(names))])
    expected = shares[:, None] * values.sum(axis=0)[None, :]
    with np.errstate(invalid="ignore"):
        statistics: Floats = ((observed - expected) ** 2 / expected).sum(axis=0)
    return statistics


def frame_of(X: Any) -> pl.DataFrame:
    """A polars frame of a frame of any library, or of a matrix, whose columns are x0, x1, ..."""
    import polars as pl

    if isinstance(X, pl.DataFrame):
        return X
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return pl.DataFrame(X, schema=[f"x{i}" for i in range(X.shape[1])])
    import narwhals as nw

    try:
        frame: pl.DataFrame = nw.from_native(X, eager_only=True).to_polars()
    except TypeError as error:
        raise InputError(f"expected a dataframe; found {type(X).__name__}") from error
    return frame


def must_have_columns(frame: pl.DataFrame, names: list[str]) -> None:
    """Refuse a frame without the columns that were learned."""
    absent = [name for name in names if name not in frame.columns]
    if absent:
        shown = ", ".join(map(repr, absent[:_LISTED]))
        more = f" and {len(absent) - _LISTED} more" if len(absent) > _LISTED else ""
        raise InputError(
            f"the rows lack {len(absent)} of the {len(names)} columns learned: {shown}{more}"
        )


def _clamped(numbers: pl.Series) -> Floats:
    """Numbers with nan for missing ones and infinity, others within bounds."""
    values: Floats = numbers.to_numpy().astype(np.float64)
    values[np.isinf(values)] = np.nan
    np.clip(values, -_LARGEST, _LARGEST, out=values)
    return values


def _coded(texts: pl.Series, categories: list[str]) -> Floats:
    """Places among the categories; K for what is missing, K + 1 for what is not among them."""
    import polars as pl

    unseen, missing = len(categories) + 1.0, float(len(categories))
    if not categories:
        places = pl.Series(np.full(len(texts), unseen))
    else:
        codes = np.arange(len(categories), dtype=np.float64)
        places = texts.replace_strict(categories, codes, default=unseen, return_dtype=pl.Float64)
    coded: Floats = places.set(texts.is_null(), missing).to_numpy()
    return coded


def _indicators(texts: pl.Series, categories: list[str]) -> Floats:
    codes = _coded(texts, categories)[:, None]
    indicators: Floats = (codes == np.arange(len(categories) + 1)).astype(np.float64)
    return indicators


def _most_frequent(texts: pl.Series, categories: list[str]) -> float:
    """The code of the most frequent category, the first of them on a tie."""
    if not categories:
        return 0.0
    counts = np.bincount(_coded(texts, categories).astype(np.intp), minlength=len(categories))
    return float(counts.argmax())


# -- a fitted encoding as a table ------------------------------------------------------------------

ENCODING_SCHEMA = "assay.encoding/1"


def encoding_of(model: Any, labels: Sequence[str]) -> dict[str, Any]:
    """How a fitted pipeline turns a table into numbers, told so that it can be done without it.

    ``labels`` have their codes. A column is a number, with what stands in for a missing one, or a
    text with the codes of its categories, in sorted order, and of what is missing or was not seen;
    with ``one_hot`` each code is a column of 0 and 1. ``scaling`` has the mean and the standard
    deviation (of the population) of each encoded column, or its least and largest value.
    """
    steps = [step for _, step in getattr(model, "steps", ())]
    first = steps[0] if steps else None
    return {
        "schema": ENCODING_SCHEMA,
        "labels": {label: code for code, label in enumerate(labels)},
        "columns": list(_columns(first)) if isinstance(first, ColumnEncoder) else [],
        "scaling": _scaling(steps),
        "text": _terms(steps) if isinstance(first, Text) else None,
    }


def _columns(columns: ColumnEncoder) -> Iterator[dict[str, Any]]:
    numeric = frozenset(columns.numbers_)
    for name, categories, fill in zip(
        columns.names_, columns.categories_, columns.fills_.tolist(), strict=True
    ):
        if name in numeric:
            missing = finite(fill) if columns.numbers == "median" else None
            yield {"column": name, "kind": "number", "missing": missing}
            continue
        codes = {category: code for code, category in enumerate(categories)}
        one_hot = 0 < len(categories) <= columns.one_hot
        filled = columns.texts == "most frequent" and not one_hot
        yield {
            "column": name,
            "kind": "text",
            "codes": codes,
            "missing": int(fill) if filled else len(categories),
            "unseen": int(fill) if filled else None if one_hot else len(categories) + 1,
            "one_hot": one_hot,
        }


def _scaling(steps: Sequence[Any]) -> dict[str, Any] | None:
    """The numbers of a scaler that follows the columns directly."""
    if len(steps) < 2 or not isinstance(steps[0], ColumnEncoder):
        return None
    names, scaler = steps[0].get_feature_names_out(), steps[1]
    if isinstance(scaler, StandardScaler):
        numbers = {
            "mean": scaler.mean_ if scaler.with_mean else np.zeros(len(names)),
            "scale": scaler.scale_ if scaler.with_std else np.ones(len(names)),
        }
        method = "standard"
    elif isinstance(scaler, MinMaxScaler):
        numbers, method = {"low": scaler.data_min_, "high": scaler.data_max_}, "min-max"
    else:
        return None
    rows = zip(names, *(column.tolist() for column in numbers.values()), strict=True)
    features = [dict(zip(("feature", *numbers), row, strict=True)) for row in rows]
    return {"method": method, "features": features}


def _terms(steps: Sequence[Any]) -> dict[str, Any]:
    """The column of texts, and how many terms of each kind were kept."""
    parts = next((dict(s.transformer_list) for s in steps if isinstance(s, FeatureUnion)), {})
    return {
        "column": steps[0].column,
        "terms": {name: len(getattr(part, "vocabulary_", ())) for name, part in parts.items()},
    }
