"""Where databases differ in what they call things: a small table of dialects.

Statements are written once, in :mod:`assay.engines.statements`; a dialect says how a name is
quoted, what a 64-bit float and a 64-bit integer are called, and how unlike texts are kept apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import InputError


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
    and ``last`` limit a selection to so many rows.
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
        Dialect("spark", quotes=("`", "`")),
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
