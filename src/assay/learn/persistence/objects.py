"""What a model is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


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
