"""Two mistakes at once: only for numbers of many digits that no single mistake explains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.decisions.audit.mistakes import substitutes
from assay.decisions.audit.mistakes.candidate import Candidate, Tier
from assay.decisions.audit.mistakes.matrices import Variant
from assay.decisions.audit.mistakes.plain import on_top
from assay.decisions.audit.mistakes.trial import Number

LEAST_DIGITS = 4
# The matrices that a second mistake is tried on.
_TURNED = ("positive-class-swapped", "matrix-transposed", "decisions-flipped")


def twice(
    number: Number, singles: Sequence[Candidate], variants: Sequence[Variant]
) -> Iterator[Candidate]:
    """Every two mistakes that may have been made with one number."""
    key = number.key
    if key is None or key.statistic is not None:
        return
    for single in singles:
        if single.tier in (Tier.USUAL, Tier.MATRIX):
            yield from on_top(single)
    for variant in variants:
        if variant.mistake not in _TURNED:
            continue
        for reading in variant.table.readings(key):
            for second in substitutes.candidates(reading, variant.table):
                if second.tier is Tier.USUAL:
                    yield replace(
                        second,
                        mistake=f"{variant.mistake}+{second.mistake}",
                        said=f"{variant.said} and {second.said}",
                        tier=Tier.TWICE,
                    )
