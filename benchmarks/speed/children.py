"""What has to be measured in a fresh interpreter: memory, start-up, and numpy's other sorts."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HEAVY = ("sklearn", "scipy.stats", "pandas", "polars", "matplotlib")
_IMPORT = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
_LOADED = "import sys, assay; print([m for m in {!r} if m in sys.modules])"
_SORT = """
import json, sys, time
sys.path.insert(0, {path!r})
import numpy as np
from speed.rows import rows
scores = rows({count}).scores
times = []
for _ in range({repeats}):
    started = time.perf_counter()
    np.sort(scores)
    times.append(time.perf_counter() - started)
try:
    from numpy._core._multiarray_umath import __cpu_features__ as features
except ImportError:
    from numpy.core._multiarray_umath import __cpu_features__ as features
on = features.get("AVX512_SKX") or features.get("X86_V4")
print(json.dumps(None if on else min(times)))
"""


def _python(code: str, environment: Mapping[str, str] | None = None) -> str:
    run = [sys.executable, "-c", code]
    env = {**os.environ, **(environment or {})}
    return subprocess.run(run, check=True, capture_output=True, text=True, env=env).stdout.strip()


def import_seconds(module: str, repeats: int) -> float:
    """The median time that an import takes."""
    return statistics.median(float(_python(_IMPORT.format(module))) for _ in range(repeats))


def imported_with_assay() -> str:
    """Which heavy packages `import assay` loads."""
    return _python(_LOADED.format(HEAVY))


def sort_without_avx512(count: int, repeats: int) -> float | None:
    """The time of numpy's sort where it may not use AVX-512; None where numpy uses it all the same.

    Some processors store through AVX-512 masks by microcode. numpy's sort is six times slower on
    them than it could be, and a ratio to it flatters.
    """
    code = _SORT.format(path=str(HERE.parent), count=count, repeats=repeats)
    seconds = None
    # numpy 2.4 renamed the groups, and what it does not know it passes over.
    for names in ("X86_V4 AVX512_ICL AVX512_SPR", "AVX512F AVX512_SKX AVX512_ICL AVX512_SPR"):
        try:
            seconds = json.loads(_python(code, {"NPY_DISABLE_CPU_FEATURES": names}))
        except subprocess.CalledProcessError:
            continue
        if seconds is not None:
            break
    return seconds


def peak_bytes(count: int, labels: str) -> dict[str, Any]:
    """How much memory an evaluation takes beyond its input, at its peak."""
    code = f"import sys; sys.path.insert(0, {str(HERE.parent)!r})\n"
    code += f"from speed.children import _measure_peak; _measure_peak({count}, {labels!r})"
    document: dict[str, Any] = json.loads(_python(code))
    return document


def _measure_peak(count: int, labels: str) -> None:
    """Run in the child: the input is there and touched, the libraries are warm."""
    import polars as pl

    from speed import peers
    from speed.rows import Rows, rows

    peers.by_assay(rows(1000))
    pl.Series([2, 1]).sort().to_numpy()
    truth, scores = rows(count)
    given = Rows(truth.astype(labels, copy=False), scores)
    del truth, scores
    size = given.truth.nbytes + given.scores.nbytes
    before = _resident()
    reset = _reset_peak()
    evaluation = peers.by_assay(given)
    figures = {"input": size, "peak": _peak() - before, "kept": _resident() - before}
    _reset_peak()
    assert [entry.estimate for entry in evaluation.entries]
    print(json.dumps({**figures, "peak_of_all": _peak() - before, "exact": reset}))


def _reset_peak() -> bool:
    """Forget the peak so far; where that can't be done, the peak may be that of the input."""
    try:
        Path("/proc/self/clear_refs").write_text("5", "utf-8")
    except OSError:
        return False
    return True


def _status(field: str) -> int | None:
    path = Path("/proc/self/status")
    if not path.exists():
        return None
    for line in path.read_text("utf-8").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return None


def _resident() -> int:
    status = _status("VmRSS:")
    return status if status is not None else _peak()


def _peak() -> int:
    status = _status("VmHWM:")
    if status is not None:
        return status
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
