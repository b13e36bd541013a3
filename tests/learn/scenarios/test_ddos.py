"""The made-up flows to servers: what exporters give, and the story that is told."""

import polars as pl
import pytest

from assay.learn.scenarios import make_ddos
from assay.learn.scenarios.ddos import FAMILIES

WIDTH = 30e6


@pytest.fixture(scope="module")
def flows() -> pl.DataFrame:
    return make_ddos(12_000)


def test_all_kinds_of_flood_come_early(flows: pl.DataFrame) -> None:
    assert set(flows["family"].unique()) == {"normal", *FAMILIES}
    assert ((flows["family"] == "normal") == (flows["label"] == "normal")).all()
    assert 0.08 < (flows["label"] == "ddos").mean() < 0.4


def test_exporters_give_infinities_and_gaps(flows: pl.DataFrame) -> None:
    at_once = flows.filter(pl.col("duration") == 0)
    assert len(at_once) > 100
    assert at_once["bytes_per_second"].is_infinite().all()
    assert at_once["packets_per_second"].is_infinite().all()
    rest = flows.filter(pl.col("duration") > 0)
    assert rest["bytes_per_second"].is_finite().all()
    udp = flows.filter(pl.col("protocol") != "tcp")
    assert udp["window"].null_count() == len(udp)
    assert 0 < flows["ttl"].null_count() < 0.03 * len(flows)
    assert flows.filter(pl.col("bwd_packets") == 0)["bwd_packet_size"].is_null().all()
    numbers = flows.select(pl.col(pl.Float64).is_nan().any())
    assert not any(numbers.row(0))


def test_both_labels_have_infinities_and_gaps(flows: pl.DataFrame) -> None:
    for label in ("normal", "ddos"):
        some = flows.filter(label=label)
        assert some["bytes_per_second"].is_infinite().any()
        assert some["ttl"].null_count()
        assert some["bwd_packet_size"].null_count()


def test_counts_follow_from_the_flows_before(flows: pl.DataFrame) -> None:
    hour = flows["time"].dt.hour()
    last = int((hour == 8).sum()) + 100
    rows = flows[:last].with_columns(at=pl.col("time").dt.epoch("us")).to_dicts()
    for number in range(last - 200, last):
        row = rows[number]
        recent = [o for o in rows[: number + 1] if o["at"] > row["at"] - WIDTH]
        to_server = [o for o in recent if o["server"] == row["server"]]
        assert row["server_flows"] == len(to_server)
        assert row["server_clients"] == len({o["host"] for o in to_server})
        assert row["server_half_open"] == sum(o["state"] == "half-open" for o in to_server)
        assert row["host_flows"] == sum(o["host"] == row["host"] for o in recent)


def test_people_rush_as_floods_do(flows: pl.DataFrame) -> None:
    busiest = flows.group_by("label").agg(pl.col("server_flows").max())
    peaks = dict(busiest.iter_rows())
    usual = flows["server_flows"].median()
    assert isinstance(usual, float)
    assert min(peaks.values()) > 5 * usual


def test_a_service_has_its_protocol_and_port(flows: pl.DataFrame) -> None:
    assert len(flows.select("service", "protocol", "port").unique()) == flows["service"].n_unique()


@pytest.mark.parametrize("seed", range(4))
def test_a_thousand_rows_have_both_labels(seed: int) -> None:
    assert make_ddos(1000, seed)["label"].n_unique() == 2
