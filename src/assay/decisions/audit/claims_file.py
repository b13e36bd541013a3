"""Claims files: TOML or JSON, from a path or standard input."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

from assay.decisions.audit.building import build, unknown_keys
from assay.decisions.audit.claim import Claim
from assay.errors import InputError
from assay.sources.files.inputs import STDIN, name_of, shown, standard_input

LARGEST_FILE = 8 << 20
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
    found = _parsed(content, name, _format(name, content, input_format))
    shared = _shared(found, name)
    return tuple(
        build({**shared, **raw} if isinstance(raw, dict) else raw, file=name, position=position)
        for position, raw in enumerate(_claims(found, name), 1)
    )


def content_of(path: str | Path, text: str | bytes | None = None) -> tuple[str, str]:
    """What a file is called and its text; of ``text``, where that is given."""
    given = str(path) if text is not None else name_of(path)
    name = "standard input" if given == STDIN else shown(given)
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
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:40]!r} stands twice in one object")
    return found


def _claims(found: Any, name: str) -> Sequence[Any]:
    expected = 'expected [[claim]] tables, or {"claim": [...]} in JSON'
    if not isinstance(found, dict):
        raise InputError(f"{name}: found {_kind(found)}; {expected}")
    unknown_keys(found, ("claim", "shared", "schema"), f"{name}: at the top")
    claims = found.get("claim")
    if isinstance(claims, dict):
        return [claims]
    if not isinstance(claims, list) or not claims:
        what = "no claim" if not claims else f"claim = {_kind(claims)}"
        raise InputError(f"{name}: found {what}; {expected}")
    return claims


def _shared(found: Any, name: str) -> dict[str, Any]:
    """What all claims of a file share, such as the totals of one test set; a claim's own win."""
    shared = found.get("shared", {}) if isinstance(found, dict) else {}
    if not isinstance(shared, dict):
        raise InputError(f"{name}: found shared = {_kind(shared)}; expected a table")
    return shared


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", dict: "a table", type(None): "nothing"}
    return names.get(type(value), f"the value {str(value)[:40]}")
