"""What may stand behind an option: shares, sizes, labels, and what else people write.

Each function turns what was typed into a value, or says what is wrong with it.
"""

from __future__ import annotations

import codecs
import csv
import errno
import math
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import click

from assay.cli.errors import OutputError
from assay.errors import InputError

_NO_NAME = "the name is empty, which would be the current folder"
_NUMBER = r"(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:e[+-]?\d{1,3})?"
_SHARE = re.compile(rf"({_NUMBER})(?:(%)|/({_NUMBER}))?", re.ASCII | re.IGNORECASE)
_SIZE = re.compile(rf"({_NUMBER})\s?(?:([kmgt])(i)?)?b?", re.ASCII | re.IGNORECASE)


class FilePath(click.Path):
    """A file or folder to write; an empty name, which would be the current folder, is refused."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path."""
        if value == "":
            self.refuse(param, ctx)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            path.lstat()
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise self.too_long(path, error) from None
        return path

    def too_long(self, path: Path, error: OSError) -> Exception:
        """What is wrong with a name that no file can have."""
        return OutputError.of(path, error)

    def refuse(self, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
        """Say that the name is empty."""
        self.fail(_NO_NAME, param, ctx)


class InputPath(FilePath):
    """The same of what is read, which is a matter of the input."""

    def refuse(self, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
        """Say that the name is empty."""
        hint = "" if param is None or ctx is None else f"{param.get_error_hint(ctx)}: "
        raise InputError(f"{hint}{_NO_NAME}")

    def too_long(self, path: Path, error: OSError) -> Exception:
        """What is wrong with a name that no file can have."""
        return InputError(f"{path} can't be read: {error.strerror}")


def share(text: str) -> float:
    """A number between 0 and 1, written 0.001, 0.1%, 1/1000 or 1e-3.

    >>> share("0.1%") == share("1/1000") == share("1e-3") == 0.001
    True
    """
    found = _SHARE.fullmatch(text.strip())
    if found is None or (found[3] and not Fraction(found[3])):
        raise click.BadParameter(f"{text!r} is no share; write 0.001, 0.1%, 1/1000 or 1e-3")
    exact = Fraction(found[1]) / (100 if found[2] else Fraction(found[3] or 1))
    if not 0 < exact < 1 or float(exact) in {0.0, 1.0}:
        raise click.BadParameter(f"{text!r} is no share: it has to lie between 0 and 1")
    return float(exact)


def number(text: str) -> float:
    """A finite number."""
    try:
        found = float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number") from None
    if not math.isfinite(found):
        raise click.BadParameter(f"{text!r} is not a finite number")
    return found


def positive_number(text: str) -> float:
    """A finite number above 0."""
    found = number(text)
    if found <= 0:
        raise click.BadParameter(f"{text!r} is not above 0")
    return found


def size(text: str) -> int:
    """A number of bytes; kB, MB and GB are powers of 1000, KiB, MiB and GiB of 1024.

    >>> size("2GB"), size("512MiB"), size("1000")
    (2000000000, 536870912, 1000)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise click.BadParameter(f"{text!r} is no size; write 2GB, 512MiB or a number of bytes")
    power = " kmgt".index((found[2] or " ").lower())
    bytes_ = int(Fraction(found[1]) * (1024 if found[3] else 1000) ** power)
    if bytes_ < 1:
        raise click.BadParameter(f"{text!r} leaves no memory at all")
    return bytes_


def label_and_column(text: str) -> tuple[str, str]:
    """A label and the column of its probability, written LABEL=COL."""
    label, equals, column = text.partition("=")
    if not (label and equals and column):
        raise click.BadParameter(f"{text!r} is not LABEL=COL, such as attack=p_attack")
    return label, column


def model(text: str) -> tuple[str, str]:
    """A model and the column of what it said, written NAME=COL or NAME=FILE:COL.

    A star in the column stands for the label, as in NAME=p_*.

    >>> model("new=score"), model("old=before.csv:p=1")
    (('new', 'score'), ('old', 'before.csv:p=1'))
    """
    name, equals, column = text.partition("=")
    if not (name.strip() and equals and column):
        raise click.BadParameter(f"{text!r} is not NAME=COL or NAME=FILE:COL, such as new=score")
    return name, column


def named_number(text: str) -> tuple[str | None, float]:
    """A number, or one of a name, written NAME=T.

    >>> named_number("0.5"), named_number("new=0.7")
    ((None, 0.5), ('new', 0.7))
    """
    name, equals, value = text.rpartition("=")
    return (name, number(value)) if equals else (None, number(text))


def rule(text: str) -> Any:
    """A rule that chooses a threshold, such as max-far=0.1."""
    from assay.errors import AssayError
    from assay.inference.operating import parse_rule

    try:
        return parse_rule(text)
    except AssayError as odd:
        raise click.BadParameter(str(odd)) from None


def pattern(text: str) -> str:
    """Names of columns, in which one star stands for the label."""
    if text.count("*") != 1:
        raise click.BadParameter(f"{text!r} needs one star in place of the label, as p_*")
    return text


def labels(text: str) -> tuple[str, ...]:
    """Labels with commas between them; quotes keep a comma inside a label.

    >>> labels('normal,"scan, slow"')
    ('normal', 'scan, slow')
    """
    try:
        found = tuple(next(csv.reader([text]), ()))
    except csv.Error:
        found = ()
    if len(found) < 2 or not all(found) or len(set(found)) < len(found):
        raise click.BadParameter(f"{text!r} is no list of two or more labels, such as a,b")
    return found


def delimiter(text: str) -> str:
    r"""One character; a tab may be written tab or \t."""
    found = {"tab": "\t", r"\t": "\t"}.get(text, text)
    if len(found) != 1 or found in '"\r\n' or not found.isascii():
        raise click.BadParameter(f"{text!r} is not one plain character such as ; or tab")
    return found


def encoding(text: str) -> str:
    """The name of a character encoding, as Python writes it."""
    try:
        return codecs.lookup(text).name
    except (LookupError, ValueError):
        raise click.BadParameter(
            f"{text!r} is no known encoding; try utf-8, cp1252 or utf-16"
        ) from None


def duration(text: str) -> float:
    """A length of time in seconds, written 60s, 10m, 1h30m or -30s.

    >>> duration("10m"), duration("-1.5s"), duration("1h30m")
    (600.0, -1.5, 5400.0)
    """
    from assay.decisions.incidents.detecting import duration as microseconds

    try:
        return microseconds(text, "it") / 1e6
    except InputError:
        raise click.BadParameter(
            f"{text!r} is no length of time; write 60s, 10m or 1h30m"
        ) from None


def per_day(text: str) -> float:
    """A number a day, written 5/day, 0.5/day, 20/week or 5.

    >>> per_day("5/day"), per_day("14/week"), per_day("2")
    (5.0, 2.0, 2.0)
    """
    amount, _, unit = text.partition("/")
    days = {"": 1, "day": 1, "d": 1, "week": 7, "hour": 1 / 24}.get(unit.strip().lower())
    try:
        found = float(amount)
    except ValueError:
        found = math.nan
    if days is None or not (math.isfinite(found) and found >= 0):
        raise click.BadParameter(f"{text!r} is no number a day; write 5/day, 0.5/day or 20/week")
    return found / days


def names(text: str) -> tuple[str, ...]:
    """Names of columns with commas between them.

    >>> names("src_ip, dst_ip")
    ('src_ip', 'dst_ip')
    """
    found = tuple(part.strip() for part in text.split(","))
    if not all(found) or len(set(found)) < len(found):
        raise click.BadParameter(f"{text!r} is no list of columns, such as src_ip,dst_ip")
    return found
