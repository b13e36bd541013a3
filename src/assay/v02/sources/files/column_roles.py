"""Which column is what, as named or recognised by its name, and which line has the names."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Mapping, Sequence

from assay.errors import InputError, MissingColumn
from assay.v02.sources.files.inputs import is_named
from assay.v02.sources.files.request import OpenedTable, Request
from assay.v02.sources.validation import DECISION, INCIDENT, LABEL, SCORE, Roles

# Case, blanks, dashes, points and underscores aside.
WELL_KNOWN = {
    LABEL: (
        *("label", "y_true", "truth", "class", "target"),
        *("actual", "ground_truth", "y", "y_test"),
    ),
    SCORE: (
        *("score", "y_score", "prob", "probability"),
        *("proba", "y_prob", "p", "risk", "anomaly_score"),
    ),
    INCIDENT: ("incident", "incident_id"),
    DECISION: ("y_pred", "prediction", "decision", "predicted", "pred", "alert"),
}
# The probability of each of the labels 0 and 1.
_PAIRS = ("prob_*", "proba_*", "probability_*", "p_*")
_SIGNS = re.compile(r"[\s_.-]+")
_LISTED = 30


def roles_of(table: OpenedTable, request: Request) -> Roles:
    """Decide which columns of a table are read."""
    if request.score is not None and (request.probabilities or request.probability_pattern):
        raise InputError("give a score or probabilities, not both")
    named = [request.label, request.score, request.decision, request.count, request.weight]
    named += request.probabilities.values()
    grouping = [*request.slices, request.family, request.time, request.cluster, request.strata]
    grouping.append(request.incident)
    models, patterns = _models(table, request.models)
    named += [*(models or ()), request.id]
    for column in (*named, *grouping):
        if column is not None and not (column == request.label and request.label_if_there):
            must_have(table, column)
    claimed, grouped = set(named), set(grouping)
    label = request.label or _recognised(table, LABEL, claimed, grouped)
    if request.label_if_there and label not in table.columns:
        label = None
    elif label is None:
        taken_label = [column for column in well_known(table.columns, LABEL) if column in claimed]
        if taken_label:
            raise InputError(
                f"{table.name}: column {taken_label[0]!r} can't be the label and "
                f"{_said_of(taken_label[0], request)} at once; say which column is which"
            )
        raise InputError(
            f"{table.name}: no column is known to hold the labels, such as "
            f"{', '.join(WELL_KNOWN[LABEL])}. Say which with label=. {_listed_columns(table)}"
        )
    probabilities = dict(request.probabilities)
    if request.probability_pattern is not None:
        probabilities = {
            **_matching(table, request.probability_pattern, claimed | {label}),
            **probabilities,
        }
    excluded = claimed | grouped | {label}
    classes = {pattern: _matching(table, pattern, excluded) for pattern in patterns}
    score, decision = request.score, request.decision
    if score is None and decision is None and not probabilities and models is None:
        score = _recognised(table, SCORE, claimed | {label}, grouped)
        probabilities = _pair(table, claimed | grouped | {label}, score)
        ranked = score is not None or bool(probabilities)
        if not ranked or not request.by_threshold:
            decision = _recognised(table, DECISION, claimed | {label}, grouped)
        if not ranked and decision is None:
            raise InputError(
                f"{table.name}: no column is known to hold what the model said, such as "
                f"{', '.join((*WELL_KNOWN[SCORE], *WELL_KNOWN[DECISION]))}. "
                f"{_perhaps_probabilities(table, excluded)}{_claimed_note(table, claimed, request)}"
                f"Say which with score=, decision= or probabilities=. {_listed_columns(table)}"
            )
    chosen = {"score": score, "decision": decision, "weight": request.weight}
    must_have_one_role(table, label, chosen)
    for column in models or ():
        must_have_one_role(table, label, {"model's column": column})
    slices = dict.fromkeys(request.slices)
    if request.family is not None:
        slices[request.family] = None
    if request.strata is not None:
        slices[request.strata] = None
    slices.pop(request.time or "", None)
    return Roles(
        label=label,
        score=score,
        decision=decision,
        probabilities=probabilities,
        slices=tuple(slices),
        family=request.family,
        time=request.time,
        count=request.count,
        weight=request.weight,
        cluster=request.cluster,
        models=models,
        id=request.id,
        model_classes=classes,
        incident=request.incident or _incident(table, claimed | grouped | {label}),
    )


def _incident(table: OpenedTable, claimed: set[str | None]) -> str | None:
    """The column that names incidents, where one is called so and is nothing else."""
    candidates = [column for column in well_known(table.columns, INCIDENT) if column not in claimed]
    return candidates[0] if len(candidates) == 1 else None


def _models(
    table: OpenedTable, wanted: Sequence[str] | None
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The columns of models that a table has, and the patterns that name several at once.

    Others must say in which file they are.
    """
    if wanted is None:
        return None, ()
    names: dict[str, None] = {}
    for column in wanted:
        file, _, rest = column.rpartition(":")
        if column in table.columns or not file:
            names[column] = None
        elif is_named(table.name, file):
            names[rest] = None
    patterns = [name for name in names if name not in table.columns and "*" in name]
    columns = [name for name in names if name not in patterns]
    for column in columns:
        must_have(table, column)
    return tuple(columns), tuple(patterns)


def _said_of(column: str, request: Request) -> str:
    """What a column was said to be, where it is not a group of rows."""
    roles = {"count": request.count, "weight": request.weight, "id": request.id}
    role = next((role for role, named in roles.items() if named == column), None)
    return "what the model said" if role is None else f"the {role}"


def _claimed_note(table: OpenedTable, claimed: set[str | None], request: Request) -> str:
    """That a column which would have been recognised was said to be something else."""
    well_known_names = (*well_known(table.columns, SCORE), *well_known(table.columns, DECISION))
    column = next((column for column in well_known_names if column in claimed), None)
    if column is None:
        return ""
    return f"Column {column!r} is {_said_of(column, request)}, as was said. "


def must_have(table: OpenedTable, column: str) -> None:
    """Refuse a column that a table does not have, with the nearest names."""
    if column in table.columns:
        return
    suggestions = difflib.get_close_matches(column, table.columns, n=3, cutoff=0.6)
    folded = [c for c in table.columns if c.strip().casefold() == column.strip().casefold()]
    suggestions = list(dict.fromkeys([*folded, *suggestions]))
    advice = f"; did you mean {', '.join(map(repr, suggestions))}?" if suggestions else "."
    raise MissingColumn(
        f"{table.name} has no column {column!r}{advice} {_listed_columns(table)}", column
    )


def must_have_one_role(
    table: OpenedTable, label: str | None, others: Mapping[str, str | None]
) -> None:
    """Refuse a label that is also something else; ``others`` maps a role to its column."""
    for role, column in others.items():
        if column is not None and column == label:
            raise InputError(
                f"{table.name}: column {label!r} can't be the label and the {role} at once; say "
                f"which column is which"
            )


def has_columns(names: Sequence[str], request: Request) -> bool:
    """Whether these names are a header: all columns that were named, or else a label.

    >>> (
    ...     has_columns(["host", "label"], Request()),
    ...     has_columns(["host", "label"], Request(score="s")),
    ... )
    (True, False)
    """
    named = (request.label, request.score, request.decision, *request.probabilities.values())
    wanted = [column for column in named if column is not None]
    return all(column in names for column in wanted) if wanted else bool(well_known(names, LABEL))


def _listed_columns(table: OpenedTable) -> str:
    shown = ", ".join(repr(column) for column in table.columns[:_LISTED])
    more = len(table.columns) - _LISTED
    listed = f"Its columns are {shown}" + (f" and {more:,} more" if more > 0 else "")
    return f"{listed}. {table.hint}" if table.hint else listed


def well_known(columns: Sequence[str], role: str) -> list[str]:
    """The columns whose names tell a role.

    >>> well_known(["Ground Truth", "host", "y-pred"], LABEL)
    ['Ground Truth']
    """
    return named_like(columns, WELL_KNOWN[role])


def named_like(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns that have one of these names: case, blanks, dashes and points aside."""
    wanted = {_letters(name) for name in names}
    return [column for column in columns if _letters(column) in wanted]


def _letters(name: str) -> str:
    return _SIGNS.sub("", name.casefold())


def _pair(table: OpenedTable, claimed: set[str | None], score: str | None) -> dict[str, str]:
    """The columns of the probabilities of 0 and 1, where both are there."""
    columns = {column.strip().casefold(): column for column in table.columns}
    pairs = [
        {label: columns[name.replace("*", label)] for label in "01"}
        for name in _PAIRS
        if all(columns.get(name.replace("*", label)) not in {None, *claimed} for label in "01")
    ]
    if len(pairs) + (score is not None) > 1:
        which = [] if score is None else [f"score={score!r}"]
        which += [f"probabilities={pair['1'][:-1] + '*'!r}" for pair in pairs]
        raise InputError(
            f"{table.name}: several columns may be what the model said. Say which with "
            f"{' or '.join(which)}"
        )
    return pairs[0] if pairs else {}


def _perhaps_probabilities(table: OpenedTable, claimed: set[str | None]) -> str:
    """The pattern that may be meant, where columns have a name and a label each."""
    columns = [column for column in table.columns if column not in claimed]
    for pattern in _PAIRS:
        start = pattern.removesuffix("*")
        like = [column for column in columns if column.casefold().startswith(start)]
        if len(like) > 1 and len({column[: len(start)] for column in like}) == 1:
            return f"Perhaps probabilities={like[0][: len(start)] + '*'!r} is meant. "
    return ""


def _recognised(
    table: OpenedTable, role: str, claimed: set[str | None], grouped: set[str | None]
) -> str | None:
    """The column with a well-known name; rather one that nothing is grouped by."""
    well_named = [column for column in well_known(table.columns, role) if column not in claimed]
    candidates = [column for column in well_named if column not in grouped] or well_named
    if len(candidates) > 1:
        which = " or ".join(f"{role}={column!r}" for column in candidates)
        raise InputError(
            f"{table.name}: several columns may be the {role}: {', '.join(map(repr, candidates))}. "
            f"Say which with {which}"
        )
    return candidates[0] if candidates else None


def _matching(table: OpenedTable, pattern: str, claimed: set[str | None]) -> dict[str, str]:
    """The columns that a pattern such as p_* names, by what the star stands for."""
    before, star, after = pattern.partition("*")
    if not star or "*" in after:
        raise InputError(f"probabilities are a pattern with one star, such as 'p_*': {pattern!r}")
    fixed = len(before) + len(after)
    by_label = {
        column[len(before) : len(column) - len(after)]: column
        for column in table.columns
        if column.startswith(before)
        and column.endswith(after)
        and len(column) > fixed
        and column not in claimed
    }
    if not by_label:
        raise InputError(f"{table.name}: no column matches {pattern!r}. {_listed_columns(table)}")
    return by_label


def same_roles(table: OpenedTable, roles: Roles, first: str) -> None:
    """Refuse a further table that lacks a column that the first one gave."""
    absent: Sequence[str] = [column for column in roles.columns if column not in table.columns]
    if absent:
        raise InputError(
            f"{table.name} has no column {absent[0]!r}, which {first} has. {_listed_columns(table)}"
        )


# -- which line names the columns of text ----------------------------------------------------------

# The columns of text without a header are called so, with their numbers.
NUMBERED = "column_"
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_OTHER_DELIMITERS = {";": "';'", "\t": "'\\t'", "|": "'|'", ",": "','", " ": "' '"}
# How many lines are looked at for a header below other lines, and of how many the fields are
# counted that follow it.
_LINES, _FOLLOWING = 100, 3


def header_hint(
    header: Sequence[str], beginning: bytes, sign: bytes, quote: bytes, request: Request
) -> str:
    """The options that may be meant; ``header`` is the first record, where it could be split."""
    below = _header_below(beginning, sign, quote, request)
    if below or not header:
        return below
    if len(header) == 1 and header[0].startswith("#"):
        return "Its first line is a comment: remove what stands above the names of the columns"
    if header[0].lstrip().startswith("|"):
        return "It looks like a table in Markdown: write it with commas, and without the bars"
    others = [shown for other, shown in _OTHER_DELIMITERS.items() if other in header[0]]
    if len(header) == 1 and others:
        return f"Its header is one field, {header[0]!r}: perhaps delimiter={others[0]} is meant"
    if len(header) > 1 and all(re.fullmatch("'.*'", name) for name in header):
        return 'The names of its columns stand between apostrophes: perhaps quote="\'" is meant'
    values = [cell for cell in header if _NUMBER.fullmatch(cell)]
    if not values:
        return ""
    scores = [i for i, cell in enumerate(header) if _NUMBER.fullmatch(cell) and "." in cell]
    score = scores[0] if scores else len(header) - 1
    label = next((i for i in range(len(header)) if i != score), score)
    which = f"line {request.skip_lines + 1}" if request.skip_lines else "first line"
    return (
        f"Its {which} looks like values, not names: perhaps header=False is meant, with "
        f"label='{NUMBERED}{label + 1}' and score='{NUMBERED}{score + 1}'"
    )


def _header_below(beginning: bytes, sign: bytes, quote: bytes, request: Request) -> str:
    """What to say of a header that stands below other lines, such as the title of an export."""
    options = {sign.decode(): ""} | {
        other: f"delimiter={shown} with "
        for other, shown in _OTHER_DELIMITERS.items()
        if other.encode() not in (sign, quote, b" ")
    }
    places = {}
    for delimiter, option in options.items():
        above = _header_at(beginning, delimiter.encode(), quote, request)
        if above == 0:
            return ""
        if above is not None:
            places[option] = above
    if not places:
        return ""
    option = min(places, key=places.__getitem__)
    lines = request.skip_lines + places[option]
    return (
        f"The names of its columns seem to stand in line {lines + 1}: perhaps {option}"
        f"skip_lines={lines} is meant"
    )


def _header_at(beginning: bytes, sign: bytes, quote: bytes, request: Request) -> int | None:
    """Which line is likely the header: the one of the columns asked for, or the first of a table.

    Above a table stand lines of which half of the fields or more are empty or not there.
    """
    lines: list[list[str]] = []
    for line in beginning.rstrip(b"\r\n").split(b"\n", _LINES)[:_LINES]:
        fields = _loose_fields(line, sign, quote)
        if _may_be_names(fields) and has_columns(fields, request):
            return len(lines)
        lines.append(fields)
    for i, names in enumerate(lines):
        rows = lines[i + 1 : i + 1 + _FOLLOWING]
        if _may_be_names(names) and rows and all(len(row) == len(names) for row in rows):
            return i
        if 2 * sum(map(bool, names)) > max(map(len, lines)):
            return None
    return None


def _loose_fields(line: bytes, sign: bytes, quote: bytes) -> list[str]:
    """The fields of a line by itself, none where it can't be split."""
    try:
        return fields_of(line.removesuffix(b"\r"), sign, quote, strict=False)
    except csv.Error:
        return []


def _may_be_names(cells: Sequence[str]) -> bool:
    """Whether cells differ and are no numbers; the first and the last may be empty."""
    names = [cell for cell in cells if cell]
    return (
        len(names) > 1
        and all(cells[1:-1])
        and len(set(names)) == len(names)
        and not any(map(_NUMBER.fullmatch, names))
    )


def fields_of(record: bytes, sign: bytes, quote: bytes, *, strict: bool) -> list[str]:
    """The fields of one record."""
    reader = csv.reader(
        io.StringIO(record.decode(), newline=""),
        delimiter=sign.decode(),
        quotechar=quote.decode() or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        strict=strict,
    )
    return next(reader, [])
