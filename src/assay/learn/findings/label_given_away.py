"""R009: one column tells the label by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.evaluation.words import name, some
from assay.learn.findings.check import RunCheck

if TYPE_CHECKING:
    import polars as pl

    from assay.learn.run import Run

# A column of more values is left to ``assay check``; in fewer rows it happens by chance.
_MOST_VALUES, _FEWEST_ROWS = 50, 100
# So many rows tell that a column has too many values, without a look at the others.
_FIRST = 10_000


def look(run: Run) -> str | None:
    """Features of few values, each of which has rows of one label only."""
    data = run.data
    if len(data) < _FEWEST_ROWS:
        return None
    found = [
        column.name
        for column in data.frame
        if column.name != data.text and _gives_away(column, data.truth)
    ]
    if not found:
        return None
    column, gives = ("Column", "gives") if len(found) == 1 else ("Columns", "give")
    return (
        f"{column} {some([name(each) for each in found])} {gives} the label away: rows that share "
        f"a value there share their label, so nothing was left to learn."
    )


def _gives_away(column: pl.Series, truth: object) -> bool:
    import polars as pl

    if column.head(_FIRST).n_unique() > _MOST_VALUES or not 1 < column.n_unique() <= _MOST_VALUES:
        return False
    pairs = pl.DataFrame({"value": column, "truth": truth})
    return pairs.n_unique() == column.n_unique()


CHECK = RunCheck(
    code="R009",
    severity="warning",
    title="a column gives the label away",
    why="A column that was filled in when the label was known, such as the kind of attack, makes "
    "every model look perfect, and is not there in use.",
    remedy="Drop it (--drop); where it is the kind of attack, name it with --family. assay check "
    "looks for more of the kind.",
    look=look,
    mistake=True,
)
