"""What a check finds in data that people publish results on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.cli.app import run

from .files import FOLDER, LISTINGS, TEST, TRAIN, WEBSITES, needs

UNSW = FOLDER / "unsw_nb15_82332.parquet"
ARP = FOLDER / "arp_uq_mitm.parquet"
CIC = FOLDER / "cicids2017_improved_sample.parquet"

pytestmark = pytest.mark.slow


class Found:
    """The document of a check, and its exit code."""

    def __init__(self, out: Path, *words: object) -> None:
        options = [str(word) for word in words]
        self.code = run(["check", *options, "--out", str(out / "check.json"), "--quiet"])
        self.plain = json.loads((out / "check.json").read_text("utf-8"))
        self.by_code: dict[str, Any] = {each["code"]: each for each in self.plain["findings"]}

    @property
    def leaks(self) -> list[str]:
        return [each["code"] for each in self.plain["findings"] if each["severity"] == "leak"]


@needs(UNSW)
def test_the_id_of_unsw_gives_the_label_away(tmp_path: Path) -> None:
    leak_check = Found(tmp_path, UNSW, "--label", "label", "--drop", "attack_cat")
    assert (leak_check.code, leak_check.leaks) == (1, ["L010", "L011"])
    assert leak_check.by_code["L010"]["columns"] == ["id"]
    assert leak_check.by_code["L010"]["evidence"]["id"]["stretches"] == 5
    assert leak_check.by_code["L009"]["severity"] == "warning"


@needs(UNSW)
def test_unsw_without_its_id_has_copies_but_no_leak(tmp_path: Path) -> None:
    drop = ("--drop", "attack_cat", "--drop", "id")
    leak_check = Found(tmp_path, UNSW, "--label", "label", *drop)
    assert (leak_check.code, leak_check.leaks) == (0, [])
    rows = pl.read_parquet(UNSW).drop("id", "attack_cat")
    repeats = rows.height - rows.n_unique()
    assert leak_check.by_code["L002"]["evidence"]["training"]["repeats"] == repeats


@needs(UNSW)
def test_the_kind_of_attack_is_the_label_in_disguise(tmp_path: Path) -> None:
    leak_check = Found(tmp_path, UNSW, "--label", "label", "--drop", "id")
    assert leak_check.code == 1
    assert leak_check.by_code["L011"]["columns"] == ["attack_cat"]


@needs(UNSW)
def test_a_tree_is_perfect_with_the_id_of_unsw_and_not_without(tmp_path: Path) -> None:
    options = ("--label", "label", "--drop", "attack_cat", "--recipe", "tree")
    retest = Found(tmp_path, UNSW, *options).plain["retest"]
    drop = {each["measure"]: each for each in retest["drops"]}["accuracy"]
    assert drop["before"] > 0.999
    assert drop["after"] == pytest.approx(0.916, abs=0.01)
    assert 0.07 < drop["low"] < drop["value"] < drop["high"] < 0.1


@needs(WEBSITES)
def test_the_websites_repeat_5206_times(tmp_path: Path) -> None:
    leak_check = Found(tmp_path, WEBSITES, "--label", "Result", "--positive", "-1")
    assert (leak_check.code, leak_check.leaks) == (0, [])
    assert leak_check.by_code["L002"]["evidence"]["training"] == {
        "repeats": 5206, "of": 11_055, "random_split": pytest.approx(0.612, abs=0.001),
    }  # fmt: skip
    # A column called port, and one that tells whether an address is there, are features.
    assert "L012" not in leak_check.by_code


@needs(TRAIN, TEST)
def test_the_official_split_of_nsl_kdd_shares_rows(tmp_path: Path) -> None:
    options = ("--label", "label", "--negative", "normal", "--drop", "difficulty")
    leak_check = Found(tmp_path, TRAIN, TEST, *options)
    assert (leak_check.code, leak_check.leaks) == (1, ["L001"])
    train, test = (pl.read_parquet(path).drop("difficulty") for path in (TRAIN, TEST))
    binary = pl.when(pl.col("label") == "normal").then(0).otherwise(1)
    shared = test.with_columns(label=binary).join(
        train.with_columns(label=binary).unique(), on=train.columns, how="semi", nulls_equal=True
    )
    assert leak_check.by_code["L001"]["evidence"]["test_rows"] == shared.height == 617
    assert len(leak_check.by_code["L007"]["evidence"]["families"]) == 17


@needs(LISTINGS)
def test_listings_and_vendors_come_back(tmp_path: Path) -> None:
    options = ("--label", "cat", "--drop", "subcat", "--text", "title", "--time", "date")
    groups = ("--group", "listing", "--group", "vendor")
    leak_check = Found(tmp_path, LISTINGS, *options, *groups)
    assert (leak_check.code, leak_check.leaks) == (0, [])
    evidence = leak_check.by_code["L006"]["evidence"]
    assert evidence["listing"]["groups"] == 10_587
    assert evidence["listing"]["random_split"] == pytest.approx(0.858, abs=0.001)
    assert evidence["vendor"]["random_split"] == pytest.approx(0.998, abs=0.001)


@needs(LISTINGS)
def test_a_random_split_of_listings_is_a_leak_by_listing(tmp_path: Path) -> None:
    rows = pl.read_parquet(LISTINGS).sample(fraction=1, shuffle=True, seed=1)
    rows[:20_000].write_parquet(tmp_path / "train.parquet")
    rows[20_000:].write_parquet(tmp_path / "test.parquet")
    options = ("--label", "cat", "--drop", "subcat", "--text", "title", "--group", "listing")
    parts = (tmp_path / "train.parquet", tmp_path / "test.parquet")
    leak_check = Found(tmp_path, *parts, *options, "--drop", "date", "--drop", "vendor")
    assert leak_check.code == 1
    assert set(leak_check.leaks) >= {"L001", "L006"}


@needs(ARP)
def test_addresses_ports_and_times_of_arp_are_named(tmp_path: Path) -> None:
    leak_check = Found(tmp_path, ARP, "--label", "Label", "--positive", "arp_spoofing")
    assert leak_check.leaks == []
    kinds = {name: each["kind"] for name, each in leak_check.by_code["L012"]["evidence"].items()}
    assert kinds["src_ip"] == kinds["dst_mac"] == "address"
    assert kinds["src_port"] == kinds["dst_port"] == "port"
    assert kinds["bidirectional_first_seen_ms"] == "time"
    assert kinds["id"] == "id"
    assert "bidirectional_duration_ms" not in kinds
    assert leak_check.by_code["L020"]["severity"] == "info"


@needs(CIC)
def test_addresses_ports_and_times_of_cic_are_named_and_tell_the_label(tmp_path: Path) -> None:
    leak_check = Found(tmp_path, CIC, "--label", "Label", "--negative", "BENIGN")
    assert leak_check.code == 1
    assert set(leak_check.by_code["L012"]["columns"]) == {
        "id", "Flow ID", "Src IP", "Src Port", "Dst IP", "Dst Port", "Timestamp",
    }  # fmt: skip
    assert "Timestamp" in leak_check.by_code["L010"]["columns"]
    assert leak_check.by_code["L011"]["columns"] == ["Dst IP"]
