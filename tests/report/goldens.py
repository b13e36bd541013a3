"""Stored texts of reports: compared byte by byte, or written anew with RENEW_GOLDEN=1."""

import os
from pathlib import Path


def checked(path: Path, text: str) -> None:
    """Compare a text with the stored one."""
    if os.environ.get("RENEW_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    with path.open(encoding="utf-8", newline="") as file:
        assert text == file.read()
