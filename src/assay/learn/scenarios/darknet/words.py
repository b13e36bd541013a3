"""The words of the market: its categories with their families, and what all of them share."""

from __future__ import annotations

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
