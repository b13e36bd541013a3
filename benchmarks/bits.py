"""The same rows in 500 random arrangements: one answer to the last bit (`make bits`).

Order, file format, row groups, threads, hash seeds and engines change; the document must not, but
for what tells where the rows came from.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import assay

ROWS = 6000
PER_PROCESS = 25
THREADS = (1, 2, 3, 8)
# What tells of the input and not of the rows.
_ASIDE = {"provenance", "source", "notes", "files", "inputs", "input"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--arrangements", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child is not None:
        for line in _arranged(asked.child, min(asked.arrangements, PER_PROCESS)):
            print(json.dumps(line), flush=True)
        return 0
    return _compared(_from_processes(asked.arrangements, asked.seed))


def _from_processes(arrangements: int, seed: int) -> Iterator[dict[str, Any]]:
    """Answers from processes of unlike hash seeds and numbers of threads."""
    for number in range(math.ceil(arrangements / PER_PROCESS)):
        left = arrangements - number * PER_PROCESS
        done = subprocess.run(
            [sys.executable, __file__, f"--child={1000 * seed + number}", f"--arrangements={left}"],
            env=os.environ
            | {
                "PYTHONHASHSEED": str(number + 1),
                "ASSAY_THREADS": str(THREADS[number % len(THREADS)]),
            },
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        yield from map(json.loads, done.stdout.splitlines())


def _compared(answers: Iterator[dict[str, Any]]) -> int:
    first: dict[str, dict[str, Any]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    broken = 0
    for answer in answers:
        kind, way = answer["kind"], answer["way"]
        seen[kind, way] += 1
        expected = first.setdefault(kind, answer)
        if expected["digest"] != answer["digest"]:
            broken += 1
            print(f"BROKEN: {kind} by {way} is not what {kind} by {expected['way']} is")
    for (kind, way), count in sorted(seen.items()):
        print(f"{kind:10} {way:10} {count}")
    total = sum(seen.values())
    print(
        f"{total} arrangements, {len(first)} kinds of rows, {broken} unlike the first of its kind"
    )
    return int(bool(broken) or not total)


def _arranged(seed: int, count: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    tables = {
        "scores": _scores(),
        "decisions": _decisions(),
        "weighted": _weighted(),
        "clustered": _clustered(),
    }
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            kind = draw.choice(list(tables))
            way = draw.choice(list(WAYS))
            order = list(range(ROWS))
            draw.shuffle(order)
            path = Path(folder) / f"{number}"
            evaluation = WAYS[way](tables[kind][order], path, draw)
            text = json.dumps(_rows_alone(evaluation.to_dict()), sort_keys=True)
            digest = hashlib.sha256(text.encode()).hexdigest()
            yield {"kind": kind, "way": way, "digest": digest}


def _rows_alone(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: _rows_alone(value) for key, value in document.items() if key not in _ASIDE}
    return [_rows_alone(one) for one in document] if isinstance(document, list) else document


# -- the rows --------------------------------------------------------------------------------------


def _base() -> dict[str, Any]:
    generator = np.random.default_rng(11)
    attack = generator.random(ROWS) < 0.1
    score = np.clip(generator.normal(0.3 + 0.35 * attack, 0.2), 0, 1)
    score[::3] = score[::3].round(2)  # ties
    score[:6] = 0.0, 1.0, 5e-324, 1 - 2**-53, 0.5, np.nextafter(0.5, 0)
    return {"label": np.where(attack, "attack", "benign"), "score": score}


def _scores() -> pl.DataFrame:
    return pl.DataFrame(_base())


def _decisions() -> pl.DataFrame:
    rows = pl.DataFrame(_base())
    flagged = pl.when(pl.col("score") >= 0.55).then(pl.lit("attack")).otherwise(pl.lit("benign"))
    return rows.select("label", flagged.alias("prediction"))


def _weighted() -> pl.DataFrame:
    weights = np.random.default_rng(12).gamma(0.5, 3, ROWS)
    return pl.DataFrame(_base()).with_columns(weight=weights)


def _clustered() -> pl.DataFrame:
    hosts = np.random.default_rng(13).integers(0, 40, ROWS)
    return _weighted().with_columns(host=pl.Series(hosts).cast(pl.String))


# -- ways to give them -----------------------------------------------------------------------------


def _roles(rows: pl.DataFrame) -> dict[str, str]:
    names = {"label": "label", "score": "score", "prediction": "decision", "weight": "weight"}
    names |= {"host": "cluster"}
    return {names[column]: column for column in rows.columns}


def _file(suffix: str, write: Callable[[pl.DataFrame, Path, random.Random], object]) -> Any:
    def evaluated(rows: pl.DataFrame, path: Path, draw: random.Random) -> Any:
        file = path.with_suffix(suffix)
        write(rows, file, draw)
        return assay.evaluate_files(str(file), assay.Request(**_roles(rows)))

    return evaluated


def _frame(made: Callable[[pl.DataFrame], Any]) -> Any:
    def evaluated(rows: pl.DataFrame, path: Path, draw: random.Random) -> Any:  # noqa: ARG001
        return assay.evaluate(made(rows), **_roles(rows))

    return evaluated


def _arrays(rows: pl.DataFrame, path: Path, draw: random.Random) -> Any:  # noqa: ARG001
    given = {"score": "y_score", "prediction": "y_pred", "weight": "sample_weight"}
    given |= {"host": "clusters"}
    columns = {given[name]: rows[name].to_numpy() for name in rows.columns if name in given}
    return assay.evaluate(rows["label"].to_list(), **columns)


def _parts(rows: pl.DataFrame, path: Path, draw: random.Random) -> Any:
    """Several files, cut anywhere."""
    cuts = sorted(draw.sample(range(1, ROWS), draw.randint(1, 6)))
    files = []
    for number, (start, stop) in enumerate(zip([0, *cuts], [*cuts, ROWS], strict=True)):
        files.append(f"{path}-{number}.csv")
        rows[start:stop].write_csv(files[-1])
    return assay.evaluate_files(files, assay.Request(**_roles(rows)))


def _duckdb(rows: pl.DataFrame) -> Any:
    import duckdb

    return duckdb.from_arrow(rows.to_arrow())


def _sqlite(rows: pl.DataFrame, path: Path, draw: random.Random) -> Any:  # noqa: ARG001
    file = path.with_suffix(".db")
    with sqlite3.connect(file) as connection:
        connection.execute(f"create table flows ({', '.join(rows.columns)})")
        places = ", ".join("?" * rows.width)
        connection.executemany(f"insert into flows values ({places})", rows.rows())
    return assay.evaluate_files(f"sqlite:{file}?select * from flows", assay.Request(**_roles(rows)))


WAYS: dict[str, Callable[[pl.DataFrame, Path, random.Random], Any]] = {
    "csv": _file(".csv", lambda rows, file, _: rows.write_csv(file)),
    "tsv": _file(".tsv", lambda rows, file, _: rows.write_csv(file, separator="\t")),
    "jsonl": _file(".jsonl", lambda rows, file, _: rows.write_ndjson(file)),
    "parquet": _file(
        ".parquet",
        lambda rows, file, draw: rows.write_parquet(file, row_group_size=draw.randint(10, ROWS)),
    ),
    "arrow": _file(".arrow", lambda rows, file, _: rows.write_ipc(file)),
    "parts": _parts,
    "arrays": _arrays,
    "polars": _frame(lambda rows: rows),
    "lazy": _frame(lambda rows: rows.lazy()),
    "pandas": _frame(lambda rows: rows.to_pandas()),
    "duckdb": _frame(_duckdb),
    "sqlite": _sqlite,
}


if __name__ == "__main__":
    sys.exit(main())
