"""Models of every recipe say the same after they were saved and loaded, in another process too."""

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import skops.io
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from assay.errors import InputError
from assay.learn.encoding import ColumnEncoder
from assay.learn.model_trust import LEARNED, OWN, RENAMED, TRUSTED, parts_of, schema_of
from assay.learn.persistence import (
    Untrusted,
    load_model,
    model_bytes,
    model_header,
    save_model,
    types_to_trust,
)

from .made import (
    MODELS,
    changed,
    fitted,
    header_of,
    listed,
    members,
    name_of,
    rows,
    saved,
    truth,
)

FRESH = """
import hashlib, sys
import polars as pl
from assay.learn.fitting import one_thread_a_sum
from assay.learn.persistence import load_model
rows = pl.read_parquet(sys.argv[1])
for path in sys.argv[2:]:
    with one_thread_a_sum():
        said = load_model(path).pipeline.predict_proba(rows)
    print(hashlib.sha256(said.tobytes()).hexdigest())
"""


def in_fresh_process(program: str, *arguments: object, seed: int = 0) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().split()


@pytest.mark.slow
def test_every_recipe_says_the_same_bits_in_a_fresh_process(tmp_path: Path) -> None:
    rows().write_parquet(tmp_path / "rows.parquet")
    expected, paths = {}, []
    for model in MODELS:
        pipeline = fitted(*model)
        paths.append(tmp_path / f"{name_of(model)}.skops")
        assert save_model(pipeline, paths[-1], header=header_of(pipeline, model[2])) == ()
        said = pipeline.predict_proba(rows())
        expected[name_of(model)] = hashlib.sha256(said.tobytes()).hexdigest()
    lines = in_fresh_process(FRESH, tmp_path / "rows.parquet", *paths)
    assert dict(zip(expected, lines, strict=True)) == expected


MAKE = """
from tests.learn.persistence.test_round_trips import bytes_of_some
print(*bytes_of_some())
"""


def bytes_of_some() -> list[str]:
    """Hashes of model files, trained anew."""
    texts = []
    for recipe, settings in (
        ("forest", {"trees": 3}),
        ("network", {"epochs": 1}),
        ("text", {"model": "svm"}),
        ("detector", {"trees": 3, "folds": 2}),
    ):
        pipeline = fitted(recipe, settings, 2)
        content = model_bytes(pipeline, header=header_of(pipeline))
        texts.append(hashlib.sha256(content).hexdigest())
    return texts


@pytest.mark.slow
def test_the_same_training_gives_the_same_bytes_in_another_process() -> None:
    program = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[3])!r})\n{MAKE}"
    assert in_fresh_process(program, seed=1) == bytes_of_some()


@pytest.mark.slow
def test_the_list_of_trusted_types_is_what_the_recipes_need() -> None:
    needed: set[tuple[str, str]] = set()
    for model in MODELS:
        pipeline = fitted(*model)
        content = model_bytes(pipeline, header=header_of(pipeline, model[2]))
        needed |= {
            (part["__loader__"], f"{part['__module__']}.{part['__class__']}")
            for part in parts_of(schema_of(members(content)["schema.json"]))
        }
    assert {name for loader, name in needed if loader == "ObjectNode"} == {*OWN, *LEARNED}
    assert all(name in TRUSTED[loader] for loader, name in needed)
    assert {loader for loader, _ in needed} == set(TRUSTED) - {"SetNode", "SliceNode"}


# A recipe of which each type is a part that earlier versions called otherwise.
RECIPE_OF = {
    "assay.learn.encoding.ColumnEncoder": "tree",
    "assay.learn.ensembles.Detector": "detector",
    "assay.learn.ensembles.Forest": "forest",
    "assay.learn.network.ANNClassifier": "network",
}


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_file_with_the_names_of_an_earlier_version_says_the_same(
    old: str, new: str, tmp_path: Path
) -> None:
    def age(schema: dict[str, Any], _arrays: dict[str, bytes]) -> None:
        aged = 0
        for part in parts_of(schema):
            if f"{part['__module__']}.{part['__class__']}" == new:
                part["__module__"], _, part["__class__"] = old.rpartition(".")
                aged += 1
        assert aged

    (tmp_path / "old.skops").write_bytes(changed(age, RECIPE_OF[new]))
    (tmp_path / "new.skops").write_bytes(saved(RECIPE_OF[new]))
    before, now = (load_model(tmp_path / f"{name}.skops").pipeline for name in ("old", "new"))
    assert np.array_equal(before.predict_proba(rows()), now.predict_proba(rows()))
    assert types_to_trust((tmp_path / "old.skops").read_bytes()) == ()


def test_a_model_file_is_one_that_skops_reads_too() -> None:
    pipeline = skops.io.loads(saved(), trusted=skops.io.get_untrusted_types(data=saved()))
    assert type(pipeline) is Pipeline


def test_no_time_and_no_address_is_in_the_file() -> None:
    with zipfile.ZipFile(io.BytesIO(saved("forest"))) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        numbers = sorted(int(Path(n).stem) for n in archive.namelist() if n.endswith(".npy"))
        assert numbers == list(range(1, len(numbers) + 1))


def test_the_header_comes_back_as_it_was_with_the_versions(tmp_path: Path) -> None:
    pipeline = fitted("tree", {"k": 2}, 2)
    more = {"recipe": "tree", "settings": {"k": 2}, "seed": 42, "data": {"sha256": "ab"}}
    save_model(pipeline, tmp_path / "model.skops", header=header_of(pipeline, **more))
    header = load_model(tmp_path).header
    assert {key: header[key] for key in more} == more
    assert (header["labels"], header["positive"]) == (["normal", "attack"], "attack")
    assert header["features"] == [
        {"name": "size", "kind": "number"},
        {"name": "rate", "kind": "number"},
        {"name": "protocol", "kind": "text"},
        {"name": "title", "kind": "text"},
    ]
    assert {"assay", "python", "scikit-learn", "skops", "numpy"} <= set(header["versions"])


def test_a_model_of_texts_asks_for_its_column_only() -> None:
    pipeline = fitted("text", {"model": "bayes"}, 2)
    assert header_of(pipeline)["features"] == [{"name": "title", "kind": "text"}]


def test_a_model_without_our_encoders_asks_for_all_columns() -> None:
    numbers = rows().select("rate")
    pipeline = LogisticRegression().fit(numbers, truth(2))
    header = model_header(
        pipeline, numbers, labels=("normal", "attack"), positive="attack", threshold=0.5
    )
    assert header["features"] == [{"name": "rate", "kind": "number"}]


def own_pipeline() -> Pipeline:
    steps = [
        ("columns", ColumnEncoder()),
        ("scale", MinMaxScaler()),
        ("select", SelectKBest(chi2, k=2)),
        ("model", ExtraTreesClassifier(5, random_state=1)),
    ]
    return Pipeline(steps).fit(rows(), truth(2))


OWN_TYPES = (
    "sklearn.ensemble._forest.ExtraTreesClassifier",
    "sklearn.feature_selection._univariate_selection.SelectKBest",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.tree._classes.ExtraTreeClassifier",
)


def test_types_of_ones_own_load_only_when_each_is_trusted_by_name(tmp_path: Path) -> None:
    pipeline = own_pipeline()
    path = tmp_path / "model.skops"
    assert sorted(save_model(pipeline, path, header=header_of(pipeline))) == list(OWN_TYPES)
    with pytest.raises(InputError, match="not trusted") as refused:
        load_model(path)
    assert isinstance(refused.value.__cause__, Untrusted)
    for name in OWN_TYPES:
        assert f"--trust {name}" in str(refused.value)
        others = [other for other in OWN_TYPES if other != name]
        with pytest.raises(InputError, match=f"not trusted: {name}"):
            load_model(path, trust=others)
    loaded_model = load_model(path, trust=OWN_TYPES)
    assert (loaded_model.pipeline.predict_proba(rows()) == pipeline.predict_proba(rows())).all()


@pytest.mark.slow
def test_a_type_in_this_folder_is_found_when_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_models_here.py").write_text(
        "from sklearn.linear_model import LogisticRegression\n"
        "class Mine(LogisticRegression):\n    pass\n"
    )
    program = """
import sys
sys.path.insert(0, "")
from my_models_here import Mine
import numpy as np
from assay.learn.persistence import save_model
model = Mine().fit(np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1])
header = {"labels": ["a", "b"], "positive": "b", "threshold": 0.5,
          "features": [{"name": "x", "kind": "number"}]}
print(*save_model(model, "model.skops", header=header))
"""
    monkeypatch.chdir(tmp_path)
    assert in_fresh_process(program) == ["my_models_here.Mine"]
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    loaded_model = load_model("model.skops", trust=["my_models_here.Mine"])
    assert type(loaded_model.pipeline).__name__ == "Mine"


def test_a_vocabulary_is_packed_and_the_model_is_left_as_it_was() -> None:
    pipeline = fitted("text", {"model": "bayes"}, 2)
    terms = pipeline.named_steps["terms"].transformer_list
    before = [dict(vectorizer.vocabulary_) for _, vectorizer in terms]
    content = model_bytes(pipeline, header=header_of(pipeline))
    assert [vectorizer.vocabulary_ for _, vectorizer in terms] == before
    assert all("spam" in vocabulary for vocabulary in before)
    assert b"spam" not in members(content)["schema.json"]


@pytest.mark.slow
def test_categories_by_the_hundred_thousand_can_be_saved(tmp_path: Path) -> None:
    size = 150_000
    frame = pl.DataFrame({"id": [f"host-{i}" for i in range(size)], "x": np.arange(size) % 7.0})
    steps = [("columns", ColumnEncoder()), ("model", LogisticRegression())]
    pipeline = Pipeline(steps).fit(frame, np.arange(size) % 2)
    header = model_header(pipeline, frame, labels=("a", "b"), positive="b", threshold=0.5)
    save_model(pipeline, tmp_path / "model.skops", header=header)
    model = load_model(tmp_path / "model.skops").pipeline
    assert model.steps[0][1].categories_ == pipeline.steps[0][1].categories_


def test_another_version_of_scikit_learn_is_a_note_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(saved())
    assert load_model(path).notes == ()
    pipeline = fitted("tree", {"k": 2}, 2)
    old = header_of(pipeline, versions={"scikit-learn": "1.0.0"})
    save_model(pipeline, path, header=old)
    (note,) = load_model(path).notes
    assert "saved with scikit-learn 1.0.0" in note


def test_a_state_of_another_version_that_cant_be_read_names_both_versions(tmp_path: Path) -> None:
    def change(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
        scaler = next(part for part in parts_of(schema) if part["__class__"] == "MinMaxScaler")
        scaler["content"] = listed()
        header = json.loads(parts["assay.json"])
        header["versions"]["scikit-learn"] = "1.0.0"
        parts["assay.json"] = json.dumps(header).encode()

    path = tmp_path / "model.skops"
    path.write_bytes(changed(change))
    with pytest.raises(InputError, match=r"saved with scikit-learn 1\.0\.0, and this is"):
        load_model(path)


def test_what_cant_be_saved_without_pickle_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    pipeline = fitted("tree", {"k": 2}, 2)
    pipeline.helper = (one for one in ())
    with pytest.raises(InputError, match="can't be saved without pickle"):
        save_model(pipeline, tmp_path / "model.skops", header=header_of(pipeline))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels": ["one"]}, "two or more labels"),
        ({"labels": ["same", "same"]}, "two or more labels"),
        ({"labels": [1, 2]}, "two or more labels"),
        ({"positive": "normal"}, "not the second of two"),
        ({"threshold": "0.5"}, "threshold that is no number"),
        ({"threshold": True}, "threshold that is no number"),
        ({"features": []}, "columns that the model takes"),
        ({"features": [{"name": "x", "kind": "odd"}]}, "columns that the model takes"),
        ({"features": [{"name": "x", "kind": "text"}] * 2}, "lists a column twice"),
        ({"schema": "assay.model/9"}, "this version reads 'assay.model/1'"),
        ({"more": {1, 2}}, "no plain data"),
        ({"more": float("nan")}, "no plain data"),
    ],
)
def test_a_header_from_which_nobody_could_predict_is_refused(
    change: dict[str, Any], said: str
) -> None:
    pipeline = fitted("tree", {"k": 2}, 2)
    with pytest.raises(InputError, match=said):
        model_bytes(pipeline, header={**header_of(pipeline), **change})


def test_the_header_is_json_that_people_can_read() -> None:
    text = members(saved())["assay.json"].decode()
    assert json.loads(text)["schema"] == "assay.model/1"
    assert "\n" in text
