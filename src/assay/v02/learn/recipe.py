"""What a recipe is: a name, settings, and how they become a pipeline; and recipes of your own.

One of your own is ``package.module:factory``, and gives anything with scikit-learn's interface.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from assay.errors import InputError
from assay.v02.learn.calibration import Calibrated
from assay.v02.learn.encoding import ColumnEncoder, Text


class RecipeError(InputError):
    """A recipe that is not known, or a setting that it can't have."""


@dataclass(frozen=True)
class Task:
    """What is to be learned.

    ``labels`` as in :class:`assay.learn.data.Data`: [negative, positive] for two classes. ``text``
    is the column of texts. ``max_far`` is the false alarm rate that is tolerated.
    """

    labels: tuple[str, ...]
    positive: str | None = None
    text: str | None = None
    seed: int = 42
    max_far: float | None = None

    @property
    def classes(self) -> int:
        """How many labels there are."""
        return len(self.labels)


@dataclass(frozen=True)
class Setting:
    """One thing that can be set: its default, which also tells the type, and what it means.

    A tuple holds whole numbers, written with commas. ``least`` and ``most`` bound a number,
    ``choices`` lists the texts that are allowed; ``optional`` allows ``none``.
    """

    default: Any
    help: str
    least: float = -math.inf
    most: float = math.inf
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def type(self) -> type:
        """What a value of it is."""
        return type(self.default)

    def read(self, name: str, given: Any) -> Any:
        """A value as given, or as written on the command line, checked."""
        value = _parsed(given, self.type) if isinstance(given, str) else given
        if self.optional and (given is None or given == "none"):
            return None
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if self.type is tuple and isinstance(value, list):
            value = tuple(value)
        if not isinstance(value, self.type) or (isinstance(value, bool) and self.type is not bool):
            raise self._odd(name, given)
        if self.choices and value not in self.choices:
            raise self._odd(name, given)
        for number in value if isinstance(value, tuple) else (value,):
            counted = isinstance(number, int | float) and not isinstance(number, bool)
            if counted and not self.least <= number <= self.most:
                raise self._odd(name, given)
        return value

    def _odd(self, name: str, given: Any) -> RecipeError:
        return RecipeError(f"the setting {name} is {self.wanted}; found {given!r}")

    @property
    def wanted(self) -> str:
        """What may be set, in words."""
        if self.choices:
            words = f"one of {', '.join(self.choices)}"
        elif self.type is bool:
            words = "true or false"
        elif self.type is str:
            words = "a text"
        else:
            words = {int: "a whole number", float: "a number"}.get(
                self.type, "whole numbers such as 64,32"
            )
            if math.isfinite(self.least) and math.isfinite(self.most):
                words += f" from {self.least:g} to {self.most:g}"
            elif math.isfinite(self.least):
                words += f" of {self.least:g} or more"
        return f"{words}, or none" if self.optional else words


def _parsed(text: str, kind: type) -> Any:
    """A value written as text; the text itself where it is no such value."""
    try:
        if kind is bool:
            return {"true": True, "false": False}[text.strip().casefold()]
        if kind is int:
            return int(text)
        if kind is float:
            return float(text)
        if kind is tuple:
            return tuple(int(part) for part in text.split(",") if part.strip())
    except (ValueError, KeyError):
        return text
    return text


@dataclass(frozen=True)
class Recipe:
    """How a model is made: ``build`` gives a scikit-learn pipeline that takes a polars frame.

    Its first step is ``assay.learn.encoding.ColumnEncoder`` or, for texts,
    ``assay.learn.encoding.Text``; it has ``predict_proba``, and after fitting on codes of
    labels ``classes_`` are those codes. ``aliases`` are names that it had before.
    """

    name: str
    summary: str
    build: Callable[[Mapping[str, Any], Task], Pipeline]
    settings: Mapping[str, Setting] = field(default_factory=dict)
    needs_text: bool = False
    aliases: tuple[str, ...] = ()

    def complete(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All settings, those given checked and the others by default."""
        settings = {name: setting.default for name, setting in self.settings.items()}
        for name, value in (given or {}).items():
            if name not in self.settings:
                raise RecipeError(self._unknown(name))
            settings[name] = self.settings[name].read(name, value)
        return settings

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.settings, n=3, cutoff=0.5)
        advice = f"; did you mean {', '.join(near)}?" if near else "."
        settings = (
            f"Its settings are {', '.join(self.settings)}" if self.settings else "It has none"
        )
        return f"the recipe {self.name} has no setting {name!r}{advice} {settings}"

    def pipeline(self, task: Task, settings: Mapping[str, Any] | None = None) -> Pipeline:
        """The pipeline, not fitted yet."""
        if self.needs_text and task.text is None:
            raise RecipeError(
                f"the recipe {self.name} learns from texts: say which column holds them with --text"
            )
        return self.build(self.complete(settings), task)


# -- recipes of your own ---------------------------------------------------------------------------

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
    put behind :class:`ColumnEncoder`, or behind :class:`Text` where a column of texts was named,
    unless it is a pipeline that begins with one of them. It is calibrated if it has no
    probabilities.
    """
    factory = _imported(name)
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError) as error:
        raise RecipeError(f"{name} has no arguments that can be read: {error}") from error
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
        return _pipeline(_recipe_from(factory, name, arguments), name, task)

    return _OwnRecipe(name, "your own", build, settings, required=tuple(required), free=free)


@dataclass(frozen=True)
class _OwnRecipe(Recipe):
    """A recipe of the user: some settings have no default; with ``free`` any name is one."""

    required: tuple[str, ...] = ()
    free: bool = False

    def complete(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All settings; those that are not declared are taken as they are."""
        known, others = dict(given or {}), {}
        if self.free:
            others = {name: known.pop(name) for name in [*known] if name not in self.settings}
        settings = {
            **super().complete(known),
            **{name: _guessed(value) for name, value in others.items()},
        }
        absent = [name for name in self.required if settings[name] is None]
        if absent:
            raise RecipeError(f"{self.name} needs the setting {absent[0]}: --set {absent[0]}=VALUE")
        return settings


def _setting(parameter: inspect.Parameter) -> Setting:
    default = parameter.default
    if default is inspect.Parameter.empty:
        default = None
    return _FreeSetting(default, "as its factory takes it", optional=True)


class _FreeSetting(Setting):
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
        factory: Any = importlib.import_module(module)
    except ModuleNotFoundError as absent:
        if absent.name is not None and not (module + ".").startswith(absent.name + "."):
            raise RecipeError(f"{module} can't be imported: it needs {absent.name!r}") from absent
        raise RecipeError(
            f"there is no module {module!r}. It has to be installed, or to be in this folder"
        ) from absent
    except _FAULTS as error:
        raise RecipeError(f"{module} can't be imported: {type(error).__name__}: {error}") from error
    for part in attribute.split("."):
        if not hasattr(factory, part):
            raise RecipeError(f"{module} has no {attribute!r}")
        factory = getattr(factory, part)
    if not callable(factory):
        raise RecipeError(
            f"{name} is {type(factory).__name__}, and has to be a function or class that gives an "
            f"estimator"
        )
    made: Callable[..., Any] = factory
    return made


def _recipe_from(factory: Callable[..., Any], name: str, arguments: Mapping[str, Any]) -> Any:
    try:
        return factory(**arguments)
    except _FAULTS as error:
        raise RecipeError(f"{name} can't be called: {type(error).__name__}: {error}") from error


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
    ready = isinstance(made, Pipeline) and isinstance(made.steps[0][1], ColumnEncoder | Text)
    if ready and hasattr(made, "predict_proba"):
        return made
    first: tuple[str, Any] = ("columns", ColumnEncoder())
    if task.text is not None:
        first = ("text", Text(task.text))
    if ready:
        first, made = made.steps[0], made[1:]
    if not hasattr(made, "predict_proba"):
        made = Calibrated(made, random_state=task.seed)
    return Pipeline([first, ("model", made)])
