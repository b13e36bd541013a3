"""What is fuzzed: how a case of it is made, and how it is tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

USED, REFUSED = "used", "refused"


class SilentLoss(Exception):
    """Rows that are neither used nor refused, or read as something else than stands there."""


@dataclass(frozen=True)
class Case:
    """The bytes of a case, the name of its file, and how it is asked for."""

    content: bytes
    name: str = "case"
    how: str = ""


@dataclass(frozen=True)
class Subject:
    """Something that reads; ``share`` of all cases are for it."""

    name: str
    share: int
    make: Callable[[Random], Case]
    attempt: Callable[[Case, Path], str]
