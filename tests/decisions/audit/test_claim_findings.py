"""Inverted models, and counts that are not those of the set that is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.decisions.audit.claim_findings import TEST_SETS, findings_of, named_in, role_in
from assay.decisions.audit.claims_file import build

DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[4] / "shared" / "data"))


def messages_of(**raw: object) -> list[str]:
    return [f.message for f in findings_of(build({"reported": {}, **raw}))]


def test_an_inverted_model_is_diagnosed_with_what_flipping_gives() -> None:
    (message,) = messages_of(confusion={"tn": 480, "fp": 7430, "fn": 6345, "tp": 614})
    assert "inverted" in message
    assert "92.6%" in message


def test_an_inverted_model_is_seen_without_its_matrix() -> None:
    reported = {"accuracy": "7.36%", "recall": "8.82%", "precision": "7.63%"}
    support = {"normal": 7910, "attack": 6959}
    claim = build({"support": support, "reported": reported})
    assert [finding.code for finding in findings_of(claim)] == ["A001"]


@pytest.mark.parametrize(
    "cells",
    [
        {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635},
        {"tn": 50, "fp": 50, "fn": 50, "tp": 50},
        {"tn": 48, "fp": 52, "fn": 53, "tp": 47},
        {"tn": 0, "fp": 2, "fn": 2, "tp": 0},
        {"tn": 0, "fp": 50, "fn": 0, "tp": 50},
        {"tn": 0, "fp": 0, "fn": 5, "tp": 0},
    ],
)
def test_a_model_that_is_only_bad_is_not_called_inverted(cells: dict[str, int]) -> None:
    assert messages_of(confusion=cells) == []


def test_the_rows_of_the_named_set_are_passed_over_in_silence() -> None:
    for known in TEST_SETS:
        for part in known.parts:
            if part.negatives is not None:
                support = {"normal": part.negatives, "attack": part.positives}
                assert messages_of(dataset=known.name, support=support) == []
            assert messages_of(dataset=known.name, n=part.total) == []


def test_other_rows_are_not_that_test_set() -> None:
    (message,) = messages_of(dataset="NSL-KDD", n="14,869")
    assert "14,869 rows are not the 22,544 rows of NSL-KDD" in message
    assert "this is not that test set" in message


def test_a_test_part_with_the_rows_of_the_training_part_is_told() -> None:
    (message,) = messages_of(
        name="Forest on the NSL-KDD test set",
        confusion={"tn": 67000, "fp": 343, "fn": 630, "tp": 58000},
    )
    assert "KDDTrain+" in message
    assert messages_of(dataset="NSL-KDD", support={"normal": 67343, "attack": 58630}) == []


@pytest.mark.parametrize(
    ("told", "hint"),
    [
        ({"n": 148517}, "training and test parts together"),
        ({"n": 25195}, "20% of KDDTrain+"),
        ({"n": 82332}, "the part of 82,332 rows of UNSW-NB15"),
        ({"support": {"normal": 12833, "attack": 9711}}, "classes exchanged"),
        ({"support": {"normal": 11272, "attack": 11272}}, "another size"),
        ({"support": {"normal": 9711, "attack": 100}}, "harmless rows are as many"),
        ({"n": 10**7}, "more rows than in any part"),
    ],
)
def test_a_hint_says_what_the_rows_may_be(told: dict[str, object], hint: str) -> None:
    (message,) = messages_of(dataset="nsl kdd", **told)
    assert hint in message


def test_a_share_of_a_set_without_a_test_part_is_only_information() -> None:
    claim = build({"dataset": "Ling-Spam", "support": {"ham": 723, "spam": 145}, "reported": {}})
    (finding,) = findings_of(claim)
    assert finding.severity == "info"
    assert "30% of all messages" in finding.message


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NSL_KDD", "NSL-KDD"),
        ("results on KDDTest+", "NSL-KDD"),
        ("the UNSW NB-15 set", "UNSW-NB15"),
        ("KDD Cup 1999, corrected", "KDD Cup 99"),
        ("CICIDS2017", "CIC-IDS2017"),
        ("September, to remember", None),
        ("our own network", None),
        ("", None),
    ],
)
def test_sets_are_found_by_any_spelling_and_only_as_whole_words(
    text: str, name: str | None
) -> None:
    known = named_in(text)
    assert (known.name if known else None) == name


def test_both_parts_named_is_no_part_named() -> None:
    assert role_in("trained on KDDTrain+, tested on KDDTest+") is None
    assert role_in("KDDTest-21") == "test"


@pytest.mark.skipif(not DATA.is_dir(), reason="the real data is not here")
def test_the_table_has_the_rows_of_the_real_files() -> None:
    import polars as pl

    parts = {(known.name, part.total): part for known in TEST_SETS for part in known.parts}
    for file, name, column, quiet in (
        ("nsl_kdd_train", "NSL-KDD", "label", "normal"),
        ("nsl_kdd_test", "NSL-KDD", "label", "normal"),
        ("unsw_nb15_82332", "UNSW-NB15", "label", 0),
        ("lingspam_bare", "Ling-Spam", "label", "ham"),
    ):
        path = DATA / f"{file}.parquet"
        if not path.exists():
            pytest.skip(f"{path.name} is not here")
        labels = pl.read_parquet(path, columns=[column])[column]
        part = parts[name, len(labels)]
        assert part.negatives == int((labels == quiet).sum())
