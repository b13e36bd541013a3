"""The table of extras of the page on installing, read from pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
# Extra: what it is for. An extra that is not here fails the build, and so does one that is gone.
FOR = {
    "learn": "``assay train``, ``predict`` and ``demo``: recipes, validation, model files",
    "plot": "figures: ``--figures``, ``evaluation.plot``",
    "web": "the web app: ``assay serve``",
    "excel": "workbooks, ``.xlsx``",
    "sql": "DuckDB: ``duckdb:FILE?QUERY``",
    "postgres": "PostgreSQL: ``postgresql://...?QUERY``",
    "mlflow": "``assay.mlflow.log``, and an evaluator for ``mlflow.models.evaluate``",
    "spark": "frames of Spark; PySpark itself is yours",
    "boost": "``--set model=lightgbm`` of the recipe ``detector``",
    "test": "``make test``: what the tests need, and other libraries to compare with",
    "engines": "Spark itself, for tests of counting there",
    "dev": "``make check``: linters, types, this documentation",
}


def extras() -> str:
    """Each extra, what it is for, and what it brings."""
    packages = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    if set(packages) != set(FOR):
        raise ValueError(f"docs/generate_install.py tells of {sorted(FOR)}, not {sorted(packages)}")
    rows = [
        f"   * - ``{extra}``\n     - {FOR[extra]}\n     - {', '.join(map(_name, packages[extra]))}"
        for extra in FOR
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
