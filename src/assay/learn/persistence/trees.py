"""The contents of trusted types that compiled code follows without looking.

scikit-learn walks trees in C: a child or a column that is not there would be read from beyond the
array. skops can tell the type of a tree, not whether its nodes make sense; that is done here.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.learn.persistence.vocabularies import objects_in

_LEAF = -1
_MOST_CLASSES = 100_000
_BITSET_WORDS = 8


def must_be_trees(parts: Iterator[dict[str, Any]], members: Mapping[str, bytes]) -> None:
    """Check each of scikit-learn's trees in a schema, before one is made."""
    for part in parts:
        if part["__loader__"] != "TreeNode":
            continue
        try:
            _must_be_tree(part, members)
        except InputError:
            raise
        except (LookupError, TypeError, ValueError) as odd:
            raise InputError("a tree in it is damaged") from odd


def _must_be_tree(part: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    features, classes, outputs = part["__reduce__"]["args"]["content"]
    state = part["content"]["content"]
    nodes = _array(state["nodes"], members)
    width = _array(classes, members)
    count = _number(state["node_count"])
    if _number(outputs) != 1 or width.shape != (1,) or width.dtype.kind not in "iu":
        raise InputError("a tree in it has more than one output")
    if not 1 <= int(width[0]) <= _MOST_CLASSES or count < 1 or nodes.shape != (count,):
        raise InputError("a tree in it has no such number of nodes or classes")
    if _array(state["values"], members).shape != (count, 1, int(width[0])):
        raise InputError("a tree in it has values of the wrong shape")
    inner = np.flatnonzero(nodes["left_child"] != _LEAF)
    _must_lead_on(inner, nodes["left_child"][inner], nodes["right_child"][inner], count)
    _must_be_columns(nodes["feature"][inner], _number(features))


def must_be_sound(model: Any) -> None:
    """Check what a loaded model would follow when it predicts."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.ensemble._forest import BaseForest
    from sklearn.tree import BaseDecisionTree

    for found in objects_in(model):
        if isinstance(found, BaseDecisionTree | BaseForest) and hasattr(found, "classes_"):
            _must_be_classes(found.classes_, getattr(found, "n_classes_", None))
        if isinstance(found, BaseDecisionTree) and hasattr(found, "tree_"):
            if found.tree_.n_features != _features(found):
                raise InputError("a tree in it was made for another number of columns")
        elif isinstance(found, BaseForest) and hasattr(found, "estimators_"):
            if any(_features(tree) != _features(found) for tree in found.estimators_):
                raise InputError("a tree in it was made for another number of columns")
        elif isinstance(found, HistGradientBoostingClassifier) and hasattr(found, "_predictors"):
            _must_be_boosted(found)
        if hasattr(found, "vocabulary_"):
            _must_be_vocabulary(found.vocabulary_)
            if getattr(found, "input", "content") != "content":
                raise InputError("it would take texts for names of files, and read those")


def _must_be_boosted(model: Any) -> None:
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE

    columns = _features(model)
    for predictor in (tree for step in model._predictors for tree in step):
        nodes = predictor.nodes
        if not isinstance(nodes, np.ndarray) or nodes.dtype != PREDICTOR_RECORD_DTYPE:
            raise InputError("a boosted tree in it has nodes of another kind")
        if nodes.ndim != 1 or not len(nodes):
            raise InputError("a boosted tree in it has no nodes")
        inner = np.flatnonzero(nodes["is_leaf"] == 0)
        _must_lead_on(inner, nodes["left"][inner], nodes["right"][inner], len(nodes))
        _must_be_columns(nodes["feature_idx"][inner], columns)
        listed = nodes[inner[nodes["is_categorical"][inner] != 0]]
        if not len(listed):
            continue
        bits = predictor.raw_left_cat_bitsets
        known = np.asarray(model._bin_mapper.is_categorical_)
        if bits.shape[1:] != (_BITSET_WORDS,) or int(listed["bitset_idx"].max()) >= len(bits):
            raise InputError("a boosted tree in it has categories that are not there")
        if known.size != columns or not known[listed["feature_idx"]].all():
            raise InputError("a boosted tree in it has categories in a column of numbers")


def _must_lead_on(
    at: npt.NDArray[Any], left: npt.NDArray[Any], right: npt.NDArray[Any], count: int
) -> None:
    """Children come after their node, so that every way down ends."""
    for child in (left.astype(np.int64), right.astype(np.int64)):
        if len(at) and not ((child > at) & (child < count)).all():
            raise InputError("a tree in it leads to a node that is not there")


def _must_be_columns(used: npt.NDArray[Any], columns: int) -> None:
    if len(used) and not (used.min() >= 0 and used.max() < columns):
        raise InputError("a tree in it asks for a column that is not there")


def _must_be_classes(classes: Any, count: Any) -> None:
    """A forest makes room for as many classes as it says that it has."""
    there = isinstance(classes, np.ndarray) and classes.ndim == 1
    if not there or not isinstance(count, int | np.integer) or int(count) != len(classes):
        raise InputError("a tree in it has no such number of classes")


def _must_be_vocabulary(vocabulary: Any) -> None:
    """Each word has a column of its own, from 0 on."""
    places = list(vocabulary.values()) if isinstance(vocabulary, dict) else [None]
    whole = all(isinstance(place, int | np.integer) for place in places)
    if not whole or not (np.sort(np.array(places, np.int64)) == np.arange(len(places))).all():
        raise InputError("a vocabulary in it leads to columns that are not there")


def _features(model: Any) -> int:
    found = getattr(model, "n_features_in_", None)
    if isinstance(found, bool) or not isinstance(found, int | np.integer) or found < 1:
        raise InputError(f"a {type(model).__name__} in it does not say how many columns it takes")
    return int(found)


def _number(part: Mapping[str, Any]) -> int:
    if part["__loader__"] != "JsonNode":
        raise InputError("a tree in it is damaged")
    found = json.loads(part["content"])
    if type(found) is not int:
        raise InputError("a tree in it is damaged")
    return found


def _array(part: Mapping[str, Any], members: Mapping[str, bytes]) -> npt.NDArray[Any]:
    made = (part["__loader__"], part["__module__"], part["__class__"], part["type"])
    if made != ("NdArrayNode", "numpy", "ndarray", "numpy"):
        raise InputError("a tree in it is damaged")
    found: npt.NDArray[Any] = np.load(io.BytesIO(members[part["file"]]), allow_pickle=False)
    return found
