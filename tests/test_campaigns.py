"""Small versions of the campaigns: `make kills`, `bits`, `fuzz`, `pollock` and `growth`."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def run(*command: str) -> str:
    """What a campaign prints; it must not fail."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=BENCHMARKS,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.slow
def test_kills_leave_nothing_half_written() -> None:
    assert "14 kills, 0 problems" in run("kills.py", "--kills", "14")


@pytest.mark.slow
def test_arrangements_of_rows_have_one_answer() -> None:
    assert ", 0 unlike the first" in run("bits.py", "--arrangements", "50")


@pytest.mark.slow
def test_hostile_input_is_used_or_refused() -> None:
    assert "1,500 cases, 0 failures" in run("fuzz.py", "--cases", "1500", "--seed", "7")


@pytest.mark.slow
def test_polluted_text_is_read_as_far_as_it_can_be() -> None:
    assert "26 files" in run("pollock.py", "--least", "9")


@pytest.mark.slow
def test_growth_is_told_as_a_power() -> None:
    told = run("growth.py", "--axis", "clusters", "--small", "10")
    assert "clusters" in told
