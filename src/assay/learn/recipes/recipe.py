"""What a recipe is: a name, settings, and how they become a pipeline."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.pipeline import Pipeline

from assay.errors import InputError


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
            said = f"one of {', '.join(self.choices)}"
        elif self.type is bool:
            said = "true or false"
        elif self.type is str:
            said = "a text"
        else:
            said = {int: "a whole number", float: "a number"}.get(
                self.type, "whole numbers such as 64,32"
            )
            if math.isfinite(self.least) and math.isfinite(self.most):
                said += f" from {self.least:g} to {self.most:g}"
            elif math.isfinite(self.least):
                said += f" of {self.least:g} or more"
        return f"{said}, or none" if self.optional else said


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

    Its first step is ``assay.learn.encoding.Columns`` or, for texts,
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
        found = {name: setting.default for name, setting in self.settings.items()}
        for name, value in (given or {}).items():
            if name not in self.settings:
                raise RecipeError(self._unknown(name))
            found[name] = self.settings[name].read(name, value)
        return found

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.settings, n=3, cutoff=0.5)
        advice = f"; did you mean {', '.join(near)}?" if near else "."
        known = f"Its settings are {', '.join(self.settings)}" if self.settings else "It has none"
        return f"the recipe {self.name} has no setting {name!r}{advice} {known}"

    def pipeline(self, task: Task, settings: Mapping[str, Any] | None = None) -> Pipeline:
        """The pipeline, not fitted yet."""
        if self.needs_text and task.text is None:
            raise RecipeError(
                f"the recipe {self.name} learns from texts: say which column holds them with --text"
            )
        return self.build(self.complete(settings), task)
