"""Detectors as recipes: scikit-learn pipelines made from settings; needs the extra ``learn``."""

from assay.learn.recipes.catalogue import RECIPES, find_recipe
from assay.learn.recipes.recipe import Recipe, RecipeError, Setting, Task

__all__ = ["RECIPES", "Recipe", "RecipeError", "Setting", "Task", "find_recipe"]
