"""Objects of libraries that are not there."""

from __future__ import annotations

from typing import Any


def of(module: str, name: str, base: type = object, **members: Any) -> Any:
    """An object of a class of some library."""
    made = type(name, (base,), {"__module__": module})()
    for member, value in members.items():
        setattr(made, member, value)
    return made
