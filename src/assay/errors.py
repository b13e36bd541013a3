"""Everything that assay raises on purpose.

::

    AssayError                    the root: catch this one
    ├── InputError                the data or the arguments can't be used (also a ValueError)
    │   ├── EmptyInput            there are no rows
    │   ├── LengthMismatch        columns of different length
    │   ├── MissingColumn         a table has no column of that name
    │   ├── LabelError            labels, decisions or the positive label
    │   ├── ScoreError            scores or probabilities
    │   ├── CountError            frequency counts or sampling weights
    │   └── MethodError           an interval or test that does not apply here
    ├── UnknownMeasure            no measure has that name (also a KeyError)
    ├── TallyError                tallies that can't be added, or bytes that are no tally
    └── StoreError                a store of runs that can't be opened, read or written

Each message says what was found, what was expected, and what to do.
"""

from __future__ import annotations

import inspect
import warnings

# The name in the public index; `assay` there is another project.
DISTRIBUTION = "assay-detectors"
__version__ = "0.3.0.dev0"


def install_line(extra: str) -> str:
    """The command that brings along what an extra needs, wherever this package came from.

    >>> install_line("learn")
    "pip install 'assay-detectors[learn]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def deprecated(old: str, instead: str, *, until: str) -> None:
    """Warn that something goes: what to use instead, and the version that has it no more.

    The warning names the line outside of this package that asked for it.

    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     deprecated("the recipe 'old'", "'new'", until="9.0")
    >>> print(caught[0].message)
    the recipe 'old' is deprecated: use 'new'. It goes with assay 9.0
    """
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals["__name__"].partition(".")[0] == "assay":
        level, frame = level + 1, frame.f_back
    text = f"{old} is deprecated: use {instead}. It goes with assay {until}"
    warnings.warn(text, DeprecationWarning, stacklevel=level)


class AssayError(Exception):
    """The root of all errors that assay raises on purpose."""


class InputError(AssayError, ValueError):
    """The data or the arguments can't be used as they are."""


class EmptyInput(InputError):
    """There are no rows to judge."""


class LengthMismatch(InputError):
    """Columns that describe the same rows have different lengths."""


class MissingColumn(InputError):
    """A table has no column of that name, which is ``column``."""

    def __init__(self, message: str, column: str = "") -> None:
        super().__init__(message)
        self.column = column


class LabelError(InputError):
    """Labels or decisions that can't be read, or a positive label that is not known."""


class ScoreError(InputError):
    """Scores or probabilities that can't be used."""


class CountError(InputError):
    """Frequency counts or sampling weights that can't be used."""


class MethodError(InputError):
    """An interval method or a test that does not apply to this measure or this data."""


class UnknownMeasure(AssayError, KeyError):
    """No measure has that name."""

    def __str__(self) -> str:
        return str(self.args[0])


class TallyError(AssayError):
    """Tallies that can't be added to each other, or bytes that hold no tally."""


class StoreError(AssayError):
    """A store of runs that can't be opened, read or written."""


# What SQLite calls a statement that does more than read.
_NO_READING = ("not authorized", "prohibited", "readonly")


def database_refusal(odd: Exception) -> str:
    """What a database says against a query, in one line, and what to do about it.

    >>> database_refusal(ValueError("no such table: flows"))[:43]
    'refuses the query: no such table: flows. Ch'
    """
    lines = str(odd).strip().splitlines() or ["unknown"]
    advice = "Only one SELECT that reads is allowed"
    if not any(words in lines[0] for words in _NO_READING):
        advice = (
            "Check its tables and columns, that nothing changes or locks them while they are "
            "counted, and that neither the connection nor a timeout ends before; then ask again"
        )
    # PostgreSQL offers the name that was likely meant apart from the first line.
    hint = getattr(getattr(odd, "diag", None), "message_hint", None)
    return f"refuses the query: {lines[0].rstrip('.!')}. {(hint or advice).rstrip('.!')}"
