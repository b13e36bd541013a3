"""Which types a model file may hold, and what they may contain, checked before any is used.

skops itself trusts every estimator of scikit-learn, and all functions that NumPy and SciPy offer.
Here the list is short and closed: what the recipes are made of. A name is trusted for one use only:
a class may become an object by setting its attributes, and is never called; there is no function,
method or partial among them.

scikit-learn walks trees in C: a child or a column that is not there would be read from beyond the
array. skops can tell the type of a tree, not whether its nodes make sense; that is done here too.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.v02.learn.model_archive import objects_in

# Our own.
OWN = (
    "assay.v02.learn.calibration.Calibrated",
    "assay.v02.learn.encoding.ChiSquare",
    "assay.v02.learn.encoding.ColumnEncoder",
    "assay.v02.learn.encoding.Standard",
    "assay.v02.learn.encoding.Text",
    "assay.v02.learn.ensembles.Detector",
    "assay.v02.learn.ensembles.Forest",
    "assay.v02.learn.network.ANNClassifier",
)
# What files of earlier versions call a type of ours that has another name now.
RENAMED = {
    "assay.v02.learn.boosting.Detector": "assay.v02.learn.ensembles.Detector",
    "assay.v02.learn.encoding.Columns": "assay.v02.learn.encoding.ColumnEncoder",
    "assay.v02.learn.forest.Forest": "assay.v02.learn.ensembles.Forest",
    "assay.v02.learn.network.classifier.ANNClassifier": "assay.v02.learn.network.ANNClassifier",
}
# scikit-learn's, of which the recipes are made; a test holds this to what they really need.
LEARNED = (
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.link.MultinomialLogit",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn._loss.loss.HalfMultinomialLoss",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.feature_extraction.text.TfidfTransformer",
    "sklearn.feature_extraction.text.TfidfVectorizer",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.naive_bayes.MultinomialNB",
    "sklearn.pipeline.FeatureUnion",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.MinMaxScaler",
    "sklearn.preprocessing._label.LabelEncoder",
    "sklearn.svm._classes.LinearSVC",
    "sklearn.tree._classes.DecisionTreeClassifier",
)
_SCALARS = frozenset(
    f"numpy.{kind}"
    for kind in (
        *("bool", "bool_", "str_", "float16", "float32", "float64"),
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)
_PLAIN = frozenset(f"builtins.{kind}" for kind in ("str", "int", "float", "bool"))
# What skops may make of a part of the file, and of which names.
TRUSTED: Mapping[str, frozenset[str]] = {
    "JsonNode": frozenset({"builtins.str"}),
    "DictNode": frozenset({"builtins.dict", "collections.OrderedDict"}),
    "ListNode": frozenset({"builtins.list"}),
    "TupleNode": frozenset({"builtins.tuple"}),
    "SetNode": frozenset({"builtins.set"}),
    "SliceNode": frozenset({"builtins.slice"}),
    "TypeNode": _PLAIN | _SCALARS,
    "NdArrayNode": frozenset({"numpy.ndarray"}) | _SCALARS,
    "TreeNode": frozenset({"sklearn.tree._tree.Tree"}),
    "LossNode": frozenset(
        {"sklearn._loss._loss.CyHalfBinomialLoss", "sklearn._loss._loss.CyHalfMultinomialLoss"}
    ),
    "ObjectNode": frozenset(OWN + LEARNED),
}
# Further parts that may hold a name which the user trusts. Others are never read: they call a
# function or look up a method while the file is loaded.
_ON_TRUST = frozenset(
    {
        *TRUSTED,
        *("ConstructorFromReduceNode", "DTypeNode", "DefaultDictNode", "FunctionNode"),
        *("MaskedArrayNode", "PartialNode", "RandomGeneratorNode", "RandomStateNode"),
        *("BytesNode", "BytearrayNode", "SparseMatrixNode"),
    }
) - {"JsonNode", "TreeNode"}
# No model has use for these, whoever asks to trust them.
_NEVER = frozenset(
    [
        "_posixsubprocess",
        "_ctypes",
        "asyncio",
        "builtins",
        "code",
        "codeop",
        "commands",
        "cgi",
        "ctypes",
        "dill",
        "ftplib",
        "http",
        "imaplib",
        "importlib",
        "io",
        "joblib",
        "marshal",
        "multiprocessing",
        "nt",
        "os",
        "pathlib",
        "pdb",
        "pickle",
        "pip",
        "pkgutil",
        "platform",
        "poplib",
        "posix",
        "pty",
        "pydoc",
        "runpy",
        "shelve",
        "shutil",
        "signal",
        "smtplib",
        "socket",
        "socketserver",
        "sqlite3",
        "ssl",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "timeit",
        "trace",
        "types",
        "urllib",
        "webbrowser",
        "xmlrpc",
        "zipimport",
    ]
)
_HARMLESS = frozenset({"builtins.bytes", "builtins.bytearray"})
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_CLASS = re.compile(r"[A-Za-z_]\w*", re.ASCII)

# No pipeline is nested as deeply, nor has as many parts; JSON of more fills memory.
_MOST_DEPTH = 100
_MOST_OF = ((b"{", 2_000_000), (b"[", 2_000_000), (b'"', 20_000_000))
_OLDEST_PROTOCOL = 1
_LISTED = 10
_LONGEST = 120


def schema_of(content: bytes) -> dict[str, Any]:
    """The schema of a model file as plain data, neither huge nor deep."""
    for sign, most in _MOST_OF:
        if content.count(sign) > most:
            raise InputError("the schema has too many parts for a model")
    try:
        schema = json.loads(content)
    except RecursionError as error:
        raise InputError("the schema is nested too deeply") from error
    except ValueError as error:
        raise InputError(f"the schema is no JSON ({error})") from error
    if not isinstance(schema, dict):
        raise InputError("the schema is no JSON object")
    protocol = schema.get("protocol")
    if not isinstance(protocol, int) or isinstance(protocol, bool) or protocol < _OLDEST_PROTOCOL:
        raise InputError(f"the schema has the protocol {_shown_value(protocol)}, which is not read")
    return schema


def rename_types(schema: dict[str, Any]) -> bool:
    """Call types of earlier versions by their present names; tells whether there were any."""
    renamed = False
    for part in parts_of(schema):
        _, name = _described(part)
        if name in RENAMED:
            part["__module__"], _, part["__class__"] = RENAMED[name].rpartition(".")
            renamed = True
    return renamed


def must_be_trustworthy(names: Collection[str]) -> frozenset[str]:
    """The names that a user trusts; those that no model needs are refused."""
    for name in names:
        if not _MODULE.fullmatch(name) or "." not in name:
            raise InputError(
                f"--trust {name}: write the full name of a type, as package.module.Type"
            )
        if _forbidden(name):
            raise InputError(f"--trust {name}: no model needs that, and it is never loaded")
    return frozenset(names)


def check_names(schema: dict[str, Any], trust: frozenset[str]) -> frozenset[str]:
    """Go through all parts of a schema; gives the names it holds, or refuses those not trusted."""
    seen: dict[Any, Any] = {}
    names: set[str] = set()
    refused: dict[str, None] = {}
    for part in parts_of(schema):
        loader, name = _described(part)
        if name not in TRUSTED.get(loader, ()):
            if loader not in _ON_TRUST:
                raise InputError(
                    f"it holds {_shown_value(name)} as {_shown_value(loader)}, which runs code "
                    f"while it is loaded; that is never read"
                )
            if _forbidden(name):
                raise InputError(
                    f"it holds {_shown_value(name)}, which no model needs; it is not loaded"
                )
            if name not in trust:
                refused[name] = None
        names.add(name)
        if loader == "JsonNode":
            _must_be_scalar(part)
        same = seen.setdefault(part["__id__"], part) if part.get("__id__") is not None else part
        # skops takes the first part of an id for all others of it.
        if same is not part and same != part:
            raise InputError("two parts of the schema claim to be the same and are not")
    if refused:
        raise Untrusted(tuple(refused))
    return frozenset(names)


class Untrusted(InputError):
    """A model file holds types that are not trusted."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        shown = ", ".join(_shown_value(name) for name in names[:_LISTED])
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        options = " ".join(f"--trust {name}" for name in names[:_LISTED])
        super().__init__(
            f"it holds {'types' if len(names) > 1 else 'a type'} that {_are(names)} not trusted: "
            f"{shown}{more}. To load a type is to run its code. Only if you know who made this "
            f"model, name {'each' if len(names) > 1 else 'it'}: {options}"
        )


def parts_of(schema: Any) -> Iterator[dict[str, Any]]:
    """Every part of a schema that skops makes something of, from the outside in."""
    waiting = [(schema, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > _MOST_DEPTH:
            raise InputError("the schema is nested too deeply")
        inside: Any = ()
        if isinstance(part, dict):
            if "__loader__" in part:
                yield part
            inside = part.values()
        elif isinstance(part, list):
            inside = part
        waiting += [(one, depth + 1) for one in inside if isinstance(one, dict | list)]


def _described(part: Mapping[str, Any]) -> tuple[str, str]:
    """How a part is made, and the full name of what it is."""
    loader, module, name = (part.get(key) for key in ("__loader__", "__module__", "__class__"))
    if not (isinstance(loader, str) and isinstance(module, str) and isinstance(name, str)):
        raise InputError("a part of the schema does not say what it is")
    if not (_MODULE.fullmatch(module) and _CLASS.fullmatch(name)):
        raise InputError(f"{_shown_value(f'{module}.{name}')} is no name of a type")
    identity = part.get("__id__")
    if not (identity is None or type(identity) is int):
        raise InputError("a part of the schema has an id that is no number")
    return loader, f"{module}.{name}"


def _must_be_scalar(part: Mapping[str, Any]) -> None:
    content = part.get("content")
    try:
        value = json.loads(content) if isinstance(content, str) else []
    except RecursionError as error:
        raise InputError("the schema is nested too deeply") from error
    except ValueError as error:
        raise InputError(f"a value of the schema is no JSON ({error})") from error
    if isinstance(value, dict | list):
        raise InputError("a value of the schema is no single value")


def _forbidden(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in _NEVER and name not in _HARMLESS


def _are(names: tuple[str, ...]) -> str:
    return "are" if len(names) > 1 else "is"


def _shown_value(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


# -- contents that compiled code follows without looking -------------------------------------------

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
        except (LookupError, TypeError, ValueError) as error:
            raise InputError("a tree in it is damaged") from error


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

    from assay.v02.learn.encoding import ColumnEncoder

    for part in objects_in(model):
        if isinstance(part, BaseDecisionTree | BaseForest) and hasattr(part, "classes_"):
            _must_be_classes(part.classes_, getattr(part, "n_classes_", None))
        if isinstance(part, BaseDecisionTree) and hasattr(part, "tree_"):
            if part.tree_.n_features != _features(part):
                raise InputError("a tree in it was made for another number of columns")
        elif isinstance(part, BaseForest) and hasattr(part, "estimators_"):
            if any(_features(tree) != _features(part) for tree in part.estimators_):
                raise InputError("a tree in it was made for another number of columns")
        elif isinstance(part, HistGradientBoostingClassifier) and hasattr(part, "_predictors"):
            _must_be_boosted(part)
        if isinstance(part, ColumnEncoder) and hasattr(part, "categories_"):
            _must_be_categories(part.categories_)
        if hasattr(part, "vocabulary_"):
            _must_be_vocabulary(part.vocabulary_)
            if getattr(part, "input", "content") != "content":
                raise InputError("it would take texts for names of files, and read those")


def _must_be_categories(columns: Any) -> None:
    for texts in columns:
        if not all(isinstance(text, str) for text in texts) or len(set(texts)) < len(texts):
            raise InputError("a column in it has a category twice, or one that is no text")


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
        categorical = np.asarray(model._bin_mapper.is_categorical_)
        if bits.shape[1:] != (_BITSET_WORDS,) or int(listed["bitset_idx"].max()) >= len(bits):
            raise InputError("a boosted tree in it has categories that are not there")
        if categorical.size != columns or not categorical[listed["feature_idx"]].all():
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
    are_integers = all(isinstance(place, int | np.integer) for place in places)
    if (
        not are_integers
        or not (np.sort(np.array(places, np.int64)) == np.arange(len(places))).all()
    ):
        raise InputError("a vocabulary in it leads to columns that are not there")


def _features(model: Any) -> int:
    number = getattr(model, "n_features_in_", None)
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise InputError(f"a {type(model).__name__} in it does not say how many columns it takes")
    return int(number)


def _number(part: Mapping[str, Any]) -> int:
    if part["__loader__"] != "JsonNode":
        raise InputError("a tree in it is damaged")
    number = json.loads(part["content"])
    if type(number) is not int:
        raise InputError("a tree in it is damaged")
    return number


def _array(part: Mapping[str, Any], members: Mapping[str, bytes]) -> npt.NDArray[Any]:
    made = (part["__loader__"], part["__module__"], part["__class__"], part["type"])
    if made != ("NdArrayNode", "numpy", "ndarray", "numpy"):
        raise InputError("a tree in it is damaged")
    array: npt.NDArray[Any] = np.load(io.BytesIO(members[part["file"]]), allow_pickle=False)
    return array
