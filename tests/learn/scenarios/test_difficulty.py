"""A good model is better than a bad one on every scenario, and none is perfect."""

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from assay.learn.scenarios import make_arp, make_darknet, make_ddos

pytestmark = pytest.mark.slow

ROWS = 8000
FOREST = RandomForestClassifier(25, random_state=0)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


def features(table: pl.DataFrame) -> npt.NDArray[np.float64]:
    """The columns as numbers, infinities and gaps as missing, texts by their place in order."""
    left = table.drop("time", "host", "family", "label")
    coded = left.with_columns(pl.col(pl.String).rank("dense")).cast(pl.Float64)
    matrix = coded.fill_null(float("nan")).to_numpy(writable=True)
    matrix[np.isinf(matrix)] = np.nan
    return matrix


def auc(model: object, table: pl.DataFrame, groups: str | None = None) -> float:
    truth = (table["label"] != "normal").to_numpy()
    folds = StratifiedKFold(3, shuffle=True, random_state=0) if groups is None else GroupKFold(3)
    of = None if groups is None else table[groups].to_numpy()
    scores = cross_val_predict(
        model, features(table), truth, cv=folds, groups=of, method="predict_proba"
    )
    return float(roc_auc_score(truth, scores[:, 1]))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("make", [make_arp, make_ddos])
def test_a_forest_is_good_but_not_perfect_and_a_small_tree_is_worse(make: object) -> None:
    assert callable(make)
    table = make(ROWS)
    forest, tree = auc(FOREST, table), auc(TREE, table)
    assert 0.95 < forest < 0.997
    assert 0.65 < tree < forest - 0.05


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("make", [make_arp, make_ddos])
def test_hosts_that_were_never_seen_are_no_easier_and_not_hopeless(make: object) -> None:
    assert callable(make)
    table = make(ROWS)
    assert 0.85 < auc(FOREST, table, "host") < auc(FOREST, table) + 0.002


@pytest.mark.parametrize("make", [make_arp, make_ddos])
def test_difficulty_makes_it_difficult(make: object) -> None:
    assert callable(make)
    easy, hard = (auc(TREE, make(ROWS, difficulty=each)) for each in (0.1, 0.9))
    assert easy > hard + 0.05


def test_titles_are_told_apart_but_less_so_by_listing_and_least_by_vendor() -> None:
    table = make_darknet(6000)
    truth, titles = table["category"].to_numpy(), table["title"].to_numpy()
    model = make_pipeline(TfidfVectorizer(), MultinomialNB(alpha=0.05))

    def accuracy(groups: str | None) -> float:
        folds = StratifiedKFold(3, shuffle=True, random_state=0) if not groups else GroupKFold(3)
        of = table[groups].to_numpy() if groups else None
        predictions = cross_val_predict(model, titles, truth, cv=folds, groups=of)
        return float(np.mean(predictions == truth))

    rows, listings, vendors = accuracy(None), accuracy("listing"), accuracy("vendor")
    majority = table["category"].value_counts()["count"].max() / len(table)
    assert 0.99 > rows > listings + 0.05 > vendors + 0.08 > majority + 0.2
