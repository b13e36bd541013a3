"""What `assay` shows to the world, where each name lives, and what it costs to import."""

import ast
import inspect
import json
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import assay
from assay import errors
from assay.errors import DISTRIBUTION, AssayError
from assay.measures import CATALOGUE

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "assay"
HEAVY = {"matplotlib", "narwhals", "pandas", "polars", "pyarrow", "scipy", "sklearn", "sqlite3"}
ERRORS = [
    member
    for member in vars(errors).values()
    if isinstance(member, type) and issubclass(member, BaseException)
]


# -- names -----------------------------------------------------------------------------------------


def test_every_public_name_exists_once_and_in_order() -> None:
    assert assay.__all__ == sorted(set(assay.__all__))
    assert not [name for name in assay.__all__ if getattr(assay, name, None) is None]


def test_the_list_of_names_holds_what_has_moved_one_import_a_line() -> None:
    tree = ast.parse((SOURCE / "__init__.pyi").read_text("utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert imports[0].module == "assay.v02"
    for statement in imports[2:]:
        (alias,) = statement.names
        # Without the alias no type would be exported.
        assert alias.asname == alias.name
        assert not str(statement.module).startswith("assay.v02")
        assert getattr(assay, alias.name) is getattr(
            import_module(str(statement.module)), alias.name
        )


def test_packages_are_attributes_and_other_words_are_not() -> None:
    assert assay.inference is import_module("assay.inference")
    assert assay.measures.curves is import_module("assay.measures.curves")
    for name in ("_curves", "no_such_name", "learn", "__wrapped__"):
        assert not hasattr(assay, name)


def test_no_package_shares_a_name_with_a_public_function() -> None:
    homes = {path.stem for path in SOURCE.iterdir()}
    assert not homes & {name for name in assay.__all__ if inspect.isfunction(getattr(assay, name))}


def test_every_measure_is_a_function_by_each_of_its_names() -> None:
    names = dir(assay)
    assert {*assay.__all__, "__version__"} <= set(names)
    for measure in CATALOGUE:
        for name in (measure.name, *measure.aliases):
            assert getattr(assay, name).measure.name == measure.name
            assert (name in names) == name.isidentifier()


def test_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (project["name"], project["version"]) == (DISTRIBUTION, assay.__version__)


def test_star_import_gives_exactly_all() -> None:
    namespace: dict[str, object] = {}
    exec("from assay import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(assay.__all__)


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: e.__name__)
def test_every_error_derives_from_the_root(error: type) -> None:
    assert issubclass(error, AssayError)
    assert inspect.getdoc(error)


def test_the_drawn_tree_names_every_error() -> None:
    drawn = (errors.__doc__ or "").split()
    assert {error.__name__ for error in ERRORS} <= {word.strip("├└─│ ") for word in drawn}


def test_one_root_catches_the_errors_of_both_trees() -> None:
    with pytest.raises(assay.AssayError):
        assay.evaluate([0, 1], y_score=[0.1])
    with pytest.raises(assay.AssayError):
        assay.inference.mcnemar(-1, 2)


# -- imports ---------------------------------------------------------------------------------------


def imported(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after running some code."""
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    completed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(json.loads(completed.stdout.splitlines()[-1]))


def test_import_is_light() -> None:
    assert not imported("import assay; dir(assay)") & HEAVY


def test_the_mathematics_imports_no_dataframe_plot_or_learning_library() -> None:
    code = "import assay; assay.inference.mcnemar(10, 2); assay.measures.ROC_AUC"
    assert not imported(code) & (HEAVY - {"scipy"} | {"scipy.stats"})


# -- the frozen 0.2 --------------------------------------------------------------------------------

# import-linter reads statements; modules are also imported by names in strings.
MODULE = re.compile(r"(?:.*(?:from|import) )?assay\.(\w+)[\w.]*(?: import .*)?")
KNOW_BOTH = {"cli", "__init__.py", "mlflow.py", "pytest_plugin.py"}
LOGGER = "assay.web"


def modules_in_strings(path: Path) -> set[str]:
    """The package of assay that each string of a module names or imports from."""
    strings = {
        node.value
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    named = {match[1] for text in strings - {LOGGER} if (match := MODULE.fullmatch(text))}
    return {name for name in named if find_spec(f"assay.{name}") or find_spec(f"assay.v02.{name}")}


def test_names_in_strings_keep_the_frozen_tree_apart() -> None:
    strayed = {}
    for path in SOURCE.rglob("*.py"):
        home = path.relative_to(SOURCE).parts[0]
        named = modules_in_strings(path)
        if home == "v02":
            named -= {"v02", "errors"}
        elif home in KNOW_BOTH:
            continue
        else:
            named &= {"v02"}
        if named:
            strayed[path.relative_to(SOURCE).as_posix()] = named
    assert strayed == {}
