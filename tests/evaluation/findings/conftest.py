"""How tests ask for a finding."""

from collections.abc import Callable
from typing import Any

import pytest

from assay import Estimate, Evaluation, evaluate
from assay.evaluation import Judge
from assay.measures import Measure


@pytest.fixture
def message() -> Callable[[Evaluation, str], str | None]:
    """The message of a finding by its code, where it applies."""

    def of(evaluation: Evaluation, code: str) -> str | None:
        return next((f.message for f in evaluation.findings if f.code == code), None)

    return of


class Lean:
    """What a check of binary scores reads and nothing else, so that thousands can be drawn."""

    def __init__(self, y_true: Any, **columns: Any) -> None:
        self.tally = evaluate(y_true, **columns).tally
        self.positive, self.confusion = self.tally.positive, self.tally.confusion

    def __getitem__(self, measure: Measure) -> Estimate:
        return Judge(self.tally).scored(measure)


@pytest.fixture(scope="session")
def lean() -> type[Lean]:
    return Lean
