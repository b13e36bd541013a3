"""The made-up market: listings return, vendors keep their style, and words are shared."""

from itertools import chain

import polars as pl
import pytest

from assay.learn.scenarios import make_darknet
from assay.learn.scenarios.darknet import COMMON, NAMES, SHARES, WORDS


@pytest.fixture(scope="module")
def listings() -> pl.DataFrame:
    return make_darknet(8000)


def test_there_are_ten_categories_of_unlike_size(listings: pl.DataFrame) -> None:
    sizes = dict(listings["category"].value_counts().iter_rows())
    assert set(sizes) == set(NAMES)
    assert len(NAMES) == 10
    assert max(sizes.values()) > 4 * min(sizes.values())
    assert sum(SHARES) == pytest.approx(1)


def test_a_family_belongs_to_one_category(listings: pl.DataFrame) -> None:
    pairs = set(listings.select("category", "family").unique().iter_rows())
    assert pairs <= {(name, family) for name, families in WORDS.items() for family in families}
    families = list(chain.from_iterable(WORDS.values()))
    assert len(families) == len(set(families))


def test_the_same_listing_returns_on_several_days(listings: pl.DataFrame) -> None:
    seen = listings.group_by("listing").agg(
        days=pl.col("time").dt.date().n_unique(),
        rows=pl.len(),
        vendors=pl.col("vendor").n_unique(),
        categories=pl.col("category").n_unique(),
        titles=pl.col("title").n_unique(),
    )
    assert (seen["days"] == seen["rows"]).all()  # a crawl finds it once
    assert (seen["days"] > 1).mean() > 0.4
    assert seen["vendors"].max() == seen["categories"].max() == 1
    assert (seen["titles"] > 1).any()


def test_vendors_write_in_their_own_way(listings: pl.DataFrame) -> None:
    titles = listings.unique("listing").filter(~pl.col("title").str.contains(r"\("))
    upper = titles.select("vendor", loud=pl.col("title").str.to_uppercase() == pl.col("title"))
    habits = (
        upper.group_by("vendor").agg(pl.col("loud").n_unique(), pl.len()).filter(pl.col("len") > 3)
    )
    assert habits["loud"].max() == 1
    assert 0.1 < upper["loud"].mean() < 0.5


def test_words_are_shared_between_categories(listings: pl.DataFrame) -> None:
    where: dict[str, set[str]] = {}
    for name, families in WORDS.items():
        for word in chain.from_iterable(families.values()):
            where.setdefault(word, set()).add(name)
    assert sum(len(names) > 1 for names in where.values()) > 20
    assert not set(where) >= set(COMMON)


def test_difficult_titles_say_less() -> None:
    def telling(difficulty: float) -> float:
        table = make_darknet(2000, 1, difficulty).unique("listing")
        own = [
            any(word in title.lower().split() for word in WORDS[category][family])
            for title, category, family in table.select("title", "category", "family").iter_rows()
        ]
        return sum(own) / len(own)

    assert telling(0.0) > telling(0.5) + 0.03 > telling(1.0) + 0.06


def test_no_title_begins_like_a_formula(listings: pl.DataFrame) -> None:
    assert not listings["title"].str.contains(r"^[=+@\-]").any()
