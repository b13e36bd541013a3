"""The figures of a comparison, a gate and an audit."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay import plots
from assay.decisions.audit.printed import as_float, printed
from assay.decisions.audit.result import WRONG
from assay.decisions.compare.comparison import key, known
from assay.errors import MethodError
from assay.inference import Estimate
from assay.measures import Better, parse
from assay.measures.shown import DIFFERENCES
from assay.plots.intervals import Claimed, claimed
from assay.plots.names import title

if TYPE_CHECKING:
    from assay.decisions.audit.result import Audit
    from assay.decisions.compare.comparison import Comparison
    from assay.decisions.gate.result import Gate
    from assay.plots.canvas import Axes


_LESS = "↓"
# So many pairs fit into one figure with all main measures.
_PAIRS = 3


@dataclass(frozen=True)
class ComparisonPlots:
    """Figures of one comparison; each is drawn on ``ax``, or on axes of its own."""

    comparison: Comparison

    def forest(self, ax: Axes | None = None, *, measures: Sequence[str] = ()) -> Axes:
        """Differences with their paired intervals, by default of the main measures.

        An arrow down marks a measure of which less is better. A hollow dot is a difference whose
        interval holds 0.
        """
        found = dict.fromkeys(key(found.measure) for found in self.comparison.differences)
        main = [measure for measure in DIFFERENCES if measure in found]
        wanted = [_checked(measure, found) for measure in measures] or main or list(found)
        models, at = self.comparison.models, self.comparison.at
        pair = f"{models[1]} less {models[0]}" if len(models) == 2 else "Difference"
        if at is not None:
            pair = f"{pair}, at {at}"
        rows = list(self._rows(wanted))
        notes = [f"{_LESS} less is better"] if any(_LESS in name for name, _ in rows) else []
        return plots.forest(rows, pair=pair, notes=notes, ax=ax)

    def ranks(self, ax: Axes | None = None, *, measure: str | None = None) -> Axes:
        """The critical-difference diagram of three models or more over data sets."""
        found = measure or next((each.measure for each in self.comparison.verdicts), "")
        tests = [t for t in self.comparison.tests if t.measure and key(t.measure) == key(found)]
        ranks = next((t.table["mean_ranks"] for t in tests if "mean_ranks" in t.table), None)
        pairs = [t for t in tests if t.test == "nemenyi"]
        if ranks is None or not pairs or not self.comparison.datasets:
            raise MethodError(
                "a critical-difference diagram is of three models or more over several data sets; "
                "this comparison has none"
            )
        critical = float(pairs[0].table["critical_difference"])
        return plots.mean_ranks(ranks, critical=critical, title=_title(found), ax=ax)

    def hulls(self, ax: Axes | None = None) -> Axes:
        """The ROC hulls of all models, and on how much of PC each is the best; see ``optimal``."""
        optimal = self.comparison.optimal
        if optimal is None:
            raise MethodError(
                "ROC hulls are of two classes that both have rows; this comparison has none"
            )
        return plots.hulls(
            optimal.hulls, {best.model: best.share for best in optimal.models}, ax=ax
        )

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write the forest plot, the ROC hulls and mean ranks, a file a format; give their paths.

        Of many pairs only the measure that decides is drawn, and hulls of decisions, which have one
        point each, are not.
        """
        verdicts = self.comparison.verdicts
        drawn = [found for found in self.comparison.differences if math.isfinite(found.difference)]
        figures: dict[str, Callable[[], Axes]] = {}
        if drawn:
            deciding = [verdicts[0].measure] if len(verdicts) > _PAIRS else []
            figures["forest"] = partial(self.forest, measures=deciding)
        if self._scored:
            figures["hulls"] = self.hulls
        if self.comparison.datasets and len(self.comparison.models) > 2:
            figures["ranks"] = self.ranks
        return plots.save(figures, folder, formats) if figures else ()

    @property
    def _scored(self) -> bool:
        optimal = self.comparison.optimal
        return optimal is not None and any(
            np.isfinite(hull["threshold"]).any() for hull in optimal.hulls.values()
        )

    def _rows(self, wanted: Sequence[str]) -> Iterator[tuple[str, Estimate]]:
        for measure in wanted:
            for found in self.comparison.differences:
                if key(found.measure) == measure:
                    name = _title(measure)
                    if len(self.comparison.models) > 2:
                        name = f"{name}: {found.b} less {found.a}"
                    yield name, found.difference


def _checked(measure: str, found: Container[str]) -> str:
    """The name of a measure that is compared here, or else is in the catalogue."""
    if key(measure) not in found:
        parse(measure)  # refuses what is in neither
    return key(measure)


def _title(name: str) -> str:
    found = known(name)
    if found is None:
        return name
    measure, suffix = found
    words = title(measure) + (f" ({suffix})" if suffix else "")
    return words + (f" {_LESS}" if measure.better is Better.LOWER else "")


@dataclass(frozen=True)
class GatePlots:
    """Figures of one gate; each is drawn on ``ax``, or on axes of its own."""

    gate: Gate

    def rules(self, ax: Axes | None = None) -> Axes:
        """How far each rule is from its bound; right of the line it is kept.

        A hollow dot is a rule whose interval holds the bound. Figures of a day stand on a scale of
        their own and are left out, as are rules without a value.
        """
        return plots.forest(list(self._rows()), pair="Value beyond the bound", ax=ax)

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write the figure, where there is anything to draw, and give the paths."""
        if not any(math.isfinite(found) for _, found in self._rows()):
            return ()
        return plots.save({"rules": self.rules}, folder, formats)

    def _rows(self) -> Iterator[tuple[str, Estimate]]:
        for judged in self.gate.rules:
            rule, found = judged.rule, judged.estimate
            if rule.per_day:
                continue
            value, low, high = (end - rule.bound for end in (float(found), found.low, found.high))
            if rule.operator.startswith("<"):
                value, low, high = -value, -high, -low
            yield rule.text, found.changed(value, low=low, high=high)


# Counts and products would push every share into a corner.
_LARGEST = 1.0


@dataclass(frozen=True)
class AuditPlots:
    """Figures of one audit."""

    audit: Audit

    def numbers(self, ax: Axes | None = None) -> Axes:
        """Every share that was reported, beside what it should be."""
        return claimed(tuple(self._rows()), ax=ax)

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write the figure, where there is anything to draw, and give the paths."""
        if not any(True for _ in self._rows()):
            return ()
        return plots.save({"numbers": self.numbers}, folder, formats)

    def _rows(self) -> Iterator[Claimed]:
        many = len(self.audit.claims) > 1
        for claim in self.audit.claims:
            for number in claim.numbers:
                if number.measure is None or isinstance(number.recomputed, tuple | None):
                    continue
                if isinstance(number.reported, tuple):
                    continue
                reported = as_float(printed(number.reported).value)
                if abs(reported) > _LARGEST:
                    reported /= 100
                if abs(reported) > _LARGEST or abs(number.recomputed) > _LARGEST:
                    continue
                name = f"{number.key}, {claim.name}" if many else number.key
                agrees = number.verdict not in WRONG
                yield Claimed(name, reported, number.recomputed, agrees)
