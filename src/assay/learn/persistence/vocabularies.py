"""Long lists of words, as arrays: skops would describe each word in the schema by itself.

A vocabulary of a million terms is 200 MB of schema, and as JSON inside an array of bytes a tenth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError

VOCABULARY, CATEGORIES = "vocabulary_", "categories_"
# Patterns that look at each character of a text once; the first is scikit-learn's own. Others may
# take longer than anybody waits, and which of them do is hard to tell.
TOKEN_PATTERNS = (r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\b\w\w+\b", r"\b\w+\b", r"\w+", r"\S+")
# The longest run of words or characters that may be a term: a text has as many as it is long.
LONGEST_TERM = 16


@contextmanager
def words_packed(model: Any) -> Iterator[None]:
    """A context in which the words inside a model are arrays."""
    before: list[tuple[Any, str, Any]] = []
    try:
        for found in list(objects_in(model)):
            for name, words in _words(found).items():
                before.append((found, name, getattr(found, name)))
                text = json.dumps(words).encode()
                setattr(found, name, np.frombuffer(text, np.uint8))
        yield
    finally:
        for found, name, value in before:
            setattr(found, name, value)


def unpack_words(model: Any) -> None:
    """Turn the arrays of a loaded model back into words."""
    for found in list(objects_in(model)):
        for name in (VOCABULARY, CATEGORIES):
            value = vars(found).get(name)
            if isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 1:
                words = _parsed(value)
                if name == VOCABULARY:
                    setattr(found, name, _vocabulary(words))
                elif all(map(_texts, words)):
                    setattr(found, name, words)
                else:
                    raise InputError("the categories of a column in it are no texts")


def must_cut_words(model: Any) -> None:
    """Refuse what would cut texts into words, or into runs of them, without an end."""
    for found in objects_in(model):
        pattern = vars(found).get("token_pattern")
        if pattern is not None and pattern not in TOKEN_PATTERNS:
            known = ", ".join(TOKEN_PATTERNS)
            raise InputError(
                f"it would cut texts by the pattern {str(pattern)[:60]!r}, which may take forever; "
                f"a model file may have {known}. For others put a step before it"
            )
        runs = vars(found).get("ngram_range")
        if runs is not None and not _are_runs(runs):
            raise InputError(
                f"it would make terms of {str(runs)[:60]} words or characters; there are 1 to "
                f"{LONGEST_TERM}"
            )


def _are_runs(runs: Any) -> bool:
    pair = isinstance(runs, tuple | list) and len(runs) == 2
    return pair and all(type(end) is int and 1 <= end <= LONGEST_TERM for end in runs)


def _words(found: Any) -> dict[str, list[Any]]:
    """What can be packed of an object: a vocabulary in the order of its columns, categories."""
    packable: dict[str, list[Any]] = {}
    vocabulary = vars(found).get(VOCABULARY)
    if isinstance(vocabulary, dict) and _texts(list(vocabulary)):
        words = sorted(vocabulary, key=lambda word: int(vocabulary[word]))
        if [vocabulary[word] for word in words] == list(range(len(words))):
            packable[VOCABULARY] = words
    categories = vars(found).get(CATEGORIES)
    if isinstance(categories, list) and all(map(_texts, categories)):
        packable[CATEGORIES] = categories
    return packable


def _parsed(value: npt.NDArray[np.uint8]) -> list[Any]:
    try:
        found = json.loads(value.tobytes())
    except (ValueError, RecursionError) as odd:
        raise InputError(f"a list of words in it is no JSON ({odd})") from odd
    if not isinstance(found, list):
        raise InputError("a list of words in it is no list")
    return found


def _vocabulary(words: list[Any]) -> dict[str, int]:
    found = {word: place for place, word in enumerate(words)} if _texts(words) else {}
    if len(found) < len(words):
        raise InputError("a vocabulary in it has a word twice, or something that is no word")
    return found


def _texts(found: Any) -> bool:
    return isinstance(found, list) and all(type(one) is str for one in found)


def objects_in(model: Any) -> Iterator[Any]:
    """Every object with attributes that can be reached from a model, each once."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str | int | float | None) or id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, dict):
            waiting += found.values()
        elif isinstance(found, list | tuple | set):
            waiting += found
        elif isinstance(found, np.ndarray):
            waiting += found.ravel().tolist() if found.dtype.hasobject else ()
        elif hasattr(found, "__dict__") and not isinstance(found, type):
            yield found
            waiting += vars(found).values()
