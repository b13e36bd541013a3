"""Three models of the kinds of NSL-KDD's traffic, by the probability of each kind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn import metrics
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from .files import TEST, TRAIN, needs

pytestmark = [needs(TRAIN, TEST), pytest.mark.slow]

KINDS = {
    "dos": "back land neptune pod smurf teardrop apache2 mailbomb processtable udpstorm worm",
    "probe": "ipsweep nmap portsweep satan mscan saint",
    "access": "ftp_write guess_passwd imap multihop phf spy warezclient warezmaster sendmail named "
    "snmpgetattack snmpguess xlock xsnoop httptunnel buffer_overflow loadmodule perl rootkit ps "
    "sqlattack xterm",
}
MODELS = {
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
    "forest": RandomForestClassifier(30, min_samples_leaf=2, random_state=0),
}
LABELS = ("access", "dos", "normal", "probe")


def kind(column: pl.Series) -> pl.Series:
    """The kind of traffic that each label is of."""
    kinds = {label: kind for kind, labels in KINDS.items() for label in labels.split()}
    return column.replace_strict(kinds, default=None).fill_null(column)


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """A part of the test set, and how sure each model is of each kind."""
    train, test = pl.read_parquet(TRAIN).gather_every(10), pl.read_parquet(TEST).gather_every(4)
    text = pl.col("protocol_type", "service", "flag").rank("dense")
    features = pl.concat([train, test]).with_columns(text).drop("label", "difficulty").to_numpy()
    columns: dict[str, Any] = {"label": kind(test["label"])}
    for name, model in MODELS.items():
        model.fit(features[: len(train)], kind(train["label"]).to_numpy())
        assert tuple(model.classes_) == LABELS
        table = model.predict_proba(features[len(train) :])
        columns |= {f"p_{name}_{label}": table[:, i] for i, label in enumerate(LABELS)}
    return pl.DataFrame(columns)


def said(command: str, rows: pl.DataFrame, folder: Path, *options: str) -> dict[str, Any]:
    rows.write_parquet(folder / "rows.parquet")
    asked = [sys.executable, "-m", "assay", command, "rows.parquet", "--format", "json", *options]
    done = subprocess.run(asked, cwd=folder, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def table(rows: pl.DataFrame, name: str) -> np.ndarray:
    return rows.select(f"p_{name}_{label}" for label in LABELS).to_numpy()


def test_three_models_are_compared_by_the_probability_of_each_kind(
    rows: pl.DataFrame, tmp_path: Path
) -> None:
    named = [word for name in MODELS for word in ("--model", f"{name}=p_{name}_*")]
    document = said("compare", rows, tmp_path, *named, "--resamples", "200")
    truth = rows["label"].to_numpy()
    values = {
        (each["model"], each["measure"]): each
        for each in document["estimates"]
        if not each["label"]
    }
    for name in MODELS:
        theirs = table(rows, name)
        decided = np.array(LABELS)[theirs.argmax(axis=1)]
        expected = {
            "roc_auc.macro": metrics.roc_auc_score(truth, theirs, multi_class="ovr"),
            "roc_auc.weighted": metrics.roc_auc_score(
                truth, theirs, multi_class="ovr", average="weighted"
            ),
            "roc_auc_ovo": metrics.roc_auc_score(truth, theirs, multi_class="ovo"),
            "f1.weighted": metrics.f1_score(truth, decided, average="weighted"),
            "precision.weighted": metrics.precision_score(truth, decided, average="weighted"),
        }
        for measure, value in expected.items():
            estimate = values[name, measure]
            assert estimate["value"] == pytest.approx(value, rel=1e-9)
            assert estimate["low"] < value < estimate["high"]
    verdicts = {(v["a"], v["b"]): v for v in document["verdicts"]}
    assert verdicts["bayes", "forest"]["outcome"] == "better"
    assert verdicts["bayes", "forest"]["measure"] == "roc_auc.macro"
    # The difference is as wide as a bootstrap of scikit-learn's makes it.
    (difference,) = (
        d
        for d in document["differences"]
        if (d["measure"], d["a"], d["b"]) == ("roc_auc.macro", "tree", "forest")
    )
    generator, drawn = np.random.default_rng(1), []
    for _ in range(200):
        at = generator.integers(0, len(truth), len(truth))
        one, other = (
            metrics.roc_auc_score(truth[at], table(rows, name)[at], multi_class="ovr")
            for name in ("tree", "forest")
        )
        drawn.append(other - one)
    low, high = np.percentile(drawn, [2.5, 97.5])
    near = pytest.approx([low, high], abs=(high - low) / 5)
    assert [difference["low"], difference["high"]] == near


def test_a_kind_that_was_never_learned_is_an_open_set(rows: pl.DataFrame, tmp_path: Path) -> None:
    known = ("dos", "normal", "probe")
    train = pl.read_parquet(TRAIN).gather_every(10)
    train = train.with_columns(kind=kind(train["label"])).filter(pl.col("kind").is_in(known))
    test = pl.read_parquet(TEST).gather_every(4)
    text = pl.col("protocol_type", "service", "flag").rank("dense")
    both = pl.concat([train.drop("kind"), test]).with_columns(text).drop("label", "difficulty")
    features = both.to_numpy()
    model = RandomForestClassifier(30, min_samples_leaf=2, random_state=0)
    model.fit(features[: len(train)], train["kind"].to_numpy())
    shares = model.predict_proba(features[len(train) :])
    told = {f"p_{label}": shares[:, i] for i, label in enumerate(known)}
    frame = pl.DataFrame({"label": rows["label"], **told})
    document = said("evaluate", frame, tmp_path, "--probabilities", "p_*", "--unknown", "access")
    values = {each["measure"]: each for each in document["estimates"] if each["average"] is None}
    truth, largest = frame["label"].to_numpy(), shares.max(axis=1)
    inside = truth != "access"
    theirs = metrics.roc_auc_score(inside, largest)
    assert values["known_auc"]["value"] == pytest.approx(theirs, rel=1e-9)
    right = np.array(known)[shares.argmax(axis=1)] == truth
    theirs = metrics.roc_auc_score(inside, np.where(inside & ~right, -1, largest))
    assert values["oscr"]["value"] == pytest.approx(theirs, rel=1e-9)
    assert values["oscr"]["low"] < theirs < values["oscr"]["high"]
