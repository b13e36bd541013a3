"""The detectors that 000 describes, trained with its settings, and its worked split of a node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli.app import run

SETTINGS = {
    "safelink-forest": {"trees": 100, "criterion": "gini"},
    "safelink-ann": {
        "batch": 32,
        "rate": 0.001,
        "beta_1": 0.9,
        "beta_2": 0.999,
        "epsilon": 1e-8,
        "dropout": 0.3,
        "decay": 0.5,
        "decay_every": 5,
    },
}


@pytest.fixture(scope="module")
def packets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("drawn") / "packets.csv"
    assert run(["data", "arp", "--rows", "1500", "--out", str(path)]) == 0
    return path


def trained(recipe: str, packets: Path, folder: Path) -> dict[str, Any]:
    left_out = [word for name in ("host", "family", "time") for word in ("--drop", name)]
    columns = [str(packets), "--label", "label", *left_out]
    assert run(["train", recipe, *columns, "--out", str(folder / "model"), "--quiet"]) == 0
    document: dict[str, Any] = json.loads((folder / "model" / "evaluation.json").read_text("utf-8"))
    return document


@pytest.mark.slow
@pytest.mark.parametrize("recipe", SETTINGS)
def test_a_detector_of_the_document_learns_what_it_is_shown(
    recipe: str, packets: Path, tmp_path: Path
) -> None:
    document = trained(recipe, packets, tmp_path)
    settings = document["training"]["settings"]
    assert {name: settings[name] for name in SETTINGS[recipe]} == SETTINGS[recipe]
    # 70 to 30, as section 21 splits.
    assert document["source"]["rows_used"] == 450
    (tn, fp), (fn, tp) = document["confusion"]
    assert tp / (tp + fn) > 0.75
    assert fp / (fp + tn) < 0.06


def test_impurities_are_those_of_section_14() -> None:
    from assay.v02.learn import impurity

    assert impurity([50, 50]) == 0.5
    assert [f"{impurity(rows):.3f}" for rows in ([70, 10], [10, 40], [80, 50])] == [
        "0.219",
        "0.320",
        "0.473",
    ]
