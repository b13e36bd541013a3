"""Claims files, TOML or JSON, and from their plain values to claims, each of them checked."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from assay.v02.decisions.audit.claim import (
    BINARY_CELLS,
    Calculation,
    Claim,
    ClaimedCounts,
    Reported,
    key_of,
    labelled,
)
from assay.v02.decisions.audit.counts import parsed
from assay.v02.decisions.audit.verdicts import Printed, printed
from assay.errors import InputError
from assay.v02.escaping import plural
from assay.v02.inference import METHODS
from assay.v02.sources.columns import ORIENTATIONS
from assay.v02.sources.files.inputs import STDIN, name_of, shown, standard_input, without_query

LARGEST_FILE = 8 << 20
# A key of so many parts takes tomllib minutes.
_DOTTED = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){64}")
FORMATS = ("toml", "json")


def read_claims(
    path: str | Path, *, text: str | bytes | None = None, input_format: str | None = None
) -> tuple[Claim, ...]:
    """The claims of a file, ``-`` for standard input; or of a ``text``, which ``path`` then names.

    The format is told by ``input_format``, else by the suffix, else by the content.

    >>> (claim,) = read_claims("claims.json", text='{"claim": [{"reported": {"f1": 0.90}}]}')
    >>> claim.reported["f1"].unit
    Fraction(1, 100)
    """
    name, content = content_of(path, text)
    document = _parsed(content, name, _format(name, content, input_format))
    shared = _shared(document, name)
    return tuple(
        build({**shared, **raw} if isinstance(raw, dict) else raw, file=name, position=position)
        for position, raw in enumerate(_claims(document, name), 1)
    )


def content_of(path: str | Path, text: str | bytes | None = None) -> tuple[str, str]:
    """What a file is called and its text; of ``text``, where that is given."""
    given = str(path) if text is not None else name_of(path)
    name = "standard input" if given == STDIN else shown(without_query(given))
    if text is None:
        content = _bytes_of(given, name)
    else:
        content = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    if len(content) > LARGEST_FILE:
        raise InputError(
            f"{name} has more than {LARGEST_FILE >> 20} MB; reported numbers are few. "
            f"Is this the right file?"
        )
    return name, _decoded(content, name)


def _bytes_of(given: str, name: str) -> bytes:
    try:
        if given == STDIN:
            return standard_input().read(LARGEST_FILE + 1)
        with Path(given).open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except FileNotFoundError as missing:
        raise InputError(f"there is no file {name}") from missing
    except (OSError, ValueError) as odd:
        why = odd.strerror if isinstance(odd, OSError) else str(odd)
        raise InputError(f"{name} can't be read: {why}") from odd


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as odd:
        raise InputError(
            f"{name}: byte {odd.start + 1} is not UTF-8; save it as text in UTF-8 (a workbook "
            f"as CSV, an archive unpacked)"
        ) from odd


def _format(name: str, content: str, asked: str | None) -> str:
    if asked is not None:
        if asked not in FORMATS:
            raise InputError(f"{name}: a claims file is {' or '.join(FORMATS)}; found {asked!r}")
        return asked
    suffix = Path(name).suffix.lower().removeprefix(".")
    if suffix in FORMATS:
        return suffix
    return "json" if content.lstrip()[:1] == "{" else "toml"


def _parsed(text: str, name: str, kind: str) -> Any:
    try:
        if kind == "toml":
            if _DOTTED.search(text):
                raise InputError(f"{name} is nested too deeply for a claims file")
            # Newlines as TOML wants them; a lone carriage return is an error there.
            return tomllib.loads(text, parse_float=Decimal)
        return json.loads(
            text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_no_repeats
        )
    except RecursionError as odd:
        raise InputError(f"{name} is nested too deeply for a claims file") from odd
    except ValueError as odd:
        raise InputError(f"{name} is no {kind.upper()} that can be read: {odd}") from odd


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _no_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:40]!r} stands twice in one object")
    return table


def _claims(document: Any, name: str) -> Sequence[Any]:
    expected = 'expected [[claim]] tables, or {"claim": [...]} in JSON'
    if not isinstance(document, dict):
        raise InputError(f"{name}: found {_kind(document)}; {expected}")
    unknown_keys(document, ("claim", "shared", "schema"), f"{name}: at the top")
    claims = document.get("claim")
    if isinstance(claims, dict):
        return [claims]
    if not isinstance(claims, list) or not claims:
        what = "no claim" if not claims else f"claim = {_kind(claims)}"
        raise InputError(f"{name}: found {what}; {expected}")
    return claims


def _shared(document: Any, name: str) -> dict[str, Any]:
    """What all claims of a file share, such as the totals of one test set; a claim's own win."""
    shared = document.get("shared", {}) if isinstance(document, dict) else {}
    if not isinstance(shared, dict):
        raise InputError(f"{name}: found shared = {_kind(shared)}; expected a table")
    return shared


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", dict: "a table", type(None): "nothing"}
    return names.get(type(value), f"the value {str(value)[:40]}")


# -- from plain values to a claim ------------------------------------------------------------------

KEYS = (
    "name", "source", "positive", "negative", "confusion", "labels", "matrix", "orientation",
    "support", "n", "reported", "folds", "aggregate", "arithmetic", "dataset", "train", "interval",
    "level", "exhaustive",
)  # fmt: skip
AGGREGATES = ("pooled", "fold-mean")
# Methods of intervals beside those of the catalogue, and other names of theirs.
CORRECTED = ("wald-cc", "wilson-cc")
OTHER_NAMES = {"normal": "wald", "exact": "clopper-pearson", "score": "wilson"}
LARGEST_COUNT = 10**30
MOST_LABELS = 1000
_COUNT = re.compile(r"\d{1,3}(?:,\d{3})+|\d+", re.ASCII)


def build(raw: Any, *, file: str = "", position: int = 1) -> Claim:
    """A claim from a table as the contract describes it."""
    given = f"claim {position}"
    if isinstance(raw, Mapping) and isinstance(raw.get("name"), str):
        given = f"claim {raw['name'][:60]!r}"
    try:
        return _Builder(raw, f"claim {position}", file).claim()
    except InputError as odd:
        where = f"{file}, {given}" if file else given
        raise type(odd)(f"{where}: {odd}") from odd


def unknown_keys(table: Mapping[Any, Any], known: Sequence[str], where: str) -> None:
    """Refuse keys that mean nothing here, with the nearest that does."""
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(str(key)[:60].lower(), known, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; expected {', '.join(known)}"
            raise InputError(f"{where}: unknown key {str(key)[:60]!r}{hint}")


class _Builder:
    """Reads one table; every method reads one key of it."""

    def __init__(self, raw: Any, name: str, file: str) -> None:
        if not isinstance(raw, Mapping):
            raise InputError(f"found {_shown(raw)}; expected a table")
        unknown_keys(raw, KEYS, "in the claim")
        self._raw, self._empty = _filled(raw)
        self._name = name
        self._file = file

    def claim(self) -> Claim:
        reported = self._reported()
        folds = {key: self._fold(key, value) for key, value in self._table("folds").items()}
        named = labelled(
            ClaimedCounts(
                confusion=self._confusion(),
                labels=self._labels(),
                matrix=self._matrix(),
                support=self._counts("support"),
                train=self._counts("train"),
                positive=self._label("positive"),
                negative=self._label("negative"),
                exhaustive=self._flag("exhaustive"),
            ),
            [key_of(key) for key in (*reported, *folds)],
        )
        return Claim(
            name=self._text("name") or self._name,
            source=self._text("source"),
            positive=named.positive,
            negative=named.negative,
            labels=named.labels,
            matrix=named.matrix,
            cells=named.cells,
            support=self._counts("support"),
            n=self._size(),
            reported=reported,
            folds=folds,
            aggregate=self._choice("aggregate", AGGREGATES),
            arithmetic=self._arithmetic(),
            dataset=self._text("dataset") or None,
            train=self._counts("train"),
            interval=self._method(),
            level=self._level(),
            file=self._file,
            notes=(*named.notes, *self._empty),
            exhaustive=self._flag("exhaustive"),
        )

    # -- plain values ------------------------------------------------------------------------------

    def _text(self, key: str) -> str:
        value = self._raw.get(key, "")
        if not isinstance(value, str):
            raise InputError(f"{key}: found {_shown(value)}; expected a text")
        return value

    def _label(self, key: str) -> str | None:
        return None if key not in self._raw else label_of(self._raw[key], key)

    def _flag(self, key: str) -> bool:
        value = self._raw.get(key, True)
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"{key}: found {_shown(value)}; expected true or false")
        return bool(value)

    def _choice(self, key: str, allowed: Sequence[str]) -> str | None:
        value = self._raw.get(key)
        if value is not None and value not in allowed:
            raise InputError(f"{key}: found {_shown(value)}; expected {' or '.join(allowed)}")
        return None if value is None else str(value)

    def _table(self, key: str) -> Mapping[str, Any]:
        value = self._raw.get(key, {})
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise InputError(f"{key}: found {_shown(value)}; expected a table")
        return value

    # -- counts ------------------------------------------------------------------------------------

    def _confusion(self) -> Mapping[str, int] | None:
        if "confusion" not in self._raw:
            return None
        if "matrix" in self._raw:
            raise InputError("confusion and matrix are both given; expected one of them")
        unknown_keys(self._table("confusion"), BINARY_CELLS, "confusion")
        return self._counts("confusion")

    def _counts(self, key: str) -> dict[str, int]:
        return {name: count_of(value, f"{key}.{name}") for name, value in self._table(key).items()}

    def _labels(self) -> tuple[str, ...]:
        value = self._raw.get("labels", [])
        if not isinstance(value, list | tuple):
            raise InputError(f"labels: found {_shown(value)}; expected a list of labels")
        labels = tuple(label_of(label, "labels") for label in value)
        _no_twice(labels, "labels")
        if len(labels) == 1 or len(labels) > MOST_LABELS:
            raise InputError(f"labels: found {len(labels)}; expected 2 to {MOST_LABELS:,} of them")
        return labels

    def _matrix(self) -> tuple[tuple[int, ...], ...] | None:
        orientation = self._choice("orientation", ORIENTATIONS)
        if "matrix" not in self._raw:
            if orientation == "predicted-rows":
                raise InputError("orientation is given without a matrix that it could speak of")
            return None
        value, size = self._raw["matrix"], len(self._labels())
        if not size:
            raise InputError('a matrix needs its labels, as labels = ["normal", "attack"]')
        if not isinstance(value, list | tuple) or not all(
            isinstance(row, list | tuple) for row in value
        ):
            raise InputError(f"matrix: found {_shown(value)}; expected a list of rows")
        widths = [len(row) for row in value]
        if widths != [size] * size:
            raise InputError(
                f"matrix: found {len(widths)} {plural(len(widths), 'row', 'rows')} of "
                f"{_listed(sorted(set(widths)))} cells; "
                f"{size} labels need {size} rows of {size}"
            )
        rows = tuple(
            tuple(count_of(cell, f"matrix, row {i}, column {j}") for j, cell in enumerate(row, 1))
            for i, row in enumerate(value, 1)
        )
        return tuple(zip(*rows, strict=True)) if orientation == "predicted-rows" else rows

    def _size(self) -> Printed | None:
        if "n" not in self._raw:
            return None
        size = number_of(self._raw["n"], "n")
        if size.value < 0 or size.percent:
            raise InputError(f"n: found {size.text}; expected how many rows there are")
        return size

    # -- numbers -----------------------------------------------------------------------------------

    def _reported(self) -> dict[str, Reported]:
        numbers: dict[str, Reported] = {}
        for key, value in self._table("reported").items():
            where = f"reported {key[:60]!r}"
            if key_of(key).statistic == "ci":
                if not isinstance(value, list | tuple) or len(value) != 2:
                    raise InputError(
                        f'{where}: found {_shown(value)}; expected both ends, as ["95%", "97%"]'
                    )
                numbers[key] = number_of(value[0], where), number_of(value[1], where)
            else:
                numbers[key] = number_of(value, where)
        return numbers

    def _fold(self, key: str, value: Any) -> tuple[Printed, ...]:
        if key_of(key).statistic is not None:
            raise InputError(f"folds: {key!r} is a statistic; expected a measure, as accuracy")
        if not isinstance(value, list | tuple) or not value:
            raise InputError(f"folds.{key}: found {_shown(value)}; expected a list, a value a fold")
        return tuple(number_of(item, f"folds.{key}") for item in value)

    def _arithmetic(self) -> tuple[Calculation, ...]:
        value = self._raw.get("arithmetic", [])
        if isinstance(value, Mapping):
            value = [value]
        if not isinstance(value, list | tuple):
            raise InputError(f"arithmetic: found {_shown(value)}; expected a list of tables")
        calculations = []
        for position, line in enumerate(value, 1):
            where = f"arithmetic {position}"
            if not isinstance(line, Mapping) or not isinstance(line.get("expression"), str):
                raise InputError(
                    f'{where}: found {_shown(line)}; expected {{ expression = "1 + 1", '
                    f'reported = "2" }}'
                )
            unknown_keys(line, ("expression", "reported"), where)
            if "reported" not in line:
                raise InputError(f"{where}: reported is missing: what is {line['expression']!r}?")
            parsed(line["expression"])
            calculations.append(Calculation(line["expression"], number_of(line["reported"], where)))
        return tuple(calculations)

    # -- intervals ---------------------------------------------------------------------------------

    def _method(self) -> str | None:
        value = self._raw.get("interval")
        if value is None:
            return None
        known = (*METHODS, *CORRECTED)
        name = value.strip().lower().replace("_", "-").replace(" ", "-") if _is_text(value) else ""
        name = OTHER_NAMES.get(name, name)
        if name not in known:
            raise InputError(f"interval: found {_shown(value)}; expected {', '.join(known)}")
        return name

    def _level(self) -> float | None:
        if "level" not in self._raw:
            return None
        level = number_of(self._raw["level"], "level")
        share = level.value / 100 if level.value > 1 else level.value
        if not 0.5 <= share < 1:
            raise InputError(f"level: found {level.text}; expected a share such as 0.95")
        return float(share)


def _filled(raw: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A table without what was left empty in it, as a template leaves it, and how that is said."""
    kept: dict[str, Any] = {}
    empty: list[str] = []
    for key, value in raw.items():
        if key in ("reported", "confusion", "support", "folds", "train") and isinstance(
            value, Mapping
        ):
            entries = {name: _without_blanks(entry) for name, entry in value.items()}
            kept[key] = {name: entry for name, entry in entries.items() if entry != ""}
            empty += [name for name, entry in entries.items() if entry == ""]
            if not kept[key] and value:
                del kept[key]
        elif key == "n" and value == "":
            empty.append(key)
        else:
            kept[key] = value
    if empty and not any(kept.get(key) for key in ("reported", "arithmetic", "n")):
        raise InputError(
            f"nothing is filled in: {_listed(empty[:6])} ... are empty; write numbers between the "
            f'quotes, as printed: "0.967"'
        )
    said = f"left empty: {_listed(empty)}"
    return kept, (said,) if empty else ()


def _without_blanks(entry: Any) -> Any:
    """A list without empty texts; one of nothing else is empty itself."""
    if isinstance(entry, list) and "" in entry:
        return [each for each in entry if each != ""] or ""
    return entry


def label_of(value: Any, where: str) -> str:
    """A label as text: integers without a point, booleans in lower case."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, int | np.integer):
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"{where}: found {_shown(value)}; expected a label (text or an integer)")
    return value


def number_of(value: Any, where: str) -> Printed:
    """A printed number, given as text or as a number."""
    if isinstance(value, float | np.floating | np.integer):
        value = str(value)
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise InputError(f'{where}: found {_shown(value)}; expected a number such as "96.70%"')
    try:
        return printed(value)
    except InputError as odd:
        raise InputError(f"{where}: {odd}") from odd
    except ValueError as odd:
        raise InputError(f"{where}: found a number of too many digits") from odd


def count_of(value: Any, where: str) -> int:
    """A count of rows: an integer that is not negative."""
    if isinstance(value, str) and _COUNT.fullmatch(value.strip()) and len(value) < 60:
        value = int(value.replace(",", ""))
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{where}: found {_shown(value)}; expected a count, 0 or more")
    if value > LARGEST_COUNT:
        raise InputError(f"{where}: found a count above 10^30; expected one that can be")
    return value


def _no_twice(names: Sequence[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{where}: {name!r} stands there twice")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _listed(items: Iterable[Any]) -> str:
    return ", ".join(map(str, items))


def _shown(value: Any) -> str:
    """A value as an error names it; never long, whatever it is."""
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:37] + "...")
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= LARGEST_COUNT:
        return "a very large integer"
    return str(value)[:40]
