"""What a store gives back: runs, pages of them, and points of a trend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.errors import StoreError
from assay.inference import Estimate
from assay.inference.result import Result
from assay.report.sections import Report
from assay.store.rows import KeptRows
from assay.store.summary import stored_estimate
from assay.tally import from_bytes

SCHEMA = "assay.runs/1"


@dataclass(frozen=True)
class Run:
    """One judgement that was kept: what a list shows of it, and where the rest is.

    ``kind`` is what the document is about (``evaluation``, ``gate``, ...), ``gate`` the outcome of
    a gate. Runs of equal ``test_set`` judged the same rows; None where that is not known. The
    document, the tally and the rows are read when they are asked for.
    """

    seq: int
    id: str
    name: str
    kind: str
    made: str
    headline: str
    gate: str | None = None
    tags: tuple[str, ...] = ()
    note: str = ""
    test_set: str | None = None
    level: float | None = None
    contents: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    read: Callable[[str], bytes] | None = field(default=None, repr=False, compare=False)

    @property
    def document(self) -> str:
        """The JSON text, as it was recorded."""
        return self.content("document").decode("utf-8", "surrogatepass")

    @property
    def has_rows(self) -> bool:
        """Whether its rows were kept, so that it can be compared row by row."""
        return "rows" in self.contents

    @property
    def has_tally(self) -> bool:
        """Whether its tally was kept."""
        return "tally" in self.contents

    def rows(self) -> KeptRows | None:
        """The rows that were kept."""
        return KeptRows.from_bytes(self.content("rows")) if self.has_rows else None

    def tally(self) -> Any:
        """The tally that was kept, None where none was."""
        return from_bytes(self.content("tally")) if self.has_tally else None

    def loaded(self) -> Run:
        """The same run with its content in memory, for when the store is closed."""
        held = {sha: self.content(role) for role, sha in self.contents.items()}
        return replace(self, read=held.__getitem__)

    def content(self, role: str) -> bytes:
        """The bytes of ``document``, ``tally`` or ``rows``."""
        if self.read is None or role not in self.contents:
            raise StoreError(f"run {self.id} has no {role}")
        try:
            return self.read(self.contents[role])
        except StoreError as odd:
            raise StoreError(f"run {self.id}: its {role} can't be read: {odd}") from odd

    def to_dict(self) -> dict[str, Any]:
        """The run as the plain values of the contract."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "made": self.made,
            "headline": self.headline,
            "gate": self.gate,
            "tags": list(self.tags),
            "note": self.note,
            "test_set": self.test_set,
            "rows_kept": self.has_rows,
            "tally_kept": self.has_tally,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Run:
        """What a list shows of a run, as :meth:`to_dict` wrote it."""
        keys = ("id", "name", "kind", "made", "headline", "gate", "note", "test_set")
        held = {role: "" for role in ("rows", "tally") if plain[f"{role}_kept"]}
        fields = {key: plain[key] for key in keys}
        return cls(seq=0, tags=tuple(plain["tags"]), contents=held, **fields)


@dataclass(frozen=True, repr=False)
class Page(Result):
    """Runs of a store at ``place``, newest first.

    ``more`` where older ones follow; ``damaged`` is how many can't be read.
    """

    runs: tuple[Run, ...]
    more: bool = False
    damaged: int = 0
    place: str = ""

    def to_report(self) -> Report:
        """What its report says."""
        from assay.store.reports import runs_report

        return runs_report(self)

    def to_dict(self) -> dict[str, Any]:
        """The page as the plain values of the contract."""
        return {
            "schema": SCHEMA,
            "runs": [run.to_dict() for run in self.runs],
            "more": self.more,
            "damaged": self.damaged,
            "store": self.place,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Page:
        """The page that :meth:`to_dict` wrote; the content of its runs is elsewhere."""
        runs = tuple(Run.from_dict(run) for run in plain["runs"])
        return cls(runs, plain["more"], plain["damaged"], plain["store"])


@dataclass(frozen=True)
class Name:
    """A name under which runs were recorded: how many, and when the last one was made."""

    name: str
    runs: int
    last: str


@dataclass(frozen=True)
class Point:
    """The estimate of one run; ``segment`` counts how often the test set changed before it."""

    run: str
    made: str
    value: float
    low: float | None
    high: float | None
    n: float | None
    level: float | None
    test_set: str | None
    gate: str | None = None
    segment: int = 0

    @property
    def estimate(self) -> Estimate:
        """The value with its interval."""
        return stored_estimate(self.value, self.low, self.high, self.n, self.level)

    def to_dict(self) -> dict[str, Any]:
        """The point as plain values."""
        keys = ("run", "made", "value", "low", "high", "n", "level", "test_set", "segment", "gate")
        return {key: getattr(self, key) for key in keys}
