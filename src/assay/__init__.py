"""assay evaluates detectors: how good one is, how sure we can be, and whether another is better.

Every measure of the catalogue is also a function of this module: ``assay.precision(...)``.

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

from assay import v02 as _v02
from assay.errors import __version__ as __version__


def _moved_names() -> dict[str, str]:
    """The new home of every public name that has left 0.2, from ``__init__.pyi``."""
    with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as lines:  # noqa: PTH123 - pathlib takes longer to import
        imports = [line.split() for line in lines if line.startswith("from ")]
    return {words[3]: words[1] for words in imports if words[3] != "*"}


_MOVED = _moved_names()
__all__ = sorted({*_v02.__all__, *_MOVED})  # noqa: PLE0605 - the stub lists the names


def __getattr__(name: str) -> Any:
    """A public name, a measure as a function, or a subpackage; loaded on first use."""
    if name in _MOVED:
        value = getattr(import_module(_MOVED[name]), name)
    elif name.isidentifier() and name[0] != "_" and find_spec(f"assay.{name}"):
        return import_module(f"assay.{name}")
    elif name in __all__ or name in import_module("assay.measures.catalogue").names():
        value = getattr(_v02, name)
    else:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    measures = import_module("assay.measures.catalogue").names()
    return [*__all__, *(name for name in measures if name.isidentifier()), "__version__"]
