"""Shifts against a reference: exact laws of ranks, few false stops, and drift that is found."""

import itertools
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Request, monitor, monitor_files
from assay.decisions.daily_counts import (
    ALERTS_ON_TOP,
    TENTHS,
    ReferenceCells,
    reference_cells,
)
from assay.decisions.watched_figures import base_rate_of, evidence_of, evidence_of_cuts
from assay.errors import InputError
from assay.inference.fields import restored
from assay.inference.proportions import BetaMixture

from .streams import day_of, stream

LIMIT = math.log(20)


def counts_of(cells: ReferenceCells, values: np.ndarray, day: str = "2026-03-02") -> np.ndarray:
    slots = np.bincount(cells.slots_of(values), minlength=cells.slots)
    return cells.cell_counts(slots.tolist(), day, 42)


# -- the cells of a reference ----------------------------------------------------------------------


def test_cells_are_cut_at_order_statistics_and_weigh_their_steps() -> None:
    cells = reference_cells("score", pl.Series(np.arange(99.0)), TENTHS, 42)
    assert cells.edges == (9, 19, 29, 39, 49, 59, 69, 79, 89, 94)
    assert cells.weights == (10, 10, 10, 10, 10, 10, 10, 10, 10, 5, 5)
    assert sum(cells.weights) == cells.rows + 1


@given(st.lists(st.integers(0, 6), min_size=12, max_size=80), st.lists(st.integers(-2, 9)))
def test_every_row_falls_into_one_cell(reference: list[int], rows: list[int]) -> None:
    cells = reference_cells("bytes", pl.Series(reference), TENTHS, 1)
    assert counts_of(cells, np.array(rows, float)).sum() == len(rows)
    assert list(cells.cut_edges) == sorted(cells.cut_edges)
    assert restored(ReferenceCells, cells.to_dict()) == cells


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["normal", "ties", "names"])
def test_shares_of_cells_follow_the_steps_of_ranks_whatever_the_distribution(kind: str) -> None:
    # The mean and the variance of a Dirichlet distribution, over references drawn anew.
    random = np.random.default_rng(5)
    draw = {
        "normal": lambda n: random.normal(size=n),
        "ties": lambda n: random.normal(size=n).round(),
        "names": lambda n: random.choice(["tcp", "udp", "icmp"], n, p=[0.7, 0.2, 0.1]),
    }[kind]
    shares = []
    for _ in range(400):
        cells = reference_cells(
            "x", pl.Series(draw(59)), (0.25, 0.5, 0.75), int(random.integers(1e9))
        )
        rows = pl.Series(draw(2000))
        shares.append(counts_of(cells, cells.values_of(rows)) / 2000)
    fractions = np.array(shares)
    assert cells.weights == (15, 15, 15, 15)
    assert fractions.mean(axis=0) == pytest.approx([0.25] * 4, abs=0.015)
    # 15 * 45 / (60^2 * 61), and that of 2,000 rows.
    assert fractions.std(axis=0) == pytest.approx(
        [math.sqrt(0.003074 + 0.25 * 0.75 / 2000)] * 4, rel=0.15
    )


def test_what_is_missing_or_new_has_its_place() -> None:
    cells = reference_cells("port", pl.Series(["a", "b", None, "b"] * 10), (0.5,), 1)
    values = cells.values_of(pl.Series([None, "a", "b", "c"]))
    assert values.tolist() == [0.0, 1.0, 2.0, 3.0]
    numbers = reference_cells("bytes", pl.Series(["1.5", "", "2"] * 10), (0.5,), 1)
    assert numbers.kind == "numbers"
    assert np.isfinite(numbers.values_of(pl.Series(["", "inf", "3"]))).all()


def test_a_reference_of_few_rows_or_of_ids_is_refused() -> None:
    with pytest.raises(InputError, match="too few to tell a shift from"):
        reference_cells("score", pl.Series([1.0, 2.0]), TENTHS, 1)
    with pytest.raises(InputError, match="1,001 distinct values"):
        reference_cells("id", pl.Series([f"x{i}" for i in range(1001)]), TENTHS, 1)


# -- the evidence ----------------------------------------------------------------------------------


@pytest.mark.parametrize("evidence", [evidence_of, evidence_of_cuts])
def test_the_evidence_is_a_martingale_under_the_law_of_ranks(evidence) -> None:
    # All ways in which rows of two days can fall, each by its chance: the mean stays 1.
    weights = np.array([3.0, 2.0, 4.0])
    rows = 2

    def chance(counts: np.ndarray, prior: np.ndarray) -> float:
        ordered = math.lgamma(prior.sum()) - math.lgamma(prior.sum() + counts.sum())
        ordered += sum(
            math.lgamma(p + c) - math.lgamma(p) for p, c in zip(prior, counts, strict=True)
        )
        ways = math.factorial(int(counts.sum())) / math.prod(math.factorial(int(c)) for c in counts)
        return ways * math.exp(ordered)

    falls = [
        np.array(each) for each in itertools.product(range(rows + 1), repeat=3) if sum(each) == rows
    ]
    means = np.zeros(2)
    for one, other in itertools.product(falls, falls):
        share = chance(one, weights) * chance(other, weights + one)
        means += share * np.exp(evidence(np.stack([one, other]), weights))
    assert means == pytest.approx([1.0, 1.0])


@given(st.integers(0, 10), st.integers(1, 20))
@settings(max_examples=20)
def test_evidence_of_the_first_days_does_not_depend_on_later_ones(seed: int, days: int) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(0, 20, (30, 4))
    whole = evidence_of(counts, [10, 20, 20, 10])
    assert evidence_of(counts[:days], [10, 20, 20, 10]) == pytest.approx(whole[:days])


def drifting(
    random: np.random.Generator, reference: int, rows: int, days: int, start: int, shift: float
) -> tuple[ReferenceCells, np.ndarray]:
    """A year of scores: one row in 100 is an attack; negatives move by so many of their spread."""

    def scores(size: int, moved: float | np.ndarray) -> np.ndarray:
        attack = random.random(size) < 0.01
        return np.where(attack, random.normal(3, 1, size), random.normal(moved, 1, size))

    cells = reference_cells("score", pl.Series(scores(reference, 0.0)), TENTHS, 42)
    day = np.repeat(np.arange(days), rows)
    # No two scores are equal, so that a row lies between two cuts, and never at one.
    cell = cells.slots_of(scores(days * rows, np.where(day >= start, shift, 0.0))) // 2
    size = len(cells.weights)
    return cells, np.bincount(day * size + cell, minlength=days * size).reshape(days, size)


def false_stops(streams: int, reference: int, rows: int, certainty: float = 1.0) -> float:
    """Of years without drift the share that stops; ``certainty`` multiplies the reference."""
    random = np.random.default_rng(11)
    stopped = 0
    for _ in range(streams):
        cells, counts = drifting(random, reference, rows, 365, 365, 0.0)
        stopped += evidence_of(counts, certainty * np.array(cells.weights)).max() >= LIMIT
    return stopped / streams


def found_within_a_month(streams: int) -> float:
    random = np.random.default_rng(12)
    detections = 0
    for _ in range(streams):
        cells, counts = drifting(random, 2000, 200, 213, 183, 0.2)
        over = np.flatnonzero(evidence_of(counts, cells.weights) >= LIMIT)
        detections += bool(len(over)) and over[0] >= 183
    return detections / streams


@pytest.mark.slow
def test_few_streams_without_drift_stop_and_a_reference_that_is_plugged_in_stops_all() -> None:
    assert false_stops(60, 2000, 100) <= 0.05
    # As if the shares of the reference were known.
    assert false_stops(20, 2000, 100, certainty=1e6) >= 0.9


def test_drift_of_negatives_is_found_within_a_month() -> None:
    assert found_within_a_month(20) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("reference", [500, 5000])
def test_400_years_without_drift(reference: int) -> None:
    assert false_stops(400, reference, 200) <= 0.05


@pytest.mark.slow
def test_drift_in_300_streams() -> None:
    assert found_within_a_month(300) >= 0.9


# -- in a monitor ----------------------------------------------------------------------------------


def reference(**asked: float) -> dict:
    rows = stream(days=20, seed=9, **asked)
    truth = np.where(np.random.default_rng(9).random(len(rows["times"])) < 0.2, "attack", "normal")
    return {"y_score": rows["y_score"], "y_true": truth}


def test_a_shift_is_found_and_called_no_loss_of_quality() -> None:
    random = np.random.default_rng(3)
    rows = stream(days=20, shift=0.1)
    size = len(rows["times"])
    given = {**reference(), "bytes": random.lognormal(6, 1, 1200), "proto": ["tcp", "udp"] * 600}
    monitoring = monitor(
        rows["times"],
        y_score=rows["y_score"],
        features={"bytes": random.lognormal(6, 1, size), "proto": ["udp"] * size},
        reference=given,
    )
    by_column = {each.column: each for each in monitoring.shift}
    assert by_column["score"].shifted
    assert by_column["score"].since >= day_of(0)
    assert by_column["feature proto"].shifted
    assert not by_column["feature bytes"].shifted
    assert by_column["score"].mean_rank > 0.55
    (finding,) = (each for each in monitoring.findings if each.code == "M003")
    assert "A reason to label, not a loss of quality" in finding.message
    assert "feature bytes" not in finding.message


def test_no_shift_is_found_where_there_is_none_and_alerts_are_followed() -> None:
    rows = stream(days=20, seed=4)
    quiet = monitor(rows["times"], y_score=rows["y_score"], reference=reference())
    assert [each.column for each in quiet.shift] == ["score", "alerts"]
    assert not any(each.shifted for each in quiet.shift)
    raised = monitor(
        rows["times"],
        y_pred=np.where(np.arange(len(rows["times"])) % 3 == 0, "attack", "normal"),
        reference={"y_pred": (["attack"] + ["normal"] * 9) * 100},
        positive="attack",
    )
    assert [(each.column, each.shifted) for each in raised.shift] == [("alerts", True)]


def test_a_state_brings_its_reference_and_refuses_another() -> None:
    rows = stream(days=10)
    half = {name: column[:300] for name, column in rows.items()}
    rest = {name: column[300:] for name, column in rows.items()}
    known = reference()
    state = monitor(half["times"], y_score=half["y_score"], reference=known).tally
    monitoring = monitor(rest["times"], y_score=rest["y_score"], state=state)
    whole = monitor(rows["times"], y_score=rows["y_score"], reference=known)
    assert monitoring.shift == whole.shift
    other = {"y_score": known["y_score"] / 2}
    with pytest.raises(InputError, match="counted with another reference"):
        monitor(rest["times"], y_score=rest["y_score"], state=state, reference=other)


def test_a_reference_with_other_columns_is_refused(tmp_path: Path) -> None:
    days, half = [day_of(0)] * 20, [0.9, 0.1] * 10
    with pytest.raises(InputError, match="reference= has no column 'decision'"):
        monitor(days, y_score=half, y_pred=["attack"] * 20, reference={"y_score": half})
    rows, reference = tmp_path / "rows.csv", tmp_path / "reference.csv"
    rows.write_text("time,y_pred\n" + "2026-03-01,attack\n" * 20)
    reference.write_text("score,y_pred\n" + "0.9,attack\n0.1,normal\n" * 20)
    with pytest.raises(InputError, match="scores in reference= and not in the rows"):
        monitor_files(str(rows), Request(time="time"), reference=str(reference))


# -- the share of attacks --------------------------------------------------------------------------

TABLE = {"tp": 90, "fn": 10, "fp": 20, "tn": 980}


def test_the_share_of_attacks_follows_from_that_of_alerts() -> None:
    estimate = base_rate_of(1000, 10_000, TABLE, 0.95)
    assert float(estimate) == pytest.approx((0.1 - 0.02) / (0.9 - 0.02))
    low = BetaMixture(1 - 0.05 / 3)(1000, 10_000)[0]
    assert estimate.low < float(estimate) < estimate.high
    assert estimate.low < (float(low) - 0.02) / 0.88
    assert "label shift" in estimate.note
    assert base_rate_of(10, 100, {"tp": 0, "fn": 0, "fp": 1, "tn": 9}, 0.95) is None
    useless = base_rate_of(10, 100, {"tp": 5, "fn": 5, "fp": 5, "tn": 5}, 0.95)
    assert math.isnan(useless)
    assert "does not show" in useless.undefined


def test_the_interval_of_the_share_of_attacks_covers_at_every_look() -> None:
    random = np.random.default_rng(6)
    wrong = 0
    for _ in range(100):
        tp, fp = random.binomial(200, 0.8), random.binomial(2000, 0.03)
        table = {"tp": tp, "fn": 200 - tp, "fp": fp, "tn": 2000 - fp}
        alerts = np.cumsum(random.binomial(100, 0.03 + 0.1 * (0.8 - 0.03), 60))
        for day in range(0, 60, 6):
            estimate = base_rate_of(int(alerts[day]), 100 * (day + 1), table, 0.95)
            if not estimate.low <= 0.1 <= estimate.high:
                wrong += 1
                break
    assert wrong <= 5


def test_a_share_of_attacks_that_moved_is_a_finding() -> None:
    days = [day_of(i) for i in range(10) for _ in range(100)]
    score = np.where(np.arange(1000) % 2 == 0, 0.9, 0.1)
    known = {"y_score": [0.9] * 95 + [0.1] * 905, "y_true": ["attack"] * 100 + ["normal"] * 900}
    monitoring = monitor(days, ["attack"] * 1000, y_score=score, reference=known, positive="attack")
    assert monitoring.reference_base_rate == 0.1
    assert monitoring.base_rate.low > 0.3
    assert "M004" in [each.code for each in monitoring.findings]
    assert ALERTS_ON_TOP[0] == 0.5
