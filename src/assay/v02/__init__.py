"""assay judges detectors: how good, how sure, and is the other one really better.

Every measure of the catalogue is a function of this module too: ``assay.precision(...)``.

>>> import assay
>>> evaluation = assay.evaluate(["attack", "normal", "attack"], [0.9, 0.2, 0.4])
>>> evaluation["recall"].value
0.5
>>> assay.precision(tp=6635, fp=167, fn=324, tn=7743)
0.975 [0.971, 0.979]
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from assay.errors import __version__ as __version__


def _public_homes() -> dict[str, str]:
    """The home of every public name, from ``__init__.pyi``, which is the one list of them."""
    with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as lines:  # noqa: PTH123 - pathlib takes longer to import
        imports = [line.split() for line in lines if line.startswith("from ")]
    return {name: home for _, home, _, name, *_ in imports}


_HOMES = _public_homes()
__all__ = sorted(_HOMES)  # noqa: PLE0605 - the names are those of the list


def __getattr__(name: str) -> Any:
    """A public name, a measure as a function, or a module of the package."""
    if home := _HOMES.get(name):
        value = getattr(import_module(home), name)
        globals()[name] = value
        return value
    if not name.startswith("_"):
        if name in import_module("assay.v02.measures.catalogue").names():
            return import_module("assay.v02.evaluation").function_of(name)
        if find_spec(f"assay.v02.{name}"):
            return import_module(f"assay.v02.{name}")
    raise AttributeError(f"module 'assay' has no attribute {name!r}")


def __dir__() -> list[str]:
    measures = import_module("assay.v02.measures.catalogue").names()
    return [*__all__, *(name for name in measures if name.isidentifier()), "__version__"]
