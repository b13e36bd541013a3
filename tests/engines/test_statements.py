"""Statements of every dialect: those that no server here runs are read by sqlglot."""

from dataclasses import replace
from pathlib import Path

import pytest

from assay.engines import statements
from assay.engines.statements import DIALECTS, PACKAGES, Dialect
from assay.errors import InputError
from assay.tally.keeping import Cuts, Exact, Grid, Keeping

GOLDEN = Path(__file__).parent / "statements"
READERS = {"postgresql": "postgres"}
KEEPINGS: dict[str, Keeping] = {"exact": Exact(), "grid": Grid(12), "cuts": Cuts()}
STATEMENTS = (*KEEPINGS, "pairs")
QUERY = "select * from flows where day = 3 -- the third"


def table_of(dialect: Dialect) -> statements.Selection:
    label = dialect.text.format(dialect.name_of("label"))
    keys = [label, dialect.name_of('odd "name" `é` [x]\\')]
    if dialect.also:
        keys.append(dialect.also.format(dialect.name_of("label")))
    score = dialect.name_of("score")
    return statements.Selection(dialect, statements.subquery(QUERY), tuple(keys), score)


def statement(dialect: Dialect, keeping: str) -> str:
    if keeping == "pairs":
        table = replace(table_of(dialect), score=None)
        scores = dialect.name_of("score"), dialect.name_of("other")
        return statements.pairs(table, scores, 12)
    return statements.grouped(table_of(dialect), KEEPINGS[keeping], 0.3, common=12_345)


@pytest.mark.parametrize("keeping", STATEMENTS)
@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_statement_can_be_read(name: str, keeping: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    dialect = DIALECTS[name]
    text = statement(dialect, keeping)
    (tree,) = sqlglot.parse(text, read=READERS.get(name, name))
    assert isinstance(tree, sqlglot.exp.Select)
    numbers = [each.this for each in tree.find_all(sqlglot.exp.Literal) if each.is_number]
    assert all(each.isdigit() and int(each) < 2**63 for each in numbers)
    names = {each.name for each in tree.find_all(sqlglot.exp.Column)}
    assert {"label", "score", 'odd "name" `é` [x]\\'} <= names
    assert tree.args["group"] is not None


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_types_and_first_rows_are_asked_for(name: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    dialect = DIALECTS[name]
    columns = [dialect.name_of("label"), dialect.name_of("score")]
    source = statements.subquery(QUERY)
    first = statements.first_row(dialect, source, columns, columns[1])
    for text in (first, statements.no_rows(dialect, source)):
        (tree,) = sqlglot.parse(text, read=READERS.get(name, name))
        assert "limit" in tree.args
        assert tree.args.get("limit") is not None


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_statements_are_those_that_were_looked_at(name: str) -> None:
    """A change of a statement shows as a change of the kept file; ``RENEW_GOLDEN=1`` renews it."""
    import os

    dialect = DIALECTS[name]
    text = "\n\n".join(f"-- {k}\n{statement(dialect, k)}" for k in STATEMENTS) + "\n"
    kept = GOLDEN / f"{name}.sql"
    if os.environ.get("RENEW_GOLDEN"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(text, "utf-8")
    assert text == kept.read_text("utf-8")


@pytest.mark.sampled(30)
@pytest.mark.parametrize("name", sorted(DIALECTS))
@pytest.mark.parametrize(
    "odd", ['"', "`", "]", "\\", "\\`", '"; drop table t; --', "é", "a b", "%"]
)
def test_any_name_is_quoted(name: str, odd: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    quoted = DIALECTS[name].name_of(odd)
    tree = sqlglot.parse_one(f"SELECT {quoted} FROM t", read=READERS.get(name, name))
    assert [column.name for column in tree.find_all(sqlglot.exp.Column)] == [odd]


def test_a_name_with_a_null_character_is_refused() -> None:
    with pytest.raises(InputError, match="null character"):
        DIALECTS["duckdb"].name_of("a\0b")


def test_every_package_speaks_a_dialect_that_is_known() -> None:
    assert set(PACKAGES.values()) <= set(DIALECTS)
