"""What the command says of a file, and how to find a number in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.cli.app import run


@dataclass(frozen=True)
class Told:
    """An evaluation as its JSON document."""

    document: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.document[key]

    def estimates(
        self, *, part: tuple[str, str] | None = None, base_rate: float | None = None
    ) -> dict[str, dict[str, Any]]:
        """The estimates of all rows or of one slice, by name: f1, f1.macro, precision.normal."""
        slices = None if part is None else dict(zip(("column", "value"), part, strict=True))
        return {
            self._name(each): each
            for each in self["estimates"]
            if each["slice"] == slices and each["base_rate"] == base_rate
        }

    def values(
        self, *, part: tuple[str, str] | None = None, base_rate: float | None = None
    ) -> dict[str, float]:
        """Their values, without those that are undefined."""
        estimates = self.estimates(part=part, base_rate=base_rate)
        return {
            name: each["value"] for name, each in estimates.items() if each["value"] is not None
        }

    def parts(self, column: str) -> set[str]:
        """The values of a sliced column."""
        slices = [each["slice"] for each in self["estimates"] if each["slice"]]
        return {each["value"] for each in slices if each["column"] == column}

    def cells(self, *, part: tuple[str, str] | None = None) -> dict[str, int]:
        """The four cells, from recall and specificity and what they are of."""
        estimates = self.estimates(part=part)
        sides = []
        for name in ("specificity", "recall"):
            rows = 0 if estimates[name]["undefined"] else estimates[name]["n"]
            right = round(estimates[name]["value"] * rows) if rows else 0
            sides.append((right, rows - right))
        (tn, fp), (tp, fn) = sides
        return {"tn": tn, "fp": fp, "fn": fn, "tp": tp}

    def _name(self, each: dict[str, Any]) -> str:
        suffix = each["average"]
        if suffix is None and each["label"] != self["positive"]:
            suffix = each["label"]
        return each["measure"] if suffix is None else f"{each['measure']}.{suffix}"


def report(face: str, out: Path, *arguments: object) -> str:
    """What ``assay evaluate`` writes, run in this process."""
    said = ["--quiet", "--format", face, "--out", out]
    code = run(["evaluate", *map(str, arguments), *map(str, said)])
    assert code == 0
    return out.read_text("utf-8")


def evaluate(out: Path, *arguments: object) -> Told:
    """The document that ``assay evaluate`` writes."""
    return Told(json.loads(report("json", out, *arguments)))
