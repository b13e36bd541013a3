"""E017: rows of one incident are judged as if they were independent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name
from assay.v02.number_text import count

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation


def look(evaluation: Evaluation) -> str | None:
    r"""A column that names incidents, in rows that no cluster keeps together.

    >>> import pathlib, tempfile
    >>> import assay
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flows.csv")
    ...     _ = path.write_text("label,score,incident\n1,0.9,a\n1,0.8,a\n0,0.1,\n")
    ...     evaluation = assay.evaluate_files(str(path))
    >>> print(evaluation.findings[-1].message)  # doctest: +NORMALIZE_WHITESPACE
    Rows name the incident that they are of (column 'incident'). Intervals take the 3 rows to be
    independent, and rows of one incident are not: they are found or missed together.
    """
    column = evaluation.source.get("chosen", {}).get("incident")
    if column is None or evaluation.tally.clusters is not None:
        return None
    return (
        f"Rows name the incident that they are of (column {name(column)}). Intervals take the "
        f"{count(evaluation.tally.confusion.total)} rows to be independent, and rows of one "
        f"incident are not: they are found or missed together."
    )


CHECK = FindingCheck(
    code="E017",
    severity="warning",
    title="rows of incidents judged one by one",
    why="A flood of ten thousand rows is one attack. Shares of rows are those of the loudest "
    "attacks, and their intervals are too narrow.",
    remedy="Judge by incidents with assay incidents, or name what keeps rows together as the "
    "cluster: a column that has a value in every row, such as the host.",
    look=look,
)
