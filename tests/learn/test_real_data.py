"""The recipes on the real files, small enough for every day."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.errors import LabelError
from assay.learn.data import Data, read_data
from assay.learn.ensembles import best_operating
from assay.learn.explanation import rules_of, telling_words
from assay.learn.recipes import Task, chosen_columns, find_recipe

FOLDER = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[3] / "shared" / "data"))


def needs(*names: str) -> pytest.MarkDecorator:
    absent = [name for name in names if not (FOLDER / name).exists()]
    reason = f"the real data are absent: {', '.join(absent)} not in $ASSAY_DATA"
    return pytest.mark.skipif(bool(absent), reason=reason)


def part(data: Data, share: int, offset: int = 0) -> Data:
    return data.take(np.arange(offset, len(data), share))


def halves(data: Data, seed: int = 0) -> tuple[Data, Data]:
    order = np.random.default_rng(seed).permutation(len(data))
    return data.take(order[: len(data) // 2]), data.take(order[len(data) // 2 :])


def fitted(name: str, data: Data, **settings: object):
    task = Task(data.labels, data.positive, data.text)
    return find_recipe(name).pipeline(task, settings).fit(data.frame, data.truth)


@pytest.fixture(scope="module")
def nsl_kdd() -> tuple[Data, Data]:
    options = {"label": "label", "negative": "normal", "drop": ["difficulty"]}
    return tuple(
        read_data(str(FOLDER / f"nsl_kdd_{name}.parquet"), **options) for name in ("train", "test")
    )


@needs("nsl_kdd_train.parquet", "nsl_kdd_test.parquet")
def test_the_official_split_of_nsl_kdd_is_harder_than_its_training_part(nsl_kdd) -> None:
    train, test = nsl_kdd
    assert (len(train), len(test)) == (125_973, 22_544)
    assert train.labels == test.labels == ("normal", "not normal")
    assert train.family is not None
    assert len(train.family.names) == 23
    forest = fitted("forest", part(train, 10), trees=20)
    official = (forest.predict(test.frame) == test.truth).mean()
    inside = part(train, 10, offset=1)
    assert official == pytest.approx(0.777, abs=0.03)
    assert (forest.predict(inside.frame) == inside.truth).mean() > 0.99


@needs("nsl_kdd_train.parquet", "nsl_kdd_test.parquet")
def test_services_that_only_the_test_part_has_are_no_obstacle(nsl_kdd) -> None:
    train, test = nsl_kdd
    rare = train.take(np.flatnonzero((train.frame["service"] != "ecr_i").to_numpy())[::20])
    tree = fitted("tree", rare)
    assert np.isfinite(tree.predict_proba(test.frame)).all()
    assert len(chosen_columns(tree)) == 20


@needs("nsl_kdd_train.parquet")
def test_csv_and_parquet_give_the_same_table(nsl_kdd, tmp_path: Path) -> None:
    pl.read_parquet(FOLDER / "nsl_kdd_test.parquet").write_csv(tmp_path / "test.csv")
    options = {"label": "label", "negative": "normal", "drop": ["difficulty"]}
    data = read_data(str(tmp_path / "test.csv"), **options)
    assert data.frame.equals(nsl_kdd[1].frame)
    assert (data.truth == nsl_kdd[1].truth).all()


@pytest.mark.slow
@needs("nsl_kdd_train.parquet", "nsl_kdd_test.parquet")
def test_the_detector_finds_more_than_the_forest_at_its_usual_threshold(nsl_kdd) -> None:
    train, test = nsl_kdd
    detector = fitted("detector", part(train, 20), trees=20)
    forest = fitted("forest", part(train, 20), trees=20)
    attack = test.truth == 1
    mean = detector.predict(test.frame)[attack].mean()
    assert mean > forest.predict(test.frame)[attack].mean()
    assert detector[-1].far_ <= 0.1


@pytest.mark.slow
@needs("unsw_nb15_82332.parquet")
def test_the_id_of_unsw_leaks_the_label() -> None:
    file = str(FOLDER / "unsw_nb15_82332.parquet")
    right = {}
    for name, drop in (("without", ["id"]), ("with", [])):
        data = part(read_data(file, label="label", family="attack_cat", drop=drop), 3)
        one, other = halves(data)
        forest = fitted("forest", one, trees=20)
        right[name] = (forest.predict(other.frame) == other.truth).mean()
    assert right["without"] > 0.95
    assert right["with"] > right["without"] + 0.01


@needs("arp_uq_mitm.parquet")
def test_spoofing_is_found_in_arp_flows() -> None:
    data = read_data(
        str(FOLDER / "arp_uq_mitm.parquet"),
        label="Label",
        positive="arp_spoofing",
        drop=["id", "expiration_id"],
    )
    assert np.bincount(data.truth).tolist() == [3277, 201]
    one, other = halves(data)
    scores = fitted("forest", one, trees=40).predict_proba(other.frame)[:, 1]
    attack, normal = scores[other.truth == 1][:, None], scores[other.truth == 0][None, :]
    assert ((attack > normal) + 0.5 * (attack == normal)).mean() > 0.95


@pytest.mark.slow
@needs("cicids2017_improved_sample.parquet")
def test_the_ddos_tree_reads_as_rules() -> None:
    data = read_data(
        str(FOLDER / "cicids2017_improved_sample.parquet"),
        label="Label",
        positive="DDoS",
        time="Timestamp",
        drop=["id", "Flow ID", "Src IP", "Dst IP", "Src Port", "Attempted Category"],
    )
    assert data.labels == ("not DDoS", "DDoS")
    assert data.time is not None
    assert data.time_zoned is False
    one, other = halves(data)
    tree = fitted("tree", one)
    assert (tree.predict(other.frame) == other.truth).mean() > 0.95
    leaves = rules_of(tree, data.labels).leaves
    assert sum(leaf.rows for leaf in leaves) == len(one)
    assert {leaf.label for leaf in leaves} == {"DDoS", "not DDoS"}


@pytest.mark.slow
@needs("agora_listings_2014q1.parquet")
def test_titles_tell_what_is_sold() -> None:
    data = read_data(
        str(FOLDER / "agora_listings_2014q1.parquet"),
        label="cat",
        text="title",
        keep=["vendor", "listing"],
        drop=["subcat"],
        time="date",
    )
    assert len(data.labels) == 12
    assert data.frame.columns == ["title"]
    one, other = halves(part(data, 10))
    bayes = fitted("text", one, model="bayes")
    assert (bayes.predict(other.frame) == other.truth).mean() > 0.85
    assert {w.label for w in telling_words(bayes, data.labels)} == set(data.labels)


@needs("uci_phishing_websites.parquet")
def test_phishing_with_plus_and_minus_one_needs_a_positive() -> None:
    file = str(FOLDER / "uci_phishing_websites.parquet")
    with pytest.raises(LabelError, match=r"say positive=1.* say positive=-1"):
        read_data(file, label="Result")
    data = read_data(file, label="Result", positive="-1")
    assert data.labels == ("1", "-1")
    one, other = halves(part(data, 3))
    scores = fitted("forest", one, trees=20).predict_proba(other.frame)[:, 1]
    best = best_operating(scores, other.truth == 1, 0.1)
    assert best is not None
    assert best.detection_rate > 0.9


@pytest.mark.slow
@needs("lingspam_bare.parquet")
def test_the_folds_of_ling_spam_are_kept_aside() -> None:
    data = read_data(
        str(FOLDER / "lingspam_bare.parquet"),
        label="label",
        text="text",
        keep=["fold"],
        drop=["file"],
    )
    assert data.labels == ("ham", "spam")
    assert sorted(set(data.columns["fold"].to_list())) == list(range(1, 11))
    bayes = fitted("text", part(data, 8), model="bayes", characters=0)
    other = part(data, 8, offset=1)
    assert (bayes.predict(other.frame) == other.truth).mean() > 0.95
