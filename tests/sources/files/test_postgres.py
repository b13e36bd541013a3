"""Queries on PostgreSQL: credentials from the environment, and nothing but reading."""

import os
from pathlib import Path

import pytest

import assay
from assay.errors import InputError
from assay.sources.files import Request, read
from assay.sources.files.database_queries import (
    Address,
    must_only_read_postgresql,
    postgresql_address,
    postgresql_connection,
)
from assay.sources.files.inputs import without_query

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

SECRET = "correct-horse"


@pytest.fixture(scope="session")
def flows(postgresql: str) -> str:
    """A database with one table; gives the folder of the server's socket."""
    with psycopg.connect(host=postgresql, user="postgres", dbname="postgres") as connection:
        connection.autocommit = True
        connection.execute("CREATE DATABASE flows")
    with psycopg.connect(host=postgresql, user="postgres", dbname="flows") as connection:
        connection.execute("CREATE TABLE t (label text, score float8, n int)")
        connection.execute("INSERT INTO t VALUES ('a', 0.5, 1), ('b', 0.25, 2), (NULL, 1, 3)")
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("GRANT SELECT ON t TO reader")
    return postgresql


@pytest.fixture
def environment(flows: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PGHOST", flows)
    monkeypatch.setenv("PGUSER", "postgres")
    return flows


def names(query: str, database: str = "flows") -> tuple[str, ...]:
    return read([f"postgresql:///{database}?{query}"], Request()).columns["y_true"].names


@pytest.mark.parametrize("batch", [1, 1000])
def test_a_query_is_read(batch: int, environment: str) -> None:
    query = "SELECT label, score, n AS site FROM t WHERE label IS NOT NULL ORDER BY score; "
    rows = read([f"postgresql:///flows?{query}"], Request(batch_rows=batch, slices=("site",)))
    assert rows.columns["y_true"].names == ("a", "b")
    assert rows.columns["y_score"].tolist() == [0.25, 0.5]
    assert rows.name == "postgresql:///flows"


def test_a_missing_value_is_a_bad_row(environment: str) -> None:
    with pytest.raises(InputError, match="row 3: column 'label': the label is missing"):
        read(["postgresql:///flows?select * from t order by n"], Request())


def test_narrow_floats_decimals_and_padded_text_keep_their_values(environment: str) -> None:
    query = "SELECT CAST('a' AS char(4)) AS label, CAST(0.1 AS float4) AS score"
    rows = read([f"postgresql:///flows?{query}"], Request())
    assert rows.columns["y_true"].names == ("a   ",)
    assert float(rows.columns["y_score"][0]) == pytest.approx(0.10000000149011612, abs=0)
    query = "SELECT 'a' AS label, CAST(0.1 AS numeric) AS score"
    assert read([f"postgresql:///flows?{query}"], Request()).columns["y_score"].tolist() == [0.1]


def test_what_the_address_leaves_out_comes_from_a_service_file(
    flows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = tmp_path / "services"
    service.write_text(f"[flows]\nhost={flows}\nuser=reader\ndbname=flows\n")
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    monkeypatch.setenv("PGSERVICE", "flows")
    assert read(["postgresql:///?select label, score from t where n < 3"], Request()).rows_read == 2


def test_without_a_query_the_form_is_shown(environment: str) -> None:
    for end in ("", "?", "? "):
        with pytest.raises(InputError, match=r"postgresql://HOST/DATABASE\?QUERY with one SELECT"):
            read([f"postgresql:///flows{end}"], Request())


def test_a_server_that_is_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGHOST", str(tmp_path))
    with pytest.raises(InputError, match="postgresql://reader@/flows: PostgreSQL refuses"):
        read(["postgresql://reader@/flows?select 1"], Request())


def test_a_column_by_a_wrong_name_gets_the_nearest_name(environment: str) -> None:
    said = r'"scroe" does not exist\. Perhaps you meant to reference the column "t\.score"$'
    for reader in (lambda given: read([given], Request()), assay.evaluate_files):
        with pytest.raises(InputError, match=said):
            reader("postgresql:///flows?select label, scroe from t")


# -- credentials -----------------------------------------------------------------------------------

LEAKS = [
    f"postgresql://reader:{SECRET}@localhost/flows?select label, score from t",
    f"postgresql://reader%3A{SECRET}@localhost/flows?select label, score from t",
    f"POSTGRESQL://reader:{SECRET}@localhost/flows?select label, score from t",
    f"postgres://reader:{SECRET}@localhost/flows",
    f"postgresql://:{SECRET}@/flows?select 1",
    f"postgresql://localhost/flows?password={SECRET}&user=reader",
    f"postgresql://localhost/flows;password={SECRET}?select label, score from t",
    f"postgresql://localhost/flows%3Bpassword%3D{SECRET}?select label, score from t",
    f"postgresql://reader:{SECRET}@[::1/flows?select 1",
    f"postgresql://reader:{SECRET}@localhost:port/flows?select 1",
]


@pytest.mark.parametrize("given", LEAKS)
def test_a_password_in_the_address_is_refused_and_never_shown(given: str) -> None:
    with pytest.raises(InputError, match=r"PGPASSWORD|can't be read") as refused:
        read([given], Request())
    chain: BaseException | None = refused.value
    while chain is not None and not chain.__suppress_context__:
        assert SECRET not in str(chain)
        chain = chain.__cause__
    assert SECRET not in str(refused.value)
    assert SECRET not in without_query(given)


def test_an_address_is_read_as_it_is_written() -> None:
    address, query = postgresql_address(
        "postgresql://us%40er@db.example:5433/my%20flows?select '?' as label"
    )
    assert address == Address("db.example", 5433, "us@er", "my flows")
    assert query == "select '?' as label"


# -- escapes ---------------------------------------------------------------------------------------

# Each would write, or read something else than the tables.
ESCAPES = [
    "INSERT INTO t VALUES ('x', 1, 1)",
    "DELETE FROM t",
    "DROP TABLE t",
    "CREATE TABLE u (x int)",
    "CREATE TEMP TABLE u (x int)",
    "SELECT label, score INTO u FROM t",
    "WITH gone AS (DELETE FROM t RETURNING *) SELECT label, score FROM gone",
    "SELECT label, score FROM t FOR UPDATE",
    "SELECT label, score FROM t; DROP TABLE t",
    "SELECT 1) AS a; DROP TABLE t; SELECT * FROM (SELECT 2",
    "COPY t TO '{folder}/copy'",
    "COPY t TO PROGRAM 'true'",
    "SELECT pg_read_file('{secret}') AS label, 1 AS score",
    "SELECT \"pg_read_file\"('{secret}') AS label, 1 AS score",
    "SELECT pg_catalog.pg_read_file('{secret}') AS label, 1 AS score",
    "SELECT PG_READ_FILE('{secret}') AS label, 1 AS score",
    "SELECT U&\"\\0070g_read_file\"('{secret}') AS label, 1 AS score",
    "SELECT pg_read_binary_file('{secret}') AS label, 1 AS score",
    "SELECT pg_ls_dir('{folder}') AS label, 1 AS score",
    "SELECT lo_import('{secret}') AS label, 1 AS score",
    "SELECT 'a' AS label, lo_export(1, '{secret}') AS score",
    "SELECT * FROM dblink('dbname=flows', 'select 1') AS d(label text)",
    "SELECT set_config('role', 'postgres', false) AS label, 1 AS score",
    "SELECT set_config('transaction_read_only', 'off', false) AS label, 1 AS score",
    "SELECT query_to_xml('select pg_read_file(''{secret}'')', true, true, '') AS label, 1 AS score",
    "SELECT * FROM ts_stat('select pg_read_file(''{secret}'')::tsvector')",
    "SELECT 'a' AS label, nextval('s') AS score",
    "SELECT pg_terminate_backend(1) AS label, 1 AS score",
    "SELECT pg_sleep(60) AS label, 1 AS score",
    "SELECT * FROM pg_hba_file_rules",
    "SET ROLE postgres",
    "BEGIN READ WRITE",
    "DO $$ BEGIN DELETE FROM t; END $$",
    "CALL something()",
    "EXPLAIN ANALYZE DELETE FROM t",
]


@pytest.mark.sampled(14)
@pytest.mark.parametrize("escape", ESCAPES)
def test_a_query_can_not_leave_its_tables(escape: str, environment: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("label,score\nsecret,1\n")
    os.chmod(secret, 0o644)  # noqa: PTH101 - as the server would need it
    query = escape.format(secret=secret, folder=tmp_path)
    for reader in (lambda given: read([given], Request()), assay.evaluate_files):
        with pytest.raises(InputError) as refused:
            reader(f"postgresql:///flows?{query}")
        assert "secret,1" not in str(refused.value)
    assert names("SELECT label, score FROM t WHERE n < 3") == ("a", "b")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT pg_read_file('/etc/hostname')",
        "SELECT pg_ls_dir('/')",
        "SELECT lo_import('/etc/hostname')",
        "INSERT INTO t VALUES ('x', 1, 1)",
        "CREATE TEMP TABLE u (x int)",
        "SELECT nextval('s')",
    ],
)
def test_the_server_itself_refuses_what_the_guard_would_miss(
    statement: str, environment: str
) -> None:
    with (
        pytest.raises(InputError, match=r"permission denied|read-only transaction|does not exist"),
        postgresql_connection(Address(database="flows")) as connection,
    ):
        connection.execute(statement)


@pytest.mark.parametrize(
    "query",
    [
        "select label, score from t",
        "with a as (select * from t) select * from a",
        "(select label from t)",
        "select ';' as label, ')' as b -- ;",
        "table t",
        "values ('a', 1)",
        "select pg_typeof(1)",
    ],
)
def test_a_query_that_only_reads_is_let_through(query: str) -> None:
    assert must_only_read_postgresql(f" {query} ", "x") == query


def test_the_rows_of_all_statements_are_of_one_moment(environment: str) -> None:
    with (
        psycopg.connect(dbname="flows", autocommit=True) as writer,
        postgresql_connection(Address(database="flows")) as connection,
    ):
        before = connection.execute("select count(*) from t").fetchone()
        writer.execute("INSERT INTO t VALUES ('late', 1, 9)")
        after = connection.execute("select count(*) from t").fetchone()
        writer.execute("DELETE FROM t WHERE n = 9")
    assert before == after
