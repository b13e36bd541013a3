"""Tables that the tests of the checks share."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from assay.learn.checks.interpolated import nearest
from assay.learn.data import Data, data_of

Generator = np.random.Generator


def clean(generator: Generator, rows: int = 400, columns: int = 6) -> pl.DataFrame:
    """Random features that tell a little of a random label."""
    label = generator.random(rows) < 0.4
    table: dict[str, Any] = {
        f"x{i}": generator.normal(size=rows) + 0.3 * label for i in range(columns)
    }
    table["kind"] = generator.choice(["tcp", "udp", "icmp"], rows)
    table["hits"] = generator.poisson(200, rows)
    return pl.DataFrame(table).with_columns(label=pl.Series(np.where(label, "attack", "normal")))


def data(frame: pl.DataFrame, **options: Any) -> Data:
    """A table with its label."""
    return data_of(frame, label="label", **options)


def parted(frame: pl.DataFrame, share: float = 0.7, **options: Any) -> tuple[Data, Data]:
    """The first rows to learn from, the others to judge by."""
    cut = int(share * frame.height)
    options = {"positive": "attack", "labels": ["normal", "attack"], **options}
    return data(frame[:cut], **options), data(frame[cut:], **options)


def smote(generator: Generator, few: pl.DataFrame, number: int) -> pl.DataFrame:
    """Rows between a row and one of its five nearest, as Chawla et al. 2002 make them."""
    names = [name for name in few.columns if name != "label"]
    points = few.select(names).to_numpy()
    near = nearest(points, points, 6)
    first = generator.integers(0, len(points), number)
    second = np.array([generator.choice(near[i][near[i] != i]) for i in first])
    along = generator.random((number, 1))
    made = points[first] + along * (points[second] - points[first])
    return pl.DataFrame(made, schema=names).with_columns(label=pl.lit("attack"))
