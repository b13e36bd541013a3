"""What polars says about a damaged file, turned into an error of ours."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator

from assay.errors import InputError

_STDERR = 2
_LONGEST = 200


@contextlib.contextmanager
def guarded(name: str) -> Iterator[None]:
    """Raise an :class:`~assay.errors.InputError` with the file's name for what polars raises.

    A panic of polars writes to standard error before it becomes an exception; that is kept away.
    """
    import polars as pl

    with _hushed() as quiet:
        try:
            yield
        except pl.exceptions.PanicException as odd:
            quiet.drop = True
            raise damaged(name, odd) from None
        except (pl.exceptions.PolarsError, OSError, ValueError, OverflowError) as odd:
            if isinstance(odd, InputError):
                raise
            quiet.drop = True
            raise damaged(name, odd) from odd
        except MemoryError as odd:
            raise InputError(f"{name} needs more memory than there is") from odd


def damaged(name: str, odd: BaseException) -> InputError:
    """An error that says that a file can't be read, and in one line why."""
    lines = str(odd).strip().splitlines() or [type(odd).__name__]
    why = lines[0] if len(lines[0]) <= _LONGEST else lines[0][:_LONGEST] + "..."
    return InputError(f"{name} can't be read, it seems to be damaged: {why}")


class _Quiet:
    """Whether what was written to standard error is to be dropped."""

    drop = False


@contextlib.contextmanager
def _hushed() -> Iterator[_Quiet]:
    """Hold back what goes to standard error; it is passed on afterwards unless dropped."""
    quiet = _Quiet()
    try:
        kept = os.dup(_STDERR)
    except OSError:
        # Standard error is closed: nobody would see it.
        yield quiet
        return
    with tempfile.TemporaryFile() as held:
        _flush()
        os.dup2(held.fileno(), _STDERR)
        try:
            yield quiet
        finally:
            _flush()
            os.dup2(kept, _STDERR)
            os.close(kept)
            held.seek(0)
            text = b"" if quiet.drop else held.read()
            if text:
                os.write(_STDERR, text)


def _flush() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
