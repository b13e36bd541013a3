"""What `assay` shows to the world, and what it costs to import."""

import ast
import inspect
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import assay
from assay import errors
from assay.decisions.sample import SampleRequest, sample_files
from assay.errors import DISTRIBUTION, AssayError
from assay.measures import CATALOGUE

ROOT = Path(__file__).parents[1]

HEAVY = {
    "matplotlib",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "scipy.stats",
    "sklearn",
}
ERRORS = [
    member
    for member in vars(errors).values()
    if isinstance(member, type) and issubclass(member, BaseException)
]
FUNCTIONS = [
    name
    for name in assay.__all__
    if inspect.isfunction(getattr(assay, name)) or inspect.isbuiltin(getattr(assay, name))
]


# -- names -----------------------------------------------------------------------------------------


def test_all_is_sorted_and_without_repetition() -> None:
    assert assay.__all__ == sorted(set(assay.__all__))


def test_every_name_exists() -> None:
    assert not [name for name in assay.__all__ if getattr(assay, name, None) is None]


def test_the_list_of_names_holds_one_import_a_line_and_nothing_else() -> None:
    tree = ast.parse(Path(assay.__file__).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert [type(node) for node in tree.body if node not in imports] == [
        ast.Expr,
        ast.AnnAssign,
        ast.FunctionDef,
    ]
    for statement in imports:
        (alias,) = statement.names
        # Without the alias no type would be exported.
        assert alias.asname == alias.name
    assert sorted(statement.names[0].name for statement in imports) == assay.__all__


def test_modules_are_attributes_and_other_words_are_not() -> None:
    assert assay.curves is import_module("assay.curves")
    for name in ("_curves", "no_such_name", "__wrapped__"):
        assert not hasattr(assay, name)


def test_nothing_public_is_missing_from_all() -> None:
    for name in assay.__all__:
        getattr(assay, name)
    public = {
        name
        for name, member in vars(assay).items()
        if getattr(member, "__module__", "").startswith("assay") and not name.startswith("_")
    }
    assert public == set(assay.__all__)


def test_no_measure_is_hidden_by_another_name() -> None:
    for measure in CATALOGUE:
        for name in (measure.name, *measure.aliases):
            assert getattr(assay, name).measure is measure


def test_dir_holds_every_public_name_and_every_measure() -> None:
    names = dir(assay)
    assert set(assay.__all__) <= set(names)
    assert "__version__" in names
    for measure in CATALOGUE:
        for name in (measure.name, *measure.aliases):
            assert (name in names) == name.isidentifier()


def test_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (project["name"], project["version"]) == (DISTRIBUTION, assay.__version__)


def test_star_import_gives_exactly_all() -> None:
    namespace: dict[str, object] = {}
    exec("from assay import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(assay.__all__)


# -- docstrings ------------------------------------------------------------------------------------


def public_methods() -> list[tuple[str, object]]:
    members = []
    for name in assay.__all__:
        thing = getattr(assay, name)
        if isinstance(thing, type):
            members += [
                (f"{name}.{key}", member)
                for key, member in vars(thing).items()
                if not key.startswith("_")
                and (callable(member) or isinstance(member, property | classmethod | staticmethod))
            ]
    return members


def test_every_public_object_has_a_docstring() -> None:
    docs = {name: inspect.getdoc(getattr(assay, name)) or "" for name in assay.__all__}
    # Where nobody wrote one, a class of data gets its own call.
    bare = [name for name, doc in docs.items() if not doc.strip() or doc.startswith(f"{name}(")]
    assert not bare


def test_every_public_method_has_a_docstring() -> None:
    assert not [name for name, member in public_methods() if not inspect.getdoc(member)]


def test_every_public_function_has_an_example_or_a_reference() -> None:
    docs = {name: inspect.getdoc(getattr(assay, name)) or "" for name in FUNCTIONS}
    assert not [name for name, doc in docs.items() if ">>>" not in doc and "Reference" not in doc]


def test_every_measure_says_how_it_reads_and_misleads() -> None:
    for measure in CATALOGUE:
        doc = getattr(assay, measure.name).__doc__
        assert measure.reads in doc, measure.name
        assert measure.misleads in doc, measure.name
        assert measure.reference, measure.name


def parameters() -> list[tuple[str, inspect.Parameter]]:
    """The parameters of all public functions."""
    signatures = {name: inspect.signature(getattr(assay, name)) for name in FUNCTIONS}
    return [(name, each) for name in signatures for each in signatures[name].parameters.values()]


def test_every_public_function_says_the_types_of_its_arguments() -> None:
    untyped = inspect.Parameter.empty
    assert not [(name, each.name) for name, each in parameters() if each.annotation is untyped]


def test_no_public_function_has_a_boolean_flag_by_position() -> None:
    flags = [(name, each) for name, each in parameters() if each.annotation in (bool, "bool")]
    assert not [
        (name, each.name) for name, each in flags if each.kind is not inspect.Parameter.KEYWORD_ONLY
    ]


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: e.__name__)
def test_every_error_derives_from_the_root(error: type) -> None:
    assert issubclass(error, assay.AssayError)
    assert inspect.getdoc(error)


def test_the_drawn_tree_names_every_error() -> None:
    drawn = (errors.__doc__ or "").split()
    assert {error.__name__ for error in ERRORS} <= {word.strip("├└─│ ") for word in drawn}


def test_errors_are_also_what_python_would_raise() -> None:
    assert issubclass(errors.InputError, ValueError)
    assert issubclass(errors.UnknownMeasure, KeyError)
    for error in ERRORS:
        if error not in (AssayError, errors.UnknownMeasure, errors.TallyError, errors.StoreError):
            assert issubclass(error, errors.InputError)


# -- imports ---------------------------------------------------------------------------------------


def imported(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after running some code."""
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    completed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(json.loads(completed.stdout.splitlines()[-1]))


def test_import_is_light() -> None:
    assert not imported("import assay") & (HEAVY | {"assay.store", "sqlite3"})


def test_catalogue_and_its_functions_are_light() -> None:
    assert not imported("import assay; assay.precision; dir(assay); assay.f1.__doc__") & HEAVY


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "code",
    [
        "assay.evaluate(['attack', 'normal'], y_score=[0.9, 0.2])",
        "assay.evaluate([0, 1, 1], y_pred=[0, 1, 0]).to_dict()",
        "repr(assay.evaluate(list('abc'), y_pred=list('abb')))",
        "assay.precision(tp=3, fp=1, fn=2, tn=4)",
        "assay.compare([0, 1] * 9, scores={'a': [0.1, 0.9] * 9, 'b': [0.2, 0.3, 0.6] * 6})",
        "assay.mcnemar(10, 2), assay.delong_test([0, 1, 0, 1], [1, 2, 3, 4], [4, 1, 3, 2])",
        "assay.from_bytes(assay.count([0, 1], y_score=[0.1, 0.9]).to_bytes())",
    ],
    ids=["scores", "decisions", "classes", "counts", "compare", "tests", "tally"],
)
def test_work_on_lists_imports_no_dataframe_plot_or_learning_library(code: str) -> None:
    unwanted = {"pandas", "pyarrow", "sklearn", "matplotlib", "scipy.stats", "polars", "narwhals"}
    assert not imported(f"import assay\n{code}") & unwanted


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: assay.evaluate("abc", y_pred="abc"),
        lambda: assay.evaluate({"a": 1}, y_pred=[1]),
        lambda: assay.evaluate([0, 1], y_score=[0.1, 0.9], level="0.9"),
        lambda: assay.evaluate([0, 1], y_score=[0.1, 0.9], interval=3),
        lambda: assay.evaluate([0, 1], y_score=[0.1, 0.9], base_rate="0.1"),
        lambda: assay.evaluate([0, 1], y_score=[0.1, 0.9], labels=3),
        lambda: assay.evaluate([0, 1], y_score=[0.1, 0.9]).at("x"),
        lambda: assay.evaluate_counts(matrix=5),
        lambda: assay.evaluate_counts(matrix=[1, 2]),
        lambda: assay.compare([0, 1], scores=[[0.1, 0.9], [0.2, 0.8]]),
        lambda: assay.fbeta(beta="2", tp=1, fp=1, fn=1, tn=1),
        lambda: assay.scorer("recall_at_far", max_far="a"),
        lambda: assay.from_bytes(None),
        lambda: assay.precision([0, 1], [0, 1], pos=1),
        lambda: assay.precision(y_pred=[0, 1]),
        lambda: assay.RunningTally(label=[0, 1]),
        lambda: assay.RunningTally().update({"y_true": [0, 1], "score": [0.1, 0.2]}),
        lambda: assay.partial_auc([0, 1], [0.1, 0.2], max_fpr=2),
        lambda: assay.partial_auc([0, 1], [0.1, 0.2], max_fpr=0),
        lambda: assay.mcnemar(1.5, 2),
        lambda: assay.mcnemar(1, 2, both_right=-5),
        lambda: assay.cochran_q([[5, 1], [2, 3]]),
        lambda: assay.cochran_q([[1, 1], [0, 1]], names=["a"]),
        lambda: assay.friedman([[1, 2, 3], [2, 3]]),
        lambda: assay.nemenyi([[1, 2], [2, 3]], names=["a", "a"]),
    ],
)
def test_a_mistake_is_answered_by_an_error_of_ours(mistake: Callable[[], object]) -> None:
    with pytest.raises(assay.AssayError):
        mistake()


def test_labels_may_be_an_array() -> None:
    names = np.array(["normal", "attack"])
    assert assay.evaluate_counts(matrix=[[5, 1], [2, 3]], labels=names).positive == "attack"


def test_notes_of_batches_hold_for_the_whole() -> None:
    running = assay.RunningTally(labels=[0, 1], threshold=0.5)
    running.update(y_true=[0, 1], y_score=[0.1, 0.9]).update(y_true=[0, 1], y_score=[-3, 4])
    assert not any("probabilities" in note for note in running.evaluate().notes)


def test_rows_of_count_zero_are_told_of() -> None:
    evaluation = assay.evaluate([0, 1, 1], y_pred=[0, 1, 0], counts=[1, 1, 0])
    assert any("1 row has a count or weight of 0" in note for note in evaluation.notes)


# -- arguments that can't be right -----------------------------------------------------------------

TRUTH, SCORES = [0, 1] * 30, [i / 60 for i in range(60)]
ONE, OTHER = [0.1 * i for i in range(10)], [0.1 * (i * 7 % 10) for i in range(10)]
TABLE = [[1, 2, 3], [2, 1, 3], [3, 1, 2]]
RIGHT = [[1, 0], [0, 1], [1, 1]]
DAY = ["2026-01-01"]
TESTS: dict[str, Callable[..., object]] = {
    "mcnemar": partial(assay.mcnemar, 3, 5),
    "cochran_q": partial(assay.cochran_q, RIGHT),
    "friedman": partial(assay.friedman, TABLE),
    "iman_davenport": partial(assay.iman_davenport, TABLE),
    "nemenyi": partial(assay.nemenyi, TABLE),
    "paired_t": partial(assay.paired_t, ONE, OTHER),
    "nadeau_bengio": partial(assay.nadeau_bengio, ONE, OTHER, n_train=9, n_test=1),
    "five_by_two_t": partial(assay.five_by_two_t, ONE, OTHER),
    "five_by_two_f": partial(assay.five_by_two_f, ONE, OTHER),
    "wilcoxon": partial(assay.wilcoxon, ONE, OTHER),
    "delong_test": partial(assay.delong_test, TRUTH, SCORES, SCORES[::-1]),
}
choose = partial(assay.choose_threshold, TRUTH, y_score=SCORES, max_fpr=0.2)
posterior = partial(assay.signed_rank_posterior, ONE, OTHER, rope=0.01)
gate = partial(assay.gate, TRUTH, new=SCORES, threshold=0.5)
folds = partial(assay.nadeau_bengio, ONE, OTHER)
incidents = partial(
    assay.incidents,
    alerts=pl.DataFrame({"time": [1794823230_000000]}),
    schedule=[{"attack": "scan", "start": "2026-11-16T10:00Z", "end": "2026-11-16T10:05Z"}],
)
SEEDED: dict[str, Callable[..., object]] = {
    "choose_threshold": choose,
    "signed_rank_posterior": posterior,
    "Bootstrap": assay.Bootstrap,
    "compare": partial(assay.compare, TRUTH, scores={"a": SCORES, "b": SCORES[::-1]}),
    "gate": partial(gate, rules="new(recall) >= 0.1"),
    "monitor": partial(assay.monitor, DAY, [1], y_score=[0.5]),
}
MISTAKES: dict[str, Callable[[], object]] = {
    "shares of families as a number": lambda: assay.plan(min_dr_families=0.9),
    "no power": lambda: assay.plan(max_fpr=0.01, power=None),
    "errors as a number": lambda: assay.plan(max_fpr=0.01, errors=5),
    "errors as text": lambda: assay.plan(max_fpr=0.01, errors=["few"]),
    "one p for Holm": lambda: assay.holm(0.03),
    "a table of p for Holm": lambda: assay.holm([[0.03, 0.1]]),
    "one p for Benjamini and Hochberg": lambda: assay.benjamini_hochberg(0.03),
    "one name of two": lambda: assay.wilcoxon([1, 2, 3], [2, 3, 5], names=("A",)),
    "one name of two in McNemar's test": lambda: assay.mcnemar(3, 5, names=("A",)),
    "a number as names": lambda: assay.nemenyi([[1, 2], [2, 1]], names=5),
    "resamples as text": lambda: assay.Bootstrap(resamples="1000"),
    "half a resample": lambda: assay.Bootstrap(resamples=2.5),
    "resamples that are no number": lambda: choose(resamples=float("nan")),
    "a limit as text": lambda: assay.MaxFar("0.1"),
    "one score for a column": lambda: assay.monitor(DAY, [1], y_score=0.5),
    "no rules of a monitor": lambda: assay.monitor(DAY, [1], y_score=[0.5], rules=None),
    "no rules of a gate": lambda: gate(rules=None),
    "a number as labels": lambda: assay.evaluate_counts(tp=1, fp=1, fn=1, tn=1, labels=5),
    "no claims": lambda: assay.audit(None),
    "no logs": lambda: assay.read_events(None),
    "a number as a store": lambda: assay.Store(3),
    "a number as a measure": lambda: assay.scorer(5),
    "a list as a measure": lambda: assay.scorer([]),
    "rows of different length": lambda: assay.cochran_q([[1, 0], [1]]),
    "counts of different length": lambda: assay.cochran_q(RIGHT, [[1], [1, 2], 3]),
    "one count for rows": lambda: assay.cochran_q(RIGHT, 5),
    "more rows than floats hold": lambda: folds(n_train=9, n_test=10**400),
    "rows of a fold as text": lambda: folds(n_train="9", n_test=1),
    "draws without end": lambda: posterior(draws=2**63),
    "no draws": lambda: posterior(draws=0),
    **{
        f"a level of {level!r} in {name}": partial(test, level=level)
        for name, test in TESTS.items()
        for level in ("0.95", None, 2, float("nan"))
    },
    **{
        f"a seed of {seed!r} in {name}": partial(seeded, seed=seed)
        for name, seeded in SEEDED.items()
        for seed in (-1, 1.5, "1", None)
    },
}


pair = {"old": SCORES, "new": SCORES}
compare = partial(assay.compare, TRUTH, scores=pair, resamples=50)
evaluate = partial(assay.evaluate, TRUTH, y_score=SCORES)
cells = partial(assay.evaluate_counts, tp=1, fp=2, fn=3, tn=4, labels=["normal", "attack"])
SETS: dict[str, Callable[[], object]] = {
    "y_true": lambda: assay.evaluate({"attack", "normal"}, y_score=[0.9, 0.2]),
    "y_score": lambda: assay.evaluate([0, 1], y_score={0.1, 0.9}, on_bad_row="skip"),
    "the second argument": lambda: assay.evaluate([0, 1], {0.1, 0.9}),
    "counts": lambda: evaluate(counts=set(range(60))),
    "sample_weight": lambda: evaluate(sample_weight=frozenset(SCORES)),
    "clusters": lambda: evaluate(clusters=set(range(60))),
    "times": lambda: evaluate(times=set(range(60))),
    "host": lambda: evaluate(slices={"host": set(range(60))}),
    "y_proba[1]": lambda: assay.evaluate([0, 1], y_proba={1: {0.1, 0.9}, 0: [0.9, 0.1]}),
    "p": lambda: assay.evaluate({"y": [0, 1], "p": {0.1, 0.9}}, label="y", score="p"),
    "labels=": lambda: assay.evaluate_counts(matrix=[[1, 2], [3, 4]], labels={"a", "b"}),
}
frame = partial(assay.evaluate, {"y": TRUTH, "p": SCORES}, label="y", score="p")
CHOICES: dict[str, tuple[Callable[..., object], str]] = {
    "on_bad_row": (evaluate, "on_bad_row= is stop or skip; found "),
    "on_bad_row of a frame": (frame, "on_bad_row= is stop or skip; found "),
    "on_bad_row of models": (compare, "on_bad_row= is stop or skip; found "),
    "mode of a frame": (frame, "mode= is one of auto, exact, cuts, grid; found "),
    "mode of models": (compare, "mode= is one of auto, exact, grid; found "),
    "interval": (evaluate, "there is no interval method "),
    "interval of models": (compare, "there is no interval method "),
}
# Wrong arguments, and what is said of them, or a part of it.
ANSWERS: dict[str, tuple[Callable[[], object], str]] = {
    "a threshold of no model": (
        lambda: compare(threshold={"old": 0.9, "nwe": 0.9}),
        "threshold= names 'nwe', which is no model; there are 'old', 'new'; did you mean 'new'?",
    ),
    "a threshold of no model, and none near": (
        lambda: compare(threshold={"old": 0.9, "new": 0.9, 5: 0.1}),
        "threshold= names 5, which is no model; there are 'old', 'new'",
    ),
    "a threshold of one model alone": (
        lambda: compare(threshold={"old": 0.9}),
        "threshold= has none for 'new': give one number for all models, or one for each",
    ),
    **{
        f"a set as {name}": (call, f"{name} is a set, whose values have no order: give a list")
        for name, call in SETS.items()
    },
    "a positive that four cells have as their negative": (
        lambda: cells(positive="normal"),
        "positive='normal' contradicts labels=['normal', 'attack'], of which the negative comes",
    ),
    "a negative that four cells have as their positive": (
        lambda: cells(negative="attack"),
        "tp counts 'attack'. Turn the labels round, or leave negative= out",
    ),
    "no base rate": (
        lambda: evaluate().at(None),
        "a base rate is a share between 0 and 1; found None",
    ),
    "a list as one base rate": (
        lambda: evaluate().at([0.1]),
        "a base rate is a share between 0 and 1; found [0.1]",
    ),
    "slices of one tally alone": (
        lambda: (
            assay.count(TRUTH, y_score=SCORES)
            + assay.count(TRUTH, y_score=SCORES, slices={"host": TRUTH})
        ),
        "one counted slices by 'host' and the other did not; count both with the same columns",
    ),
    "the best by no measure": (
        lambda: compare().best("recal"),
        "there is no measure 'recal'; did you mean recall",
    ),
    "a number as the measure of the best": (
        lambda: compare().best(5),
        "a measure has a name, such as 'recall'; found 5",
    ),
    "a text as a flag": (
        lambda: gate(rules="new(recall) >= 0.1", joint="no"),
        "joint= is True or False; found 'no'",
    ),
    "resamples of a gate as text": (
        lambda: gate(rules="new(recall) >= 0.1", resamples="100"),
        "a gate needs a whole number of at least 2 resamples; found '100'",
    ),
    "resamples of the gate of an evaluation as text": (
        lambda: assay.gate_evaluation(evaluate(), rules="new(recall) >= 0.1", resamples="x"),
        "a gate needs a whole number of at least 2 resamples; found 'x'",
    ),
    "a column as the name of the family": (
        lambda: evaluate(family=["dos"] * 60),
        "family= is the name of a sliced column, as text; found list",
    ),
    "a number as a rule": (
        lambda: compare(at=0.1),
        "at= is a rule such as 'max-far=0.1' or 'threshold=0.5'; found 0.1",
    ),
    "a number as a rule of models": (
        lambda: assay.compare_models({"a": np.sin, "b": np.cos}, np.array(SCORES), TRUTH, at=0.1),
        "at= is a rule such as 'max-far=0.1' or 'threshold=0.5'; found 0.1",
    ),
    "no moment among moments": (
        lambda: assay.evaluate([0, 1], y_score=[0, 1], times=[pd.Timestamp("2024"), pd.NaT]),
        "times must hold times; found nothing in row 2 (counted from 1)",
    ),
    "a text as a request": (
        lambda: assay.evaluate_files("rows.csv", "x"),
        "request= is an object that names columns, such as assay.Request(",
    ),
    "a text as the request of a gate": (
        lambda: assay.gate_files("rows.csv", "x", score="p", rules="new(recall) >= 0.1"),
        "request= is an object that names columns, such as assay.Request(",
    ),
    "no file of claims": (
        lambda: assay.read_claims(None),
        "a file is named by a text or a path; found None",
    ),
    "no files of claims": (
        lambda: assay.audit_files(None),
        "paths is a list, a name a file; found None",
    ),
    "no file of rows": (
        lambda: assay.evaluate_files(None),
        "a file is named by a text or a path; found None",
    ),
    "no file among those of rows": (
        lambda: assay.evaluate_files([None]),
        "a file is named by a text or a path; found None",
    ),
    "no file of a report": (
        lambda: evaluate().save(None),
        "a file is named by a text or a path; found None",
    ),
    "a file of a name without end": (
        lambda: evaluate().save("x" * 300 + ".json"),
        "xxx.json can't be written: File name too long",
    ),
    "a file of a name with a NUL": (
        lambda: evaluate().save("\0.json"),
        r"'\x00.json' can't be written: ",
    ),
    "a file of a name that is no text": (
        lambda: evaluate().save("\ud800.json"),
        r"'\ud800.json' can't be written: ",
    ),
    "more digits than there are": (
        lambda: evaluate()["recall"].text(100),
        "digits= is a whole number from 0 to 12; found 100",
    ),
    "fewer digits than none": (
        lambda: evaluate()["recall"].text(-1),
        "digits= is a whole number from 0 to 12; found -1",
    ),
    "a number among tallies": (
        lambda: assay.Tally.merge([assay.count(TRUTH, y_score=SCORES), 1]),
        "tallies add to tallies alone; found int",
    ),
    "a tally as a column": (
        lambda: assay.evaluate(assay.count(TRUTH, y_score=SCORES), on_bad_row="skip"),
        "y_true must be a column; found Tally(rows=60, ",
    ),
    "a tally beside predictions": (
        lambda: assay.evaluate(assay.count(TRUTH, y_score=SCORES), SCORES),
        "y_true must be a column; found Tally(rows=60, ",
    ),
    "a tally beside models": (
        lambda: assay.compare(assay.count(TRUTH, y_score=SCORES), scores=pair, on_bad_row="skip"),
        "y_true must be a column; found Tally(rows=60, ",
    ),
    "true as a threshold": (
        lambda: evaluate(threshold=True),
        "threshold must be a finite number; found True",
    ),
    "NumPy's true as a threshold": (
        lambda: compare(threshold=np.True_),
        "threshold must be a finite number; found np.True_",
    ),
    "a threshold beside decisions": (
        lambda: assay.compare(TRUTH, decisions={"a": TRUTH, "b": TRUTH}, threshold=0.3),
        "threshold= decides on scores; decisions are taken as they are (found 0.3)",
    ),
    "a threshold of a gate of decisions": (
        lambda: assay.gate(TRUTH, new_decision=TRUTH, threshold=0.3, rules="new(recall) >= 0"),
        "threshold= decides on scores; decisions are taken as they are",
    ),
    "a threshold of no old model": (
        lambda: gate(old_threshold=0.3, rules="new(recall) >= 0"),
        "old_threshold= is of the old model, which was not given: say old=",
    ),
    "scores beside a tally": (
        lambda: assay.choose_threshold(assay.count(TRUTH, y_score=SCORES), y_score=SCORES),
        "a tally is counted already: leave out y_score=",
    ),
    "an old threshold without old scores": (
        lambda: assay.monitor(DAY, [1], y_score=[0.5], old_threshold=0.3),
        "old_threshold= decides on old_score=, which is not given; found 0.3",
    ),
    "an old threshold beside old decisions": (
        lambda: assay.monitor(DAY, [1], y_score=[0.5], old_decision=[1], old_threshold=0.3),
        "old_threshold= decides on old_score=, which is not given; found 0.3",
    ),
    **{
        f"{name} of another goal": (
            partial(assay.plan, **goal, **{name: 0.3}),
            f"{name}=0.3 is for {goals}, which is not asked for",
        )
        for name, goal, goals in (
            ("expected_fpr", {"min_dr": 0.9}, "max_fpr=, max_far= or a width"),
            ("expected_dr", {"max_fpr": 0.1}, "min_dr=, max_far= or a width"),
            ("expected", {"max_fpr": 0.1}, "width="),
            ("base_rate", {"width": 0.1}, "a rate to be shown, or recall_width="),
        )
    },
    "weights of a monitor": (
        lambda: assay.monitor_files("rows.csv", assay.Request(time="t", weight="w")),
        "request= names weight='w', which a monitor does not read: leave it out",
    ),
    "counts of a sample": (
        lambda: sample_files("rows.csv", SampleRequest("s", 9), assay.Request(count="n")),
        "request= names count='n', which a sample does not read: leave it out",
    ),
    "slices of a choice": (
        lambda: assay.choose_threshold_files("rows.csv", assay.Request(slices=("os",))),
        "request= names slices=('os',), which the choice of a threshold does not read",
    ),
    "weights of a gate": (
        lambda: assay.gate_files("a.csv", assay.Request(weight="w"), score="p", rules="x"),
        "request= names weight='w', which a gate does not read: leave it out",
    ),
    "a score of incidents in the request": (
        lambda: incidents(request=assay.Request(score="p")),
        "request= names score='p', which incidents, whose columns are arguments, does not read",
    ),
    "a low score that is not named": (
        lambda: incidents(reversed_score=True),
        "reversed_score= is of a score; name its column with score=",
    ),
    "a positive of no decisions": (
        lambda: assay.incidents({}, incident="i", time="t", score="p", positive="attack"),
        "positive= is of decisions; name their column with decision=",
    ),
    "a year of whole moments": (
        lambda: incidents(year=2026),
        "year= is of lines of a log without one, and frames have whole moments",
    ),
    "a mode of columns": (
        lambda: evaluate(mode="grid"),
        "mode= says how the scores of a frame are kept, and those of columns are all kept",
    ),
    **{
        f"{kind} as {name}": (partial(call, **{name.split()[0]: value}), answer)
        for kind, value in (
            ("an array", np.array(["skip", "grid"])),
            ("a column", pd.Series(["skip", "grid"])),
            ("nothing of pandas", pd.NA),
        )
        for name, (call, answer) in CHOICES.items()
    },
}


@pytest.mark.parametrize("mistake", ANSWERS)
def test_what_is_said_of_a_mistake(mistake: str) -> None:
    call, answer = ANSWERS[mistake]
    with pytest.raises(AssayError) as refused:
        call()
    assert answer in str(refused.value)


def test_labels_of_rows_have_an_order() -> None:
    for table in ({"y_proba": np.eye(3)[[0, 1]]}, {"y_pred": ["a", "b"]}):
        with pytest.raises(errors.InputError, match="labels= is a set"):
            assay.evaluate(["a", "b"], labels={"a", "b", "c"}, **table)


def test_values_of_a_mapping_have_an_order() -> None:
    by_row = {"first": 0.1, "second": 0.9}
    assert assay.evaluate([0, 1], y_score=by_row.values())["roc_auc"].value == 1


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_as_what_was_given(mistake: str) -> None:
    with pytest.raises(AssayError) as refused:
        MISTAKES[mistake]()
    text = str(refused.value)
    assert text
    assert "Traceback" not in text
    assert "object" not in text


@pytest.mark.parametrize("name", TESTS)
def test_levels_may_be_fractions(name: str) -> None:
    assert repr(TESTS[name](level=Fraction(9, 10))) == repr(TESTS[name](level=0.9))


def test_shares_may_be_fractions() -> None:
    level = Fraction(9, 10)
    assert assay.recall([0, 1], [0, 1], level=level) == assay.recall([0, 1], [0, 1], level=0.9)
    assert assay.Bootstrap(level) == assay.Bootstrap(0.9)
    assert assay.plan(max_fpr=0.01, expected_fpr=Fraction(1, 3)) == assay.plan(
        max_fpr=0.01, expected_fpr=1 / 3
    )
