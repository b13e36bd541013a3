"""Scores of several models in one input, lot by lot, so that many rows need not be kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput
from assay.sources.arrays import FAMILY
from assay.sources.coded import Coded, Labels, Named
from assay.sources.files.bad_rows import LISTED, must_be_a_number
from assay.sources.files.collect import Collector
from assay.sources.files.matched import Model
from assay.sources.files.read import Reading
from assay.sources.files.request import Progress, Refused, Request, Rows, silent
from assay.sources.validation import skips

Array: TypeAlias = npt.NDArray[Any]

# So many rows are counted at once.
LOT = 1 << 22


@dataclass(frozen=True, eq=False)
class ModelLot:
    """Some rows: their labels, the score that each model gave, and what else is counted.

    ``empty`` is how many rows of count zero were left out before.
    """

    truth: Labels
    scores: Mapping[str, Array]
    counts: npt.NDArray[np.int64] | None = None
    families: Named | None = None
    empty: int = 0

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.truth.codes)

    def rows_of(self, model: str) -> Coded:
        """What one model said, for who counts it alone."""
        slices = {} if self.families is None else {FAMILY: self.families}
        return Coded(
            truth=self.truth.used(),
            score=self.scores[model],
            counts=self.counts,
            slices=slices,
            rows=self.size + self.empty,
            empty=self.empty,
        )

    def without_empty(self) -> ModelLot:
        """The lot without rows of count zero, which are told to be missing."""
        if self.counts is None or self.counts.all():
            return self
        kept = self.where(self.counts > 0)
        return replace(kept, empty=self.empty + self.size - kept.size)

    def where(self, kept: npt.NDArray[np.bool_]) -> ModelLot:
        """Some of the rows."""
        families = self.families
        return ModelLot(
            Labels(self.truth.codes[kept], self.truth.names, self.truth.kind),
            {name: column[kept] for name, column in self.scores.items()},
            None if self.counts is None else self.counts[kept],
            None if families is None else replace(families, codes=families.codes[kept]),
            self.empty,
        )


class ModelReading:
    """What several models said of the rows of one input.

    Rows are kept until there are too many of them; then :meth:`lots` goes through all of them, once
    or, unless it is standard input, as often as needed.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        request: Request,
        models: Sequence[Model],
        progress: Progress = silent,
        stdin: BinaryIO | None = None,
    ) -> None:
        self._columns = {model.name: model.column for model in models}
        asked = replace(request, models=tuple(self._columns.values()))
        self._reading = Reading(inputs, asked, progress, stdin)
        self._skips = skips(request.on_bad_row)
        self._pieces: Iterator[Collector] | None = None
        self._kept: Collector | None = None
        self.rows_used = 0
        self.rows_refused = 0

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self._columns)

    def few(self, most: int) -> Rows | None:
        """All rows, if there are at most so many, or if it can't be told that these are scores.

        None where there are more: then they come in lots.
        """
        self._pieces = self._reading.pieces()
        for collector in self._pieces:
            if collector.labelled.rows > most and self._are_scores(collector):
                self._kept = collector
                return None
        return self._reading.rows(*collector.take())

    def _are_scores(self, collector: Collector) -> bool:
        held = self._reading.roles.models or ()
        columns = self._columns.values()
        return all(column in held and collector.labelled.only_numbers(column) for column in columns)

    def lots(self) -> Iterator[ModelLot]:
        """All rows; one whose score is not finite stops it all, or is left out and counted."""
        self.rows_used = self.rows_refused = 0
        collector, self._kept = self._kept, None
        if self._pieces is None:
            self._pieces = self._reading.pieces()
        elif collector is not None and collector.labelled.rows >= LOT:
            yield self._taken(collector)
        for collector in self._pieces:
            if collector.labelled.rows >= LOT:
                yield self._taken(collector)
        if collector is not None and collector.labelled.rows:
            yield self._taken(collector)
        self._pieces = None
        if not self.rows_used:
            reason = next(iter(self._doubtful())).reason
            raise EmptyInput(f"{self.source.name}: no row is left. The first reason: {reason}")

    def _taken(self, collector: Collector) -> ModelLot:
        columns, _ = collector.take()
        family = self._reading.roles.family
        lot = ModelLot(
            columns["y_true"],
            {name: columns["models"][column].numbers for name, column in self._columns.items()},
            columns.get("counts"),
            None if family is None else columns["slices"][family],
        )
        finite = np.ones(lot.size, bool)
        for column in lot.scores.values():
            finite &= np.isfinite(column)
        refused = lot.size - int(finite.sum())
        if refused and not self._skips:
            raise must_be_a_number(self._doubtful()[0])
        self.rows_used += lot.size - refused
        self.rows_refused += refused
        return lot.where(finite) if refused else lot

    def _doubtful(self) -> list[Refused]:
        listed = self._reading.rows({}).doubtful.values()
        return sorted((at for each in listed for at in each), key=lambda at: at.row)

    @property
    def source(self) -> Rows:
        """How the rows came about, once they were read."""
        rows = self._reading.rows({})
        return replace(
            rows,
            rows_refused=rows.rows_refused + self.rows_refused,
            refused=(*rows.refused, *self._doubtful())[:LISTED],
        )
