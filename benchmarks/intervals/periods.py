"""Rates over time: how often periods are falsely called unlike and rates fallen, and the power.

Sizes of the test that periods are alike are exact given how many hits there are: each number of
hits that may come up has its own law, of which 20,000 tables are drawn. The power is compared with
that of the tables that the tests were chosen by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, norm

from assay.inference import ClopperPearson
from assay.inference.periods import (
    _DRAWS,
    _FIRST_DRAWS,
    _LARGE_P,
    _dealt,
    _orders,
    adjusted,
    alike,
    change,
    hosts_alike,
)
from assay.inference.significance import holm

SURE = 0.999
# Tables drawn of each margin, and the share of margins that may be left out.
_TABLES, _LEFT_OUT = 20_000, 1e-4


@dataclass
class Rate:
    """How often something was said, and the bar: at most, or at least."""

    what: str
    setting: str
    rate: float
    error: float
    bar: float
    at_most: bool = True
    draws: int = 0

    @property
    def beyond(self) -> bool:
        """Whether the rate itself is beyond the bar."""
        return self.rate > self.bar if self.at_most else self.rate < self.bar

    @property
    def fails(self) -> bool:
        """Whether it is so surely."""
        if not self.draws:
            reach = float(norm.ppf((1 + SURE) / 2)) * self.error
            return self.beyond and abs(self.rate - self.bar) > reach
        low, high = ClopperPearson(SURE).ends(round(self.rate * self.draws), self.draws)
        return low > self.bar if self.at_most else high < self.bar


def drawn(what: str, setting: str, said: np.ndarray, bar: float, *, at_most: bool = True) -> Rate:
    """The rate of what was said in simulated data sets."""
    share = float(np.mean(said))
    error = (share * (1 - share) / len(said)) ** 0.5
    return Rate(what, setting, share, error, bar, at_most, len(said))


# -- alike -----------------------------------------------------------------------------------------


def sizes_of_alike(trials: np.ndarray, share: float) -> tuple[list[float], list[float]]:
    """How often p is at most .05 and at most .001 of alike periods, and the standard errors."""
    rows = int(trials.sum())
    spread = int(6 * (rows * share * (1 - share)) ** 0.5 + 8)
    centre = round(rows * share)
    margins = np.arange(max(centre - spread, 0), min(centre + spread, rows) + 1)
    chances = binom.pmf(margins, rows, share)
    order = np.argsort(-chances)
    kept = order[: 1 + int(np.searchsorted(np.cumsum(chances[order]), 1 - _LEFT_OUT))]
    kept = kept[:: max(len(kept) // 40, 1)]
    weights = chances[kept] / chances[kept].sum()
    said, errors = np.zeros(2), np.zeros(2)
    for weight, hits in zip(weights, margins[kept], strict=True):
        p = _p_of_tables(trials, int(hits))
        for at, level in enumerate((0.05, 0.001)):
            share_said = float((p <= level).mean())
            said[at] += weight * share_said
            errors[at] += weight**2 * share_said * (1 - share_said) / len(p)
    return said.tolist(), np.sqrt(errors).tolist()


def _p_of_tables(trials: np.ndarray, hits: int) -> np.ndarray:
    """The p of tables with so many hits, as :func:`assay.inference.periods.alike` finds it."""
    rows = int(trials.sum())
    rarer = min(hits, rows - hits)
    if not rarer:
        return np.ones(1)
    generator = np.random.default_rng(hits)
    tables = generator.multivariate_hypergeometric(trials, rarer, _TABLES, method="marginals")

    def statistic(dealt: np.ndarray) -> np.ndarray:
        expected = trials * rarer / rows
        return (np.square(dealt - expected) / trials).sum(axis=1).round(9)

    seen, p = statistic(tables), np.ones(len(tables))
    for draws in (_FIRST_DRAWS, _DRAWS):
        known = np.sort(statistic(_dealt(trials, rarer, draws)))
        above = len(known) - np.searchsorted(known, seen, side="right")
        tied = np.searchsorted(known, seen, side="right") - np.searchsorted(known, seen)
        own = (1 + above + tied / 2) / (draws + 1)
        p = (
            np.where(p > _LARGE_P, own, p)
            if draws == _FIRST_DRAWS
            else np.where(p <= _LARGE_P, own, p)
        )
    return p


ALIKE = (
    ([6] * 30, 0.84),
    ([3] * 90, 0.84),
    ([5] * 12, 0.3),
    ([2] * 100, 0.9),
    ([10] * 52, 0.99),
    ([100] * 100, 0.999),
    ([50] * 6, 0.99),
    ([500] * 3, 0.999),
    ([1] * 20 + [50] * 5, 0.9),
    ([2, 3, 5, 8, 13, 21, 34, 55, 89, 144], 0.93),
    ([200] + [1] * 11, 0.98),
)


def alike_sizes() -> Iterator[Rate]:
    """Alike periods that are called unlike."""
    for trials, share in ALIKE:
        setting = f"{len(trials)} periods of {min(trials)} to {max(trials)} rows, rate {share:g}"
        said, errors = sizes_of_alike(np.array(trials), share)
        for level, rate, error in zip((0.05, 0.001), said, errors, strict=True):
            yield Rate(f"unlike at {level:g}", setting, rate, error, 1.2 * level)


def shortcut_sizes(draws: int = 100_000) -> Iterator[Rate]:
    """The same where the chi-square distribution is near enough."""
    rng = np.random.default_rng(7)
    for periods in (3, 12, 30):
        trials = np.full(periods, 400)
        hits = rng.binomial(trials, 10.5 / 400, (draws, periods))
        hits = hits[hits.sum(axis=1) >= 10 * periods]
        share = hits.sum(axis=1, keepdims=True) / trials.sum()
        x = (np.square(hits - trials * share) / trials).sum(axis=1) / (share * (1 - share))[:, 0]
        p = np.array([alike(h, trials) for h in hits[:5]])
        from scipy.special import chdtrc

        every = chdtrc(periods - 1, x)
        assert np.allclose(p, every[:5])
        for level in (0.05, 0.001):
            setting = f"{periods} periods of 400 rows, 10 expected hits"
            yield drawn(f"unlike at {level:g}", setting, every <= level, 1.2 * level)


def finding(samples: int) -> Iterator[Rate]:
    """E015: recall and false positive rate by period, p at most .001 by Holm."""
    rng = np.random.default_rng(15)
    for attacks, harmless, periods in ((6, 200, 30), (20, 500, 12), (3, 100, 26)):
        said = []
        for _ in range(samples):
            p = [
                alike(rng.binomial(n, share), n)
                for n, share in (
                    (np.full(periods, attacks), 0.84),
                    (np.full(periods, harmless), 0.02),
                )
            ]
            said.append(min(holm(p)) <= 0.001)
        setting = f"{periods} periods of {attacks} attacks and {harmless} harmless rows"
        yield drawn("E015", setting, np.array(said), 0.005)


# The power at .05 and .001 of 400 sets: one bad period, halves, an effect of each period, a line.
_BAD = ((30, 6, 51, 13), (90, 3, 20, 2), (26, 20, 99, 93), (12, 50, 100, 100))
_HALVES = ((30, 6, 72, 15), (90, 3, 55, 7), (6, 30, 98, 74), (26, 20, 100, 99))
_SPREAD = ((30, 6, 79, 34), (6, 30, 86, 56), (26, 20, 99, 98))
_LINE = ((30, 6, 22, 2), (6, 30, 69, 19), (6, 100, 100, 95))


def alike_power(samples: int) -> Iterator[Rate]:
    """How often periods that differ are called unlike, and how often they were in the tables."""
    rng = np.random.default_rng(9)

    def bad(periods: int) -> np.ndarray:
        return np.where(np.arange(periods) == 0, 0.4, 0.93)

    def halves(periods: int) -> np.ndarray:
        return np.where(np.arange(periods) < periods / 2, 0.93, 0.65)

    def spread(periods: int) -> np.ndarray:
        odds = 0.84 * 0.16 / 0.15**2 - 1
        return rng.beta(0.84 * odds, 0.16 * odds, periods)

    def line(periods: int) -> np.ndarray:
        return np.linspace(0.93, 0.65, periods)

    for name, rates, cells in (
        ("one bad period", bad, _BAD),
        ("halves", halves, _HALVES),
        ("periods differ by .15", spread, _SPREAD),
        ("line", line, _LINE),
    ):
        for periods, rows, *known in cells:
            n = np.full(periods, rows)
            p = np.array([alike(rng.binomial(n, rates(periods)), n) for _ in range(samples)])
            for level, power in zip((0.05, 0.001), known, strict=True):
                setting = f"{name}, {periods} periods of {rows}"
                yield _beside(f"power at {level:g}", setting, p <= level, power / 100, 400)


def _beside(what: str, setting: str, said: np.ndarray, known: float, sets: int) -> Rate:
    """A rate beside one of a table, with the errors of both."""
    rate = float(np.mean(said))
    # One more of each: a table's 100% may be 99.6%.
    spread = [
        ((share * n + 1) / (n + 2)) * (1 - (share * n + 1) / (n + 2)) / n
        for share, n in ((rate, len(said)), (known, sets))
    ]
    # Tables are rounded to a percent.
    return Rate(what, setting, rate, sum(spread) ** 0.5, known - 0.005, at_most=False)


# -- trend -----------------------------------------------------------------------------------------


def p_of_trends(hits: np.ndarray, trials: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P of no trend of many data sets at once, and the direction; every unit has rows."""
    units = hits.shape[1]
    centred = np.arange(units) - (units - 1) / 2
    share = hits.sum(axis=1, keepdims=True) / trials.sum(axis=1, keepdims=True)
    moved = hits - trials * share
    seen = moved @ centred
    orders = _orders(units, _DRAWS)
    positions = np.empty((len(orders), units))
    np.put_along_axis(positions, orders, np.broadcast_to(centred, positions.shape), axis=1)
    said = np.empty(len(hits))
    for start in range(0, len(hits), 200):
        drawn_sums = np.abs(moved[start : start + 200] @ positions.T)
        least = np.abs(seen[start : start + 200, None]) * (1 - 1e-9)
        said[start : start + 200] = (1 + (drawn_sums >= least).sum(axis=1)) / (_DRAWS + 1)
    return said, np.sign(seen)


def trend_sizes(samples: int) -> Iterator[Rate]:
    """Rates that stay what they are, and are said to fall or rise."""
    rng = np.random.default_rng(3)
    for name, share, within in (
        ("rate .84", 0.84, 0.0),
        ("rate .98", 0.98, 0.0),
        ("rate .84, days differ (correlation .1)", 0.84, 0.1),
        ("rate .84, days differ (correlation .3)", 0.84, 0.3),
    ):
        for units, rows in ((180, 2), (90, 3), (26, 5), (26, 20), (12, 50), (8, 20)):
            n = np.maximum(rng.poisson(rows, (samples, units)), 1)
            rate: np.ndarray | float = share
            if within:
                odds = 1 / within - 1
                rate = rng.beta(share * odds, (1 - share) * odds, (samples, units))
            k = rng.binomial(n, rate)
            p, sign = p_of_trends(k, n)
            third = max(round(units / 3), 1)
            first, last = (
                k[:, part].sum(axis=1) / n[:, part].sum(axis=1)
                for part in (slice(0, third), slice(-third, None))
            )
            said = (p <= 0.01) & (np.sign(last - first) == sign)
            yield drawn("fell or rose", f"{units} days of {rows} attacks, {name}", said, 0.01)


_DAYS = ((180, 0.5), (180, 1), (180, 2), (180, 10), (90, 3), (26, 5), (26, 20), (12, 50), (8, 20))
_POWER = {
    "line .93 to .65": (24, 53, 90, 100, 75, 33, 96, 96, 29),
    "step in the middle": (60, 92, 100, 100, 99, 65, 100, 92, 22),
    "last third only": (52, 89, 100, 100, 98, 56, 100, 82, 8),
    "line .93 to .80": (6, 12, 35, 98, 21, 8, 42, 44, 8),
    "line .93 to .65, days differ (correlation .3)": (20, 39, 70, 95, 45, 11, 21, 7, 5),
}


def _course(name: str, days: int) -> np.ndarray:
    at = np.arange(days)
    if name.startswith("line"):
        return np.linspace(0.93, 0.80 if ".80" in name else 0.65, days)
    return np.where(at < days * (0.5 if "middle" in name else 2 / 3), 0.93, 0.65)


def trend_power(samples: int) -> Iterator[Rate]:
    """Rates that fall, and are said to."""
    rng = np.random.default_rng(4)
    for name, known in _POWER.items():
        for (days, rows), power in zip(_DAYS, known, strict=True):
            course, said = _course(name, days), []
            for _ in range(samples):
                n = rng.poisson(rows, days)
                rate = course
                if "differ" in name:
                    rate = rng.beta(course / 0.3 * 0.7, (1 - course) / 0.3 * 0.7)
                found = change(rng.binomial(n, rate), n, np.arange(days))
                said.append(found is not None and adjusted({"": found})[""].verdict == "fell")
            setting = f"{name}, {days} days of {rows:g} attacks"
            yield _beside("fell", setting, np.array(said), power / 100, 1000)


def hosts(samples: int) -> Iterator[Rate]:
    """Hosts whose rows are alike: periods are called unlike at 5%."""
    rng = np.random.default_rng(5)
    for periods, a_period, rows, within in ((6, 20, 5, 0.3), (12, 5, 4, 0.6), (30, 2, 6, 0.3)):
        at = np.repeat(np.arange(periods), a_period)
        odds, n = 1 / within - 1, np.full(periods * a_period, rows)
        p = [
            hosts_alike(rng.binomial(n, rng.beta(0.84 * odds, 0.16 * odds, len(n))), n, at)
            for _ in range(samples)
        ]
        setting = f"{periods} periods of {a_period} hosts of {rows} rows, correlation {within:g}"
        yield drawn("hosts unlike at 0.05", setting, np.array(p) <= 0.05, 0.06)


def change_coverage(samples: int) -> Iterator[Rate]:
    """How often the interval of the change between the thirds holds it."""
    rng = np.random.default_rng(6)
    for days, rows in ((180, 2), (90, 3), (26, 20), (12, 50), (6, 100)):
        for within in (0.0, 0.1):
            course, held = np.where(np.arange(days) < days / 2, 0.93, 0.65), 0
            for _ in range(samples):
                n = np.maximum(rng.poisson(rows, days), 1)
                odds = 1 / within - 1 if within else 0.0
                rate = rng.beta(course * odds, (1 - course) * odds) if within else course
                found = change(rng.binomial(n, rate), n, np.arange(days))
                held += found.difference.low <= -0.28 <= found.difference.high
            said = np.arange(samples) < held
            setting = f"{days} days of {rows} attacks, correlation {within:g} within days"
            yield drawn("change covered", setting, said, 0.92, at_most=False)


def run(*, quick: bool) -> list[Rate]:
    """All rates, one line each while they come."""
    few = 200 if quick else 1000
    parts: list[Callable[[], Iterator[Rate]]] = [
        shortcut_sizes,
        lambda: trend_sizes(1000 if quick else 20_000),
        lambda: hosts(few),
        lambda: change_coverage(few),
    ]
    if not quick:
        parts += [
            alike_sizes,
            lambda: finding(10_000),
            lambda: alike_power(1000),
            lambda: trend_power(1000),
        ]
    rates = []
    for part in parts:
        for rate in part():
            print(
                f"  {rate.what}: {rate.rate:.3%} +- {rate.error:.3%} (bar {rate.bar:.2%}), "
                f"{rate.setting}{' FAILS' if rate.fails else ' beyond' if rate.beyond else ''}",
                flush=True,
            )
            rates.append(rate)
    return rates
