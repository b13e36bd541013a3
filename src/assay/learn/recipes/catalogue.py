"""All recipes, and how one is found by its name."""

from __future__ import annotations

import difflib

from assay.learn.recipes import (
    darknet_text,
    ddos_tree,
    detector,
    safelink_ann,
    safelink_forest,
)
from assay.learn.recipes.own import own_recipe
from assay.learn.recipes.recipe import Recipe, RecipeError

RECIPES: tuple[Recipe, ...] = (
    safelink_forest.RECIPE,
    safelink_ann.RECIPE,
    ddos_tree.RECIPE,
    darknet_text.RECIPE,
    detector.RECIPE,
)


def find_recipe(name: str) -> Recipe:
    """The recipe of that name, or one of your own, written package.module:factory."""
    for recipe in RECIPES:
        if recipe.name == name:
            return recipe
    if ":" in name:
        return own_recipe(name)
    names = [recipe.name for recipe in RECIPES]
    near = difflib.get_close_matches(name.casefold().replace("_", "-"), names, n=2, cutoff=0.5)
    advice = f"; did you mean {' or '.join(near)}?" if near else "."
    raise RecipeError(
        f"there is no recipe {name!r}{advice} Recipes are {', '.join(names)}, or your own as "
        f"package.module:factory"
    )
