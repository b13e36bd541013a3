"""Zip archives, workbooks and JSON arrays."""

import io
import json
import re
import zipfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import EmptyInput, InputError
from assay.sources.files import Request, read
from assay.sources.files.json_files import array_lines

FRAME = pl.DataFrame({"label": [1, 0, 1], "score": [0.9, 0.25, 0.5]})
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.lists(st.dictionaries(st.text(), VALUES, max_size=3) | VALUES, max_size=6),
    st.integers(1, 9),
    st.sampled_from([None, 1, "\t"]),
)
def test_the_elements_of_an_array_are_its_lines(array: list, size: int, indent: int | str) -> None:
    text = json.dumps(array, indent=indent).encode()
    chunks = (text[i : i + size] for i in range(0, len(text), size))
    lines = b"".join(array_lines(chunks, "rows.json")).decode().splitlines()
    assert [json.loads(line) for line in lines] == array


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"a": 1}', "ends in the middle, behind 1 elements"),
        ('[{"a": 1},]', "element 2"),
        ('[{"a": 1} {"a": 2}]', "a comma or the end of the array was expected"),
        ('[{"a": 1}] []', "text behind the end"),
        ('[{"a": 1}, {"a": }]', "element 2"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_broken_array_is_refused_with_the_element(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        list(array_lines(iter([text.encode()]), "rows.json"))


def test_elements_that_are_no_objects_are_bad_rows() -> None:
    text = b'[{"label": 1, "score": 0.5}, 7, {"label": 0, "score": 0.25}]'
    rows = read(["-"], Request(on_bad_row="skip"), stdin=io.BytesIO(text))
    assert (rows.rows_read, rows.rows_refused) == (3, 1)
    assert "JSON that is no object" in rows.refused[0].reason


def archive(path: Path, **members: str) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name.replace("__", "."), content)
    return str(path)


def test_an_archive_of_several_files_is_refused_with_their_names(tmp_path: Path) -> None:
    path = archive(tmp_path / "both.zip", a__csv="x", b__csv="y")
    with pytest.raises(InputError, match=r"a zip archive of 2 files, .*'a\.csv', 'b\.csv'"):
        read([path], Request())


def test_what_macos_puts_aside_is_no_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "rows.zip", "w") as packed:
        packed.writestr("rows.csv", FRAME.write_csv())
        packed.writestr("__MACOSX/._rows.csv", b"\0\1")
    assert read([str(tmp_path / "rows.zip")], Request()).rows_read == 3


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = Path(archive(tmp_path / "rows.zip", rows__csv=FRAME.write_csv() * 500))
    content = path.read_bytes()
    for end in (10, len(content) // 2, len(content) - 10):
        path.write_bytes(content[:end])
        with pytest.raises(InputError, match="damaged"):
            read([str(path)], Request())


def test_bytes_that_are_wrong_inside_an_archive_are_damage(tmp_path: Path) -> None:
    path = Path(archive(tmp_path / "rows.zip", rows__csv=FRAME.write_csv() * 50_000))
    content = path.read_bytes()
    for at in (60, len(content) // 2):
        path.write_bytes(content[:at] + b"\xff" * 40 + content[at + 40 :])
        with pytest.raises(InputError, match="damaged"):
            read([str(path)], Request(on_bad_row="skip"))


def test_a_member_without_a_name_is_a_file_too(tmp_path: Path) -> None:
    path = Path(archive(tmp_path / "rows.zip", qz=FRAME.write_csv()))
    path.write_bytes(path.read_bytes().replace(b"qz", b"\0z"))
    with zipfile.ZipFile(path) as packed:
        assert packed.namelist() == [""]
    assert read([str(path)], Request()).rows_read == 3


def test_an_archive_comes_from_standard_input_too() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr("rows.csv", FRAME.write_csv())
    packed.seek(0)
    assert read(["-"], Request(), stdin=packed).rows_read == 3


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    pytest.importorskip("fastexcel", reason="the extra 'excel' is not installed")
    xlsxwriter = pytest.importorskip("xlsxwriter", reason="xlsxwriter is not installed")
    path = tmp_path / "rows.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for title in ("march", "april"):
            FRAME.write_excel(book, title)
    return path


def test_the_sheet_that_is_named_is_read(workbook: Path) -> None:
    with pytest.raises(InputError, match=r"2 sheets\. Say which is meant: sheet='march' or"):
        read([str(workbook)], Request())
    rows = read([str(workbook)], Request(sheet="april"))
    assert rows.columns["y_score"].tolist() == [0.9, 0.25, 0.5]
    assert set(rows.columns["y_true"].names) == {"0", "1"}
    with pytest.raises(InputError, match="has no sheet 'may'; its sheets are 'march', 'april'"):
        read([str(workbook)], Request(sheet="may"))


def test_a_workbook_without_a_sheet_has_nothing_to_read(workbook: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.xlsx"
    with zipfile.ZipFile(workbook) as whole, zipfile.ZipFile(bare, "w") as copy:
        for member in whole.namelist():
            content = whole.read(member)
            if member == "xl/workbook.xml":
                content = re.sub(rb"<sheet [^>]*/>", b"", content)
            copy.writestr(member, content)
    with pytest.raises(EmptyInput, match=r"bare\.xlsx is a workbook without a sheet"):
        read([str(bare)], Request(sheet="april"))


def test_a_sheet_is_asked_of_a_workbook_only(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(FRAME.write_csv())
    with pytest.raises(InputError, match="sheet= does not apply"):
        read([str(tmp_path / "rows.csv")], Request(sheet="april"))


def test_percent_signs_are_hundredths_to_the_last_bit() -> None:
    written = [f"{i / 10:.1f}" for i in range(1001)]
    text = "label,score\n" + "".join(f"{i % 2},{cell}%\n" for i, cell in enumerate(written))
    rows = read(["-"], Request(), stdin=io.BytesIO(text.encode()))
    assert rows.columns["y_score"].tolist() == [float(f"{cell}e-2") for cell in written]


def test_columns_without_a_header_have_numbers() -> None:
    rows = read(
        ["-"],
        Request(header=False, label="column_1", score="column_2"),
        stdin=io.BytesIO(b"1,0.5\n0,0.25\n"),
    )
    assert rows.rows_read == 2
    assert rows.columns["y_score"].tolist() == [0.5, 0.25]


def test_commas_are_decimal_signs_where_that_is_said() -> None:
    text = b'label;score;name\n1;0,5;"a,b"\n0;-1,25e3;1,2,3\n'
    asked = Request(delimiter=";", decimal=",", slices=("name",))
    rows = read(["-"], asked, stdin=io.BytesIO(text))
    assert rows.columns["y_score"].tolist() == [0.5, -1250.0]
    assert set(rows.columns["slices"]["name"].names) == {"a,b", "1,2,3"}
