"""Claims in one line, and what is said of their numbers."""

from __future__ import annotations

from typing import Any

from assay.decisions.audit import audited
from assay.decisions.audit.claim import Claim
from assay.decisions.audit.claims_file import build
from assay.decisions.audit.mistakes import explain
from assay.decisions.audit.verdicts import Explanation, JudgedNumber

NETWORK = {"tn": 480, "fp": 7430, "fn": 614, "tp": 6345}
FOREST = {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}
DARKNET = {"labels": ["A", "B", "C"], "matrix": [[45, 3, 2], [4, 38, 3], [1, 2, 52]]}


def claim_of(cells: dict[str, Any], reported: dict[str, Any], **more: Any) -> Claim:
    """A claim with cells of two classes, or with labels and a matrix."""
    if "tp" in cells:
        two = {"positive": "attack", "negative": "normal", "confusion": cells}
        return build(two | {"reported": reported} | more, position=1).with_percents()
    return build(cells | {"reported": reported} | more, position=1).with_percents()


def judged(claim: Claim) -> dict[str, JudgedNumber]:
    """The numbers of a claim by their keys, explained."""
    return {number.key: number for number in explain(claim, audited(claim).numbers)}


def explanations(
    cells: dict[str, Any], key: str, reported: dict[str, Any], **more: Any
) -> tuple[Explanation, ...]:
    """What explains one number."""
    return judged(claim_of(cells, reported, **more))[key].explanations
