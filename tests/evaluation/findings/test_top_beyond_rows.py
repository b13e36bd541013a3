import numpy as np
import pytest

from assay import Evaluation, evaluate

ROWS = 1000


def drawn(**options) -> Evaluation:
    random = np.random.default_rng(0)
    truth = random.random(ROWS) < 0.2
    return evaluate(truth, y_score=random.normal(size=ROWS) + 2 * truth, threshold=1, **options)


def daily(size: int) -> list[str]:
    return [f"2026-01-{1 + i // size:02}" for i in range(ROWS)]


def test_days_that_are_read_as_a_whole_are_found(message) -> None:
    days = ["2026-02-01"] * 9 + daily(100)[9:]
    assert message(drawn(times=days, top=10), "E016") == (
        "The top 10 alerts are all rows of 1 of 11 days, which have fewer: there the precision is "
        "the share of positives, whatever the scores."
    )
    only = message(drawn(times=["2026-02-01"] * ROWS, top=1001), "E016")
    assert "the only day, which has fewer" in only


@pytest.mark.parametrize("top", [10, 100])
def test_days_that_have_as_many_rows_are_not(message, top: int) -> None:
    assert message(drawn(times=daily(100), top=top), "E016") is None


def test_more_than_a_day_has_is_found(message) -> None:
    said = message(drawn(volume=50, top=50), "E016")
    assert said.startswith("The top 50 alerts are all of the 50 rows of a day")


def test_a_top_that_the_test_set_does_not_resolve_is_found(message) -> None:
    said = message(drawn(volume=1_000_000, top=50), "E016")
    assert said == (
        "50 of 1,000,000 rows a day are as much as 0.05 of the 1,000 rows of this test set: too "
        "few to tell how precise they are."
    )
    assert message(drawn(volume=1000, top=10), "E016") is None


def test_with_days_the_volume_matters_at_base_rates_alone(message) -> None:
    options = {"times": daily(100), "top": 10, "volume": 1_000_000}
    assert message(drawn(**options), "E016") is None
    assert message(drawn(**options, base_rate=0.01), "E016") is not None


def test_without_a_top_nothing_is_said(message) -> None:
    assert message(drawn(volume=1_000_000), "E016") is None
