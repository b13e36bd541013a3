"""Listings of a hidden market, as a crawler finds them day after day; and who writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from assay.v02.learn.scenarios.windows import CHUNK, FIRST_DAY, MEDIUM, ROWS, SEED, streamed

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
        crawled = np.flatnonzero(random.random(len(live)) < _FOUND)
        yield _frame(day, [live[place] for place in random.permutation(crawled)], random)
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


def _frame(day: int, listings: list[Listing], random: np.random.Generator) -> pl.DataFrame:
    import polars as pl

    when = day * 86_400 + np.sort(random.integers(0, _CRAWL, len(listings)))
    on_sale = random.random(len(listings)) < _ON_SALE
    sale = random.choice(SALE, len(listings))
    titles = [
        f"{listing.title} ({word})" if cheap else listing.title
        for listing, cheap, word in zip(listings, on_sale, sale, strict=True)
    ]
    start = pl.lit(FIRST_DAY).str.to_datetime(time_unit="us", time_zone="UTC")
    columns = ("market", "id", "vendor", "title", "family", "category")
    values = {name: [getattr(listing, name) for listing in listings] for name in columns}
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


# -- vendors ---------------------------------------------------------------------------------------

Item = TypeVar("Item")

_CASES: tuple[Callable[[str], str], ...] = (str.lower, str.title, str.upper, str.capitalize)
_MARKS = ("", "", "", "", "*** {} ***", "[{}]", "{} !!", "~ {} ~", "★ {} ★", ">> {}")
_SEPARATORS = (" ", " ", " - ", " | ", ", ", " / ")


def pick(items: Sequence[Item], random: np.random.Generator) -> Item:
    """One of some items; much quicker than ``random.choice``, which makes an array of them."""
    return items[int(random.random() * len(items))]


@dataclass(frozen=True)
class Vendor:
    """Somebody who sells, with habits in goods and in words."""

    name: str
    categories: tuple[str, ...]
    brands: dict[str, tuple[str, ...]]  # of each family that is sold: names nobody else uses
    habits: tuple[str, ...]  # words that stand in every second title
    case: Callable[[str], str]
    mark: str
    separator: str
    signs: bool

    def title(
        self, category: str, family: str, difficulty: float, random: np.random.Generator
    ) -> str:
        """The title of one listing."""
        if random.random() < 0.12 * difficulty:
            return self._dressed([pick(NOTHING_SAID, random)], random)
        words = [
            self._word(category, family, difficulty, random) for _ in range(random.integers(3, 7))
        ]
        return self._dressed(list(dict.fromkeys(words)), random)

    def _word(
        self, category: str, family: str, difficulty: float, random: np.random.Generator
    ) -> str:
        """A word of the family, a brand, a habit, or one that belongs elsewhere."""
        telling = 0.62 - 0.4 * difficulty
        elsewhere = 0.03 + 0.17 * difficulty
        draw = random.random()
        words = COMMON
        if draw < telling:
            words = WORDS[category][family]
        elif draw < telling + 0.15:
            words = self.brands.get(family, self.habits)
        elif draw < telling + 0.15 + elsewhere:
            words = pick(tuple(WORDS[pick(NAMES, random)].values()), random)
        elif draw < telling + 0.25 + elsewhere:
            words = self.habits
        return pick(words, random)

    def _dressed(self, words: list[str], random: np.random.Generator) -> str:
        """Words as this vendor writes them."""
        text = self.separator.join(
            part for part in (" ".join(words[:3]), " ".join(words[3:])) if part
        )
        if self.signs and random.random() < 0.5:
            text = f"{text} by {self.name}"
        text = self.case(text)
        return self.mark.format(text) if self.mark else text


def make_vendors(count: int, random: np.random.Generator) -> list[Vendor]:
    """Vendors with one or two categories each, and names of their own."""
    shares = np.array(SHARES) / sum(SHARES)
    made: list[Vendor] = []
    taken: set[str] = set()
    while len(made) < count:
        name = _invented(random)
        if name in taken:
            continue
        taken.add(name)
        chosen = random.choice(NAMES, random.integers(1, 3), replace=False, p=shares)
        made.append(
            Vendor(
                name,
                tuple(str(each) for each in chosen),
                {
                    family: tuple(_invented(random) for _ in range(3))
                    for category in chosen
                    for family in WORDS[category]
                },
                tuple(str(each) for each in random.choice(COMMON, 3, replace=False)),
                pick(_CASES, random),
                pick(_MARKS, random),
                pick(_SEPARATORS, random),
                bool(random.random() < 0.3),
            )
        )
    return made


def _invented(random: np.random.Generator) -> str:
    return "".join(pick(SYLLABLES, random) for _ in range(random.integers(2, 5)))


# Category: its share of the listings, and the words of each of its families.
_CATEGORIES: dict[str, tuple[float, dict[str, str]]] = {
    "books": (
        0.20,
        {
            "guides": "guide handbook manual basics course lessons beginner tutorial notes tips",
            "novels": "novel story tale chapter paperback series author edition hardcover saga",
            "magazines": "magazine issue archive volume monthly cover scans journal digest pages",
        },
    ),
    "herbs": (
        0.17,
        {
            "teas": "tea leaf infusion blend mint chamomile loose bags dried green",
            "seeds": "seeds garden sprout packet heirloom soil pots harvest organic plant",
            "spices": "saffron pepper powder ground vanilla spice whole jar cinnamon roasted",
        },
    ),
    "electronics": (
        0.14,
        {
            "phones": "phone handset unlocked screen battery charger case sim dual refurbished",
            "storage": "drive memory card stick reader flash disk backup portable gigabyte",
            "audio": "headphones speaker wireless earbuds cable amplifier stereo bass radio",
        },
    ),
    "accounts": (
        0.12,
        {
            "streaming": "streaming account premium subscription profile monthly shared login",
            "games": "game level character skins coins ranked server items key rare",
            "mail": "mailbox address inbox aliases domain storage forwarding verified box plan",
        },
    ),
    "clothing": (
        0.10,
        {
            "shoes": "shoes sneakers boots leather sole laces pair size runner trainers",
            "coats": "coat jacket hood zip winter down lining wool parka waterproof",
            "bags": "bag backpack strap wallet pocket leather canvas tote travel case",
        },
    ),
    "jewellery": (
        0.08,
        {
            "watches": "watch dial strap automatic steel quartz chronograph bezel case sapphire",
            "rings": "ring band gold silver stone engraved carat polished setting",
            "chains": "chain necklace pendant bracelet link gold clasp silver charm",
        },
    ),
    "software": (
        0.07,
        {
            "tools": "tool license key desktop update version installer plugin lifetime suite",
            "themes": "theme template layout icons fonts website landing pages kit responsive",
            "courses": "course video lessons archive certificate programming academy class bundle",
        },
    ),
    "tobacco": (
        0.05,
        {
            "cigars": "cigar wrapper humidor aged robusto band box corona ring leaf",
            "pipes": "pipe briar blend aromatic tin stem bowl cut flake pouch",
            "papers": "papers rolling filter slim booklet tips hemp unbleached king pack",
        },
    ),
    "services": (
        0.04,
        {
            "design": "design logo banner card poster vector draft revision print custom",
            "writing": "writing essay proofreading translation text words editing draft letter",
            "hosting": "hosting server domain setup monthly plan support uptime virtual backup",
        },
    ),
    "art": (
        0.03,
        {
            "prints": "print poster canvas framed limited signed edition paper colour series",
            "coins": "coin silver rare mint collector proof gold date medal old",
            "stamps": "stamp album rare sheet collector issue cover block paper old",
        },
    ),
}

NAMES = tuple(_CATEGORIES)
SHARES = tuple(share for share, _ in _CATEGORIES.values())
WORDS = {
    category: {family: tuple(words.split()) for family, words in families.items()}
    for category, (_, families) in _CATEGORIES.items()
}

# Words that say nothing of what is sold.
_COMMON = """
new best quality fast shipping cheap top offer original fresh pack set lot x2 x5 x10 deal special
price stock world europe express discreet sale sample bulk limited trusted vendor great value pro
extra large small mini super bonus free gift order today only
"""
COMMON = tuple(_COMMON.split())
NOTHING_SAID = ("custom listing", "as discussed", "reserved", "listing for a customer", "re-order")
SALE = ("sale", "new price", "back in stock", "last ones")
_SYLLABLES = "ba ko ri mu te lo na sha vi dor pel zan qui tri fen gal hos wex jun yl"
SYLLABLES = tuple(_SYLLABLES.split())
