"""Values as near duplicates are compared: numbers rounded, texts without case and punctuation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# Significant digits. Copies with a little noise agree in both, rows that are alike by chance in the
# first alone: each digit more parts nine tenths of them.
COARSE, FINE = 3, 5
_NOT_WORDS = r"[\W_]+"


def rounded(frame: pl.DataFrame, *, fine: bool = False) -> pl.DataFrame:
    """Numbers to three significant digits, or to five; texts as their words in small letters.

    >>> import polars as pl
    >>> rounded(pl.DataFrame({"size": [1.23456, 0.0], "title": ["5g  Pure!", "5G pure"]})).rows()
    [(1.23, '5g pure'), (0.0, '5g pure')]
    """
    import polars as pl
    from polars import selectors as cs

    words = cs.string().str.to_lowercase().str.replace_all(_NOT_WORDS, " ").str.strip_chars()
    digits = FINE if fine else COARSE
    numbers = pl.when(cs.float().is_finite()).then(cs.float().round_sig_figs(digits))
    return frame.with_columns(words, numbers.otherwise(cs.float()))
