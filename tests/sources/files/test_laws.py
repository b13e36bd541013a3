"""The same table reads the same in every format, in pieces of any size."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import assay
from assay.sources.columns import TEXT
from assay.sources.files import Request, Rows, read

from .writing import TABLE, WRITERS, Columns, csv_bytes, jsonl_bytes

SIZES = [(1, 1), (7, 13), (1000, 1 << 20)]

# NumPy's text of a fixed width drops NULs at its end, and JSON keeps them out of nothing.
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
)
finite = st.floats(allow_nan=False, allow_infinity=False)
tables = st.lists(st.tuples(texts, finite, texts), min_size=1, max_size=12).map(
    lambda rows: dict(zip(("label", "score", "site"), zip(*rows, strict=True), strict=True))
)


def bits(values: Any) -> list[bytes]:
    return [struct.pack("<d", value) for value in values]


def names(column: Any) -> list[str]:
    return [column.names[code] for code in column.codes]


def must_be(rows: Rows, table: Columns) -> None:
    columns = rows.columns
    assert names(columns["y_true"]) == list(table["label"])
    assert columns["y_true"].names == tuple(sorted(set(table["label"])))
    assert columns["y_true"].kind == TEXT
    assert columns["y_score"].dtype == np.float64
    assert bits(columns["y_score"]) == bits(table["score"])
    assert names(columns["slices"]["site"]) == list(table["site"])
    assert columns["slices"]["site"].names == tuple(sorted(set(table["site"])))
    assert rows.rows_read == len(table["label"])
    assert rows.rows_refused == 0


@pytest.mark.parametrize(("batch", "chunk"), SIZES)
@pytest.mark.parametrize("format_", WRITERS)
def test_a_table_reads_the_same_in_every_format(
    format_: str, batch: int, chunk: int, tmp_path: Path
) -> None:
    given = WRITERS[format_](tmp_path, TABLE)
    must_be(read([given], Request(slices=("site",), batch_rows=batch, chunk_bytes=chunk)), TABLE)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("format_", WRITERS)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables)
def test_any_text_and_any_float_come_back_to_the_bit(
    format_: str, table: Columns, tmp_path: Path
) -> None:
    given_ = WRITERS[format_](tmp_path, table)
    for batch, chunk in SIZES:
        must_be(
            read([given_], Request(slices=("site",), batch_rows=batch, chunk_bytes=chunk)), table
        )


@pytest.mark.parametrize("make", [csv_bytes, jsonl_bytes])
@settings(max_examples=60)
@given(table=tables, chunk=st.integers(1, 40))
def test_text_reads_the_same_in_chunks_of_any_size(make: Any, table: Columns, chunk: int) -> None:
    import io

    data = make(table)
    request = Request(slices=("site",), chunk_bytes=chunk)
    must_be(read(["-"], request, stdin=io.BytesIO(data)), table)


lines = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=20)


@settings(max_examples=60)
@given(tables, st.lists(lines, max_size=5), st.integers(1, 40))
def test_lines_that_are_left_out_change_no_byte_of_the_tally(
    table: Columns, above: list[str], chunk: int
) -> None:
    import tempfile

    data, title = csv_bytes(table), "".join(f"{line}\n" for line in above).encode()
    # What a file begins with may tell that it is none of text.
    head = b"." + title if title else title
    with tempfile.TemporaryDirectory() as folder:
        tallies = []
        for name, text, skipped in (("a", data, 0), ("b", head + data, len(above))):
            path = Path(folder) / f"{name}.csv"
            path.write_bytes(text)
            request = Request(slices=("site",), skip_lines=skipped, chunk_bytes=chunk)
            must_be(read([str(path)], request), table)
            tally = assay.evaluate_files(str(path), request, negative=min(table["label"])).tally
            tallies.append(tally.to_bytes())
    assert tallies[0] == tallies[1]


def requoted(table: Columns, quote: str, blank: str) -> bytes:
    rows = [list(table), *zip(*table.values(), strict=True)]
    doubled = [[str(cell).replace(quote, 2 * quote) for cell in row] for row in rows]
    texts = (f",{blank}".join(f"{quote}{cell}{quote}" for cell in row) for row in doubled)
    return "".join(f"{blank}{text}\n" for text in texts).encode()


@settings(max_examples=60)
@given(tables, st.sampled_from("\"'|`$^*\\"), st.integers(1, 40))
def test_another_quote_gives_the_same_rows(table: Columns, quote: str, chunk: int) -> None:
    import io

    request = Request(slices=("site",), quote=quote, chunk_bytes=chunk)
    must_be(read(["-"], request, stdin=io.BytesIO(requoted(table, quote, ""))), table)
    if not any(
        end in cell for cells in (table["label"], table["site"]) for cell in cells for end in "\r\n"
    ):
        must_be(read(["-"], request, stdin=io.BytesIO(requoted(table, quote, " \t"))), table)


@settings(max_examples=200)
@given(
    st.lists(
        st.one_of(
            finite.map(repr),
            st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?(e[+-]?[0-9]{1,3})?", fullmatch=True),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_numbers_in_text_have_the_bits_that_python_gives_them(texts: list[str]) -> None:
    import io

    kept = [text for text in texts if np.isfinite(float(text))]
    if kept:
        data = "label,score\n" + "".join(f"a,{text}\n" for text in kept)
        rows = read(["-"], Request(), stdin=io.BytesIO(data.encode()))
        assert bits(rows.columns["y_score"]) == bits(map(float, kept))


@settings(max_examples=40)
@given(tables, st.permutations(range(3)))
def test_the_order_of_files_does_not_change_names(table: Columns, order: list[int]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i in range(3):
            part = {name: values[i::3] for name, values in table.items()}
            path = Path(folder) / f"{i}.csv"
            path.write_bytes(csv_bytes(part))
            files.append(str(path))
        rows = read([files[i] for i in order], Request(slices=("site",)))
    parts = [range(i, len(table["label"]), 3) for i in order]
    rearranged = {n: [v[j] for part in parts for j in part] for n, v in table.items()}
    must_be(rows, rearranged)
