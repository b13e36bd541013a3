"""One query that only selects: what may stand inside a statement of ours."""

from __future__ import annotations

import re

from assay.errors import InputError

# Comments, and whatever stands in quotes.
_ASIDE = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`", re.DOTALL)
_FIRST = ("select", "with", "from", "values", "table")


def one_select(query: str, name: str) -> str:
    """The query without its last semicolon; refused unless it is a single SELECT.

    What runs it still has to be opened for reading only: this is the friendly half of the guard.

    >>> one_select("select label, score from flows;", "flows.db")
    'select label, score from flows'
    """
    text = query.strip()
    bare = _ASIDE.sub(lambda match: " " if match[0][0] in "-/" else "''", text).strip()
    if bare.endswith(";"):
        if not text.endswith(";"):
            raise InputError(f"{name}: a comment follows the query's semicolon; leave both out")
        text, bare = text[:-1].rstrip(), bare[:-1]
    start = bare.lstrip(" \t\r\n(").split(None, 1)
    if not start:
        raise InputError(f"{name} has no query; write one SELECT")
    word = re.match(r"\w*", start[0].lower())
    if word is None or word[0] not in _FIRST or ";" in bare:
        raise InputError(
            f"{name}: the query is no single SELECT: found {bare[:40].strip()!r}. Only one SELECT "
            f"that reads is allowed"
        )
    depth = 0
    for sign in bare:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
    if depth:
        raise InputError(f"{name}: the query's parentheses do not match")
    return text
