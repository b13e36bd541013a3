"""Listings of a hidden market, as a crawler finds them day after day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.learn.scenarios.darknet.vendors import (
    NAMES,
    SALE,
    SHARES,
    WORDS,
    Vendor,
    make_vendors,
    pick,
)
from assay.learn.scenarios.windows import CHUNK, FIRST_DAY, MEDIUM, ROWS, SEED, streamed

if TYPE_CHECKING:
    import polars as pl

__all__ = ["make_darknet", "stream_darknet"]

MARKETS = ("market-a", "market-b", "market-c")
VENDORS = 400
_FIRST_LISTINGS = 300
_NEW_A_DAY = 60
_GONE = 0.03  # of the listings, each day
_FOUND = 0.25  # of the listings, by a crawl
_ON_SALE = 0.08
_ELSEWHERE = 0.08  # listings of a vendor outside the own categories
_CRAWL = 6 * 3600  # seconds that a crawl takes
_LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


@dataclass(frozen=True)
class Listing:
    """One offer, as long as it stands."""

    id: str
    market: str
    vendor: str
    title: str
    category: str
    family: str


def make_darknet(
    rows: int = ROWS, seed: int = SEED, difficulty: float | str = MEDIUM
) -> pl.DataFrame:
    """Titles of listings with their category, in the order in which they were found.

    The same ``listing`` returns on several days, ``vendor`` has a style of its own, ``host`` is the
    market, ``category`` the label and ``family`` what it is within it. A longer table begins with
    the shorter one of the same seed and difficulty.

    >>> listings = make_darknet(rows=1000)
    >>> listings.columns
    ['time', 'host', 'listing', 'vendor', 'title', 'family', 'category']
    """
    return next(stream_darknet(rows, seed, difficulty, chunk=max(rows, 1)))


def stream_darknet(
    rows: int = ROWS, seed: int = SEED, difficulty: float | str = MEDIUM, *, chunk: int = CHUNK
) -> Iterator[pl.DataFrame]:
    """The same listings in pieces, with a memory that does not grow with their number."""
    return streamed(_blocks, rows, seed, difficulty, chunk)


def _blocks(seed: int, difficulty: float) -> Iterator[pl.DataFrame]:
    """What is found on one day after the other, for ever."""
    random = np.random.default_rng([seed, 5])
    vendors = make_vendors(VENDORS, random)
    busy = random.lognormal(0, 1.2, VENDORS)
    busy /= busy.sum()
    live: list[Listing] = []
    day = 0
    while True:
        random = np.random.default_rng([seed, 6, day])
        gone = random.random(len(live)) < _GONE
        live = [listing for listing, over in zip(live, gone, strict=True) if not over]
        new = random.poisson(_NEW_A_DAY) if day else _FIRST_LISTINGS
        live += [
            _offer(vendors[vendor], difficulty, random)
            for vendor in random.choice(VENDORS, new, p=busy)
        ]
        found = np.flatnonzero(random.random(len(live)) < _FOUND)
        yield _frame(day, [live[place] for place in random.permutation(found)], random)
        day += 1


def _offer(vendor: Vendor, difficulty: float, random: np.random.Generator) -> Listing:
    """A new listing of a vendor."""
    if random.random() < _ELSEWHERE:
        category = pick(NAMES, random)
    else:
        shares = [SHARES[NAMES.index(each)] for each in vendor.categories]
        first = random.random() * sum(shares) < shares[0]
        category = vendor.categories[0 if first else -1]
    family = pick(tuple(WORDS[category]), random)
    return Listing(
        "".join(_LETTERS[place] for place in random.integers(0, len(_LETTERS), 10)),
        pick(MARKETS, random),
        vendor.name,
        vendor.title(category, family, difficulty, random),
        category,
        family,
    )


def _frame(day: int, found: list[Listing], random: np.random.Generator) -> pl.DataFrame:
    import polars as pl

    when = day * 86_400 + np.sort(random.integers(0, _CRAWL, len(found)))
    on_sale = random.random(len(found)) < _ON_SALE
    sale = random.choice(SALE, len(found))
    titles = [
        f"{listing.title} ({word})" if cheap else listing.title
        for listing, cheap, word in zip(found, on_sale, sale, strict=True)
    ]
    start = pl.lit(FIRST_DAY).str.to_datetime(time_unit="us", time_zone="UTC")
    columns = ("market", "id", "vendor", "title", "family", "category")
    values = {name: [getattr(listing, name) for listing in found] for name in columns}
    schema = dict.fromkeys(columns, pl.String)
    frame = pl.DataFrame({**values, "title": titles}, schema=schema)
    return frame.with_columns(pl.Series("time", when)).select(
        time=start + pl.duration(seconds=pl.col("time")),
        host="market",
        listing="id",
        vendor="vendor",
        title="title",
        family="family",
        category="category",
    )
