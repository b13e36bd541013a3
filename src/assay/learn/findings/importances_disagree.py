"""R008: the column that the trees rely on most is not missed when it is shuffled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.learn.findings.check import RunCheck

if TYPE_CHECKING:
    from assay.learn.run import Run


def look(run: Run) -> str | None:
    """Two ways to measure importance that contradict each other."""
    if run.importance is None or run.importance.disagreement is None:
        return None
    return f"{run.importance.disagreement}."


CHECK = RunCheck(
    code="R008",
    severity="info",
    title="importances disagree",
    why="Importance by impurity (MDI) is measured on learned rows and favours columns with many "
    "distinct values, which trees can always split once more.",
    remedy="Believe what shuffling costs on judged rows, and ask what the column really is: an "
    "address, a port or a number of a row is no behaviour.",
    look=look,
)
