"""The audit as a whole."""

import random
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

import assay
from assay.decisions.audit import Claim, audit, audit_files, read_claims
from assay.errors import InputError

FOREST = {"confusion": {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}}


def test_numbers_come_in_the_order_of_the_claim_then_sizes_then_arithmetic() -> None:
    (claim,) = audit(
        FOREST
        | {
            "name": "forest",
            "source": "section 1",
            "n": 14869,
            "reported": {"mcc": "0.9338", "accuracy.ci": ["0.9641", "0.9699"], "accuracy": "0.967"},
            "arithmetic": [{"expression": "6635 + 7743", "reported": "14,378"}],
        }
    ).claims
    assert [number.key for number in claim.numbers] == [
        "mcc",
        "accuracy.ci",
        "accuracy",
        "n",
        "6635 + 7743",
    ]
    assert (claim.name, claim.source) == ("forest", "section 1")
    assert str(claim.verdict) == "consistent"
    assert [number.measure for number in claim.numbers] == [
        "mcc",
        "accuracy",
        "accuracy",
        None,
        None,
    ]


def test_an_audit_is_consistent_unless_a_number_is_not() -> None:
    fine = FOREST | {"reported": {"accuracy": "0.9669"}}
    wrong = FOREST | {"reported": {"accuracy": "0.9870"}}
    empty = {"name": "nothing"}
    assert audit([fine, empty]).consistent
    assert not audit([fine, wrong]).consistent
    assert [str(c.verdict) for c in audit([fine, wrong, empty]).claims] == [
        "consistent",
        "inconsistent",
        "undetermined",
    ]


def test_keys_stay_as_they_were_written() -> None:
    reported = {"detection_rate": "0.9534", "f_score": "0.9643", "type_1_error": "0.0211"}
    (claim,) = audit(FOREST | {"reported": reported}).claims
    assert {n.key: n.measure for n in claim.numbers} == {
        "detection_rate": "recall",
        "f_score": "f1",
        "type_1_error": "false_positive_rate",
    }
    assert {n.key: n.reported for n in claim.numbers} == reported


def test_the_document_holds_pairs_for_intervals() -> None:
    reported = {"accuracy.ci": ["95.80%", "97.60%"]}
    document = audit(FOREST | {"reported": reported}).to_dict()
    (number,) = document["claims"][0]["numbers"]
    assert number["reported"] == ["95.80%", "97.60%"]
    assert len(number["recomputed"]) == 2
    assert number["verdict"] == document["claims"][0]["verdict"] == "inconsistent"


def test_wrong_numbers_are_explained() -> None:
    (claim,) = audit(FOREST | {"reported": {"precision": "0.9534"}}).claims
    assert claim.numbers[0].explanations


def test_files_are_audited_in_order_with_progress(tmp_path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text(
            f'[[claim]]\nname = "{name}"\nn = 4\n[[claim]]\nname = "{name}2"\n'
        )
    seen = []
    audit_result = audit_files(
        [tmp_path / "a.toml", str(tmp_path / "b.toml")],
        progress=lambda done, total: seen.append((done, total)),
    )
    assert [claim.name for claim in audit_result.claims] == ["a", "a2", "b", "b2"]
    assert [Path(claim.file).name for claim in audit_result.claims] == ["a.toml"] * 2 + [
        "b.toml"
    ] * 2
    assert seen == [(i, 4) for i in range(5)]


def test_no_files_and_texts_instead_of_claims_are_refused() -> None:
    with pytest.raises(InputError, match="no claims file"):
        audit_files([])
    with pytest.raises(InputError, match="audit_files"):
        audit("claims.toml")


def test_claims_as_objects_are_audited_too() -> None:
    (claim,) = read_claims("a.json", text='{"claim": [{"name": "x", "n": 3}]}')
    assert isinstance(claim, Claim)
    assert assay.audit([claim]).claims[0].name == "x"


def test_cells_of_any_size_are_exact() -> None:
    big = 10**18
    audit_result = audit(
        {
            "confusion": {"tn": big, "fp": 1, "fn": 1, "tp": big},
            "reported": {
                "accuracy": "0.999999999999999999",
                "error_rate": "1.0e-18",
                "mcc": "0.9999999999999999",
                "accuracy.ci": ["0.9999", "1.0000"],
                "mcc.ci": ["0.9999", "1.0000"],
                "f1.macro.se": "0.0",
            },
        }
    )
    assert audit_result.consistent


# -- honest claims ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def honest(benchmark_module):
    """The generator of `make audits`."""
    return benchmark_module("honest.claims")


def audited(honest, claims: int, keep) -> tuple[list[object], Counter[str]]:
    """Honest claims that were accused, and all verdicts."""
    rng, accused = random.Random(7), []
    verdicts: Counter[str] = Counter()
    made = (honest.honest(rng) for _ in iter(int, 1))
    for claim in islice(filter(keep, made), claims):
        (audited_claim,) = audit(claim).to_dict()["claims"]
        each = [number["verdict"] for number in audited_claim["numbers"]]
        verdicts.update(each)
        if {"inconsistent", "conflict"} & {audited_claim["verdict"], *each}:
            accused.append((claim, audited_claim))
    return accused, verdicts


@pytest.mark.parametrize("claims", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_honest_claims_with_their_counts_are_never_accused(honest, claims: int) -> None:
    accused, verdicts = audited(honest, claims, honest.whole)
    assert accused == []
    assert verdicts["consistent"] > 5 * verdicts["undetermined"]


@pytest.mark.parametrize("claims", [12, pytest.param(40, marks=pytest.mark.slow)])
def test_honest_claims_without_their_counts_are_never_accused(honest, claims: int) -> None:
    accused, _ = audited(honest, claims, lambda claim: not honest.whole(claim))
    assert accused == []


def test_the_generator_makes_claims_of_every_kind(honest) -> None:
    rng = random.Random(1)
    claims = [honest.honest(rng) for _ in range(400)]
    assert any("matrix" in claim for claim in claims)
    assert any(len(claim.get("confusion", "abcd")) == 3 for claim in claims)
    assert any("support" in claim and "confusion" not in claim for claim in claims)
    assert any(not {"confusion", "matrix", "support"} & set(claim) for claim in claims)
    assert any(not {"confusion", "matrix", "support", "n"} & set(claim) for claim in claims)
    assert any(0 in claim.get("support", {}).values() for claim in claims)
    assert any(len(claim.get("labels", ())) > 9 for claim in claims)
    assert {claim.get("aggregate") for claim in claims if "folds" in claim} == {None, "fold-mean"}
    assert any("aggregate" in claim and "folds" not in claim for claim in claims)
    assert any("orientation" in claim for claim in claims)
    assert any("interval" in claim for claim in claims)
    assert any(claim["name"] == "two classes, averages" for claim in claims)
    keys = Counter(key.rpartition(".")[2] for claim in claims for key in claim["reported"])
    assert {"ci", "se", "sd", "mean", "macro", "weighted", "micro", "far", "auc", "ap"} <= set(keys)
    assert {"detection_rate", "diagnostic_odds_ratio"} <= set(keys)


def test_an_area_is_held_against_the_printed_rates_where_there_is_no_matrix() -> None:
    claim = {
        "positive": "attack",
        "support": {"normal": 1000, "attack": 1000},
        "reported": {"recall.attack": "0.800", "fpr.attack": "0.300", "auc": "0.97"},
    }
    verdicts = {number.key: number.verdict for number in audit(claim).claims[0].numbers}
    assert verdicts == {
        "recall.attack": "consistent",
        "fpr.attack": "consistent",
        "auc": "inconsistent",
    }


def test_f1_of_rounded_rates_is_not_accused_beside_a_missing_cell() -> None:
    claim = {
        "positive": "attack",
        "confusion": {"fn": 4, "fp": 10, "tp": 9},
        "reported": {"precision": "47.3%", "recall": "69.2%", "f1": "56.1%"},
    }
    assert audit(claim).consistent
