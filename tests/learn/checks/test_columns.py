"""L009 to L012, L015, L016: what an order, an id or one column gives away."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from assay.learn.checks import check
from assay.learn.checks.case import case_of
from assay.learn.checks.columns import facts_of, identifier, neighbours

from .tables import clean, data, parted

FRAME = clean(np.random.default_rng(31))
SORTED = FRAME.sort("label")


def kind(name: str, values: list[object]) -> str | None:
    series = pl.Series(name, values)
    if series.dtype != pl.String:
        series = series.cast(pl.Float64)
    return identifier(facts_of(series))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("Src IP", [f"10.0.{i}.1" for i in range(30)], "address"),
        ("peer", ["fe80::1", "2001:db8::2", "::1"], "address"),
        ("nic", ["d2:19:d4:e9:94:86", "46:c0:e1:eb:fe:23"], "address"),
        ("hostname", [f"web-{i}" for i in range(40)], "address"),
        ("dstIp", list(range(3_000_000_000, 3_000_003_000, 100)), "address"),
        ("Dst Port", [i * 997 % 65_000 for i in range(300)] * 2, "port"),
        ("sport", [1024 + i for i in range(30)] * 9, "port"),
        ("id", list(range(50)), "id"),
        ("number", [3 * i % 100 for i in range(100)], "id"),
        ("Flow ID", [f"a-{i}" for i in range(50)], "id"),
        ("token", [f"{i * 7919:08x}" for i in range(50)], "id"),
        ("vendor", [f"v{i % 25}" for i in range(200)], "id"),
        ("Timestamp", ["2017-07-06 12:39:06.818901", "2017-07-07 00:00:00"], "time"),
        ("when", ["06/07/2017 12:39", "07/07/2017 01:00"], "time"),
        ("first_seen_ms", [1.6e12 + 1000 * (i * 7 % 13) for i in range(40)], "time"),
        ("Time", [0.0, 0.5, 0.5, 2.0] + [float(i) for i in range(3, 30)], "time"),
        # Names alone make no identifier, and neither do values alone where they are features.
        ("having_ip_address", [-1, 1] * 50, None),
        ("port", [-1, 0, 1] * 50, None),
        ("dst_host_count", [i % 256 for i in range(2000)], None),
        ("dst_host_same_src_port_rate", [i / 100 for i in range(100)] * 3, None),
        ("ct_src_dport_ltm", [i % 60 for i in range(2000)], None),
        ("Flow Duration", [i * i * 31 % 100_003 for i in range(500)], None),
        ("inter_arrival_time", [(i * 37 % 101) / 7 for i in range(500)], None),
        ("protocol", ["tcp", "udp"] * 40, None),
        ("title", [f"a long text about {i}" for i in range(90)], None),
        ("sbytes", [i * 7919 % 5003 for i in range(900)], None),
        ("constant id", [7] * 40, None),
        ("nothing", [None, None], None),
    ],
)
def test_identifiers_are_told_by_values_and_names(
    name: str, values: list[object], expected: str | None
) -> None:
    assert kind(name, values) == expected


def test_a_file_sorted_by_label_is_a_warning_and_its_id_a_leak() -> None:
    leak_check = check(data(SORTED.with_columns(id=pl.int_range(400))))
    assert leak_check["L009"].severity == "warning"
    assert leak_check["L009"].evidence["stretches"] == 2
    assert leak_check["L010"].severity == "leak"
    assert leak_check["L010"].columns == ("id",)


def test_an_id_is_a_leak_in_whatever_order_the_rows_are() -> None:
    frame = SORTED.with_columns(id=pl.int_range(400)).sample(fraction=1, shuffle=True, seed=1)
    leak_check = check(data(frame))
    assert "L009" not in leak_check
    assert leak_check["L010"].severity == "leak"
    assert "L010" not in check(data(frame.drop("id")))


def test_stretches_of_labels_in_an_id_are_found_where_the_auc_is_middling() -> None:
    generator = np.random.default_rng(4)
    label = np.repeat(np.tile(["normal", "attack"], 5), 40)
    frame = pl.DataFrame({"id": np.arange(400), "x": generator.normal(size=400), "label": label})
    auc = roc_auc_score(label == "attack", np.arange(400))
    assert 0.35 < auc < 0.65
    assert check(data(frame.sample(fraction=1, shuffle=True, seed=2)))["L010"].severity == "leak"


def test_an_id_of_a_shuffled_file_is_a_warning_alone() -> None:
    leak_check = check(data(FRAME.with_columns(id=pl.int_range(400))))
    assert "L010" not in leak_check
    assert leak_check["L012"].severity == "warning"
    assert leak_check["L012"].evidence["id"]["kind"] == "id"
    assert leak_check.honest


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60))
def test_neighbours_are_counted_as_by_hand(labels: list[int]) -> None:
    neighbourhood = neighbours(np.array(labels), 0.95)
    same = sum(a == b for a, b in pairwise(labels))
    n = len(labels)
    pairs = sum(labels[i] == labels[j] for i in range(n) for j in range(n) if i != j)
    assert neighbourhood.agree.value == pytest.approx(same / (n - 1))
    assert neighbourhood.runs == n - same
    assert neighbourhood.chance == pytest.approx(pairs / (n * (n - 1)))


# -- one column alone ------------------------------------------------------------------------------


def attacks(frame: pl.DataFrame) -> np.ndarray:
    return (frame["label"] == "attack").to_numpy()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 60))
def test_the_auc_of_a_column_is_that_of_scikit_learn(seed: int, values: int) -> None:
    generator = np.random.default_rng(seed)
    x = generator.integers(0, values + 1, 300) + (0.5 if values > 30 else 0.0)
    label = generator.random(300) < 0.3
    label[:2] = True, False
    frame = pl.DataFrame({"x": x.astype(float), "label": np.where(label, "attack", "normal")})
    signal = case_of(data(frame), None).signals
    if "x" in signal and signal["x"].how == "ranked":
        auc = roc_auc_score(label, x)
        assert signal["x"].auc.value == pytest.approx(max(auc, 1 - auc))
        assert signal["x"].auc.low <= signal["x"].auc <= signal["x"].auc.high


@pytest.mark.parametrize("turned", [1, -1])
def test_a_column_that_ranks_nearly_perfectly_is_a_leak_either_way_round(turned: int) -> None:
    noise = np.random.default_rng(1).normal(size=400)
    frame = FRAME.with_columns(leak=pl.Series(turned * (8 * attacks(FRAME) + noise)))
    finding = check(data(frame))["L011"]
    assert (finding.severity, finding.columns) == ("leak", ("leak",))
    seen = finding.evidence["leak"]
    assert seen["how"] == "ranked"
    assert seen["low"] < seen["auc"] <= seen["high"]
    assert seen["n"] == 400


def test_a_text_and_a_band_of_numbers_that_tell_the_label_are_leaks() -> None:
    generator = np.random.default_rng(3)
    middle = np.where(attacks(FRAME), generator.uniform(4, 6, 400), generator.choice([1, 9], 400))
    frame = FRAME.with_columns(
        tool=pl.Series(np.where(attacks(FRAME), "nmap", "firefox")), band=pl.Series(middle)
    )
    finding = check(data(frame))["L011"]
    assert set(finding.columns) == {"tool", "band"}
    assert {finding.evidence[column]["how"] for column in finding.columns} == {"by value"}


def test_a_copy_of_several_labels_is_a_leak() -> None:
    kinds = np.array(["a", "b", "c"])[np.random.default_rng(2).integers(0, 3, 400)]
    frame = FRAME.with_columns(label=pl.Series(kinds), copy=pl.Series(kinds))
    finding = check(data(frame))["L011"]
    assert finding.columns == ("copy",)
    assert "mean AUC of each class" in finding.message


def test_a_column_that_is_good_only_in_the_training_part_is_a_warning() -> None:
    known = attacks(FRAME).copy()
    known[280:] = np.random.default_rng(5).random(120) < 0.5
    frame = FRAME.with_columns(trace=pl.Series(known.astype(float)))
    finding = check(*parted(frame))["L011"]
    assert finding.severity == "warning"
    assert "in the training part but" in finding.message
    assert finding.evidence["trace"]["training_auc"] == 1


def test_a_column_that_tells_one_class_of_several_is_a_warning() -> None:
    generator = np.random.default_rng(3)
    kinds = generator.integers(0, 4, 1000)
    told = 6 * (kinds == 2) + generator.normal(size=1000)
    frame = clean(generator, rows=1000).with_columns(
        label=pl.Series([f"k{i}" for i in kinds]), tell=pl.Series(told)
    )
    for parts in ((data(frame),), (data(frame[:700]), data(frame[700:]))):
        finding = check(*parts)["L011"]
        assert (finding.severity, finding.columns) == ("warning", ("tell",))
        assert list(finding.evidence["tell"]["classes"]) == ["k2"]
        assert "alone tells the class 'k2' from all others" in finding.message


def test_values_that_seldom_repeat_are_not_good_in_the_training_part() -> None:
    generator = np.random.default_rng(4)
    for rows in (60, 300):
        frame = clean(generator, rows=rows).with_columns(
            name=pl.Series([f"n{i}" for i in generator.integers(0, rows // 3, rows)])
        )
        assert "L011" not in check(*parted(frame))


def test_names_of_rows_do_not_tell_by_being_unique() -> None:
    frame = FRAME.with_columns(name=pl.Series([f"row-{i}" for i in range(400)]))
    assert "L011" not in check(data(frame))


@pytest.mark.parametrize("large", [np.inf, 1.7e308, 1e-310])
def test_infinities_and_numbers_at_the_edge_of_floats_are_ranked(large: float) -> None:
    signs = np.random.default_rng(1).choice([-1, 1], 400)
    frame = FRAME.with_columns(
        edge=pl.Series(np.where(attacks(FRAME), large, -large)),
        mixed=pl.Series(signs * large),
        some=pl.when(pl.int_range(400) % 9 == 0).then(large).otherwise(pl.col("x0")),
    )
    for leak_check in (check(data(frame)), check(*parted(frame))):
        assert leak_check["L011"].columns == ("edge",)
        assert leak_check["L011"].evidence["edge"]["auc"] == 1


def test_constant_columns_are_told() -> None:
    frame = FRAME.with_columns(one=pl.lit(3), none=pl.lit(None, pl.Float64))
    finding = check(data(frame))["L015"]
    assert (finding.severity, finding.columns) == ("info", ("one", "none"))


def test_a_class_with_one_value_is_told_where_others_have_many() -> None:
    ttl = np.where(attacks(FRAME), 64, np.random.default_rng(1).choice([32, 64, 128, 255], 400))
    finding = check(data(FRAME.with_columns(ttl=pl.Series(ttl))))["L016"]
    assert finding.severity == "info"
    assert [(each["column"], each["label"]) for each in finding.evidence["found"]] == [
        ("ttl", "attack")
    ]
    common = np.where(attacks(FRAME), 64, np.where(np.arange(400) % 9, 64, 255))
    assert "L016" not in check(data(FRAME.with_columns(ttl=pl.Series(common))))


def test_one_label_alone_is_a_warning() -> None:
    frame = FRAME.with_columns(label=pl.lit("normal"))
    finding = check(data(frame))["L016"]
    assert finding.severity == "warning"
    assert "nothing can be learned" in finding.message
