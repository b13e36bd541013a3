"""An evaluation as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.evaluation.deployment import reading
from assay.evaluation.kept import bits_of, bounds_note
from assay.inference import Estimate
from assay.measures import find
from assay.measures.shown import PRINTED

if TYPE_CHECKING:
    from assay.evaluation.evaluation import Evaluation

_WIDEST_MATRIX = 12


def _shown(evaluation: Evaluation) -> list[tuple[str, Estimate]]:
    names = PRINTED.of(binary=evaluation.positive is not None)
    needs_scores = evaluation.tally.scores is None
    shown = []
    for name in names:
        of_scores = find(name.partition(".")[0]).of_scores is not None
        if needs_scores if of_scores else not evaluation.decided:
            continue
        shown.append((name, evaluation[name]))
        if f"{name}_defined" in evaluation:
            shown.append((f"{name}_defined", evaluation[f"{name}_defined"]))
    return shown


def _has_matrix(evaluation: Evaluation) -> bool:
    return evaluation.decided and len(evaluation.labels) <= _WIDEST_MATRIX


def _count(number: float) -> str:
    """A count, or a sum of weights."""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.6g}"


def _title(evaluation: Evaluation) -> str:
    confusion = evaluation.tally.confusion
    rows = confusion.total
    counted = f"{_count(rows)}{' weighted' if confusion.weighted else ''} rows"
    if evaluation.positive is None:
        return f"Evaluation of {counted} in {len(evaluation.labels)} classes"
    negative, positive = evaluation.labels
    of_negative, of_positive = confusion.rows
    where = ""
    if evaluation.tally.threshold is not None:
        where = f", flagged at {evaluation.tally.threshold:g} and above"
    return (
        f"Evaluation of {counted}: {_count(of_positive)} positive ({positive}), "
        f"{_count(of_negative)} negative ({negative}){where}"
    )


def text(evaluation: Evaluation) -> str:
    """The title, the confusion matrix and the main measures with their intervals."""
    warnings = [each.line for each in evaluation.findings if each.severity == "warning"]
    lines = [_title(evaluation), *warnings, ""]
    if _has_matrix(evaluation):
        lines += [*_matrix(evaluation), ""]
    shown = _shown(evaluation)
    width = max(len(name) for name, _ in shown)
    for name, found in shown:
        lines.append(f"{name:<{width}}  {found.text()}{_remark(evaluation, name, found)}")
    level = f"{100 * evaluation.level:g}%"
    lines += ["", f"Intervals are at {level}; {len(evaluation)} estimates in all."]
    findings = [each.line for each in evaluation.findings if each.severity == "info"]
    return "\n".join(
        [*lines, *evaluation.notes, *bounds_note(evaluation, bits_of(evaluation.tally)), *findings]
    )


def _remark(evaluation: Evaluation, name: str, found: Estimate) -> str:
    said = reading(evaluation, find(name.partition(".")[0]), found)
    return f"  ({said})" if said else ""


def _matrix(evaluation: Evaluation) -> list[str]:
    labels = evaluation.labels
    cells = [[_count(cell) for cell in row] for row in evaluation.confusion.cells]
    heads = [f"-> {label}" for label in labels]
    first = max(len(label) for label in labels)
    widths = [max(len(heads[j]), *(len(row[j]) for row in cells)) for j in range(len(labels))]
    lines = ["  ".join([" " * first, *(f"{h:>{w}}" for h, w in zip(heads, widths, strict=True))])]
    for label, row in zip(labels, cells, strict=True):
        body = (f"{cell:>{w}}" for cell, w in zip(row, widths, strict=True))
        lines.append("  ".join([f"{label:<{first}}", *body]))
    return lines
