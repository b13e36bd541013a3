"""Paths, folders, patterns and standard input; which format a file is of."""

import hashlib
import io
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import assay.learn
from assay.cli.app import run
from assay.errors import EmptyInput, InputError
from assay.sources.files import Hashing, Request, read
from assay.sources.files.inputs import scheme_of, shown_lead
from assay.sources.files.summary_tables import read_matrix
from assay.sources.logs import read_events

from .writing import TABLE, WRITERS, csv_bytes, write_arrow, write_gzip, write_npz, write_parquet

GOOD = csv_bytes(TABLE)
ROWS = len(TABLE["label"])


def test_several_files_are_read_in_the_order_given(tmp_path: Path) -> None:
    for name in "ba":
        (tmp_path / f"{name}.csv").write_text(f"label,score\n{name},1\n")
    files = [str(tmp_path / "b.csv"), str(tmp_path / "a.csv")]
    rows = read(files, Request())
    assert rows.columns["y_true"].codes.tolist() == [1, 0]
    assert rows.name == f"{files[0]} and 1 more"


def test_a_folder_is_all_its_files_of_known_suffixes_sorted(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv.gz", ".hidden.csv", "_SUCCESS", "notes.txt"):
        (tmp_path / name).write_text(f"label,score\n{name},1\n")
    (tmp_path / "sub.csv").mkdir()
    rows = read([str(tmp_path)], Request())
    assert rows.columns["y_true"].names == ("a.csv.gz", "b.csv")
    assert rows.columns["y_true"].codes.tolist() == [0, 1]


def test_files_of_a_folder_that_are_not_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "a.csv").write_text("label,score\na,1\n")
    assert read([str(tmp_path)], Request()).notes == ()
    for name in ("b.json", "c.zip", "_SUCCESS", ".a.csv.crc"):
        (tmp_path / name).write_text("x")
    of = f"of the folder {tmp_path}"
    why = "their suffixes are not among those that are read in a folder: name them to read them"
    (note,) = read([str(tmp_path)], Request()).notes
    assert note == f"{of} 2 files were left out (b.json, c.zip), since {why}"
    (tmp_path / "in" / "d.log").write_text("x")
    (tmp_path / "in" / "e.log").write_text("x")
    (note,) = read([str(tmp_path)], Request()).notes
    assert note.startswith(f"{of} 4 files were left out (b.json, c.zip, in/d.log and 1 more), ")


def test_links_of_a_folder_that_lead_nowhere_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("label,score\na,1\n")
    (tmp_path / "b.csv").symlink_to(tmp_path / "gone.csv")
    (note,) = read([str(tmp_path)], Request()).notes
    assert note.endswith("1 file was left out (b.csv), since it is no file that can be opened")


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match=r"is a folder without files of a known suffix \(\.csv"):
        read([str(tmp_path)], Request())


def test_a_pattern_is_expanded_only_where_that_is_asked(tmp_path: Path) -> None:
    for name in ("day-2.csv", "day-1.csv", "other.csv"):
        (tmp_path / name).write_text(f"label,score\n{name},1\n")
    pattern = str(tmp_path / "day-*.csv")
    with pytest.raises(InputError, match=r"no file .*day-\*\.csv.*glob="):
        read([pattern], Request())
    rows = read([pattern], Request(glob=True))
    assert rows.columns["y_true"].names == ("day-1.csv", "day-2.csv")
    with pytest.raises(InputError, match="nothing matches"):
        read([str(tmp_path / "x*")], Request(glob=True))


HOSTILE = [
    "p[1].csv",
    "q*.csv",
    "r?.csv",
    "it's.csv",
    'say "x".csv',
    "a b.csv",
    "é日本.csv",
    "-dash.csv",
    "x'); DROP TABLE t; --.csv",
    "{a,b}.csv",
    "~.csv",
    "%41.csv",
    "a;b.csv",
    "$(x).csv",
    "a=1.csv",
    "\\.csv",
    "line\nfeed.csv",
    "\x1b[31mred.csv",
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "npz", "npy"])
def test_hostile_names_read_exactly_their_own_file(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [name.replace("csv", suffix) for name in HOSTILE]
    decoys = ["p1", "q1", "r1", "A", "a", "b", "x"]
    for folder in ("own", "decoys"):
        (tmp_path / folder).mkdir()
    own = WRITERS[suffix](tmp_path / "own", {"label": ["own"], "score": [1.0]})
    decoy = WRITERS[suffix](tmp_path / "decoys", {"label": ["decoy"], "score": [1.0]})
    work = tmp_path / "work"
    work.mkdir()
    for name in decoys:
        (work / f"{name}.{suffix}").write_bytes(Path(decoy).read_bytes())
    monkeypatch.chdir(work)
    for name in names:
        Path(name).write_bytes(Path(own).read_bytes())
        for given in (name, str(work / name), f"./{name}"):
            for glob in (False, True):
                rows = read([given], Request(glob=glob))
                assert rows.columns["y_true"].names == ("own",), name
        Path(name).unlink()


def test_a_name_can_not_move_the_cursor(tmp_path: Path) -> None:
    path = tmp_path / "\x1b[2J.csv"
    path.write_text("")
    with pytest.raises(EmptyInput) as refused:
        read([str(path)], Request())
    assert "\x1b" not in str(refused.value)
    assert "x1b[2J" in str(refused.value)


def test_a_missing_file_is_refused_with_the_nearest_names(tmp_path: Path) -> None:
    (tmp_path / "predictions.csv").write_bytes(GOOD)
    with pytest.raises(
        InputError, match=r"no file .*predictoins\.csv; did you mean predictions\.csv\?"
    ):
        read([str(tmp_path / "predictoins.csv")], Request())
    with pytest.raises(InputError, match=r"no file .*other$"):
        read([str(tmp_path / "nowhere" / "other")], Request())


ADDRESSES = [
    "mysql://reader:correct-horse@db.example/flows?select 1",
    "snowflake://reader:correct-horse@account/db",
    "postgresql+psycopg://reader:correct-horse@db.example/flows",
    "jdbc:mysql://db.example/flows?user=reader&password=correct-horse",
    " MySQL://reader:correct/horse?correct-horse@db.example/*",
    "https://db.example/flows.csv?token=correct-horse" + "x" * 5_000,
]


@pytest.mark.parametrize("given", ADDRESSES)
def test_an_address_that_is_not_read_is_refused_and_never_shown(given: str) -> None:
    scheme = given.strip().partition("//")[0] + "//"
    for glob in (False, True):
        with pytest.raises(InputError) as refused:
            read([given], Request(glob=glob))
        told = str(refused.value)
        assert told.startswith(f"{scheme} is not read")
        assert "sqlite:, duckdb:, postgresql:// or spark:. Export the rows to a file" in told
        assert "horse" not in told


SECRETS = {
    "duckdb://reader:correct-horse@db.example?select 1": "duckdb:",
    "duckdb://reader:correct?-horse@db.example?select 1": "duckdb:",
    "sqlite:mysql://reader:correct-horse@db.example": "sqlite:",
    "postgresql:reader:correct-horse@db.example/flows": "postgresql:",
    "snowflake:reader:correct/-horse@account": "snowflake:",
    "snowflake:account?password=correct-horse": "snowflake:",
    "reader:correct-horse@db.example": "the input",
    "host=db.example password=correct-horse dbname=flows": "the input",
    "Server=db.example;Pwd=correct-horse": "the input",
    "password=correct-horse" + "x" * 5_000: "the input",
}


@pytest.mark.parametrize("given", SECRETS)
def test_a_password_is_not_shown_where_there_is_no_such_file(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for reader in (
        lambda: read([given], Request()),
        lambda: read([given], Request(glob=True)),
        lambda: read(given, Request()),
        lambda: read_matrix(given),
        lambda: read_events([given]),
    ):
        with pytest.raises(InputError) as refused:
            reader()
        assert SECRETS[given] in str(refused.value)
        assert "horse" not in str(refused.value)
    assert run(["evaluate", given]) == 3


@pytest.mark.parametrize("name", ["a:b@c.csv", "password=x.csv"])
def test_a_file_may_be_named_like_a_secret(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(GOOD)
    assert read([name], Request()).name == name
    assert (shown_lead(name), shown_lead("C:/a@b.csv")) == (None, None)


def test_a_setting_in_place_of_a_query_is_not_shown() -> None:
    assert shown_lead("duckdb:md:flows?motherduck_token=correct-horse") == "duckdb:"
    assert shown_lead("duckdb:flows.db?select token from t where token = 1") is None


@pytest.mark.parametrize("given", [*ADDRESSES, "postgresql://reader:correct-horse@/flows"])
@pytest.mark.parametrize("reader", [read_matrix, lambda given: read_events([given])])
def test_what_is_no_table_of_rows_shows_no_address(reader: Any, given: str) -> None:
    with pytest.raises(InputError) as refused:
        reader(given)
    assert given.strip().partition(":")[0] in str(refused.value)
    assert "horse" not in str(refused.value)


@pytest.mark.parametrize("command", ["evaluate", "threshold --max-fpr 0.1", "audit"])
def test_no_command_shows_an_address(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), ADDRESSES[0]]) == 3
    printed = capsys.readouterr()
    assert "mysql://" in printed.err
    assert "horse" not in printed.out + printed.err


@pytest.mark.parametrize("name", ["a:b.csv", "mysql:flows.csv", "mysql:/flows.csv"])
def test_the_name_of_a_file_may_hold_a_colon(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_bytes(GOOD)
    assert read([name], Request()).name == name
    assert scheme_of("C://flows.csv") is None


def test_nothing_given_is_refused() -> None:
    with pytest.raises(InputError, match="no file was given"):
        read([], Request())
    with pytest.raises(InputError, match="a list of files"):
        read("f.csv", Request())


def test_a_file_given_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(GOOD)
    with pytest.raises(InputError, match="twice"):
        read([str(path), str(tmp_path)], Request())


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied"), OSError(5, "I/O error")]
)
def test_what_the_system_refuses_is_refused_with_its_reason(
    error: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(GOOD)

    def refuse(*_: Any, **__: Any) -> Any:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        with pytest.raises(InputError, match=rf"f\.csv can't be opened: {error.strerror}"):
            read([str(path)], Request())
        with pytest.raises(InputError, match=rf"f\.csv can't be read: {error.strerror}"):
            Hashing([str(path)], Request()).inputs()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "iterdir", refuse)
        with pytest.raises(InputError, match=f"can't be opened: {error.strerror}"):
            read([str(tmp_path)], Request())


def test_a_name_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match=r"too long|no file"):
        read(["x" * 5000], Request())


@pytest.mark.parametrize("write", [write_parquet, write_arrow, write_npz, write_gzip])
def test_standard_input_may_hold_any_format(write: Any, tmp_path: Path) -> None:
    data = Path(write(tmp_path, TABLE)).read_bytes()
    rows = read(["-"], Request(), stdin=io.BytesIO(data))
    assert rows.rows_read == ROWS
    assert rows.name == "standard input"


def test_standard_input_may_be_one_of_several(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(GOOD)
    assert read([str(path), "-"], Request(), stdin=io.BytesIO(GOOD)).rows_read == 2 * ROWS


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(GOOD,))
    writer.start()
    assert read([str(pipe)], Request()).rows_read == ROWS
    writer.join()


@pytest.mark.parametrize("format_", [f for f in WRITERS if f not in ("sqlite", "duckdb", "tsv")])
def test_the_content_tells_the_format_whatever_the_name(format_: str, tmp_path: Path) -> None:
    given = Path(WRITERS[format_](tmp_path, TABLE))
    text = format_ in ("csv", "quoted", "jsonl", "gzip", "zstd")
    for name in ("data", "data.txt", *(() if text else ("data.csv", "data.jsonl", "data.npz"))):
        path = tmp_path / name
        path.write_bytes(given.read_bytes())
        assert read([str(path)], Request()).rows_read == ROWS


def test_a_table_with_tabs_is_known_by_its_header(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("label\tscore\na\t1\n")
    assert read([str(path)], Request()).rows_read == 1


def test_the_format_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("label\tscore\na\t1\n")
    assert read([str(path)], Request(input_format="tsv")).rows_read == 1
    path.write_text('{"label": "a", "score": 1}\n')
    assert read([str(path)], Request(input_format="jsonl")).rows_read == 1
    for format_ in ("parquet", "arrow", "npz", "npy"):
        with pytest.raises(InputError, match=r"data\.csv is no .* though input_format= says so"):
            read([str(path)], Request(input_format=format_))


def test_inputs_are_hashed_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(GOOD)
    file_input, stdin = Hashing([str(path), "-"], Request()).inputs()
    assert (stdin.name, stdin.size, stdin.sha256) == ("standard input", None, None)
    assert (file_input.name, file_input.size) == (str(path), len(GOOD))
    assert file_input.sha256 == hashlib.sha256(GOOD).hexdigest()


@pytest.mark.parametrize("format_", ["csv", "jsonl", "parquet", "npz"])
def test_standard_input_is_hashed_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    content = Path(WRITERS[format_](tmp_path, TABLE)).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    hashing = Hashing(["-"], Request())
    assert read(["-"], Request()).rows_read == len(TABLE["label"])
    (told,) = hashing.inputs()
    assert told.name == "standard input"
    assert (told.size, told.sha256) == (len(content), hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize("hashes", [True, False])
def test_a_file_that_changes_while_it_is_read_has_no_hash(tmp_path: Path, *, hashes: bool) -> None:
    paths = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for path in paths:
        path.write_bytes(GOOD)
    hashing = Hashing([str(path) for path in paths], Request(), hashes=hashes)
    with paths[1].open("ab") as grown:
        grown.write(b"b,2\n")
    os.utime(paths[2], ns=(1, 1))
    inputs = hashing.inputs()
    assert hashing.changed == (str(paths[1]), str(paths[2]))
    if hashes:
        assert [each.sha256 is None for each in inputs] == [False, True, True]


def test_progress_counts_the_bytes_of_all_files(tmp_path: Path) -> None:
    given = [WRITERS[f](tmp_path, TABLE) for f in ("csv", "parquet", "npz", "npy", "arrow")]
    total = sum(Path(path).stat().st_size for path in given)
    told: list[tuple[int, int | None]] = []
    read(given, Request(), progress=lambda done, all_: told.append((done, all_)))
    assert told[-1] == (total, total)


@pytest.mark.parametrize(
    "odd", [{"batch_rows": 0}, {"chunk_bytes": 0}, {"max_memory": 1}, {"on_bad_row": "ask"}]
)
def test_requests_that_make_no_sense_are_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"must be|is stop or skip"):
        read(["-"], Request(**odd), stdin=io.BytesIO(GOOD))


@pytest.mark.parametrize("name", ["PAR1", "ARROW1", "ORC", "BZh91", "%PDF", "PARE"])
def test_a_column_may_be_called_like_a_format(name: str) -> None:
    data = f"{name},label,score\né,a,1\n".encode()
    assert read(["-"], Request(), stdin=io.BytesIO(data)).rows_read == 1


class Failing(io.BytesIO):
    """A stream that breaks after some bytes."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() >= len(self.getvalue()):
            raise OSError(5, "Input/output error")
        return super().read(size)


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_a_stream_that_breaks_is_refused_with_the_reason(format_: str, tmp_path: Path) -> None:
    data = Path(WRITERS[format_](tmp_path, TABLE)).read_bytes()
    for content in (b"", data):
        with pytest.raises(InputError, match=r"standard input can't be .*: Input/output error"):
            read(["-"], Request(), stdin=Failing(content))


def test_standard_input_is_read_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD)))
    assert read(["-"], Request()).rows_read == ROWS


@pytest.mark.parametrize("given", ["", Path(), [""], [Path()]])
def test_an_empty_name_is_refused_and_not_the_current_folder(
    given: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.csv").write_text("label,score\nattack,0.9\nnormal,0.1\n")
    with pytest.raises(InputError, match="the name of a file is empty"):
        assay.evaluate_files(given)
    with pytest.raises(InputError, match="the name of a file is empty"):
        assay.choose_threshold_files(given, max_fpr=0.5)
    with pytest.raises(InputError, match="the name of a file is empty"):
        assay.learn.read_data(given, label="label")
    for named in (".", "p.csv", Path("p.csv"), [Path("p.csv")]):
        assert assay.evaluate_files(named)["recall"] == 1
