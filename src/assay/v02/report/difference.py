"""What differs between two documents: how they came about, their numbers, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from assay.v02.escaping import name, plural
from assay.v02.number_text import count, plain_number
from assay.v02.report.document import Document
from assay.v02.report.sections import Block, Cell, Column, Report, Section, Table, Tier

SCHEMA = "assay.diff/1"
PROVENANCE = "provenance"
# What names an entry of a list, so that like is held against like.
_NAMING = (
    *("model", "measure", "label", "average", "slice", "base_rate", "a", "b", "test", "on"),
    *("rule", "code", "pitfall", "baseline", "key", "name", "column", "value", "family", "goal"),
)
# Told by the numbers beside them.
_DERIVED = frozenset({"headline", "reading", "sentence", "schema", "not_finite", "why", "remedy"})
# In a table a value stands for its interval and its rows, and curves for themselves.
_BESIDE = ("low", "high", "n", "level", "support")
_CURVES = ("per_class", "sweep", "reliability", "slices", "starting", "periods", "tests")
_MOST = 50

Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class ChangedValue:
    """A place of both documents, and what stands there; None where there is nothing."""

    key: str
    first: Scalar
    second: Scalar

    @property
    def numeric(self) -> bool:
        """Whether it is about numbers."""
        ends = (self.first, self.second)
        numbers = [isinstance(end, int | float) and not isinstance(end, bool) for end in ends]
        return any(numbers) and all(n or end is None for n, end in zip(numbers, ends, strict=True))

    def plain(self) -> dict[str, Any]:
        """It as the JSON document has it."""
        ends = {"key": self.key, "first": self.first, "second": self.second}
        return {**ends, "difference": self.difference} if self.numeric else ends

    @property
    def difference(self) -> float | None:
        """The second less the first, where both are numbers."""
        if not self.numeric or self.first is None or self.second is None:
            return None
        return float(self.second) - float(self.first)


def changes(first: Document | Report, second: Document | Report) -> list[ChangedValue]:
    """Every place at which two documents differ, in the order of the first."""
    one, other = (dict(_flat(document.plain)) for document in (first, second))
    keys = dict.fromkeys((*one, *other))
    return [
        ChangedValue(key, one.get(key), other.get(key)) for key in keys if _differ(one, other, key)
    ]


def _differ(one: Mapping[str, Scalar], other: Mapping[str, Scalar], key: str) -> bool:
    return (key in one, one.get(key)) != (key in other, other.get(key))


def _flat(value: Any, at: str = "") -> Iterator[tuple[str, Scalar]]:
    """The scalars of plain values, each by a key that says what it is of."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in _DERIVED:
                yield from _flat(part, f"{at} {key}".strip())
    elif isinstance(value, list):
        used_names: set[str] = set()
        for i, part in enumerate(value):
            called = _entry_name(part)
            called = called if called and called not in used_names else str(i + 1)
            used_names.add(called)
            yield from _flat(part, f"{at} [{called}]")
    else:
        yield at, value


def _entry_name(part: Any) -> str:
    """What an entry of a list is called: the values that name it."""
    if not isinstance(part, dict):
        return ""
    words = []
    for key in _NAMING:
        entry = part.get(key)
        if isinstance(entry, dict):
            words.append(" ".join(map(str, entry.values())))
        elif isinstance(entry, str) or (key == "base_rate" and entry is not None):
            words.append(f"base rate {entry}" if key == "base_rate" else str(entry))
    return ", ".join(word for word in words if word)


# -- as a report -----------------------------------------------------------------------------------


def difference_report(
    first: Document | Report, second: Document | Report, names: tuple[str, str]
) -> Report:
    """What differs between two documents, called by their names."""
    changed = changes(first, second)
    provenance = [each for each in changed if each.key.startswith(PROVENANCE)]
    numbers = [each for each in changed if each.numeric and each not in provenance]
    words = [each for each in changed if each not in provenance and each not in numbers]
    return Report(
        title=f"{name(names[0])} and {name(names[1])}",
        headline=tuple(_headline(first, second, numbers, words, provenance)),
        sections=(
            *_section("Numbers", "What they come to", numbers, names, Tier.MAIN),
            *_section("Words", "What they say", words, names, Tier.ADVANCED),
            *_section("Provenance", "How they came about", provenance, names, Tier.APPENDIX),
        ),
        plain={
            "schema": SCHEMA,
            "first": {"name": names[0], "kind": _kind(first)},
            "second": {"name": names[1], "kind": _kind(second)},
            "numbers": [each.plain() for each in numbers],
            "words": [each.plain() for each in words],
            PROVENANCE: [each.plain() for each in provenance],
        },
        records=tuple(
            {"key": e.key, "first": e.first, "second": e.second, "difference": e.difference}
            for e in changed
        ),
    )


def _headline(
    first: Document | Report,
    second: Document | Report,
    numbers: list[ChangedValue],
    words: list[ChangedValue],
    provenance: list[ChangedValue],
) -> Iterator[str]:
    if _kind(first) != _kind(second):
        yield f"They are of two kinds: {_kind(first)} and {_kind(second)}."
    if not numbers and not words:
        yield "They say the same, to the last digit."
    else:
        yield (
            f"{_so_many(len(numbers), 'number')} and {_so_many(len(words), 'other value')} differ."
        )
    hashes = [each for each in provenance if each.key.endswith("sha256")]
    if hashes:
        yield f"{_so_many(len(hashes), 'input')} {plural(len(hashes), 'is', 'are')} not the same."
    elif not any(each.key.startswith(f"{PROVENANCE} inputs") for each in provenance):
        inputs = first.plain.get(PROVENANCE, {}).get("inputs")
        yield "The inputs are the same." if inputs else "No inputs are told."


def _kind(document: Document | Report) -> str:
    """What a document is of: its own word, or that of its schema."""
    if isinstance(document, Document):
        return document.kind
    return str(document.plain["schema"]).removeprefix("assay.").partition("/")[0]


def _so_many(number: int, noun: str) -> str:
    return f"{count(number)} {plural(number, noun, f'{noun}s')}"


def _section(
    title: str, caption: str, changed: list[ChangedValue], names: tuple[str, str], tier: Tier
) -> Iterator[Section]:
    if not changed:
        return
    numeric = any(each.difference is not None for each in changed)
    columns = (
        Column("value"),
        Column(names[0]),
        Column(names[1]),
        *((Column("difference"),) if numeric else ()),
    )
    rows: list[tuple[Cell, ...]] = []
    for each in [each for each in changed if _is_told(each)][:_MOST]:
        ends = (_shown_value(each.first), _shown_value(each.second))
        last = "" if each.difference is None else plain_number(each.difference)
        rows.append((_name_of(each), *ends, *((last,) if numeric else ())))
    hidden = len(changed) - len(rows)
    notes = (
        (f"{count(hidden)} more differ with them; JSON and CSV have all.",) if hidden > 0 else ()
    )
    blocks: tuple[Block, ...] = (Table(caption, columns, tuple(rows), notes),)
    yield Section(title, blocks, tier)


def _name_of(change: ChangedValue) -> str:
    """What differs, the value of an estimate by what it is of."""
    estimate = change.key.startswith("estimates [") and change.key.endswith("] value")
    return change.key[len("estimates [") : -len("] value")] if estimate else change.key


def _is_told(change: ChangedValue) -> bool:
    """Whether a table has it, or another line stands for it."""
    words = change.key.split()
    return words[0] not in _CURVES and words[-1] not in _BESIDE


def _shown_value(value: Scalar) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return plain_number(value)
    return str(value) if isinstance(value, bool | str) else count(value)
