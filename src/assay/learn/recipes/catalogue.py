"""All recipes, and how one is found by its name."""

from __future__ import annotations

import difflib

from assay.learn.recipes.own import own_recipe
from assay.learn.recipes.recipe import Recipe, RecipeError
from assay.learn.recipes.tables import DETECTOR, FOREST, NETWORK, TREE
from assay.learn.recipes.texts import TEXT

RECIPES: tuple[Recipe, ...] = (FOREST, NETWORK, TREE, TEXT, DETECTOR)


def find_recipe(name: str) -> Recipe:
    """The recipe of that name or alias, or one of your own, written package.module:factory."""
    for recipe in RECIPES:
        if name in (recipe.name, *recipe.aliases):
            return recipe
    if ":" in name:
        return own_recipe(name)
    names = [recipe.name for recipe in RECIPES]
    known = {known: each.name for each in RECIPES for known in (each.name, *each.aliases)}
    close = difflib.get_close_matches(name.casefold().replace("_", "-"), known, n=2, cutoff=0.5)
    near = dict.fromkeys(known[match] for match in close)
    advice = f"; did you mean {' or '.join(near)}?" if near else "."
    raise RecipeError(
        f"there is no recipe {name!r}{advice} Recipes are {', '.join(names)}, or your own as "
        f"package.module:factory"
    )
