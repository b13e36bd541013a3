"""Classification reports of random runs: clean as printed, and caught with a wrong digit."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import classification_report

import assay

NAMES = (
    "normal", "port scan", "DoS hulk", "brute force (ssh)", "web attack - xss", "bot",
    "infiltration 2", "heart.bleed", "class 7",
)  # fmt: skip
DECIMAL = re.compile(r"(?<=\.)\d+")


def report(seed: int) -> str:
    """A report of 2 to 8 classes, some of them empty: of all labels, some, or several a row."""
    rng = np.random.default_rng(seed)
    classes, rows = int(rng.integers(2, 9)), int(10 ** rng.uniform(1.2, 4.5))
    shares = rng.dirichlet(np.full(classes, rng.choice([0.2, 1.0, 5.0])))
    truth = rng.choice(classes, rows, p=shares)
    other = rng.choice(classes, rows, p=rng.dirichlet(np.full(classes, 0.5)))
    decided = np.where(rng.random(rows) < rng.uniform(0.2, 1), truth, other)
    options = {"digits": int(rng.integers(2, 5)), "zero_division": rng.choice([0.0, 1.0, np.nan])}
    kind = rng.integers(0, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == 0 and classes > 2:
            some = list(range(classes - 1))
            names = [NAMES[i] for i in some]
            return str(
                classification_report(truth, decided, labels=some, target_names=names, **options)
            )
        if kind == 1 and classes > 2:
            several = (rng.random((rows, classes)) < rng.uniform(0.05, 0.6, classes)).astype(int)
            guessed = np.where(rng.random(several.shape) < 0.85, several, 1 - several)
            names = list(NAMES[:classes])
            return str(classification_report(several, guessed, target_names=names, **options))
        named = np.array(NAMES)
        return str(classification_report(named[truth], named[decided], **options))


Audited = Callable[[str], Any]


@pytest.fixture
def audited(tmp_path: Path) -> Audited:
    """What the audit says of a report: of each number, and in all."""

    def claim_of(text: str) -> Any:
        path = tmp_path / "report.txt"
        path.write_text(text, "utf-8")
        (claim,) = assay.audit_files([path]).claims
        return claim

    return claim_of


def changed(text: str, rng: random.Random) -> str:
    """The report with one decimal digit changed."""
    number = rng.choice([match for match in DECIMAL.finditer(text) if match[0]])
    place = rng.randrange(number.start(), number.end())
    digit = rng.choice([digit for digit in "0123456789" if digit != text[place]])
    return f"{text[:place]}{digit}{text[place + 1 :]}"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(20))
def test_a_report_is_clean_as_it_was_printed(seed: int, audited: Audited) -> None:
    text = report(seed)
    assert audited(text).verdict == "consistent", text


@pytest.mark.slow
def test_many_reports_are_clean_and_most_changed_digits_are_found(audited: Audited) -> None:
    rng = random.Random(17)
    refusals = []
    for seed in range(100, 112):
        text = report(seed)
        assert audited(text).verdict == "consistent", (seed, text)
        refusals.append(audited(changed(text, rng)).verdict == "inconsistent")
    assert np.mean(refusals) > 0.8


def test_a_matrix_beside_its_report_decides_every_number(audited: Audited) -> None:
    rng = np.random.default_rng(3)
    truth = rng.choice(3, 400)
    decided = np.where(rng.random(400) < 0.8, truth, rng.choice(3, 400))
    matrix = np.zeros((3, 3), int)
    np.add.at(matrix, (truth, decided), 1)
    text = f"{matrix}\n{classification_report(truth, decided, digits=4)}"
    assert {str(number.verdict) for number in audited(text).numbers} == {"consistent"}
