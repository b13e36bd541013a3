"""Stored texts of reports: compared byte by byte, or written anew with RENEW_GOLDEN=1.

Numbers with all of their digits may differ behind the twelfth, as they do with other versions of
NumPy and SciPy.
"""

import math
import os
import re
from pathlib import Path

_LONG = re.compile(r"(?<![\d.])\d+\.\d{13,}(?:e[+-]\d+)?")


def checked(path: Path, text: str) -> None:
    """Compare a text with the stored one."""
    if os.environ.get("RENEW_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    with path.open(encoding="utf-8", newline="") as file:
        stored = file.read()
    if text != stored:
        assert _LONG.sub("#", text) == _LONG.sub("#", stored)
        for now, then in zip(_LONG.findall(text), _LONG.findall(stored), strict=True):
            assert math.isclose(float(now), float(then), rel_tol=1e-11)
