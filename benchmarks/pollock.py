"""Pollock's polluted CSV files, read by assay, DuckDB and pandas: `make pollock POLLOCK=FOLDER`.

The benchmark (Vitagliano et al., "Pollock: A Data Loading Benchmark", PVLDB 16, 2023) is a folder
of 2,290 files, each with one thing wrong, with what they should be read as and how they are
written. FOLDER is a checkout of it; nothing of it is kept here. Every reader is told how a file is
written, as far as it has options for that, and to leave out rows that it can't read. A file scores
1 for being read at all, and precision, recall and F1 of its header, its records and its cells: 10
at best. The weighted score counts kinds of pollution as often as they are met in open data.

Without a folder the same kinds of pollution are made of a table of our own, one file each.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Rows = list[list[str]]
Written = dict[str, Any]
FILES, WEIGHTS = "polluted_files", "pollock_weights.json"
MEASURES = 10


class NotRead(Exception):
    """The reader refuses the file as a whole."""


@dataclass(frozen=True)
class Polluted:
    """A file, how it is written, what it should be read as, and how often its kind is met."""

    name: str
    path: Path
    written: Written
    clean: Rows
    weight: float


# -- readers ---------------------------------------------------------------------------------------


def by_assay(file: Polluted) -> Rows:
    """Header and rows as `assay evaluate --on-bad-row skip` sees them."""
    from assay.errors import AssayError
    from assay.sources.files import Request
    from assay.sources.files.read import opened_tables
    from assay.sources.files.request import Budget

    written = file.written
    header = bool(written["header_lines"])
    request = Request(
        input_format="csv",
        delimiter=written["delimiter"][:1] or None,
        quote=written["quotechar"] or '"',
        header=header,
        skip_lines=written["preamble_lines"],
        on_bad_row="skip",
    )
    try:
        (table,) = opened_tables([str(file.path)], request, Budget(None))
        rows: Rows = [list(table.columns)] if header else []
        for piece in table.pieces(table.columns):
            frame = piece.frame.select(table.columns).fill_null("")
            rows += [list(row) for row in frame.iter_rows()]
    except AssayError as refused:
        raise NotRead(str(refused)) from refused
    return rows


def by_pandas(file: Polluted) -> Rows:
    """Header and rows as pandas has them."""
    import pandas as pd

    written = file.written
    quote, escape = written["quotechar"] or '"', written["escapechar"]
    doubled = escape in (quote, "")
    try:
        frame = pd.read_csv(
            file.path,
            dtype=object,
            keep_default_na=False,
            on_bad_lines="skip",
            header="infer" if written["header_lines"] else None,
            sep=written["delimiter"][:1] or ",",
            skipinitialspace=len(written["delimiter"]) > 1,
            quotechar=quote,
            escapechar=None if doubled else escape,
            doublequote=doubled,
            skiprows=written["preamble_lines"],
            lineterminator="\r" if written["row_delimiter"] == "\r" else None,
        )
    except (ValueError, pd.errors.ParserError) as refused:
        raise NotRead(str(refused)) from refused
    head = [[str(name) for name in frame.columns]] if written["header_lines"] else []
    return head + [["" if pd.isna(cell) else str(cell) for cell in row] for row in frame.to_numpy()]


def by_duckdb(file: Polluted) -> Rows:
    """Header and rows as DuckDB has them, which is told the names of the columns."""
    import duckdb

    written = file.written
    quote = written["quotechar"] or '"'
    known = [name.strip() for name in written["column_names"]]
    names = known or [f"col_{i}" for i in range(max(int(written["n_columns"]), 1))]
    try:
        read = duckdb.connect().read_csv(
            str(file.path),
            delimiter=written["delimiter"] or ",",
            quotechar=quote,
            escapechar=written["escapechar"] or quote,
            skiprows=written["preamble_lines"] + written["header_lines"],
            header=False,
            columns=dict.fromkeys(names, "VARCHAR"),
            auto_detect=False,
            strict_mode=False,
            ignore_errors=True,
            null_padding=True,
        )
        rows = read.fetchall()
    except duckdb.Error as refused:
        raise NotRead(str(refused)) from refused
    head = [known] if known else []
    return head + [["" if cell is None else cell for cell in row] for row in rows]


READERS: dict[str, Callable[[Polluted], Rows]] = {
    "assay": by_assay,
    "duckdb": by_duckdb,
    "pandas": by_pandas,
}


# -- scores ----------------------------------------------------------------------------------------


def score(reader: Callable[[Polluted], Rows], file: Polluted) -> float:
    """The ten measures of a file, added up."""
    try:
        rows = reader(file)
    except NotRead:
        return 0.0
    if not file.clean:
        return float(MEASURES)
    return 1.0 + sum(
        part
        for ours, theirs in (
            (_lowered(rows[:1]), _lowered(file.clean[:1])),
            (_records(rows[1:]), _records(file.clean[1:])),
            ([cell for row in rows for cell in row], [cell for row in file.clean for cell in row]),
        )
        for part in _agreement(ours, theirs)
    )


def _lowered(rows: Rows) -> list[str]:
    return [cell.lower() for row in rows for cell in row]


def _records(rows: Rows) -> list[str]:
    return ["".join(row).lower() for row in rows]


def _agreement(ours: Sequence[str], theirs: Sequence[str]) -> tuple[float, float, float]:
    """Precision, recall and F1 of two bags; what should be empty can't be missed."""
    if not theirs:
        return 1.0, 1.0, 1.0
    common = (Counter(ours) & Counter(theirs)).total()
    if not common:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(theirs), common / len(ours)
    return precision, recall, 2 * precision * recall / (precision + recall)


# -- files -----------------------------------------------------------------------------------------


def benchmark(folder: Path) -> Iterator[Polluted]:
    """The files of a checkout of the benchmark."""
    weights = json.loads((folder / WEIGHTS).read_text())
    for path in sorted((folder / FILES / "csv").glob("*.csv")):
        told = json.loads(
            (folder / FILES / "parameters" / f"{path.name}_parameters.json").read_text()
        )
        for key in ("header_lines", "preamble_lines"):
            told[key] = int(told[key])
        clean = (folder / FILES / "clean" / path.name).read_bytes().decode("utf-8-sig")
        yield Polluted(path.name, path, told, _parsed(clean), float(weights[path.name]))


def _parsed(text: str) -> Rows:
    return list(csv.reader(io.StringIO(text, newline="")))


def made(folder: Path) -> Iterator[Polluted]:
    """The same kinds of pollution, of a table of our own."""
    clean = [["id", "time", "label", "score", "note"]]
    clean += [
        [f"{i}", f"2026-03-{1 + i % 28:02}", "attack" if i % 5 == 0 else "normal", f"0.{i:03}",
         f'host {i}, "rack {i % 4}"']
        for i in range(80)
    ]  # fmt: skip
    for name, text, told, wanted in _pollutions(clean):
        path = folder / name
        path.write_bytes(text.encode())
        written = {
            "delimiter": ",", "quotechar": '"', "escapechar": '"', "row_delimiter": "\r\n",
            "header_lines": 1, "preamble_lines": 0, "column_names": clean[0],
            "n_columns": len(clean[0]), **told,
        }  # fmt: skip
        yield Polluted(name, path, written, wanted, 1.0)


def _pollutions(clean: Rows) -> Iterator[tuple[str, str, Written, Rows]]:
    plain = _text(clean)
    lines = plain.split("\r\n")[:-1]
    yield "source.csv", plain, {}, clean
    yield "no_trailing_newline.csv", plain.removesuffix("\r\n"), {}, clean
    yield "double_trailing_newline.csv", plain + "\r\n", {}, clean
    no_names: Written = {"header_lines": 0, "column_names": []}
    yield "no_header.csv", _text(clean[1:]), no_names, clean[1:]
    yield "header_only.csv", _text(clean[:1]), {}, clean[:1]
    yield "one_row.csv", _text(clean[:2]), {}, clean[:2]
    yield "preamble.csv", "A TITLE,,,,\r\n,,,,\r\n" + plain, {"preamble_lines": 2}, clean
    for sign in ";\t ":
        yield f"delimiter_{ord(sign)}.csv", _text(clean, sign), {"delimiter": sign}, clean
    yield "quotes.csv", _text(clean, quote="'"), {"quotechar": "'", "escapechar": "'"}, clean
    spaced = re.sub(r',(?=")', ", ", plain)
    yield "blanks_before_quotes.csv", spaced, {}, clean
    yield "line_feeds.csv", plain.replace("\r\n", "\n"), {"row_delimiter": "\n"}, clean
    yield "carriage_returns.csv", plain.replace("\r\n", "\r"), {"row_delimiter": "\r"}, clean
    for at in (1, 40, 80):
        for kind, bent in (
            ("more_delimiters", lines[at].replace(",", ",,", 1)),
            ("fewer_delimiters", lines[at].replace(",", "", 1)),
            ("extra_quote", lines[at].replace(",", ',"', 1)),
            ("other_delimiter", lines[at].replace(",", " ")),
        ):
            text = "\r\n".join([*lines[:at], bent, *lines[at + 1 :]]) + "\r\n"
            yield f"{kind}_row{at}.csv", text, {}, clean


def _text(rows: Rows, sign: str = ",", quote: str = '"') -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=sign, quotechar=quote).writerows(rows)
    return out.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="a checkout of the benchmark")
    parser.add_argument("--least", type=float, default=9.5, help="both scores asked of assay")
    parser.add_argument("--kinds", action="store_true", help="what each kind of pollution costs")
    asked = parser.parse_args()
    if asked.folder is not None and not (asked.folder / FILES).is_dir():
        parser.error(f"{asked.folder} has no {FILES}: it is no checkout of Pollock")
    with tempfile.TemporaryDirectory() as scratch:
        files = list(benchmark(asked.folder) if asked.folder else made(Path(scratch)))
        scores = {name: [score(read, file) for file in files] for name, read in READERS.items()}
    total = sum(file.weight for file in files)
    print(f"{len(files):,} files; 10 is best\n{'reader':8} {'simple':>7} {'weighted':>9}")
    least = {}
    for name, each in scores.items():
        simple = sum(each) / len(files)
        weighted = sum(s * f.weight for s, f in zip(each, files, strict=True)) / total
        print(f"{name:8} {simple:7.3f} {weighted:9.3f}")
        least[name] = min(simple, weighted)
    if asked.kinds:
        _print_kinds(files, scores)
    return int(least["assay"] < asked.least)


def _print_kinds(files: Sequence[Polluted], scores: dict[str, list[float]]) -> None:
    kinds: defaultdict[str, list[int]] = defaultdict(list)
    for i, file in enumerate(files):
        whole = not file.name.startswith("row_")
        kinds[file.name if whole else re.sub(r"\d.*", "", file.name)].append(i)
    for kind, places in kinds.items():
        means = [sum(each[i] for i in places) / len(places) for each in scores.values()]
        print(f"{kind:36} {len(places):5} " + " ".join(f"{mean:7.3f}" for mean in means))


if __name__ == "__main__":
    sys.exit(main())
