"""CONTRIBUTING.md names files that are there, and whoever follows it gets a new measure."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from . import guide

ADDED = """
from pathlib import Path

import numpy as np

import assay.measures
from assay.counts import Confusion, ScoreCounts
from assay.inference import Quantity, estimate

assert Path(assay.__file__).parents[2] == Path.cwd(), "the copy, not the package"
labels = ("normal", "attack")
share = assay.measures.find("critical_error_rate")
found = estimate(Quantity(share.formula, 1), Confusion(labels, ((4, 1), (2, 3))), share.range)
assert (found.value, found.method, found.n) == (0.2, "wilson", 10)
somers = assay.measures.find("somers_d").of_scores
scores = ScoreCounts.of_rows(labels, np.array([0.1, 0.4, 0.3, 0.9]), np.array([0, 0, 1, 1]))
assert somers.influence(scores).value == 0.5
"""


def test_every_file_that_it_names_is_there() -> None:
    named = set(re.findall(r"`((?:src|tests|docs|\.ci)/[\w./-]*)`", guide.GUIDE))
    assert len(named) > 15
    assert {name for name in named if not (guide.ROOT / name).exists()} <= {"docs/_build/html"}


def test_every_package_is_in_the_table_with_a_module_to_start_at() -> None:
    rows = dict(re.findall(r"^\| `(\w+)/` \| .* \| (.*) \|$", guide.GUIDE, re.MULTILINE))
    home = guide.ROOT / "src" / "assay"
    assert {path.parent.name for path in home.glob("*/__init__.py")} == set(rows)
    for package, modules in rows.items():
        for name in re.findall(r"`([\w/]+\.py)`", modules):
            assert (home / package / name).exists(), (package, name)


def test_whoever_follows_the_guide_gets_new_measures(tmp_path: Path) -> None:
    guide.copy_package(tmp_path)
    guide.follow("How to add a measure", tmp_path)
    ran = subprocess.run(
        [sys.executable, "-P", "-c", ADDED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
