"""A small version of `make fuzz`."""

import random

import pytest


@pytest.fixture(scope="module")
def fuzz(benchmark_module):
    return benchmark_module("audit_fuzz")


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 200, 25))
def test_mutated_claims_are_judged_or_refused(fuzz, start) -> None:
    trials = [fuzz.trial(7, index) for index in range(start, start + 25)]
    assert [outcome for outcome in trials if outcome.failed] == []
    assert any(outcome.kind == "judged" for outcome in trials)


def test_claims_are_mutated_in_every_way(benchmark_module, fuzz) -> None:
    claims = benchmark_module("mutated.claims")
    rng = random.Random(3)
    texts = [repr(claims.mutated(rng, fuzz.bases())) for _ in range(600)]
    for part in (
        "1e309",
        "1e400",
        "1000000000000000000",
        "'weighted'",
        "roc_auc",
        "'n': 0",
        "Ünïcödé",
    ):
        assert any(part in text for text in texts), part


def test_a_share_beyond_all_doubt_must_not_pass(fuzz) -> None:
    number = {"key": "accuracy", "measure": "accuracy", "reported": "1e309", "verdict": "rounding"}
    claim = {"verdict": "consistent", "numbers": [number]}
    assert list(fuzz.broken({"claims": [claim]})) == ["a share like 1e309 is rounding"]
