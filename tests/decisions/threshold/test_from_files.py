"""Choosing a threshold on scores that are in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay import Request, choose_threshold, choose_threshold_files
from assay.errors import CountError, InputError, ScoreError


def write(path: Path, seed: int = 1, **more: Any) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    labels = np.repeat(["normal", "attack"], [600, 200])
    scores = rng.normal(np.where(labels == "attack", 2.5, 0.0))
    kinds = np.where(labels == "normal", "", np.where(np.arange(800) % 2, "dos", "probe"))
    frame = pl.DataFrame({"label": labels, "score": scores, "kind": kinds, **more})
    frame.write_csv(path)
    return frame


def test_files_give_what_arrays_give(tmp_path: Path) -> None:
    frame, unseen = write(tmp_path / "a.csv"), write(tmp_path / "b.csv", seed=2)
    asked: dict[str, Any] = {"max_fpr": 0.1, "min_dr_families": 0.5, "resamples": 20}
    found = choose_threshold_files(
        str(tmp_path / "a.csv"),
        Request(family="kind"),
        holdout=[str(tmp_path / "b.csv")],
        **asked,
    )
    expected = choose_threshold(
        frame["label"],
        y_score=frame["score"],
        families=frame["kind"],
        holdout={
            "y_true": unseen["label"],
            "y_score": unseen["score"],
            "families": unseen["kind"],
        },
        **asked,
    )
    assert found.empirical == expected.empirical
    assert found.guaranteed == expected.guaranteed
    assert found.family == "kind"
    assert found.holdout is not None
    assert expected.holdout is not None
    assert found.holdout["constraints"] == expected.holdout["constraints"]
    document = found.to_dict()
    assert document["source"]["rows_used"] == 800
    assert document["holdout"]["source"]["name"].endswith("b.csv")
    assert document["empirical"]["estimates"][-1]["slice"]["column"] == "kind"


def test_progress_and_resamples_are_heard_of(tmp_path: Path) -> None:
    write(tmp_path / "a.csv")
    heard: list[tuple[int, int]] = []
    choose_threshold_files(
        str(tmp_path / "a.csv"),
        max_fpr=0.1,
        resamples=5,
        resampled=lambda done, total: heard.append((done, total)),
    )
    assert heard == [(i, 5) for i in range(1, 6)]


def test_one_probability_is_a_score(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    pl.DataFrame({"label": ["a", "b"] * 30, "p": np.tile([0.1, 0.8], 30)}).write_csv(path)
    request = Request(probabilities={"b": "p"})
    choice = choose_threshold_files(str(path), request, max_fpr=0.2, resamples=20)
    assert choice.positive == "b"
    assert choice.guaranteed is not None
    assert choice.guaranteed.threshold == 0.8
    with pytest.raises(ScoreError, match="the only probability"):
        choose_threshold_files(str(path), request, positive="a", max_fpr=0.2)


def test_refused_rows_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("label,score\n" + "attack,0.9\nnormal,0.2\n" * 20 + "attack,\n", "utf-8")
    choice = choose_threshold_files(
        str(path), Request(on_bad_row="skip"), max_fpr=0.3, resamples=20
    )
    source = choice.to_dict()["source"]
    assert (source["rows_read"], source["rows_used"], source["rows_refused"]) == (41, 40, 1)


def test_weights_and_decisions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write(path, w=np.ones(800), decision=["attack"] * 800)
    with pytest.raises(CountError, match="sampling weights"):
        choose_threshold_files(str(path), Request(weight="w"), max_fpr=0.1)
    with pytest.raises(InputError, match="not a decision"):
        choose_threshold_files(str(path), Request(decision="decision"), max_fpr=0.1)
    pl.DataFrame({"label": ["a", "b"], "decision": ["a", "b"]}).write_csv(path)
    with pytest.raises(ScoreError, match="--score"):
        choose_threshold_files(str(path), positive="b", max_fpr=0.1)
