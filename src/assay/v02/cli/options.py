"""Options of commands: how help shows them, what may stand behind them, and which are shared."""

from __future__ import annotations

import codecs
import csv
import errno
import math
import os
import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import click

from assay.v02.cli.messages import OutputError, say
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.v02.inference.threshold_rules import Rule

Function: TypeAlias = Callable[..., Any]
Decorator: TypeAlias = Callable[[Function], Function]

OTHER = "Other options"

# Where a context keeps the command line, so that a report can say how it was made.
TYPED = "assay.typed"


class Option(click.Option):
    """An option that stands under a heading of the help."""

    def __init__(self, *args: Any, section: str = OTHER, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section


class Command(click.Command):
    """A command with examples, which its help shows, the documentation lists and a test runs.

    ``examples`` are pairs of what a command line does and the command line.
    """

    def __init__(
        self, *args: Any, examples: tuple[tuple[str, str], ...] = (), **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.examples = examples

    def make_parser(self, ctx: click.Context) -> Any:
        """What reads the command line; of an option that counts once the last one typed counts.

        Scripts lean on that to change what they say elsewhere, but it is said: of two files to
        write, one would be missing.
        """
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_aloud(args: list[str]) -> Any:
            values, rest, order = parse(args)
            for param in dict.fromkeys(order):
                once = isinstance(param, click.Option) and not (param.multiple or param.is_flag)
                if once and order.count(param) > 1 and not values.get("quiet"):
                    name = max(param.opts, key=len)
                    say(f"note: {name} is given {order.count(param)} times; the last one counts")
            return values, rest, order

        parser.parse_args = parse_aloud
        return parser

    def sections(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """The options by their heading, in the order of declaration."""
        sections: dict[str, list[click.Option]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and not param.hidden:
                sections.setdefault(getattr(param, "section", OTHER), []).append(param)
        return sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        for heading, options in self.sections(ctx).items():
            records = [option.get_help_record(ctx) for option in options]
            with formatter.section(heading):
                formatter.write_dl([record for record in records if record is not None])

    def subcommands(self, ctx: click.Context) -> list[tuple[str, Command]]:  # noqa: ARG002
        """The commands inside this one; most have none."""
        return []

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        with formatter.section("Examples"):
            for says, line in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}# {says}\n")
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        super().format_epilog(ctx, formatter)


class CommandGroup(Command, click.Group):
    """A command that holds others; what is not the name of one belongs to the ``usual`` one."""

    def __init__(self, *args: Any, usual: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.usual = usual

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line; the usual command need not be named."""
        helps = ctx.help_option_names
        if not args or (args[0] not in self.commands and args[0] not in helps):
            args = [self.usual, *args]
        return super().parse_args(ctx, args)

    def subcommands(self, ctx: click.Context) -> list[tuple[str, Command]]:
        """The commands inside this one, in the order in which they were added."""
        commands = [(name, self.get_command(ctx, name)) for name in self.commands]
        return [(name, command) for name, command in commands if isinstance(command, Command)]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the form is click's
        """The names of the commands in their order."""
        return list(self.commands)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


# -- what may stand behind an option ---------------------------------------------------------------

# Each function turns what was typed into a value, or says what is wrong with it.

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
    match = _SHARE.fullmatch(text.strip())
    if match is None or (match[3] and not Fraction(match[3])):
        raise click.BadParameter(f"{text!r} is no share; write 0.001, 0.1%, 1/1000 or 1e-3")
    exact = Fraction(match[1]) / (100 if match[2] else Fraction(match[3] or 1))
    if not 0 < exact < 1 or float(exact) in {0.0, 1.0}:
        raise click.BadParameter(f"{text!r} is no share: it has to lie between 0 and 1")
    return float(exact)


def number(text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number") from None
    if not math.isfinite(value):
        raise click.BadParameter(f"{text!r} is not a finite number")
    return value


def positive_number(text: str) -> float:
    """A finite number above 0."""
    value = number(text)
    if value <= 0:
        raise click.BadParameter(f"{text!r} is not above 0")
    return value


def size(text: str) -> int:
    """A number of bytes; kB, MB and GB are powers of 1000, KiB, MiB and GiB of 1024.

    >>> size("2GB"), size("512MiB"), size("1000")
    (2000000000, 536870912, 1000)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"{text!r} is no size; write 2GB, 512MiB or a number of bytes")
    power = " kmgt".index((match[2] or " ").lower())
    bytes_ = int(Fraction(match[1]) * (1024 if match[3] else 1000) ** power)
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


def rule(text: str) -> Rule:
    """A rule that chooses a threshold, such as max-far=0.1."""
    from assay.errors import AssayError
    from assay.v02.inference.threshold_rules import parse_rule

    try:
        return parse_rule(text)
    except AssayError as error:
        raise click.BadParameter(str(error)) from None


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
        parts = tuple(next(csv.reader([text]), ()))
    except csv.Error:
        parts = ()
    if len(parts) < 2 or not all(parts) or len(set(parts)) < len(parts):
        raise click.BadParameter(f"{text!r} is no list of two or more labels, such as a,b")
    return parts


def delimiter(text: str) -> str:
    r"""One character; a tab may be written tab or \t."""
    character = {"tab": "\t", r"\t": "\t"}.get(text, text)
    if len(character) != 1 or character in '"\r\n' or not character.isascii():
        raise click.BadParameter(f"{text!r} is not one plain character such as ; or tab")
    return character


def quote(text: str) -> str:
    """One sign around fields, or none."""
    if text != "none" and (len(text) != 1 or not "!" <= text <= "~" or text.isalnum()):
        raise click.BadParameter(f"{text!r} is not one plain sign such as ', and not none")
    return text


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
    from assay.v02.decisions.incidents.detecting import duration as microseconds

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
        value = float(amount)
    except ValueError:
        value = math.nan
    if days is None or not (math.isfinite(value) and value >= 0):
        raise click.BadParameter(f"{text!r} is no number a day; write 5/day, 0.5/day or 20/week")
    return value / days


def names(text: str) -> tuple[str, ...]:
    """Names of columns with commas between them.

    >>> names("src_ip, dst_ip")
    ('src_ip', 'dst_ip')
    """
    columns = tuple(part.strip() for part in text.split(","))
    if not all(columns) or len(set(columns)) < len(columns):
        raise click.BadParameter(f"{text!r} is no list of columns, such as src_ip,dst_ip")
    return columns


# -- options that several commands share -----------------------------------------------------------


judging = partial(click.option, cls=Option, section="Judging")

POSITIVE: Decorator = judging("--positive", metavar="VALUE", help="The label that is the alarm.")
NEGATIVE: Decorator = judging(
    "--negative", metavar="VALUE", help="The label that is harmless; every other one is the alarm."
)
LABELS: Decorator = judging(
    "--labels", type=labels, metavar="A,B", help="All labels there may be, also absent ones."
)
MODES = ("auto", "exact", "cuts", "grid")
MODE: Decorator = judging(
    "--mode",
    type=click.Choice(MODES),
    default=MODES[0],
    show_default=True,
    help="How scores are kept: all; cuts, exact in less memory; a grid, with bounds.",
)
PAIR_MODE: Decorator = judging(
    "--mode",
    type=click.Choice([mode for mode in MODES if mode != "cuts"]),
    default=MODES[0],
    show_default=True,
    help="Keep every pair of scores, or count them into cells of a grid, with bounds: any number "
    "of rows in little memory. auto: exact up to 5 million rows.",
)
VOLUME: Decorator = judging(
    "--volume", type=positive_number, metavar="N", help="Rows a day in deployment."
)
THRESHOLD: Decorator = judging(
    "--threshold",
    type=number,
    metavar="T",
    help="Rows are flagged from this score on.  [default: 0.5 for scores in [0, 1]]",
)
FLIPS: Decorator = judging(
    "--flips",
    type=FilePath(),
    metavar="FILE",
    help="Write the rows that flipped, as .csv, .jsonl or .parquet.",
)
BASE_RATE: Decorator = judging(
    "--base-rate",
    type=share,
    metavar="SHARE",
    help="Share of attacks in deployment, as 0.001, 0.1%, 1/1000.",
)
BASE_RATES: Decorator = judging(
    "--base-rate",
    type=share,
    multiple=True,
    metavar="SHARE",
    help="Share of attacks in deployment, as 0.001, 0.1%, 1/1000; may be repeated.",
)


def must_name_one_side(positive: str | None, negative: str | None) -> None:
    """Refuse a positive and a negative label at once."""
    if positive is not None and negative is not None:
        raise click.UsageError("give --positive or --negative, not both")


def costs(section: str) -> Decorator:
    """What each kind of error costs, under a heading of the help."""
    alarm = click.option(
        "--cost-fp",
        cls=Option,
        section=section,
        type=positive_number,
        metavar="A",
        help="What a false alarm costs; needs --cost-fn.",
    )
    miss = click.option(
        "--cost-fn",
        cls=Option,
        section=section,
        type=positive_number,
        metavar="B",
        help="What a missed attack costs; needs --cost-fp.",
    )
    return lambda command: alarm(miss(command))


def out_file(section: str) -> Decorator:
    """Where to write, under a heading of the help."""
    return click.option(
        "-o",
        "--out",
        cls=Option,
        section=section,
        type=FilePath(),
        help="Write to this file, whole or not at all, instead of standard output.",
    )


column_option = partial(click.option, cls=Option, section="Columns", metavar="COL")
# Of tables to learn from.
LEARNED_LABEL: Decorator = column_option("--label", required=True, help="What is true of a row.")
DROP: Decorator = column_option("--drop", multiple=True, help="Not a feature; may be repeated.")

which_runs = partial(click.option, cls=Option, section="Which runs")
RUN_NAME: Decorator = which_runs("--name", metavar="NAME", help="Of this name.")
RUN_TAG: Decorator = which_runs("--tag", metavar="TAG", help="With this tag.")

CONFIDENCE_GIVEN = 0.9

constraint = partial(click.option, cls=Option, section="What must be kept")


def family_share(text: str) -> tuple[str | None, float]:
    """A share of all positives, or of a family, written FAMILY=X.

    >>> family_share("0.9"), family_share("brute force=80%")
    ((None, 0.9), ('brute force', 0.8))
    """
    family, equals, value = text.rpartition("=")
    if equals and not family:
        raise click.BadParameter(f"{text!r} names no family; write dos=0.9")
    return (family if equals else None), share(value)


MAX_FAR: Decorator = constraint(
    "--max-far",
    type=share,
    metavar="X",
    help="False alarm rate FP/(FP+TP) of at most this, at the base rate.",
)
MAX_FPR: Decorator = constraint(
    "--max-fpr", type=share, metavar="X", help="False positive rate of at most this."
)
MIN_DR: Decorator = constraint(
    "--min-dr",
    type=family_share,
    multiple=True,
    metavar="X|FAMILY=X",
    help="Detection rate of at least this, of all or of one family; may be repeated.",
)
CONFIDENCE: Decorator = constraint(
    "--confidence",
    type=share,
    default=str(CONFIDENCE_GIVEN),
    show_default=True,
    metavar="SHARE",
    help="How sure all of it together must be kept.",
)


def detection_rates(
    given: tuple[tuple[str | None, float], ...],
) -> tuple[float | None, dict[str, float]]:
    """The lowest detection rate of all, and those of families."""
    names = [family for family, _ in given]
    if len(set(names)) < len(names):
        raise click.UsageError("--min-dr is given twice for the same rows")
    families = {family: share for family, share in given if family is not None}
    return next((share for family, share in given if family is None), None), families
