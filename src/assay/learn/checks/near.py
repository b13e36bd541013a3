"""Values as near duplicates are compared: numbers rounded, texts without case and punctuation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# Significant digits. Copies with a little noise agree in all of them; of rows that are alike by
# chance each digit more parts nine tenths, or more where several columns vary.
COARSER, COARSE, FINE = 2, 3, 5
_NOT_WORDS = r"[\W_]+"


def rounded(frame: pl.DataFrame, digits: int = COARSE) -> pl.DataFrame:
    """Numbers to so many significant digits; texts as their words in small letters.

    >>> import polars as pl
    >>> rounded(pl.DataFrame({"size": [1.23456, 0.0], "title": ["5g  Pure!", "5G pure"]})).rows()
    [(1.23, '5g pure'), (0.0, '5g pure')]
    """
    import polars as pl
    from polars import selectors as cs

    words = cs.string().str.to_lowercase().str.replace_all(_NOT_WORDS, " ").str.strip_chars()
    numbers = pl.when(cs.float().is_finite()).then(cs.float().round_sig_figs(digits))
    return frame.with_columns(words, numbers.otherwise(cs.float()))
