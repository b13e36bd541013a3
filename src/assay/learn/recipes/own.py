"""A recipe of your own: ``package.module:factory`` gives anything with scikit-learn's interface."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from assay.learn.calibration import Calibrated
from assay.learn.encoding import Columns, Text
from assay.learn.recipes.recipe import Recipe, RecipeError, Setting, Task

_TYPES = (bool, int, float, str, tuple)
# What may go wrong in code that is not ours.
_FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)


def own_recipe(name: str) -> Recipe:
    """Import what the user named; its arguments are the settings.

    The factory gets the settings as keywords, and the :class:`Task` where it has a parameter
    ``task``. A class is a factory too: ``sklearn.ensemble:ExtraTreesClassifier``. What it gives is
    put behind :class:`Columns`, or behind :class:`Text` where a column of texts was named, unless
    it is a pipeline that begins with one of them. It is calibrated if it has no probabilities.
    """
    factory = _imported(name)
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError) as odd:
        raise RecipeError(f"{name} has no arguments that can be read: {odd}") from odd
    free = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    settings = {
        each.name: _setting(each)
        for each in parameters.values()
        if each.name != "task" and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    }
    required = [each for each in settings if parameters[each].default is inspect.Parameter.empty]

    def build(given: Mapping[str, Any], task: Task) -> Pipeline:
        # What was not set stays the factory's own affair.
        arguments = {
            each: value
            for each, value in given.items()
            if each not in settings or value is not settings[each].default
        }
        if "task" in parameters:
            arguments["task"] = task
        return _pipeline(_called(factory, name, arguments), name, task)

    return _Own(name, "your own", build, settings, required=tuple(required), free=free)


@dataclass(frozen=True)
class _Own(Recipe):
    """A recipe of the user: some settings have no default; with ``free`` any name is one."""

    required: tuple[str, ...] = ()
    free: bool = False

    def complete(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All settings; those that are not declared are taken as they are."""
        known, others = dict(given or {}), {}
        if self.free:
            others = {name: known.pop(name) for name in [*known] if name not in self.settings}
        found = {
            **super().complete(known),
            **{name: _guessed(value) for name, value in others.items()},
        }
        absent = [name for name in self.required if found[name] is None]
        if absent:
            raise RecipeError(f"{self.name} needs the setting {absent[0]}: --set {absent[0]}=VALUE")
        return found


def _setting(parameter: inspect.Parameter) -> Setting:
    default = parameter.default
    if default is inspect.Parameter.empty:
        default = None
    return _Any(default, "as its factory takes it", optional=True)


class _Any(Setting):
    """A setting of the type that its default has, or of any."""

    def read(self, name: str, given: Any) -> Any:
        """A value as given, or as written on the command line."""
        if isinstance(given, str) and isinstance(self.default, _TYPES):
            if isinstance(self.default, str):
                return given
            return super().read(name, given)
        return _guessed(given)


def _guessed(given: Any) -> Any:
    """What a text means where no type is known."""
    if not isinstance(given, str):
        return given
    words = {"none": None, "true": True, "false": False}
    if given.strip().casefold() in words:
        return words[given.strip().casefold()]
    for kind in (int, float):
        try:
            return kind(given)
        except ValueError:
            continue
    return given


def _imported(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise RecipeError(f"a recipe of your own is package.module:factory; found {name!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        # Last, so that nothing in this folder stands in for what is installed.
        sys.path.append(here)
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as absent:
        if absent.name is not None and not (module + ".").startswith(absent.name + "."):
            raise RecipeError(f"{module} can't be imported: it needs {absent.name!r}") from absent
        raise RecipeError(
            f"there is no module {module!r}. It has to be installed, or to be in this folder"
        ) from absent
    except _FAULTS as odd:
        raise RecipeError(f"{module} can't be imported: {type(odd).__name__}: {odd}") from odd
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise RecipeError(f"{module} has no {attribute!r}")
        found = getattr(found, part)
    if not callable(found):
        raise RecipeError(
            f"{name} is {type(found).__name__}, and has to be a function or class that gives an "
            f"estimator"
        )
    made: Callable[..., Any] = found
    return made


def _called(factory: Callable[..., Any], name: str, arguments: Mapping[str, Any]) -> Any:
    try:
        return factory(**arguments)
    except _FAULTS as odd:
        raise RecipeError(f"{name} can't be called: {type(odd).__name__}: {odd}") from odd


def _pipeline(made: Any, name: str, task: Task) -> Pipeline:
    if not (hasattr(made, "fit") and hasattr(made, "get_params")) or inspect.isclass(made):
        raise RecipeError(
            f"{name} gave {type(made).__name__}, and not an estimator with scikit-learn's "
            f"interface (fit, get_params, predict)"
        )
    if not (hasattr(made, "predict_proba") or hasattr(made, "predict")):
        raise RecipeError(f"{name} gave {type(made).__name__}, which does not predict")
    unseeded = {
        key: task.seed
        for key, value in made.get_params().items()
        if value is None and key.rpartition("__")[2] == "random_state"
    }
    if unseeded:
        made.set_params(**unseeded)
    ready = isinstance(made, Pipeline) and isinstance(made.steps[0][1], Columns | Text)
    if ready and hasattr(made, "predict_proba"):
        return made
    first: tuple[str, Any] = ("columns", Columns())
    if task.text is not None:
        first = ("text", Text(task.text))
    if ready:
        first, made = made.steps[0], made[1:]
    if not hasattr(made, "predict_proba"):
        made = Calibrated(made, random_state=task.seed)
    return Pipeline([first, ("model", made)])
