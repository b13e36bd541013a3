"""Made-up streams of alerts that the tests of a monitor share."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np

FIRST = dt.date(2026, 3, 2)


def day_of(i: int) -> str:
    """The i-th day, counted from 0; the first is a Monday."""
    return (FIRST + dt.timedelta(days=i)).isoformat()


def stream(
    days: int = 14, rows: int = 60, *, shift: float = 0.0, labelled: float = 1.0, seed: int = 1
) -> dict[str, Any]:
    """Columns of a detector in use; a share of the alerts has a label, and nothing else."""
    random = np.random.default_rng(seed)
    attack = random.random(days * rows) < 0.2
    score = np.clip(random.normal(0.3 + 0.4 * attack + shift, 0.15), 0, 1).round(3)
    old = np.clip(random.normal(0.3 + 0.3 * attack, 0.2), 0, 1).round(3)
    told = (score >= 0.5) & (random.random(days * rows) < labelled)
    names = np.where(attack, "attack", "normal")
    return {
        "times": [day_of(i) for i in range(days) for _ in range(rows)],
        "y_true": [name if known else None for name, known in zip(names, told, strict=True)],
        "y_score": score,
        "old_score": old,
    }


def plain(columns: dict[str, Any], *names: str) -> dict[str, Any]:
    """Some of the columns."""
    return {name: columns[name] for name in ("times", "y_true", "y_score", *names)}
