"""Settings: declared, read from text, and refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.learn.recipes import RECIPES, RecipeError, Setting, Task, find_recipe


@given(st.integers(1, 10**6))
def test_a_whole_number_is_read_from_its_text(number: int) -> None:
    assert Setting(1, "", least=1).read("k", str(number)) == number


@pytest.mark.parametrize(
    ("setting", "text", "value"),
    [
        (Setting(0.5, ""), "1", 1.0),
        (Setting(0.5, ""), "1e-3", 0.001),
        (Setting(default=True, help=""), "False", False),
        (Setting((64, 32), ""), "10,20", (10, 20)),
        (Setting((64, 32), ""), "8", (8,)),
        (Setting("a", "", choices=("a", "b")), "b", "b"),
        (Setting(5, "", optional=True), "none", None),
    ],
)
def test_values_are_read_by_the_type_of_the_default(setting, text, value) -> None:
    parsed_value = setting.read("x", text)
    assert parsed_value == value
    assert type(parsed_value) is type(value)


@pytest.mark.parametrize(
    ("setting", "given", "wanted"),
    [
        (Setting(1, "", least=1), "0", "a whole number of 1 or more"),
        (Setting(1, ""), "1.5", "a whole number"),
        (Setting(1, ""), True, "a whole number"),
        (Setting(0.5, "", least=0, most=1), "2", "a number from 0 to 1"),
        (Setting(0.5, "", least=0, most=1), "nan", "a number from 0 to 1"),
        (Setting(0.5, ""), "much", "a number"),
        (Setting(default=True, help=""), "maybe", "true or false"),
        (Setting((64,), "", least=1), "8,x", "whole numbers such as 64,32"),
        (Setting((64,), "", least=1), "8,0", "whole numbers such as 64,32"),
        (Setting("a", "", choices=("a", "b")), "c", "one of a, b"),
        (Setting(5, "", optional=True), "x", "a whole number, or none"),
    ],
)
def test_other_values_are_refused_with_what_is_wanted(setting, given, wanted) -> None:
    with pytest.raises(RecipeError, match=f"the setting x is {wanted}"):
        setting.read("x", given)


def test_an_unknown_setting_is_refused_with_near_names() -> None:
    with pytest.raises(RecipeError, match=r"no setting 'tree'; did you mean trees\?"):
        find_recipe("forest").complete({"tree": "5"})


def test_an_unknown_recipe_is_refused_with_near_names() -> None:
    for near in ("forrest", "safelink_forrest"):
        with pytest.raises(RecipeError, match=r"did you mean forest"):
            find_recipe(near)
    with pytest.raises(RecipeError, match=r"or your own as package\.module:factory"):
        find_recipe("zzz")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("safelink-forest", "forest"),
        ("safelink-ann", "network"),
        ("ddos-tree", "tree"),
        ("darknet-text", "text"),
    ],
)
def test_a_recipe_is_still_found_by_the_name_it_had_before(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"{old!r} is deprecated: use {new!r}") as caught:
        assert find_recipe(old) is find_recipe(new)
    # Whoever wrote the name is told, and not a line of the package.
    assert caught[0].filename == __file__


def test_what_is_not_set_keeps_its_default() -> None:
    recipe = find_recipe("tree")
    kept = {"depth": 8, "min_leaf": 1, "criterion": "gini", "balanced": True}
    assert recipe.complete({"k": "5"}) == {"k": 5, **kept}


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_every_default_is_one_of_its_own_values(recipe) -> None:
    for name, setting in recipe.settings.items():
        assert setting.read(name, setting.default) == setting.default
        assert setting.help


def test_a_recipe_for_texts_needs_a_column_of_texts() -> None:
    with pytest.raises(RecipeError, match="--text"):
        find_recipe("text").pipeline(Task(("a", "b")))
