"""The statements that group rows in a database, written once for all dialects.

Each answers one question with one row a group: the columns that rows are told apart by, a score,
and how many rows there are. What the groups mean is decided by :mod:`assay.engines.local`, so no
rule about labels, scores or counts stands here.

The only values in a statement are whole numbers. A power of two beyond 2^62 is a product, and any
other float is a whole number times powers of two, so that no database has to read a decimal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.errors import InputError
from assay.v02.tally.keeping import Cuts, Exact, Grid, Keeping

# The names that columns have inside a statement.
KEY, SCORE, VALUE, NUMBER, ODD = (
    f"assay_{name}" for name in ("key", "score", "value", "number", "odd")
)
SIZE, SIDE, SCALED, PLACE, NEAREST, NEAR, START, CELL = (
    f"assay_{name}"
    for name in ("size", "side", "scaled", "place", "nearest", "near", "start", "cell")
)
FLAGGED, LOW, HIGH, ROWS = "assay_flagged", "assay_low", "assay_high", "assay_rows"
RARE, EACH, BELOW, AT = "assay_rare", "assay_each", "assay_below", "assay_at"
# Exponents that one power of two as a 64-bit integer can bridge.
_STEP = 62
# Sizes from 2^512 on, or below 2^-512, are scaled by so many powers of two before they are rounded.
_RANGE, _SCALE = ((">=", 512), ("<", -512)), 2 * _STEP


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
        named = _as_names(self.keys, self.key_names)
        if self.score is not None:
            named.append(f"{self.score} AS {SCORE}")
        return f"SELECT {', '.join(named)} FROM {self.source}"


def subquery(query: str) -> str:
    """A query as a table; a comment at its end stays its own."""
    return f"(\n{query}\n) AS assay_query"


def no_rows(dialect: Dialect, source: str) -> str:
    """All columns and no row: their names are seen, and nothing is read."""
    return _limited(dialect, "*", source, 0)


def first_row(dialect: Dialect, source: str, columns: Sequence[str], present: str | None) -> str:
    """One row, of which types are seen; the column ``present`` is there."""
    types = [dialect.type_of.format(c) for c in columns] if dialect.type_of else []
    where = "" if present is None else f" WHERE {present} IS NOT NULL"
    chosen = ", ".join(f"{part} AS {KEY}{i}" for i, part in enumerate((*columns, *types)))
    return _limited(dialect, chosen, source + where, 1)


def _limited(dialect: Dialect, chosen: str, source: str, rows: int) -> str:
    first, last = dialect.first.format(rows), dialect.last.format(rows)
    return f"SELECT {first}{chosen} FROM {source} {last}".rstrip()


def flagged(source: str, names: Sequence[str], reached: Mapping[str, str]) -> str:
    """The rows of some columns, and under new names whether scores reach thresholds."""
    flags = [
        f"CASE WHEN {condition} THEN 1 ELSE 0 END AS {name}" for name, condition in reached.items()
    ]
    return f"SELECT {', '.join([*names, *flags])} FROM {source}"


def finite(dialect: Dialect, source: str, columns: Sequence[str]) -> str:
    """The rows in which each of some columns of numbers is finite."""
    doubles = [f"CAST({column} AS {dialect.double})" for column in columns]
    condition = " AND ".join(f"{double} - {double} = 0" for double in doubles)
    return f"SELECT * FROM {source} WHERE {condition}"


def size(dialect: Dialect, source: str) -> str:
    """How many rows there are."""
    return f"SELECT {dialect.count} AS {ROWS} FROM {source}"


def size_of_result(dialect: Dialect, statement: str) -> str:
    """How many rows a statement gives."""
    return size(dialect, f"({statement}) AS r")


def first_values(dialect: Dialect, source: str, column: str, rows: int) -> str:
    """So many values of a column that are there, in no order."""
    return _limited(dialect, f"{column} AS {KEY}0", f"{source} WHERE {column} IS NOT NULL", rows)


def no_number(dialect: Dialect, source: str, column: str) -> str:
    """One value of a column that is there and no number."""
    other = f"{column} IS NOT NULL AND NOT {dialect.is_number.format(column)}"
    return _limited(dialect, f"{column} AS {KEY}0", f"{source} WHERE {other}", 1)


def first_scores(table: Selection, rows: int) -> str:
    """The scores of so many rows, in no order."""
    return _limited(table.dialect, f"{table.score} AS {SCORE}", table.source, rows)


def grouped(table: Selection, keeping: Keeping | None, threshold: float, common: int) -> str:
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

    The smallest and the largest score of each group come along, so that whoever reads the groups
    sees that none spans two cells. What is no finite number stands where a cell begins, so that no
    key is missing in most rows: the quicker of Spark's two maps of groups takes no missing ones.
    """
    dialect, kept = table.dialect, [*table.key_names, NUMBER]
    checked = _checked(table, threshold)
    placed = _cells(dialect, checked, [*kept, ODD], {"": NUMBER}, keeping.bits, start=FLAGGED)
    begins = f"COALESCE({START}, {ODD}) AS {CELL}"
    return _groups(
        dialect,
        _layer(dialect, placed, [*kept, PLACE], begins),
        [*table.key_names, PLACE, CELL],
        [f"MIN({NUMBER}) AS {LOW}", f"MAX({NUMBER}) AS {HIGH}", f"{dialect.count} AS {ROWS}"],
        spread=CELL,
    )


def pairs(table: Selection, scores: tuple[str, str], bits: int) -> str:
    """Groups of equal keys and equal cells of two columns of finite numbers.

    Of each group the smallest of either score comes along, in the last columns but one.
    """
    dialect, names = table.dialect, [f"{NUMBER}{i}" for i in (0, 1)]
    doubles = [f"CAST({score} AS {dialect.double})" for score in scores]
    chosen = _as_names((*table.keys, *doubles), (*table.key_names, *names))
    inner = f"SELECT {', '.join(chosen)} FROM {table.source}"
    cells = _cells(dialect, inner, [*table.key_names, *names], {"0": names[0], "1": names[1]}, bits)
    by = [f"{part}{i}" for i in (0, 1) for part in (START, PLACE)]
    low = [f"MIN({name}) AS {LOW}{i}" for i, name in enumerate(names)]
    return _groups(dialect, cells, [*table.key_names, *by], [*low, f"{dialect.count} AS {ROWS}"])


def _as_names(parts: Sequence[str], names: Sequence[str]) -> list[str]:
    return [f"{part} AS {name}" for part, name in zip(parts, names, strict=True)]


def _cells(
    dialect: Dialect,
    inner: str,
    kept: Sequence[str],
    values: Mapping[str, str],
    bits: int,
    start: str = "0",
) -> str:
    """Rows with the cells of finite floats: where they begin, and on which side of 0, 1/2 and 1.

    The number of a cell is defined in :mod:`assay.tally.keeping`; its beginning is found by four
    operations on floats. With c = 2^(52 - bits) + 1 the float c t - (c t - t) is t rounded to the
    mantissa of a cell (Veltkamp). Where that lies above t, the cell begins a little below it, which
    is rounded again. Sizes whose products would leave the range of floats are scaled before.

    ``values`` are by what is written behind the names of their cells; ``start`` is added to the
    number of the side.
    """
    half = number(0.5, dialect)

    def layer(inner: str, carried: Sequence[str], *expressions: Callable[[str], str]) -> str:
        names = [*kept, *(f"{name}{i}" for name in carried for i in values)]
        return _layer(dialect, inner, names, *(each(i) for each in expressions for i in values))

    def size(i: str) -> str:
        value = values[i]
        return (
            f"CASE WHEN {value} > {half} AND {value} <= 1 THEN 1 - {value} "
            f"WHEN {value} < 0 THEN -{value} ELSE {value} END AS {SIZE}{i}"
        )

    def side(i: str) -> str:
        value = values[i]
        mirrored = f"{value} > {half} AND {value} <= 1"
        return (
            f"{start} + CASE WHEN {mirrored} THEN 2 WHEN {value} < 0 THEN 4 ELSE 0 END AS {SIDE}{i}"
        )

    def scaled(i: str) -> str:
        large, small = (f"{SIZE}{i} {sign} {number(2.0**to, dialect)}" for sign, to in _RANGE)
        return (
            f"CASE WHEN {large} THEN {_times(SIZE + i, -_SCALE)} "
            f"WHEN {small} THEN {_times(SIZE + i, _SCALE)} ELSE {SIZE}{i} END AS {SCALED}{i}"
        )

    def place(i: str) -> str:
        large, small = (f"{SIZE}{i} {sign} {number(2.0**to, dialect)}" for sign, to in _RANGE)
        return f"{SIDE}{i} + CASE WHEN {large} THEN 8 WHEN {small} THEN 16 ELSE 0 END AS {PLACE}{i}"

    def nearest(i: str) -> str:
        return f"{_rounded(SCALED + i, bits)} AS {NEAREST}{i}"

    def near(i: str) -> str:
        rounded = f"{NEAREST}{i}"
        below = f"{rounded} - {rounded} / {2 << bits}"
        return f"CASE WHEN {SCALED}{i} < {rounded} THEN {below} ELSE {rounded} END AS {NEAR}{i}"

    def begin(i: str) -> str:
        return f"{_rounded(NEAR + i, bits)} AS {START}{i}"

    inner = layer(inner, (), size, side)
    inner = layer(inner, (), scaled, place)
    inner = layer(inner, (PLACE, SCALED), nearest)
    inner = layer(inner, (PLACE,), near)
    return layer(inner, (PLACE,), begin)


def _rounded(value: str, bits: int) -> str:
    """A float rounded to so many bits after the first, in sizes that allow it."""
    product = f"{value} * {(1 << (52 - bits)) + 1}"
    return f"{product} - ({product} - {value})"


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
    columns = (
        f"SELECT {', '.join(f'a.{name}' for name in [*names, NUMBER, FLAGGED, ODD])}, "
        f"CASE WHEN a.{NUMBER} IS NULL OR b.{EACH} = {common} THEN 0 ELSE 1 END AS {RARE} "
        f"FROM ({checked}) AS a LEFT JOIN ({label_rows(table)}) AS b ON a.{KEY}0 = b.{KEY}0"
    )
    distinct = _groups(
        dialect,
        columns,
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

    >>> from assay.v02.engines.statements import DIALECTS
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
    steps, remainder = divmod(abs(exponent), _STEP)
    return (
        expression
        + f" {sign} {1 << _STEP}" * steps
        + (f" {sign} {1 << remainder}" if remainder else "")
    )


def _checked(table: Selection, threshold: float) -> str:
    """The rows with their score as a float, apart from what is no finite number."""
    dialect, names = table.dialect, table.key_names
    converted = f"CAST({SCORE} AS {dialect.double})"
    if dialect.is_number:
        converted = f"CASE WHEN {dialect.is_number.format(SCORE)} THEN {converted} END"
    cast = _layer(dialect, table.select(), [*names, SCORE], f"{converted} AS {VALUE}")
    # What is infinite or no number differs from itself by no zero.
    finite = f"{VALUE} - {VALUE} = 0"
    offender = SCORE if dialect.is_number else VALUE
    reached = f"{VALUE} >= {number(threshold, dialect)}"
    return _layer(
        dialect,
        cast,
        names,
        f"CASE WHEN {finite} THEN {VALUE} END AS {NUMBER}",
        f"CASE WHEN {finite} AND {reached} THEN 1 ELSE 0 END AS {FLAGGED}",
        f"CASE WHEN {finite} THEN NULL ELSE {offender} END AS {ODD}",
    )


def _layer(dialect: Dialect, inner: str, kept: Sequence[str], *more: str) -> str:
    columns = ", ".join([*kept, *more])
    return f"SELECT {columns} FROM ({inner} {dialect.fence}) AS a"


def _groups(
    dialect: Dialect, inner: str, names: Sequence[str], sums: Sequence[str], spread: str = ""
) -> str:
    """Groups of equal columns; ``spread`` is one of them, a float whose last bits are zeros.

    Spark's quicker map looks for groups by those bits, and finds all of them in one place.
    """
    keys = [*names, *([dialect.spread.format(spread)] if spread and dialect.spread else [])]
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*names, *sums])} FROM ({inner} {dialect.fence}) AS g{by}"


# -- dialects --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dialect:
    """How one database writes what others write otherwise.

    ``quotes`` stand around a name; the closing one is doubled inside it, unless ``escaped`` says
    that a backslash stands before it. ``double`` and ``whole`` are the types of 64 bits.
    ``is_number`` tells a number from other values where a column may hold both. ``fence`` keeps an
    inner selection from being copied into each place of the outer one that refers to it. ``text``
    compares text by its characters alone, and ``also`` separates what it still takes for equal.
    ``type_of`` names the type of a value where that decides how text is compared; ``padded`` are
    types that ``text`` must not convert. ``utc_day`` is the day of a moment with a zone. ``first``
    and ``last`` limit a selection to so many rows. ``spread`` is a key that follows from another,
    for a database that looks for groups by the last bits of their keys.
    """

    name: str
    quotes: tuple[str, str] = ('"', '"')
    escaped: bool = False
    double: str = "DOUBLE"
    whole: str = "BIGINT"
    is_number: str = ""
    fence: str = ""
    text: str = "{0}"
    also: str = ""
    type_of: str = ""
    padded: tuple[str, ...] = ()
    utc_day: str = ""
    count: str = "COUNT(*)"
    first: str = ""
    last: str = "LIMIT {0}"
    spread: str = ""

    def name_of(self, name: str) -> str:
        """A name in quotes, whatever it is made of.

        >>> DIALECTS["tsql"].name_of("odd [name]")
        '[odd [name]]]'
        """
        start, end = self.quotes
        if "\0" in name:
            raise InputError(f"a column can't be named {name!r}: it holds a null character")
        if self.escaped:
            return start + name.replace("\\", "\\\\").replace(end, "\\" + end) + end
        return start + name.replace(end, end * 2) + end


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "duckdb",
            # Labels of a column that ignores case or accents are still told apart.
            text="CAST({0} AS VARCHAR) COLLATE C",
            utc_day="CAST({0} AT TIME ZONE 'UTC' AS DATE)",
        ),
        Dialect(
            "sqlite",
            double="REAL",
            whole="INTEGER",
            is_number="TYPEOF({0}) IN ('real', 'integer')",
            fence="LIMIT -1 OFFSET 0",
            text="{0} COLLATE BINARY",
        ),
        Dialect(
            "postgresql",
            double="DOUBLE PRECISION",
            fence="OFFSET 0",
            text='CAST({0} AS TEXT) COLLATE "C"',
            type_of="CAST(pg_typeof({0}) AS TEXT)",
            padded=("character", '"char"'),
            utc_day="CAST({0} AT TIME ZONE 'UTC' AS DATE)",
        ),
        Dialect("spark", quotes=("`", "`"), spread="XXHASH64({0})"),
        Dialect("databricks", quotes=("`", "`")),
        Dialect(
            "clickhouse",
            escaped=True,
            double="Nullable(Float64)",
            whole="Nullable(Int64)",
        ),
        Dialect(
            "bigquery",
            quotes=("`", "`"),
            escaped=True,
            double="FLOAT64",
            whole="INT64",
            utc_day="DATE({0}, 'UTC')",
        ),
        Dialect("snowflake", utc_day="CAST(CONVERT_TIMEZONE('UTC', {0}) AS DATE)"),
        Dialect("trino", utc_day="CAST({0} AT TIME ZONE 'UTC' AS DATE)"),
        Dialect(
            "tsql",
            quotes=("[", "]"),
            double="FLOAT(53)",
            text="{0} COLLATE Latin1_General_BIN2",
            # Blanks at the end count for nothing in a comparison.
            also="DATALENGTH({0})",
            utc_day="CAST({0} AT TIME ZONE 'UTC' AS DATE)",
            count="COUNT_BIG(*)",
            first="TOP {0} ",
            last="",
        ),
    )
}

# Which dialect a connection speaks, by the package that its class comes from.
PACKAGES = {
    "chdb": "clickhouse",
    "clickhouse_connect": "clickhouse",
    "clickhouse_driver": "clickhouse",
    "databricks": "databricks",
    "duckdb": "duckdb",
    "google": "bigquery",
    "pg8000": "postgresql",
    "psycopg": "postgresql",
    "psycopg2": "postgresql",
    "pymssql": "tsql",
    "pyspark": "spark",
    "snowflake": "snowflake",
    "sqlite3": "sqlite",
    "trino": "trino",
}


def dialect_named(name: str) -> Dialect:
    """The dialect of that name."""
    if name not in DIALECTS:
        raise InputError(
            f"there is no dialect {name!r}; those known are {', '.join(sorted(DIALECTS))}"
        )
    return DIALECTS[name]
