"""Choosing a threshold on scores that are in files."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
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
    choice = choose_threshold_files(
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
    assert choice.empirical == expected.empirical
    assert choice.guaranteed == expected.guaranteed
    assert choice.family == "kind"
    assert choice.holdout is not None
    assert expected.holdout is not None
    assert choice.holdout["constraints"] == expected.holdout["constraints"]
    document = choice.to_dict()
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
    with pytest.raises(ScoreError, match="score="):
        choose_threshold_files(str(path), positive="b", max_fpr=0.1)


# -- piece by piece --------------------------------------------------------------------------------

PIECES = Request(batch_rows=7, chunk_bytes=300)


def many(path: Path, **more: Any) -> pl.DataFrame:
    """Rows in any order, as pieces that lack labels and families."""
    rng = np.random.default_rng(4)
    labels = np.array(["normal"] * 300 + ["dos"] * 80 + ["worm"] * 20)
    frame = pl.DataFrame(
        {
            "label": labels,
            "score": np.round(rng.normal(np.where(labels == "normal", 0.0, 2.0)), 2),
            "host": [f"h{i % 23}" for i in range(400)],
            "n": rng.integers(1, 4, 400),
            **more,
        }
    )
    frame.write_csv(path)
    return frame


def alike(one: Any, other: Any) -> bool:
    names = ("empirical", "guaranteed", "candidates", "positive", "labels", "infeasible", "notes")
    return all(getattr(one, name) == getattr(other, name) for name in names)


@pytest.mark.parametrize("family", [None, "kind"])
@pytest.mark.parametrize("cluster", [None, "host"])
@pytest.mark.parametrize("count", [None, "n"])
def test_pieces_give_what_all_rows_at_once_give(
    tmp_path: Path, family: str | None, cluster: str | None, count: str | None
) -> None:
    path = tmp_path / "a.csv"
    frame = many(path, kind=[f"k{i % 3}" for i in range(400)])
    asked: dict[str, Any] = {"negative": "normal", "max_fpr": 0.1, "min_dr_families": 0.1}
    choice = choose_threshold_files(
        str(path),
        replace(PIECES, family=family, cluster=cluster, count=count),
        resamples=15,
        **asked,
    )
    expected = choose_threshold(
        frame["label"],
        y_score=frame["score"],
        families=None if family is None else frame[family],
        clusters=None if cluster is None else frame[cluster],
        counts=None if count is None else frame[count],
        resamples=15,
        **asked,
    )
    assert alike(choice, expected)
    assert choice.empirical is not None
    held = {each.family for each in choice.empirical.estimates if each.family}
    assert held == ({"dos", "worm"} if family is None else {"k0", "k1", "k2"})


@pytest.mark.sampled(1)
@pytest.mark.parametrize("said", [{}, {"positive": "attack"}, {"negative": "normal"}])
def test_two_probabilities_are_one_score(tmp_path: Path, said: dict[str, str]) -> None:
    frame = write(tmp_path / "a.csv")
    score = 1 / (1 + np.exp(-frame["score"].to_numpy()))
    frame = frame.with_columns(p_attack=pl.Series(score), p_normal=pl.Series(1 - score))
    frame.drop("score").write_csv(tmp_path / "a.csv")
    request = replace(PIECES, probabilities={"attack": "p_attack", "normal": "p_normal"})
    for family in (None, "kind"):
        asked: dict[str, Any] = {"max_fpr": 0.1, "resamples": 10, **said}
        choice = choose_threshold_files(
            str(tmp_path / "a.csv"), replace(request, family=family), **asked
        )
        expected = choose_threshold(
            frame["label"],
            y_score=score,
            families=None if family is None else frame[family],
            **asked,
        )
        assert alike(choice, expected)


@pytest.mark.parametrize("mode", ["exact", "cuts", "grid"])
def test_scores_are_kept_as_the_mode_says(tmp_path: Path, mode: str) -> None:
    frame = write(tmp_path / "a.csv")
    choice = choose_threshold_files(
        str(tmp_path / "a.csv"),
        replace(PIECES, family="kind"),
        max_fpr=0.1,
        mode=mode,
        resamples=10,
    )
    assert choice.empirical is not None
    assert choice.empirical.threshold is not None
    flagged = frame.filter(pl.col("score") >= choice.empirical.threshold)
    for kind in ("dos", "probe"):
        hits, size = ((each["kind"] == kind).sum() for each in (flagged, frame))
        assert choice.empirical.of_family(kind).value == hits / size
    assert choice.mode == choice.to_dict()["mode"] == mode
    assert sum(note.startswith(f"mode {mode}: ") for note in choice.notes) == 1
    with pytest.raises(InputError, match="mode="):
        choose_threshold_files(str(tmp_path / "a.csv"), max_fpr=0.1, mode="rough")


def test_clusters_of_a_grid_are_refused(tmp_path: Path) -> None:
    many(tmp_path / "a.csv")
    with pytest.raises(InputError, match="mode exact"):
        choose_threshold_files(
            str(tmp_path / "a.csv"),
            replace(PIECES, cluster="host"),
            negative="normal",
            max_fpr=0.1,
            mode="grid",
        )


def test_a_holdout_in_pieces_is_labelled_like_the_rows(tmp_path: Path) -> None:
    for name, seed in (("a.csv", 1), ("b.csv", 2)):
        frame = write(tmp_path / name, seed=seed)
        swapped = frame.with_columns(label=pl.col("label").replace({"normal": "1", "attack": "0"}))
        swapped.write_csv(tmp_path / name)
    asked: dict[str, Any] = {"max_fpr": 0.1, "resamples": 10, "positive": "0"}
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    choice = choose_threshold_files(paths[0], PIECES, holdout=paths[1], **asked)
    assert choice.positive == "0"
    assert choice.holdout is not None
    assert choice.holdout["source"]["positives"] == 200
    pl.DataFrame({"label": ["x", "y"], "score": [0.1, 0.2]}).write_csv(paths[1])
    with pytest.raises(InputError, match=r"b\.csv: the holdout has the labels"):
        choose_threshold_files(paths[0], PIECES, holdout=paths[1], **asked)


@pytest.mark.parametrize("family", [None, "kind"])
@pytest.mark.parametrize("cluster", [None, "host"])
def test_a_query_gives_what_its_rows_give(
    tmp_path: Path, family: str | None, cluster: str | None
) -> None:
    frame = many(tmp_path / "a.csv", kind=[f"k{i % 3}" for i in range(400)])
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("create table flows (label text, score real, host text, n int, kind text)")
        database.executemany("insert into flows values (?, ?, ?, ?, ?)", frame.rows())
    asked: dict[str, Any] = {"negative": "normal", "max_fpr": 0.1, "resamples": 10}
    request = Request(family=family, cluster=cluster, count="n")
    query = f"sqlite:{tmp_path / 'a.db'}?select * from flows"
    one, other = (
        choose_threshold_files(name, request, holdout=name, **asked)
        for name in (query, str(tmp_path / "a.csv"))
    )
    assert alike(one, other)
    assert one.to_dict()["source"]["rows_used"] == 400
    with pytest.raises(ScoreError, match="score="):
        choose_threshold_files(
            f"sqlite:{tmp_path / 'a.db'}?select label, label as decision from flows", **asked
        )


def test_decisions_beside_scores_are_not_looked_at(tmp_path: Path) -> None:
    rows = ["attack,0.9,worm", "benign,0.2,benign", "benign,0.4,"] * 40
    scored, decided = tmp_path / "scored.csv", tmp_path / "decided.csv"
    decided.write_text("\n".join(["label,score,prediction", *rows]))
    scored.write_text("\n".join(["label,score", *(row.rpartition(",")[0] for row in rows)]))
    one, other = (
        choose_threshold_files(str(path), max_fpr=0.1, resamples=20) for path in (scored, decided)
    )
    assert other.source["rows_used"] == one.source["rows_used"] == 120
    assert other.guaranteed == one.guaranteed
