"""The made-up network: its sensor counts rightly, and its story is the one that is told."""

from itertools import pairwise

import polars as pl
import pytest

from assay.learn.scenarios import make_arp
from assay.learn.scenarios.arp import FAMILIES

SHORT, LONG = 60.0, 1800.0
BROADCAST = "ff:ff:ff:ff:ff:ff"


@pytest.fixture(scope="module")
def packets() -> pl.DataFrame:
    return make_arp(12_000)


@pytest.mark.slow
def test_every_count_follows_from_the_packets_before(packets: pl.DataFrame) -> None:
    # Past the end of the first hour, so that something was carried over.
    hour = packets["time"].dt.hour()
    last = int((hour == 8).sum()) + 150
    rows = packets[:last].with_columns(at=pl.col("time").dt.epoch("us")).to_dicts()
    for number in range(last - 300, last):
        row = rows[number]

        def inside(width: float, number: int = number, **same: object) -> list[dict[str, object]]:
            now = rows[number]["at"]
            return [
                other
                for other in rows[: number + 1]
                if other["at"] > now - width * 1e6 and all(other[k] == v for k, v in same.items())
            ]

        sent = inside(SHORT, src_mac=row["src_mac"])
        assert row["packet_rate"] == pytest.approx(len(sent) / 60)
        assert row["request_count"] == sum(o["operation"] == "request" for o in sent)
        assert row["reply_count"] == sum(o["operation"] == "reply" for o in sent)
        assert row["distinct_destinations"] == len({o["dst_ip"] for o in sent})
        assert row["broadcast_ratio"] == sum(o["dst_mac"] == BROADCAST for o in sent) / len(sent)
        same = {name: row[name] for name in ("src_ip", "src_mac", "dst_ip", "operation")}
        assert row["duplicates"] == len(inside(SHORT, **same)) - 1
        before = inside(LONG, src_mac=row["src_mac"])[:-1]
        gap = (row["at"] - before[-1]["at"]) / 1e6 if before else LONG
        assert row["inter_arrival_time"] == pytest.approx(gap)
        assert row["gratuitous"] == (row["src_ip"] == row["dst_ip"])

        claims = inside(LONG, src_ip=row["src_ip"])
        macs = [o["src_mac"] for o in claims]
        if row["src_ip"] == "0.0.0.0":
            assert (row["mac_changes"], row["ip_mac_pair_frequency"]) == (0, 1)
        else:
            assert row["ip_mac_pair_frequency"] == macs.count(row["src_mac"]) / len(macs)
            assert row["mac_changes"] == sum(a != b for a, b in pairwise(macs))

        asked = {"src_ip": row["dst_ip"], "dst_ip": row["src_ip"], "operation": "request"}
        requests = [o for o in inside(SHORT, **asked) if o["at"] < row["at"]]
        if row["operation"] == "reply" and requests:
            assert row["response_time"] == pytest.approx((row["at"] - requests[-1]["at"]) / 1e6)
        else:
            assert row["response_time"] is None


def test_all_families_come_early_and_only_in_attacks(packets: pl.DataFrame) -> None:
    assert set(packets["family"].unique()) == {"normal", *FAMILIES}
    assert ((packets["family"] == "normal") == (packets["label"] == "normal")).all()
    assert 0.05 < (packets["label"] == "attack").mean() < 0.3


@pytest.mark.parametrize("seed", range(4))
def test_a_thousand_rows_have_both_labels(seed: int) -> None:
    assert make_arp(1000, seed)["label"].n_unique() == 2


def test_attackers_are_innocent_otherwise(packets: pl.DataFrame) -> None:
    attackers = packets.filter(label="attack")["host"].unique()
    assert len(attackers) > 20
    innocent = packets.filter(pl.col("host").is_in(attackers.implode()), label="normal")
    assert set(innocent["host"]) == set(attackers)


def test_innocent_packets_look_odd_too(packets: pl.DataFrame) -> None:
    normal = packets.filter(label="normal")
    for odd in (
        pl.col("gratuitous") == 1,
        pl.col("vendor_mismatch") == 1,
        pl.col("mac_changes") > 0,
        pl.col("ip_mac_pair_frequency") < 0.5,
        pl.col("packet_size") == 42,
        pl.col("distinct_destinations") > 20,
        pl.col("duplicates") > 5,
        (pl.col("operation") == "reply") & pl.col("response_time").is_null(),
    ):
        assert len(normal.filter(odd)) >= 20, odd


def test_addresses_are_those_of_one_network(packets: pl.DataFrame) -> None:
    ips = pl.concat([packets["src_ip"], packets["dst_ip"]]).unique()
    network = ips.filter(ips != "0.0.0.0").str.replace(r"\.\d+$", "").unique()
    assert len(network) == 1
    macs = pl.concat([packets["src_mac"], packets["dst_mac"]]).unique()
    assert macs.str.contains(r"^([0-9a-f]{2}:){5}[0-9a-f]{2}$").all()
    # Vendors' addresses are neither for groups nor made up; strangers' are marked as made up.
    first = macs.filter(macs != BROADCAST).str.slice(0, 2).str.to_integer(base=16)
    assert (first % 2 == 0).all()


def test_an_address_moves_when_a_lease_ends_or_another_device_takes_over() -> None:
    normal = make_arp(20_000, 1, "hard").filter(label="normal")
    owners = normal.group_by("src_ip").agg(pl.col("host").unique())
    hosts = {ip.rpartition(".")[2]: set(owner) for ip, owner in owners.iter_rows()}
    assert hosts["1"] == {"router-1", "router-2"}
    assert hosts["10"] == {"server-1", "server-2"}
    assert sum(len(host) > 1 for host in hosts.values()) > 10
