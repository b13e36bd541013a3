"""The made-up flows: the same for the same seed, and as their story says."""

import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest

from assay.learn.scenarios import Flows, make_flows
from assay.learn.scenarios.flows import DAYS, FAMILIES, HOSTS, NORMAL, PROTOCOLS


@pytest.fixture(scope="module")
def flows() -> Flows:
    return make_flows()


def test_the_same_seed_gives_the_same_flows(flows: Flows) -> None:
    again, other = make_flows(), make_flows(7)
    for field in fields(Flows):
        assert np.array_equal(getattr(flows, field.name), getattr(again, field.name))
    assert not np.array_equal(flows.new, other.new)
    assert not np.array_equal(flows.time, other.time)


def test_what_is_flagged_at_one_half_never_changes(flows: Flows) -> None:
    attack, flagged = flows.label == "attack", flows.new >= 0.5
    counts = [int((a & f).sum()) for a in (~attack, attack) for f in (~flagged, flagged)]
    assert counts == [18_837, 63, 55, 1_045]


def test_every_family_has_its_size(flows: Flows) -> None:
    names, counts = np.unique(flows.family, return_counts=True)
    expected = {name: size for name, (size, _, _) in FAMILIES.items()} | {"normal": NORMAL}
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == expected
    assert np.array_equal(flows.label == "normal", flows.family == "normal")


def test_families_stay_on_their_hosts(flows: Flows) -> None:
    for name, (_, hosts, _) in FAMILIES.items():
        assert len(np.unique(flows.host[flows.family == name])) <= hosts
    assert len(np.unique(flows.host)) == HOSTS
    assert set(flows.protocol.tolist()) == set(PROTOCOLS)


def test_scores_are_chances(flows: Flows) -> None:
    for scores in (flows.new, flows.old):
        assert scores.dtype == np.float64
        assert scores.min() > 0
        assert scores.max() < 1


def test_flows_come_on_fourteen_days_fewer_of_them_at_weekends(flows: Flows) -> None:
    days, counts = np.unique(flows.time.astype("datetime64[D]"), return_counts=True)
    assert len(days) == DAYS
    weekend = np.arange(DAYS) % 7 >= 5
    assert counts[weekend].max() < counts[~weekend].min()


def test_a_campaign_has_its_days(flows: Flows) -> None:
    assert len(np.unique(flows.time[flows.family == "dos"].astype("datetime64[D]"))) == 2
    assert len(np.unique(flows.time[flows.family == "beacon"].astype("datetime64[D]"))) == DAYS


def test_some_flows_keep_all_their_columns(flows: Flows) -> None:
    some = flows.where(flows.family == "scan")
    assert len(some) == 360
    assert set(some.label.tolist()) == {"attack"}
    assert np.array_equal(some.new, flows.new[flows.family == "scan"])


def test_the_scenario_needs_numpy_alone() -> None:
    code = (
        "import sys, assay.learn.scenarios; "
        "sys.exit(any(name in sys.modules for name in ('scipy', 'sklearn', 'polars', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
