"""Stated sizes, supports, and cells that they fill in."""

import pytest

from assay.decisions.audit import audit

FOREST = {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}


def audited(**claim):
    return audit(claim).claims[0]


def numbers(**claim):
    return {number.key: number for number in audited(**claim).numbers}


@pytest.mark.parametrize(
    ("n", "verdict"),
    [
        (14869, "consistent"),
        ("14,869", "consistent"),
        ("14870", "inconsistent"),
        ("1.49e4", "consistent"),
    ],
)
def test_the_stated_size_is_a_number_of_its_own(n, verdict) -> None:
    number = numbers(confusion=FOREST, n=n)["n"]
    assert str(number.verdict) == verdict
    assert number.recomputed == 14869
    assert number.measure is None


def test_supports_are_held_against_the_matrix() -> None:
    judgements = numbers(
        confusion=FOREST, positive="attack", support={"normal": 7910, "attack": 7000}, n=14869
    )
    assert {key: str(number.verdict) for key, number in judgements.items()} == {
        "n": "consistent",
        "support.normal": "consistent",
        "support.attack": "inconsistent",
    }


def test_the_size_is_held_against_supports_alone() -> None:
    support = {"normal": 7910, "attack": 6959}
    assert str(numbers(support=support, n=14869)["n"].verdict) == "consistent"
    assert str(numbers(support=support, n=14868)["n"].verdict) == "inconsistent"
    assert str(numbers(n=5)["n"].verdict) == "undetermined"


@pytest.mark.parametrize("missing", ["tn", "fp", "fn", "tp"])
def test_a_missing_cell_is_filled_in_from_the_size(missing) -> None:
    cells = {name: count for name, count in FOREST.items() if name != missing}
    audit_result = audited(
        confusion=cells, n=14869, reported={"accuracy": "96.70%", "mcc": "0.9338"}
    )
    assert [str(number.verdict) for number in audit_result.numbers] == [
        "consistent",
        "consistent",
        "undetermined",
    ]
    assert audit_result.notes == (f"{missing} = {FOREST[missing]:,} was filled in from n",)
    assert audit_result.numbers[-1].said == f"not judged: {missing} was filled in from it"


def test_two_missing_cells_are_filled_in_from_the_supports() -> None:
    audit_result = audited(
        confusion={"tn": 7743, "tp": 6635},
        positive="attack",
        support={"normal": 7910, "attack": 6959},
        n=14870,
        reported={"accuracy": "96.70%", "precision": "97.54%"},
    )
    verdicts = {number.key: str(number.verdict) for number in audit_result.numbers}
    assert verdicts == {"accuracy": "consistent", "precision": "consistent", "n": "inconsistent"}


def test_two_missing_cells_are_filled_in_from_one_support_and_the_size() -> None:
    audit_result = audited(
        confusion={"tn": 7743, "tp": 6635},
        positive="attack",
        support={"attack": 6959},
        negative="normal",
        n=14869,
        reported={"mcc": "0.9338"},
    )
    assert str(audit_result.numbers[0].verdict) == "consistent"


def test_cells_beyond_the_size_contradict_it() -> None:
    judgements = numbers(confusion={"tn": 7743, "tp": 6635}, n=9000, reported={})
    assert str(judgements["n"].verdict) == "inconsistent"
    assert "already add up to 14,378" in judgements["n"].said


def test_a_measure_of_known_cells_needs_no_others() -> None:
    judgements = numbers(
        confusion={"fp": 167, "tp": 6635},
        positive="attack",
        reported={"precision": "97.54%", "fdr.attack": "0.04", "far": "0.0246"},
    )
    assert str(judgements["precision"].verdict) == "consistent"
    assert str(judgements["fdr.attack"].verdict) == "inconsistent"
    assert str(judgements["far"].verdict) == "consistent"


def test_a_bare_rate_that_the_known_cells_do_not_give_may_be_an_average() -> None:
    cells = {"fp": 167, "tp": 6635}
    judgements = numbers(confusion=cells, positive="attack", reported={"fdr": "0.04"})
    assert str(judgements["fdr"].verdict) == "undetermined"


def test_the_other_label_is_read_on_known_cells_too() -> None:
    judgements = numbers(
        confusion={"tn": 7743, "fn": 324},
        negative="normal",
        reported={"precision.normal": "0.9598"},
    )
    assert str(judgements["precision.normal"].verdict) == "consistent"
