"""The table of extras of the page on installing, read from pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
# Extra: what it is for. An extra that is not here fails the build.
FOR = {
    "learn": "``assay train``, ``predict`` and ``demo``: recipes, validation, model files",
    "plot": "figures: ``--figures``, ``evaluation.plot``",
    "web": "the web app: ``assay serve``",
    "excel": "workbooks, ``.xlsx``",
    "sql": "DuckDB: ``duckdb:FILE?QUERY``",
    "postgres": "PostgreSQL: ``postgresql://...?QUERY``",
    "mlflow": "``assay.mlflow.log``, and an evaluator for ``mlflow.models.evaluate``",
    "spark": "frames of Spark; PySpark itself is yours",
    "dask": "frames of Dask",
    "ray": "data sets of Ray",
    "boost": "``--set model=lightgbm`` of the recipe ``detector``",
    "test": "``make test``: what the tests need, and other libraries to compare with",
    "models": "``make slow``: models of other libraries, to be judged in hand",
    "engines": "Spark itself, for tests of counting there",
    "dev": "``make check``: linters, types, this documentation",
}


def extras() -> str:
    """Each extra, what it is for, and what it brings."""
    packages = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    if missing := sorted(set(packages) - set(FOR)):
        raise ValueError(f"docs/generate_install.py lacks {', '.join(missing)}")
    rows = [
        f"   * - ``{extra}``\n     - {FOR[extra]}\n     - {', '.join(map(_name, packages[extra]))}"
        for extra in FOR
        if extra in packages
    ]
    heading = "   * - extra\n     - for\n     - brings"
    return "\n".join(
        [".. list-table::", "   :header-rows: 1", "   :widths: 14 46 40", "", heading, *rows]
    )


def _name(requirement: str) -> str:
    """A package without its version; of our own, the extras that it stands for."""
    name, _, brought = re.match(r"([\w.-]+)(\[([\w,]+)\])?", requirement).groups()  # type: ignore[union-attr]
    if name == "assay-detectors":
        return ", ".join(f"``{extra}``" for extra in brought.split(","))
    return name
