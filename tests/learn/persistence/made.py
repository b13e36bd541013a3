"""Models of every recipe, and model files put together by hand."""

import io
import json
import warnings
import zipfile
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from assay.learn.model_archive import HEADER, SCHEMA
from assay.learn.persistence import model_bytes, model_header
from assay.learn.recipes import Task, find_recipe

ROWS = 240
LABELS = {2: ("normal", "attack"), 3: ("drugs", "fraud", "other")}
# Every recipe with every model that it offers, for two classes and for three.
MODELS = [
    (recipe, {**settings}, classes)
    for recipe, settings in [
        ("forest", {"trees": 7}),
        ("network", {"epochs": 2}),
        ("tree", {"k": 3}),
        ("text", {"model": "logistic"}),
        ("text", {"model": "svm"}),
        ("text", {"model": "bayes"}),
        ("text", {"model": "forest", "trees": 7}),
        ("detector", {"trees": 5, "folds": 2}),
    ]
    for classes in (2, 3)
]


def name_of(model: tuple[str, dict[str, Any], int]) -> str:
    recipe, settings, classes = model
    return f"{recipe}-{settings.get('model', 'only')}-{classes}"


@cache
def rows() -> pl.DataFrame:
    """Numbers with gaps, categories and texts."""
    random = np.random.default_rng(7)
    words = ["foo", "bar", "baz", "qux", "spam", "naïve", "数据"]
    numbers = random.normal(size=(2, ROWS))
    return pl.DataFrame(
        {
            "size": pl.Series(numbers[0]).set(pl.Series(random.random(ROWS) < 0.1), None),
            "rate": numbers[1],
            "protocol": random.choice(["tcp", "udp", "ic'mp\n"], ROWS),
            "title": [" ".join(random.choice(words, 6)) for _ in range(ROWS)],
        }
    )


@cache
def truth(classes: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    random = np.random.default_rng(8)
    score = rows()["rate"].to_numpy() + random.normal(size=ROWS) / 2
    return np.digitize(score, [0.0] if classes == 2 else [-0.5, 0.5])


def fitted(recipe: str, settings: Mapping[str, Any], classes: int) -> Any:
    declaration = find_recipe(recipe)
    labels = LABELS[classes]
    task = Task(
        labels=labels,
        positive=labels[1] if classes == 2 else None,
        text="title" if declaration.needs_text else None,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a network that was given two epochs has not converged
        return declaration.pipeline(task, settings).fit(rows(), truth(classes))


def header_of(pipeline: Any, classes: int = 2, **more: Any) -> dict[str, Any]:
    labels = LABELS[classes]
    two = classes == 2
    return model_header(
        pipeline,
        rows(),
        labels=labels,
        positive=labels[1] if two else None,
        threshold=0.5 if two else None,
        **more,
    )


@cache
def saved(recipe: str = "tree", classes: int = 2) -> bytes:
    """A small model file of a recipe."""
    settings = {name: settings for name, settings, _ in MODELS}[recipe]
    pipeline = fitted(recipe, settings, classes)
    return model_bytes(pipeline, header=header_of(pipeline, classes, recipe=recipe))


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive(parts: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return stream.getvalue()


def crafted(part: Any, arrays: Mapping[str, bytes] | None = None, protocol: Any = 2) -> bytes:
    """A model file whose schema is this part, with a header that is in order."""
    schema = {**part, "protocol": protocol, "_skops_version": "0.16.0"}
    header = members(saved())[HEADER]
    return archive({HEADER: header, SCHEMA: json.dumps(schema).encode(), **(arrays or {})})


def changed(
    change: Callable[[dict[str, Any], dict[str, bytes]], None], recipe: str = "tree"
) -> bytes:
    """A model file of a recipe after somebody worked on its schema or its arrays."""
    parts = members(saved(recipe))
    schema = json.loads(parts[SCHEMA])
    change(schema, parts)
    return archive({**parts, SCHEMA: json.dumps(schema).encode()})


# -- parts of a schema -----------------------------------------------------------------------------


def node(loader: str, module: str, name: str, **more: Any) -> dict[str, Any]:
    return {"__loader__": loader, "__module__": module, "__class__": name, **more}


def scalar(value: Any) -> dict[str, Any]:
    return node("JsonNode", "builtins", "str", content=json.dumps(value), is_json=True)


def listed(*parts: Any) -> dict[str, Any]:
    return node("ListNode", "builtins", "list", content=list(parts))


def tupled(*parts: Any) -> dict[str, Any]:
    return node("TupleNode", "builtins", "tuple", content=list(parts))


def mapped(**parts: Any) -> dict[str, Any]:
    text = node("TypeNode", "builtins", "str")
    return node(
        "DictNode", "builtins", "dict", content=parts, key_types=listed(*([text] * len(parts)))
    )


def array(values: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=True)
    return stream.getvalue()
