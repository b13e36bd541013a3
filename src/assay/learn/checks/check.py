"""Is an evaluation on these rows honest?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError
from assay.inference.quantiles import check_level
from assay.learn.checks.baselines import NO_TREE
from assay.learn.checks.case import Case, Part, case_of
from assay.learn.checks.checks import findings_of
from assay.learn.checks.finding import silent
from assay.learn.checks.pitfalls import pitfalls_of
from assay.learn.checks.result import Check, PartRows
from assay.learn.data import Data
from assay.sources.files.request import refused_row

if TYPE_CHECKING:
    from assay.learn.recipes.recipe import Recipe


def check(
    train: Data,
    test: Data | None = None,
    *,
    time: str | None = None,
    groups: Sequence[str] = (),
    base_rate: float | None = None,
    recipe: str | Recipe | None = None,
    level: float = 0.95,
    seed: int = 42,
    progress: Callable[[int, int], None] = silent,
) -> Check:
    """Look for whatever makes an evaluation on these rows less honest than it looks.

    Without ``test`` the one file is judged, and what a random split of it would leak. ``groups``
    are columns whose values must not be on both sides, ``time`` the column of times that the data
    were read with. With ``recipe``, by its name or as it is, that is trained as the rows are and
    again without what leaks.

    >>> import polars as pl
    >>> from assay.learn.data import data_of
    >>> frame = pl.DataFrame({"id": range(100), "x": [i * 7 % 11 for i in range(100)]})
    >>> frame = frame.with_columns(label=pl.Series(["normal"] * 60 + ["attack"] * 40))
    >>> found = check(data_of(frame, label="label"))
    >>> [finding.code for finding in found.leaks]
    ['L010', 'L011']
    """
    check_level(level)
    if base_rate is not None and not 0 < base_rate < 1:
        raise InputError(f"base_rate={base_rate!r} has to lie between 0 and 1")
    if isinstance(recipe, str):
        from assay.learn.recipes import find_recipe

        recipe = find_recipe(recipe)
    case = case_of(
        train,
        test,
        time=time,
        groups=tuple(dict.fromkeys(groups)),
        base_rate=base_rate,
        recipe=recipe,
        level=level,
        seed=seed,
    )
    findings = findings_of(case, progress)
    notes = [*case.notes, *([NO_TREE] if find_spec("sklearn") is None else [])]
    for part in case.parts:
        notes += [note for note in part.data.notes if note not in notes]
    return Check(
        findings=findings,
        baselines=case.baselines,
        retest=case.retest,
        pitfalls=pitfalls_of(case, findings),
        labels=case.labels,
        positive=case.positive,
        parts={part.called: _about(case, part) for part in case.parts},
        groups=case.groups,
        time=time,
        base_rate=base_rate,
        level=level,
        seed=seed,
        notes=tuple(notes),
    )


def _about(case: Case, part: Part) -> PartRows:
    """How many rows of each class a part has, and how many were refused."""
    often = np.bincount(part.truth, minlength=len(case.labels))
    return {
        "name": part.data.name,
        "rows": len(part),
        "features": part.frame.width,
        "rows_read": part.data.rows_read,
        "rows_refused": part.data.rows_refused,
        "refused": [refused_row(each) for each in part.data.refused],
        "classes": {label: int(n) for label, n in zip(case.labels, often, strict=True)},
    }
