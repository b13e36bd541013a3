"""Runs come back as they were recorded, in SQLite and in PostgreSQL alike."""

import itertools
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.errors import StoreError
from assay.store import KeptRows, Store

from . import documents


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "runs.db") as opened:
        yield opened


# -- record and read -------------------------------------------------------------------------------


def test_a_document_comes_back_to_the_byte(store: Store) -> None:
    text = documents.evaluation(name_of_a_class="é\u2028 \ud83d")
    run = store.record(text, name="flows", note="first", tags=["b", "a"])
    again = store.run(run.id)
    assert again.document == text
    assert (again.name, again.kind, again.note, again.tags) == (
        "flows",
        "evaluation",
        "first",
        ("a", "b"),
    )
    assert again == run


def test_a_run_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    runs = [store.record(documents.small(i), name="flows") for i in range(20)]
    first = runs[0]
    assert store.run(first.id[:11]).id == first.id
    assert store.run(f"run:{first.id}").id == first.id
    begin = next(a for a, b in itertools.combinations(sorted(r.id[0] for r in runs), 2) if a == b)
    with pytest.raises(StoreError, match="several runs begin with"):
        store.run(begin)
    with pytest.raises(StoreError, match="has no run 'zz'"):
        store.run("zz")


def test_pages_follow_each_other_without_gap_or_repetition(store: Store) -> None:
    moments = [f"2026-11-{day:02}T00:00:00Z" for day in (3, 1, 2, 2, 2, 9, 4)]
    runs = [store.record(documents.evaluation(made=made), name="flows") for made in moments]
    seen, before = [], None
    while True:
        page = store.runs(limit=2, before=before)
        seen += page.runs
        before = page.runs[-1].id
        if not page.more:
            break
    assert [run.made for run in seen] == sorted(moments, reverse=True)
    assert {run.id for run in seen} == {run.id for run in runs}


def test_every_filter_keeps_what_it_names(store: Store) -> None:
    a = store.record(documents.evaluation(), name="flows", tags=["nightly"])
    b = store.record(documents.gate("fail", headline=["FAIL: 100% of it"]), name="mail")
    c = store.record(documents.gate("pass"), name="mail", note="after the fix")

    def ids(**filters: str) -> set[str]:
        return {run.id for run in store.runs(**filters).runs}  # type: ignore[arg-type]

    assert ids(name="mail") == {b.id, c.id}
    assert ids(kind="evaluation") == {a.id}
    assert ids(tag="nightly") == {a.id}
    assert ids(gate="fail") == {b.id}
    assert ids(search="FIX mail") == {c.id}
    assert ids(search="100%") == {b.id}  # a percent sign is no wildcard
    assert ids(search="flow_") == set()
    assert ids(name="mail", gate="pass", search="fix") == {c.id}
    assert ids(search="fail mail") == {b.id}
    assert ids(search="lmai") == set()  # a word is found in one column
    assert store.find("last-passed").id == c.id
    assert store.find("last", name="flows").id == a.id
    with pytest.raises(StoreError, match="no gate that passed named 'flows'"):
        store.find("last-passed", name="flows")


BEYOND_ASCII = (
    ("Überprüft", "ÜBERPRÜFT"),
    ("ΑΝΊΧΝΕΥΣΗ", "ανίχνευση"),
    ("обнаружение ÇA", "ОБНАРУЖЕНИЕ ça"),
    ("検出", "検出"),
)


@pytest.mark.parametrize(("note", "search"), BEYOND_ASCII)
def test_words_of_any_alphabet_are_found_in_any_case(store: Store, note: str, search: str) -> None:
    run = store.record(documents.small(0), name="flows", note=note)
    store.record(documents.small(1), name="flows", note="x")
    assert [each.id for each in store.runs(search=search).runs] == [run.id]


def test_runs_are_counted_back_from_the_last(store: Store) -> None:
    runs = [store.record(documents.small(i), name="flows") for i in range(3)]
    assert [store.find(f"last~{i}").id for i in range(3)] == [run.id for run in runs[::-1]]
    for far in ("3", "999999999999999999999", "9" * 5000):
        with pytest.raises(
            StoreError, match=r"has no run named 'flows' [\d,]+ before the last one"
        ):
            store.find(f"last~{far}", name="flows")


def test_the_same_content_is_kept_once_and_goes_with_its_last_run(store: Store) -> None:
    tally = assay.count(["attack", "normal"] * 50, y_score=[0.9, 0.1] * 50)
    runs = [store.record(documents.small(i), name="flows", tally=tally) for i in range(3)]

    def contents() -> int:
        return int(store._connection().all("SELECT count(*) FROM content")[0][0])

    assert contents() == 4
    store.delete(runs[0].id)
    assert contents() == 3
    assert store.run(runs[1].id).tally() == tally
    store.delete(runs[1].id)
    store.delete(runs[2].id)
    assert contents() == 0
    assert store._connection().all("SELECT count(*) FROM points") == [(0,)]


def test_a_tally_that_is_too_large_is_left_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.store.store.LARGEST_TALLY", 100)
    assert not store.record(documents.small(0), name="flows", tally=os.urandom(200)).has_tally


def test_tags_and_notes_change(store: Store) -> None:
    run = store.record(documents.small(0), name="flows", tags=["a"])
    assert store.tag(run.id, add=["b", "a"], remove=["x"]).tags == ("a", "b")
    assert store.tag(run.id, remove=["a"]).tags == ("b",)
    assert store.note(run.id, "looked at").note == "looked at"
    assert store.tags() == ("b",)
    with pytest.raises(StoreError, match="a word without blanks or commas; found 'two words'"):
        store.tag(run.id, add=["two words"])


def test_what_is_no_document_of_ours_is_refused(store: Store) -> None:
    for text, reason in (
        ("{", "this is none"),
        ("[]", "found None"),
        ('{"schema": "other/1"}', "found 'other/1'"),
    ):
        with pytest.raises(StoreError, match=reason):
            store.record(text, name="flows")
    with pytest.raises(StoreError, match="the name of a run is a line"):
        store.record(documents.small(0), name="a\nb")
    assert store.runs().runs == ()


def test_numbers_that_trends_follow(store: Store) -> None:
    store.record(documents.evaluation(), name="flows")
    store.record(documents.gate("pass"), name="gates")
    assert store.trend("flows", "detection_rate").points[0].value == 0.9
    assert store.trend("flows", "recall.0" if "recall.0" in store.measures("flows") else "accuracy")
    assert store.trend("gates", "new(recall) >= 0.8").points[0].low == 0.8
    with pytest.raises(StoreError, match="no run named 'flows' has 'nothing'; there are accuracy"):
        store.trend("flows", "nothing")
    with pytest.raises(
        StoreError, match="no run named 'other' has numbers to follow; the names are"
    ):
        store.trend("other", "recall")


def test_only_runs_of_one_kind_follow_each_other(store: Store) -> None:
    trained = json.loads(documents.evaluation())
    trained["training"] = {}
    evaluated = store.record(documents.evaluation(), name="flows")
    store.record(json.dumps(trained), name="flows")
    assert [point.run for point in store.trend("flows", "recall").points] == [evaluated.id]
    alone = store.record(json.dumps(trained), name="trained")
    assert [point.run for point in store.trend("trained", "recall").points] == [alone.id]


def test_threads_have_connections_of_their_own(store: Store) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(10):
                store.record(documents.small(100 * number + i), name="flows")
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(store.runs(limit=100).runs) == 40


# -- kept rows -------------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "ccc"]), st.floats(0, 1), st.text(max_size=5)),
        min_size=1,
    ),
    st.booleans(),
)
def test_kept_rows_come_back(rows: list[tuple[str, float, str]], with_ids: bool) -> None:
    labels, scores, ids = zip(*rows, strict=True)
    kept = KeptRows.of(
        labels, scores={"m": scores}, decisions={"d": labels}, ids=ids if with_ids else None
    )
    again = KeptRows.from_bytes(kept.to_bytes())
    assert again.to_bytes() == kept.to_bytes()
    assert again.ids == (ids if with_ids else None)
    assert again.scores["m"].tolist() == list(scores)
    assert [again.truth.names[code] for code in again.truth.codes] == list(labels)


# -- files that are no stores ----------------------------------------------------------------------


def test_a_newer_store_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match="version 99, made by a newer assay"):
            Store(path, read_only=read_only)
    assert path.read_bytes() == before


def _other_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE runs (id)")
    connection.close()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.write_text("label,score\n"), "is no store"),
        (_other_database, "SQLite database of something else"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: path.symlink_to("/dev/zero"), "is a device or a pipe"),
        (os.mkfifo, "is a device or a pipe"),
    ],
)
def test_what_is_no_store_is_refused_unchanged(
    tmp_path: Path, make: Callable[[Path], object], reason: str
) -> None:
    path = tmp_path / "runs.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=reason):
        Store(path)
    assert before is None or path.read_bytes() == before


def test_places_without_a_store_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no store .*--record NAME"):
        Store(tmp_path / "runs.db", read_only=True)
    with pytest.raises(StoreError, match="there is no folder"):
        Store(tmp_path / "none" / "runs.db")
    with pytest.raises(StoreError, match="mysql:// is no kind of store"):
        Store("mysql://host/db")
    with pytest.raises(StoreError, match="holds a password"):
        Store("postgresql://me:secret@host/db")
    assert not (tmp_path / "runs.db").exists()


def test_network_file_systems_are_refused(tmp_path: Path) -> None:
    from assay.store.databases import network_of

    mounts = tmp_path / "mounts"
    mounts.write_text(
        "none / ext4 rw 0 0\nserver:/x /net nfs4 rw 0 0\ntmpfs /net/local tmpfs rw 0 0\n"
        "me@host: /home/me/my\\040files fuse.sshfs rw 0 0\n"
    )
    file_systems = {
        path: network_of(Path(path), mounts)
        for path in ("/a.db", "/net/a.db", "/net/local/a.db", "/network/a", "/home/me/my files/a")
    }
    assert file_systems == {
        "/a.db": None,
        "/net/a.db": "nfs4",
        "/net/local/a.db": None,
        "/network/a": None,
        "/home/me/my files/a": "fuse.sshfs",
    }


def test_a_reader_leaves_nothing_behind_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store(path) as store:
        run = store.record(documents.small(0), name="flows")
    assert [each.name for each in tmp_path.iterdir()] == ["runs.db"]
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        with Store(path, read_only=True) as store:
            assert store.run(run.id).document == documents.small(0)
            with pytest.raises(StoreError, match="opened to be read only"):
                store.delete(run.id)
        assert [each.name for each in tmp_path.iterdir()] == ["runs.db"]
    finally:
        tmp_path.chmod(0o755)


def test_a_folder_that_can_not_be_written_is_read_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.db"
    with Store(path) as store:
        run = store.record(documents.small(0), name="flows")
    # Root may write anywhere, so it is told otherwise.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with Store(path, read_only=True) as store:
        assert store.run(run.id).document == documents.small(0)
        assert [each.name for each in tmp_path.iterdir()] == ["runs.db"]


def test_one_damaged_run_hides_no_other(store: Store) -> None:
    runs = [store.record(documents.small(i), name="flows") for i in range(3)]
    connection = store._connection()
    connection.all("PRAGMA foreign_keys = OFF")
    connection.all(
        "UPDATE content SET data = ? WHERE sha256 = ?", (b"odd", runs[1].contents["document"])
    )
    # A text that is none: SQLite gives an error when the row is read.
    connection.all("UPDATE runs SET headline = CAST(? AS TEXT) WHERE id = ?", (b"\xff", runs[2].id))
    page = store.runs()
    assert [run.id for run in page.runs] == [runs[1].id, runs[0].id]
    assert page.damaged == 1
    assert page.runs[1].document == documents.small(0)
    with pytest.raises(
        StoreError, match=f"run {runs[1].id}: its document can't be read: .*damaged"
    ):
        _ = page.runs[0].document
    assert len(store.trend("flows", "recall").points) == 3


def test_damaged_runs_leave_pages_whole(store: Store) -> None:
    runs = [store.record(documents.small(i), name="flows") for i in range(9)]
    connection = store._connection()
    odd = [runs[i] for i in (8, 6, 5, 4, 0)]
    for run in odd:
        connection.all("UPDATE runs SET headline = CAST(? AS TEXT) WHERE id = ?", (b"\xff", run.id))
    seen, damaged, before = [], 0, None
    while True:
        page = store.runs(limit=2, before=before)
        seen += page.runs
        damaged += page.damaged
        if not page.more:
            break
        assert len(page.runs) == 2
        before = page.runs[-1].id
    assert [run.id for run in seen] == [runs[i].id for i in (7, 3, 2, 1)]
    assert damaged == 5
    told: list[str] = []
    assert [run.id for run in store.every(damaged=told)] == [runs[i].id for i in (1, 2, 3, 7)]
    assert len(told) == 5


# -- PostgreSQL ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_both_databases_give_the_same_documents_to_the_byte(
    tmp_path: Path, postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg")
    monkeypatch.setenv("PGHOST", postgresql)
    monkeypatch.setenv("PGUSER", "postgres")
    tally = assay.count(["attack", "normal"] * 50, y_score=[0.9, 0.1] * 50)
    rows = KeptRows.of(["attack", "normal"], scores={"m": [0.9, 0.2]}, ids=["a", "b"])
    stores = [Store(tmp_path / "runs.db"), Store("postgresql:///postgres")]
    texts = [
        documents.evaluation(
            tp, made=f"2026-11-{tp - 79:02}T00:00:00Z", rows=str(tp // 85), odd="é\0"
        )
        for tp in range(80, 95)
    ]
    records = []
    for store in stores:
        with store:
            for text in texts:
                store.record(text, name="flows", tags=["a", "b"], tally=tally, rows=rows)
            store.record(documents.gate("pass", headline=["PASS\0"]), name="mail")
            store.tag(store.find("last-passed").id, add=["c"])
            for note, search in BEYOND_ASCII:
                noted = store.note(store.find("last-passed").id, note)
                assert [run.id for run in store.runs(search=search).runs] == [noted.id]
            store.delete(store.runs(name="flows", limit=1).runs[0].id)
            pages = [
                store.runs(limit=5),
                store.runs(tag="c"),
                store.runs(search="FLOWS", limit=100),
            ]
            plain = [
                {**run.to_dict(), "id": "", "made": run.made if run.name == "flows" else ""}
                for page in pages
                for run in page.runs
            ]
            trend = store.trend("flows", "recall").to_dict()
            kept = store.runs(name="flows", limit=100).runs
            contents = [(run.document, run.content("tally"), run.content("rows")) for run in kept]
            names = [each.name for each in store.names()]
            records.append(
                (plain, contents, sorted(names), store.measures("flows"), trend["steps"][0]["p"])
            )
    assert records[0] == records[1]
    with (
        Store("postgresql:///postgres", read_only=True) as store,
        pytest.raises(StoreError, match="opened to be read only"),
    ):
        store.note("x", "y")
    assert json.loads(records[1][1][0][0])["odd"] == "é\0"


@pytest.mark.slow
def test_writers_of_postgresql_make_its_tables_once_and_lose_nothing(
    postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    psycopg = pytest.importorskip("psycopg")
    monkeypatch.setenv("PGHOST", postgresql)
    monkeypatch.setenv("PGUSER", "postgres")
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE many")
    promised: list[str] = []
    errors: list[StoreError] = []

    def work(number: int) -> None:
        try:
            with Store("postgresql:///many") as store:
                for i in range(25):
                    run = store.record(documents.small(i), name="flows", tags=[f"t{number}"])
                    promised.append(run.id)
                    if i % 5 == 4:
                        # Content that others have too: it stays for them.
                        store.delete(run.id)
                        promised.remove(run.id)
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with Store("postgresql:///many", read_only=True) as store:
        runs = store.runs(limit=1000).runs
        assert {run.id for run in runs} == set(promised)
        assert len(runs) == 80
        assert all(run.document for run in runs)


def test_a_store_whose_tables_have_no_readable_names_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store(path):
        pass
    # What SQLite says of it holds the name, which is no text.
    path.write_bytes(path.read_bytes().replace(b"tableruns", b"table\xb6uns"))
    with pytest.raises(StoreError, match=r"the store .*runs\.db: "):
        Store(path, read_only=True)


def test_a_name_with_a_nul_byte_is_refused() -> None:
    with pytest.raises(StoreError, match="has a NUL byte"):
        Store("a\0b")
