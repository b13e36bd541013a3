"""The statements that group rows in a database, written once for all dialects.

Each answers one question with one row a group: the columns that rows are told apart by, a score,
and how many rows there are. What the groups mean is decided by :mod:`assay.engines.local`, so no
rule about labels, scores or counts stands here.

The only values in a statement are whole numbers. A power of two beyond 2^62 is a product, and any
other float is a whole number times powers of two, so that no database has to read a decimal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.engines.dialects import Dialect
from assay.tally.keeping import Cuts, Exact, Grid, Keeping

# The names that columns have inside a statement.
KEY, SCORE, VALUE, NUMBER, ODD = (
    f"assay_{name}" for name in ("key", "score", "value", "number", "odd")
)
SIZE, SCALED, BASE, PLACE, CELL = (
    f"assay_{name}" for name in ("size", "scaled", "base", "place", "cell")
)
FLAGGED, LOW, HIGH, ROWS = "assay_flagged", "assay_low", "assay_high", "assay_rows"
RARE, EACH, BELOW, AT = "assay_rare", "assay_each", "assay_below", "assay_at"
# Exponents that one power of two as a 64-bit integer can bridge.
_STEP = 62
_SMALLEST, _LARGEST = -1074, 1023


@dataclass(frozen=True)
class Selection:
    """The rows of a query as a statement sees them: what they are told apart by, and the score.

    ``keys`` are expressions; ``score`` is one that gives numbers, None where there is no score.
    """

    dialect: Dialect
    source: str
    keys: tuple[str, ...]
    score: str | None = None

    @property
    def key_names(self) -> list[str]:
        """What the keys are called inside a statement."""
        return [f"{KEY}{i}" for i in range(len(self.keys))]

    def select(self) -> str:
        """The keys and the score of all rows."""
        named = [f"{key} AS {KEY}{i}" for i, key in enumerate(self.keys)]
        if self.score is not None:
            named.append(f"{self.score} AS {SCORE}")
        return f"SELECT {', '.join(named)} FROM {self.source}"


def subquery(query: str) -> str:
    """A query as a table; a comment at its end stays its own."""
    return f"(\n{query}\n) AS assay_query"


def any_row(dialect: Dialect, source: str) -> str:
    """One row with all columns, of which the names are seen."""
    return f"SELECT {dialect.first}* FROM {source} {dialect.last}".rstrip()


def first_row(dialect: Dialect, source: str, columns: Sequence[str], present: str | None) -> str:
    """One row, of which types are seen; the column ``present`` is there."""
    types = [f"{dialect.type_of.format(c)}" for c in columns] if dialect.type_of else []
    where = "" if present is None else f" WHERE {present} IS NOT NULL"
    chosen = ", ".join(f"{part} AS {KEY}{i}" for i, part in enumerate((*columns, *types)))
    return f"SELECT {dialect.first}{chosen} FROM {source}{where} {dialect.last}".rstrip()


def grouped(table: Selection, keeping: Keeping | None, threshold: float, common: int = 0) -> str:
    """The statement that groups rows as scores are to be kept.

    ``common`` is how many rows with a finite score the most frequent label has, for cuts.
    """
    if table.score is None or keeping is None or isinstance(keeping, Exact):
        return exact(table)
    if isinstance(keeping, Cuts):
        return cuts(table, threshold, common)
    return grid(table, keeping, threshold)


def exact(table: Selection) -> str:
    """Groups of equal keys and equal score."""
    names = table.key_names + ([] if table.score is None else [SCORE])
    return _groups(table.dialect, table.select(), names, [f"{table.dialect.count} AS {ROWS}"])


def grid(table: Selection, keeping: Grid, threshold: float) -> str:
    """Groups of equal keys and equal cell, on one side of the threshold.

    The number of a cell is defined in :mod:`assay.tally.keeping`. Here the size of a score is
    scaled into [1, 2^62) by a choice of products, so that its exponent is found by comparing it
    with whole numbers; FLOOR then cuts off what the grid does not keep.
    """
    dialect, bits = table.dialect, keeping.bits
    names = table.key_names
    checked = _checked(table, threshold)
    sized = _layer(
        dialect,
        checked,
        [*names, NUMBER, FLAGGED, ODD],
        f"CASE WHEN {NUMBER} < 0 THEN -{NUMBER} WHEN {NUMBER} > 1 OR {NUMBER} * 2 <= 1 "
        f"THEN {NUMBER} ELSE 1 - {NUMBER} END AS {SIZE}",
    )
    bands = range(_SMALLEST // _STEP, _LARGEST // _STEP + 1)
    scaled = _layer(
        dialect,
        sized,
        [*names, NUMBER, FLAGGED, ODD],
        f"CASE WHEN {SIZE} > 0 THEN {_tree(dialect, SIZE, bands, _scaled)} END AS {SCALED}",
        f"{_tree(dialect, SIZE, bands, lambda band: str((_STEP * band - _SMALLEST) << bits))} "
        f"AS {BASE}",
    )

    def kept(exponent: int) -> str:
        shift = bits - exponent
        product = f"{SCALED} * {1 << shift}" if shift >= 0 else f"{SCALED} / {1 << -shift}"
        whole = dialect.floor.format(product, dialect.whole)
        return f"{whole} + {exponent << bits}"

    place = f"{BASE} + {_halved(SCALED, range(_STEP), kept)}"
    placed = _layer(
        dialect,
        scaled,
        [*names, NUMBER, FLAGGED, ODD],
        f"CASE WHEN {NUMBER} = 0 OR {NUMBER} = 1 THEN 0 ELSE {place} END AS {PLACE}",
    )
    half, one = -(_SMALLEST) << bits, (1 - _SMALLEST) << bits
    numbered = _layer(
        dialect,
        placed,
        [*names, NUMBER, FLAGGED, ODD],
        f"CASE WHEN {NUMBER} < 0 THEN -{PLACE} "
        f"WHEN {NUMBER} > 1 THEN {PLACE} + {2 * half + 1 - one} "
        f"WHEN {NUMBER} * 2 <= 1 THEN {PLACE} WHEN {NUMBER} <= 1 THEN {2 * half} - {PLACE} END "
        f"AS {CELL}",
    )
    return _groups(
        dialect,
        numbered,
        [*names, CELL, FLAGGED, ODD],
        [f"MIN({NUMBER}) AS {LOW}", f"MAX({NUMBER}) AS {HIGH}", f"{dialect.count} AS {ROWS}"],
    )


def label_rows(table: Selection) -> str:
    """How many rows with a finite score each label has; the label is the first key."""
    counted = f"{table.dialect.count} AS {EACH}"
    inner = _checked(table, 0.0)
    return (
        f"SELECT {KEY}0, {counted} FROM ({inner}) AS a "
        f"WHERE {NUMBER} IS NOT NULL AND {KEY}0 IS NOT NULL GROUP BY {KEY}0"
    )


def cuts(table: Selection, threshold: float, common: int) -> str:
    """Groups of equal keys and equal score, but for the most frequent label.

    Its rows are grouped by the scores of other labels that they lie between, by those that they
    equal, and by the side of the threshold. It is known by the number of its rows, since no label
    stands in a statement.
    """
    dialect = table.dialect
    names = table.key_names
    checked = _checked(table, threshold)
    told = (
        f"SELECT {', '.join(f'a.{name}' for name in [*names, NUMBER, FLAGGED, ODD])}, "
        f"CASE WHEN a.{NUMBER} IS NULL OR b.{EACH} = {common} THEN 0 ELSE 1 END AS {RARE} "
        f"FROM ({checked}) AS a LEFT JOIN ({label_rows(table)}) AS b ON a.{KEY}0 = b.{KEY}0"
    )
    distinct = _groups(
        dialect,
        told,
        [*names, NUMBER, FLAGGED, ODD, RARE],
        [f"{dialect.count} AS {EACH}"],
    )
    between = (
        f"SELECT {', '.join([*names, NUMBER, FLAGGED, ODD, EACH])}, "
        # What is no finite number lies in no gap, wherever the database sorts it.
        f"CASE WHEN {NUMBER} IS NOT NULL THEN SUM({RARE}) OVER (ORDER BY {NUMBER}) END AS {BELOW}, "
        f"CASE WHEN SUM({RARE}) OVER (ORDER BY {NUMBER} RANGE BETWEEN CURRENT ROW AND CURRENT ROW) "
        f"> 0 THEN 1 ELSE 0 END AS {AT} "
        f"FROM ({distinct}) AS c"
    )
    return _groups(
        dialect,
        between,
        [*names, BELOW, AT, FLAGGED, ODD],
        [
            f"MIN({NUMBER}) AS {LOW}",
            f"MAX({NUMBER}) AS {HIGH}",
            f"CAST(SUM({EACH}) AS {dialect.whole}) AS {ROWS}",
        ],
    )


def number(value: float, dialect: Dialect) -> str:
    """A finite float as a product of whole numbers, exactly.

    >>> from assay.engines.dialects import DIALECTS
    >>> number(0.75, DIALECTS["duckdb"])
    'CAST(3 AS DOUBLE) / 4'
    """
    if value == 0:
        return f"CAST(0 AS {dialect.double})"
    mantissa, denominator = value.as_integer_ratio()
    exponent = 1 - denominator.bit_length()
    twos = (mantissa & -mantissa).bit_length() - 1
    mantissa, exponent = mantissa >> twos, exponent + twos
    return _times(f"CAST({mantissa} AS {dialect.double})", exponent)


def _times(expression: str, exponent: int) -> str:
    """An expression times a power of two, by factors that 64-bit integers hold."""
    sign = "*" if exponent > 0 else "/"
    full, rest = divmod(abs(exponent), _STEP)
    return expression + f" {sign} {1 << _STEP}" * full + (f" {sign} {1 << rest}" if rest else "")


def _checked(table: Selection, threshold: float) -> str:
    """The rows with their score as a float, apart from what is no finite number."""
    dialect, names = table.dialect, table.key_names
    converted = f"CAST({SCORE} AS {dialect.double})"
    if dialect.is_number:
        converted = f"CASE WHEN {dialect.is_number.format(SCORE)} THEN {converted} END"
    cast = _layer(dialect, table.select(), [*names, SCORE], f"{converted} AS {VALUE}")
    # What is infinite or no number differs from itself by no zero.
    finite = f"{VALUE} - {VALUE} = 0"
    reached = f"{VALUE} >= {number(threshold, dialect)}"
    return _layer(
        dialect,
        cast,
        names,
        f"CASE WHEN {finite} THEN {VALUE} END AS {NUMBER}",
        f"CASE WHEN {finite} AND {reached} THEN 1 ELSE 0 END AS {FLAGGED}",
        f"CASE WHEN {finite} THEN NULL ELSE {SCORE} END AS {ODD}",
    )


def _layer(dialect: Dialect, inner: str, kept: Sequence[str], *more: str) -> str:
    columns = ", ".join([*kept, *more])
    return f"SELECT {columns} FROM ({inner} {dialect.fence}) AS a"


def _groups(dialect: Dialect, inner: str, names: Sequence[str], sums: Sequence[str]) -> str:
    by = f" GROUP BY {', '.join(names)}" if names else ""
    return f"SELECT {', '.join([*names, *sums])} FROM ({inner} {dialect.fence}) AS g{by}"


def _scaled(band: int) -> str:
    """A size that lies in a band of exponents, brought to [1, 2^62)."""
    return _times(SIZE, -_STEP * band) if band else SIZE


def _tree(dialect: Dialect, value: str, bands: range, leaf: Callable[[int], str]) -> str:
    """A choice between bands of exponents; that of sizes from 2^-62 to 1 is found at once."""
    usual = -1
    return (
        f"CASE WHEN {value} < 1 AND {value} >= {number(math.ldexp(1, -_STEP), dialect)} "
        f"THEN {leaf(usual)} WHEN {value} >= 1 "
        f"THEN {_split(dialect, value, range(usual + 1, bands.stop), leaf)} "
        f"ELSE {_split(dialect, value, range(bands.start, usual), leaf)} END"
    )


def _split(dialect: Dialect, value: str, bands: range, leaf: Callable[[int], str]) -> str:
    if len(bands) == 1:
        return leaf(bands[0])
    middle = bands[len(bands) // 2]
    bound = number(math.ldexp(1, _STEP * middle), dialect)
    upper = _split(dialect, value, range(middle, bands.stop), leaf)
    lower = _split(dialect, value, range(bands.start, middle), leaf)
    return f"CASE WHEN {value} >= {bound} THEN {upper} ELSE {lower} END"


def _halved(value: str, exponents: range, leaf: Callable[[int], str]) -> str:
    """A choice between exponents, by halves; every bound is a whole number."""
    if len(exponents) == 1:
        return leaf(exponents[0])
    middle = exponents[len(exponents) // 2]
    upper = _halved(value, range(middle, exponents.stop), leaf)
    lower = _halved(value, range(exponents.start, middle), leaf)
    return f"CASE WHEN {value} >= {1 << middle} THEN {upper} ELSE {lower} END"
