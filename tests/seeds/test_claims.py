"""The claims files made from the documents, audited: every wrong number is found, no right one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from assay import audit_files

from .documents import MATRICES, NUMBERS, Number, every

CLAIMS = sorted((Path(__file__).resolve().parents[2] / "examples/claims").glob("*.toml"))
USUAL = {"right": "consistent", "wrong": "inconsistent", "given": "undetermined"}
ONLY = re.compile(r"(?:[\d.+*/() -]|sqrt)+")


def as_products(how: str) -> str:
    """Squares written as products, which is what a claims file can hold."""
    return re.sub(r"(\([^()]*\)|\d+(?:\.\d+)?)\*\*2", r"\1*\1", how)


def can_be_held(row: Number) -> bool:
    """Whether a claims file has a place for it: a measure of a matrix, or plain arithmetic."""
    if isinstance(row.exact, str):
        return False
    if row.measure is not None:
        return True
    how = as_products(row.how)
    return row.exact is not None and "**" not in how and bool(ONLY.fullmatch(how))


def expected(row: Number) -> str:
    if row.measure in ("roc_auc", "average_precision") and row.verdict == "wrong":
        return "inconsistent"
    return "rounding" if row.note else USUAL[row.verdict]


def matrix_of(claim: dict[str, Any]) -> tuple[tuple[int, ...], ...] | None:
    if "matrix" in claim:
        return tuple(tuple(row) for row in claim["matrix"])
    if "confusion" in claim:
        cells = claim["confusion"]
        return ((cells["tn"], cells["fp"]), (cells["fn"], cells["tp"]))
    return None


@pytest.fixture(scope="module")
def audited() -> list[tuple[dict[str, Any], Any]]:
    """Each claim as written, beside what was found of it."""
    pairs = []
    for path in CLAIMS:
        written = tomllib.loads(path.read_text("utf-8"))["claim"]
        pairs += list(zip(written, audit_files([str(path)]).claims, strict=True))
    return pairs


def numbers_of(row: Number, audited: list[tuple[dict[str, Any], Any]]) -> list[Any]:
    """Where a catalogued number stands in the claims."""
    numbers = []
    for written, judged in audited:
        if row.measure is not None:
            held = row.counts is not None and matrix_of(written) == MATRICES[row.counts].rows
            keys = {row.measure} if held else set()
        else:
            keys = {as_products(row.how)}
        for number in judged.numbers:
            texts = number.reported if isinstance(number.reported, tuple) else (number.reported,)
            if number.key in keys and row.printed in texts:
                numbers.append(number)
    return numbers


HELD = [row for row in NUMBERS if can_be_held(row)]


@every(tuple(HELD))
def test_number_of_a_document_gets_its_verdict(
    row: Number, audited: list[tuple[dict[str, Any], Any]]
) -> None:
    numbers = numbers_of(row, audited)
    assert numbers, "no claim holds this number"
    assert {str(number.verdict) for number in numbers} == {expected(row)}


def test_most_wrong_numbers_can_be_held() -> None:
    wrong = [row for row in NUMBERS if row.verdict == "wrong" and not isinstance(row.exact, str)]
    left_out = [row.what for row in wrong if not can_be_held(row)]
    # Exponentials are beyond the arithmetic of a claim.
    assert left_out == ["sum of the exponentials"]


def test_every_number_of_the_claims_is_catalogued(
    audited: list[tuple[dict[str, Any], Any]],
) -> None:
    known = {(row.measure or as_products(row.how), row.printed) for row in HELD}
    for written, judged in audited:
        if written["source"].startswith("document 004") or "5.2" in written["source"]:
            continue
        for number in judged.numbers:
            texts = number.reported if isinstance(number.reported, tuple) else (number.reported,)
            formulas = written["name"].startswith("False positive rate as")
            if number.key != "n" and not formulas:
                assert all((number.key, text) in known for text in texts), number.key


def mistakes(audit: Any, claim: str, key: str) -> list[str]:
    (audited_claim,) = [each for each in audit.claims if each.name == claim]
    (number,) = [each for each in audited_claim.numbers if each.key == key]
    return [each.mistake for each in number.explanations]


@pytest.mark.parametrize(
    ("file", "claim", "key", "mistake"),
    [
        (
            "safelink-network",
            "SafeLink, neural network, cells as printed",
            "accuracy",
            "decimal-shift",
        ),
        (
            "safelink-network",
            "SafeLink, neural network, cells as printed (in percent)",
            "accuracy",
            "cells-swapped:fn,tp",
        ),
        (
            "formulas",
            "False positive rate as 1 - precision, on the forest",
            "false_positive_rate",
            "fdr-for-fpr",
        ),
        ("formulas", "MCC of three classes by two mixed roots", "mcc", "kappa-for-mcc"),
        (
            "formulas",
            "MCC of three classes as the correlation of the codes 0, 1, 2",
            "mcc",
            "label-code-correlation",
        ),
    ],
)
def test_mistake_of_a_document_is_named_first(
    file: str, claim: str, key: str, mistake: str
) -> None:
    (path,) = [path for path in CLAIMS if path.stem == file]
    assert mistakes(audit_files([str(path)]), claim, key)[0] == mistake


def test_inverted_network_is_diagnosed() -> None:
    (path,) = [path for path in CLAIMS if path.stem == "safelink-network"]
    told = [f.message for claim in audit_files([str(path)]).claims for f in claim.findings]
    assert any("92.6" in message for message in told)
