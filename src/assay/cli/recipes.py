"""The recipes as the command line shows them: in help, in a list, and as settings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from assay.cli.command import Command
from assay.errors import install_line

if TYPE_CHECKING:
    from assay.cli.reporting import Reporting

# As the recipes call themselves; help is shown where scikit-learn is not installed, too.
RECIPES = {
    "forest": "random forest of 100 balanced trees on encoded, standardised columns",
    "network": "neural network of two hidden layers on encoded, standardised columns",
    "tree": "decision tree of depth 8 on the 20 columns with the largest chi-square",
    "text": "TF-IDF of words and characters with a linear model, naive Bayes or a forest",
    "detector": "boosted trees, tuned and calibrated for detection at --max-far (0.1 if not given)",
}
OWN = ("package.module:factory", "your own: anything with scikit-learn's interface")


class WithRecipes(Command):
    """A command whose help lists the recipes."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the recipes, then the options."""
        with formatter.section("Recipes"):
            formatter.write_dl([*RECIPES.items(), OWN])
        super().format_options(ctx, formatter)


def setting(text: str) -> tuple[str, str]:
    """A setting, written NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise click.BadParameter(f"{text!r} is not NAME=VALUE, such as trees=200")
    return name.strip(), value.strip()


def list_recipes(context: click.Context, param: click.Parameter, given: bool) -> None:  # noqa: ARG001, FBT001 - the form is click's
    """Print all recipes with their settings, and end."""
    if not given or context.resilient_parsing:
        return
    must_be_installed("train")
    from assay.learn import recipes

    for recipe in recipes.RECIPES:
        click.echo(f"{recipe.name}: {recipe.summary}")
        for name, known in recipe.settings.items():
            default = ",".join(map(str, known.default)) if known.type is tuple else None
            shown = default or str(known.default).lower()
            click.echo(f"  --set {name}={shown:<{24 - len(name)}} {known.help}")
    context.exit()


def must_be_installed(command: str) -> None:
    """Refuse a command without what models need, and say how to get it."""
    for package in ("sklearn", "skops"):
        if find_spec(package) is None:
            raise click.UsageError(f"{command} needs {package}: {install_line('learn')}")


@contextmanager
def heard(reporting: Reporting) -> Iterator[None]:
    """What libraries warn about is told once each, as notes; what they print is no report."""
    with warnings.catch_warnings(record=True) as told, redirect_stdout(sys.stderr):
        warnings.simplefilter("default")
        yield
    for text in dict.fromkeys(str(each.message).partition("\n")[0] for each in told):
        reporting.say(f"note: {text}")
