"""The top alerts, worked out row by row: values, influences, borders and thresholds."""

import math

import numpy as np
import pytest
from scipy import stats

from assay.counts import ScoreCounts
from assay.inference import ClopperPearson, Wilson, top

LABELS = ("normal", "attack")
# Scores fall from row to row but for three ties; both labels have the lowest score.
TRUTH = [1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]
SCORES = [
    *(30, 29, 28, 27, 26, 25, 24, 24, 24, 21, 20, 19, 18, 17, 16),
    *(15, 14, 13, 12, 11, 10, 9, 8, 8, 6, 5, 4, 3, 1, 1),
]
ROWS = list(zip(TRUTH, SCORES, strict=True))
WEIGHTS = [1.0 + (i * 7 % 5) / 2 for i in range(30)]


def counted(rows: list[tuple[int, float]], weights: list[float] | None = None) -> ScoreCounts:
    truth, scores = zip(*rows, strict=True)
    amounts = None if weights is None else np.array(weights)
    return ScoreCounts.of_rows(
        LABELS, np.array(scores, float), np.array(truth, np.uint8), weights=amounts
    )


def read_shares(rows: list[tuple[int, float]], weights: list[float], amount: float) -> list[float]:
    """The share of each row that is among the top, those that are tied alike."""
    shares = []
    for _, score in rows:
        above = math.fsum(w for (_, s), w in zip(rows, weights, strict=True) if s > score)
        tied = math.fsum(w for (_, s), w in zip(rows, weights, strict=True) if s == score)
        shares.append(min(max((amount - above) / tied, 0.0), 1.0))
    return shares


def attacks_in(rows: list[tuple[int, float]], weights: list[float], amount: float) -> float:
    shares = read_shares(rows, weights, amount)
    return math.fsum(r * w * t for (t, _), w, r in zip(rows, weights, shares, strict=True))


def on_logit(value: float, variance: float, reach: float) -> tuple[float, float]:
    odds = value / (1 - value)
    step = math.exp(reach * math.sqrt(variance) / (value * (1 - value)))
    return odds / step / (1 + odds / step), odds * step / (1 + odds * step)


def effective(weights: list[float]) -> float:
    return math.fsum(weights) ** 2 / math.fsum(w * w for w in weights)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
@pytest.mark.parametrize("share", [0.1, 0.25, 0.45, 0.75, 0.95])
def test_each_row_moves_both_shares_as_far_as_it_is_read(
    share: float, weights: list[float] | None
) -> None:
    """A row counts where it is an attack that is read, less what it pushes over the border."""
    each = weights or [1.0] * 30
    total = math.fsum(each)
    attacks = [w for w, t in zip(each, TRUTH, strict=True) if t]
    own = math.fsum(attacks) / total
    sizes = effective(attacks), effective([w for w, t in zip(each, TRUTH, strict=True) if not t])
    ratio = attacks_in(ROWS, each, share * total) / total
    beside = max(share / 2, 5 / sum(sizes))
    low, high = max(share - beside, 0.0), min(share + beside, 1.0)
    between = attacks_in(ROWS, each, high * total) - attacks_in(ROWS, each, low * total)
    border = between / total / (high - low)
    shares = read_shares(ROWS, each, share * total)
    precision, recall = ratio / share, ratio / own
    spreads = [0.0, 0.0]
    for truth, weight, part in zip(TRUTH, each, shares, strict=True):
        moved = truth * part - ratio - border * (part - share)
        spreads[0] += (weight * moved / share / total) ** 2
        spreads[1] += (weight * (moved - recall * (truth - own)) / own / total) ** 2
    alerts = top.of_rows(counted(ROWS, weights), share, 0.9)
    numbers = max(share * sum(sizes), 1.0), sizes[0]
    for estimate, value, spread, n in zip(
        (alerts.precision, alerts.recall), (precision, recall), spreads, numbers, strict=True
    ):
        assert estimate.value == pytest.approx(value)
        assert (estimate.n, estimate.level, estimate.method) == (pytest.approx(n), 0.9, "delta")
        reach = float(stats.t.ppf(0.95, max(n - 1, 1)))
        if value < 1:
            assert (estimate.low, estimate.high) == pytest.approx(on_logit(value, spread, reach))
        else:
            edge = float(ClopperPearson(0.9)(n, n)[0])
            assert (estimate.low, estimate.high) == (pytest.approx(edge), 1.0)


@pytest.mark.parametrize(
    ("share", "threshold"),
    [(1 / 30, 30), (0.05, 29), (0.2, 25), (0.21, 24), (0.3, 24), (0.31, 21), (0.97, 1), (1.0, 1)],
)
def test_the_threshold_is_the_score_of_the_last_alert(share: float, threshold: float) -> None:
    of_rows = top.of_rows(counted(ROWS), share, 0.95)
    assert of_rows.precision.parts == of_rows.recall.parts == {top.THRESHOLD: threshold}
    base_rate = sum(TRUTH) / 30
    at_own = top.of_sample(counted(ROWS), share - 1e-9, base_rate, 0.95)
    assert at_own.precision.parts == at_own.recall.parts == {top.THRESHOLD: threshold}


def test_less_than_one_alert_counts_as_one() -> None:
    # 0.01 * 30 rows, all of them attacks: a share that rounding makes a little less than 1.
    alerts = top.of_rows(counted(ROWS), 0.01, 0.95)
    assert alerts.precision == 1
    assert alerts.precision.n == 1.0
    assert (alerts.precision.low, alerts.precision.high) == (pytest.approx(0.025), 1.0)


def test_all_rows_hold_all_attacks_and_their_own_share() -> None:
    alerts = top.of_rows(counted(ROWS), 1.0, 0.95)
    assert alerts.recall == 1
    assert alerts.precision.value == pytest.approx(1 / 3)
    # The border is that of the lower half, where 4 of 15 rows are attacks.
    assert (alerts.precision.n, alerts.recall.n) == (30, 10)


def test_a_score_that_no_row_has_changes_nothing() -> None:
    plain = ScoreCounts(LABELS, np.array([0.1, 0.4, 0.9]), np.array([[5, 3, 1], [1, 2, 4]]))
    gaps = ScoreCounts(
        LABELS,
        np.array([0.1, 0.2, 0.4, 0.9, 1.0]),
        np.array([[5, 0, 3, 1, 0], [1, 0, 2, 4, 0]]),
    )
    for share in (0.2, 0.5, 0.9):
        one, other = (top.of_rows(each, share, 0.95) for each in (plain, gaps))
        assert other.precision.low == pytest.approx(one.precision.low)
        assert other.recall.high == pytest.approx(one.recall.high)
        assert other.recall.parts == one.recall.parts


# -- at a base rate --------------------------------------------------------------------------------


def top_at_base_rate(share: float, base_rate: float, weights: list[float] | None) -> list[float]:
    """Recall with its ends, by steps so small that a straight line lies between them."""
    each = weights or [1.0] * 30
    of_attacks = [w for w, t in zip(each, TRUTH, strict=True) if t]
    of_others = [w for w, t in zip(each, TRUTH, strict=True) if not t]
    attacks, others = math.fsum(of_attacks), math.fsum(of_others)
    scaled = [
        w * (base_rate / attacks if t else (1 - base_rate) / others)
        for w, t in zip(each, TRUTH, strict=True)
    ]
    hit = attacks_in(ROWS, scaled, share) / base_rate
    false = (share - base_rate * hit) / (1 - base_rate)
    sizes = effective(of_attacks), effective(of_others)
    beside = max(share / 2, 5 / sum(sizes))
    low, high = max(share - beside, 0.0), min(share + beside, 1.0)
    between = attacks_in(ROWS, scaled, high) - attacks_in(ROWS, scaled, low)
    border = between / (high - low)
    weight = border * (1 - base_rate) / base_rate
    rates = [Wilson(0.9).ends(r * n, n) for r, n in zip((hit, false), sizes, strict=True)]
    # The second rate counts against the first, so its far end is the other one.
    down = math.hypot((1 - border) * (hit - rates[0][0]), weight * (rates[1][1] - false))
    up = math.hypot((1 - border) * (rates[0][1] - hit), weight * (false - rates[1][0]))
    most = min(share / base_rate, 1.0)
    return [hit, max(hit - down, 0.0), min(hit + up, most), *sizes]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
@pytest.mark.parametrize(
    ("share", "base_rate"),
    [(0.1, 0.3), (0.3, 0.05), (0.02, 0.01), (0.5, 0.6), (0.8, 0.1), (0.12, 0.6), (0.98, 0.02)],
)
def test_at_a_base_rate_both_rates_and_the_border_move_the_top(
    share: float, base_rate: float, weights: list[float] | None
) -> None:
    hit, low, high, *sizes = top_at_base_rate(share, base_rate, weights)
    alerts = top.of_sample(counted(ROWS, weights), share, base_rate, 0.9)
    recall, precision = alerts.recall, alerts.precision
    assert (recall.value, recall.low, recall.high) == pytest.approx((hit, low, high))
    scale = base_rate / share
    expected = [min(each * scale, 1.0) for each in (hit, low, high)]
    assert [precision.value, precision.low, precision.high] == pytest.approx(expected)
    assert (recall.n, precision.n) == pytest.approx((sizes[0], sum(sizes)))
    assert (recall.level, recall.method, precision.method) == (0.9, "mover", "mover")


def test_no_more_attacks_are_found_than_rows_are_read() -> None:
    alerts = top.of_sample(counted(ROWS), 0.12, 0.6, 0.95)
    assert alerts.recall.high <= 0.12 / 0.6
    assert alerts.precision.high <= 1


# -- days ------------------------------------------------------------------------------------------


def test_days_that_agree_are_proof_from_the_fifth_on() -> None:
    one = counted([(1, 4), (0, 3), (1, 2), (0, 1)])
    four = top.over_days(dict.fromkeys("abcd", one), 2, 0.95)
    assert (four.precision.low, four.precision.high) == pytest.approx(Wilson().ends(4, 8))
    assert (four.recall.low, four.recall.high) == pytest.approx(Wilson().ends(4, 8))
    five = top.over_days(dict.fromkeys("abcde", one), 2, 0.95)
    low, high = Wilson().ends(5, 10)
    assert low < five.precision.low <= 0.5 <= five.precision.high < high


def test_days_that_differ_more_than_rows_keep_their_own_interval() -> None:
    good = counted([(1, i) for i in range(20, 10, -1)] + [(0, i) for i in range(10)])
    bad = counted([(0, i) for i in range(20, 10, -1)] + [(1, i) for i in range(10)])
    alerts = top.over_days({"a": good, "b": bad, "c": good}, 10, 0.95)
    low, high = Wilson().ends(20, 30)
    assert alerts.precision.value == pytest.approx(2 / 3)
    assert alerts.precision.low < low - 0.1
    assert alerts.precision.high > high + 0.1


def test_one_day_that_is_read_whole_is_a_sample_that_is_read_whole() -> None:
    top_alerts = top.over_days({"a": counted(ROWS)}, 50, 0.95)
    expected = top.of_rows(counted(ROWS), 1.0, 0.95)
    assert top_alerts.precision.value == expected.precision.value == pytest.approx(1 / 3)
    assert top_alerts.precision.low == expected.precision.low
    half = top.over_days({"a": counted(ROWS)}, 15, 0.95)
    assert half.recall == top.of_rows(counted(ROWS), 0.5, 0.95).recall


@pytest.mark.parametrize(("k", "read"), [(1, 1), (3, 3), (9, 4)])
def test_a_day_of_attacks_alone_is_a_matter_of_counts(k: int, read: int) -> None:
    top_alerts = top.over_days({"a": counted([(1, i) for i in range(4)])}, k, 0.95)
    assert (top_alerts.precision.value, top_alerts.recall.value) == (1, read / 4)
    assert (top_alerts.precision.low, top_alerts.precision.high) == pytest.approx(
        Wilson().ends(read, read)
    )
    assert (top_alerts.recall.low, top_alerts.recall.high) == pytest.approx(Wilson().ends(read, 4))
    assert (top_alerts.precision.n, top_alerts.recall.n) == (read, 4)


@pytest.mark.parametrize(("k", "read"), [(1, 1), (3, 3), (9, 4)])
def test_a_day_without_attacks_is_a_matter_of_counts(k: int, read: int) -> None:
    top_alerts = top.over_days({"a": counted([(0, i) for i in range(4)])}, k, 0.95)
    assert top_alerts.precision.value == 0
    assert (top_alerts.precision.low, top_alerts.precision.high) == pytest.approx(
        Wilson().ends(0, read)
    )
    assert math.isnan(top_alerts.recall)
    assert top_alerts.precision.n == read


def test_days_without_attacks_have_no_detection_rate_together() -> None:
    calm = counted([(0, 3), (0, 2)])
    top_alerts = top.over_days({"a": calm, "b": calm}, 1, 0.95)
    assert top_alerts.precision.value == 0
    assert math.isnan(top_alerts.recall)


def test_the_top_is_read_from_the_highest_score_on() -> None:
    table = counted([(1, 9), (0, 5), (0, 5), (1, 5), (0, 1)], [1.0, 2.0, 2.0, 4.0, 3.0])
    assert top.read(table, 0) == (0, 0)
    assert top.read(table, 1) == (1, 0)
    assert top.read(table, 5) == (3, 2)
    assert top.read(table, 9) == (5, 4)
    assert top.read(table, 10.5) == (5, 5.5)
    assert top.read(table, 99) == (5, 7)
