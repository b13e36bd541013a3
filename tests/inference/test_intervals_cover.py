"""A small version of `make intervals`: 95% intervals hold the truth in at least 93% of samples."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[2] / "benchmarks" / "interval_coverage.py"


@pytest.mark.slow
def test_intervals_cover_as_promised(tmp_path: Path) -> None:
    asked = [sys.executable, STUDY, "--quick", "--samples=300", "--jobs=1"]
    out = f"--out={tmp_path}/coverage.json"
    done = subprocess.run([*asked, out], check=False, capture_output=True)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    assert b"Broken promises: 0" in done.stdout
