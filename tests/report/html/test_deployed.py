"""The numbers at a base rate that the page shows first."""

from dataclasses import replace

import pytest

from assay.measures.catalogue import DEPLOYED
from assay.report.html.charts import Limits
from assay.report.html.operating_panel import PER_DAY, deployed_of

from .pages import PANEL


def test_known_estimates_have_their_interval_and_others_are_bare_values() -> None:
    panel = deployed_of(PANEL, Limits())
    assert (panel.rate, panel.volume_words) == ("1%", "1,000,000")
    values = {key: value for key, _, value in (*panel.shares, *panel.per_day)}
    assert list(values) == [*DEPLOYED, *PER_DAY]
    assert (values["precision"].text, values["precision"].interval) == ("0.043", "[0.010, 0.200]")
    # 3 of 4 detected, 1 of 6 flagged wrongly, and 1 row in 100 positive.
    alerts = 1e6 * (0.01 * 3 / 4 + 0.99 * 1 / 6)
    assert values["alerts_per_day"].text == f"{alerts:,.0f}"
    assert values["false_alarms_per_day"].text == f"{1e6 * 0.99 / 6:,.0f}"
    assert values["missed_per_day"].text == f"{1e6 * 0.01 / 4:,.0f}"
    far = 0.99 / 6 / (0.99 / 6 + 0.01 * 3 / 4)
    assert values["false_discovery_rate"].text == f"{far:.3f}"
    assert values["false_discovery_rate"].interval == ""


def test_without_base_rates_the_prevalence_gives_the_test_sets_numbers() -> None:
    panel = deployed_of(replace(PANEL, base_rates=(), volume=10), Limits())
    values = {key: value.text for key, _, value in (*panel.shares, *panel.per_day)}
    assert panel.rate == "40.0%"
    assert (values["precision"], values["accuracy"]) == ("0.750", "0.800")
    assert values["alerts_per_day"] == "4.0"


@pytest.mark.parametrize("decided", [(0, 0, 0, 0), (0, 1, 0, 5)])
def test_a_class_without_rows_leaves_everything_undefined(decided: tuple[int, ...]) -> None:
    empty = replace(
        PANEL,
        base_rates=(),
        deployed={},
        decided=decided,
        positives=0,
        negatives=decided[1] + decided[3],
    )
    panel = deployed_of(empty, Limits())
    values = {key: value for key, _, value in (*panel.shares, *panel.per_day)}
    assert values["precision"].text == values["alerts_per_day"].text == "\u2013"
    assert values["precision"].title.startswith("undefined: there are no")
