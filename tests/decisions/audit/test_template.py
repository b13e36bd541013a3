"""Claims files to fill in: valid as they stand, and clean once they are filled."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from assay.decisions.audit import audit_files
from assay.decisions.audit.claim import TEMPLATES, template
from assay.errors import InputError

# One detector: 90 of 100 attacks found, 5 of 900 harmless rows flagged.
BINARY = {
    "tn": "895", "fp": "5", "fn": "10", "tp": "90", "negative": "900", "positive": "100",
    "n": "1000", "accuracy": "0.985", "precision": "0.9474", "recall": "0.90",
    "specificity": "99.4%", "false_positive_rate": "0.0056", "f1": "0.923", "mcc": "0.915",
}  # fmt: skip
CLASSES = {
    "A": "50", "B": "45", "C": "55", "n": "150", "accuracy": "0.90", "precision.A": "0.90",
    "recall.A": "0.90", "f1.A": "0.90", "precision.macro": "0.90", "recall.macro": "0.896",
}  # fmt: skip
FOLDS = {"accuracy.mean": "0.96", "accuracy.sd": "0.0158"}
VALUES = {"binary": BINARY, "table": BINARY, "classes": CLASSES, "folds": FOLDS}
EMPTY = re.compile(r'(?:"([^"]+)"|(\w+)) = ""')


def filled(kind: str) -> str:
    """A template with what the tables above have for it."""
    values = VALUES[kind]
    text = EMPTY.sub(
        lambda m: m[0].replace('""', f'"{values.get(m[1] or m[2], "")}"'), template(kind)
    )
    return text.replace('["", "", "", "", ""]', '["0.94", "0.95", "0.96", "0.97", "0.98"]')


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_template_is_valid_and_says_what_to_do(kind: str) -> None:
    text = template(kind)
    assert tomllib.loads(text)["claim"]
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("kind", TEMPLATES)
def test_an_unfilled_template_is_refused_with_what_is_empty(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(template(kind), "utf-8")
    with pytest.raises(InputError, match="nothing is filled in"):
        audit_files([path])


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_filled_template_is_clean_and_a_wrong_number_in_it_is_found(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(filled(kind), "utf-8")
    audit = audit_files([path])
    assert audit.consistent, audit
    assert all(claim.verdict == "consistent" for claim in audit.claims)
    wrong = {"folds": ('0.96"', '0.99"')}.get(kind, ('0.90"', '0.80"'))
    path.write_text(filled(kind).replace(*wrong), "utf-8")
    assert not audit_files([path]).consistent


def test_what_stays_empty_is_told(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(filled("binary"), "utf-8")
    (claim,) = audit_files([path]).claims
    assert any(note.startswith("left empty: ") and "roc_auc" in note for note in claim.notes)


def test_an_unknown_template_is_refused() -> None:
    with pytest.raises(InputError, match="expected binary, table, classes, folds"):
        template("paper")
