"""The house rules that a look at the source can hold: few modules, one name for one thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src"
MOST_MODULES = 300
# A finding or a check is a file of its own by rule, so that a new one is never refused.
ONE_A_FILE = ("assay/evaluation/findings/", "assay/learn/checks/")
MOST_LINES = 600
# Where a variable gets its name, in text that is not parsed: there is much of it.
FOUND = re.compile(
    r"^\s*(?:\w+, )*found(?:, \w+)*(?:: [^=\n]+)? = |\b(?:for|as|lambda) found\b|\bfound :=", re.M
)

# A format code that says how many digits of a float are written.
DIGITS = re.compile(r"\.(?:\d+|\{\})[eEfFgG%]$")
NUMBERS = "assay/number_text.py"
# Where a float is written for machines, and why that is no number that a person reads.
FOR_MACHINES = {
    "assay/decisions/audit/reading/reports.py": "the text of a claim, which is read again",
    "assay/plots/canvas.py": "colours and coordinates of LaTeX",
    "assay/report/html/blocks.py": "places of drawings, in CSS",
    "assay/report/html/charts.py": "coordinates of SVG",
    "assay/report/html/operating_panel.py": "coordinates of SVG",
    "assay/report/latex.py": "widths of columns, in LaTeX",
}


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of src, by its path there."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
    }


@cache
def nodes() -> dict[str, list[ast.Name | ast.arg | ast.Assert]]:
    """Variables, parameters and asserts of every module."""
    kinds = (ast.Name, ast.arg, ast.Assert)
    return {
        path: [node for node in ast.walk(tree) if isinstance(node, kinds)]
        for path, tree in trees().items()
    }


def test_there_are_few_enough_modules_to_find_ones_way():
    modules = [path for path in trees() if not path.startswith(ONE_A_FILE)]
    assert len(modules) <= MOST_MODULES, (
        f"src has {len(modules)} modules beside findings and checks, and may have {MOST_MODULES}: "
        f"put what is new beside its nearest idea, or merge two siblings that are one"
    )


def test_no_module_is_too_long_to_read():
    lengths = {path: len((ROOT / path).read_text("utf-8").splitlines()) for path in trees()}
    long = {path: lines for path, lines in lengths.items() if lines > MOST_LINES}
    assert not long, f"longer than {MOST_LINES} lines, so split where the idea changes: {long}"


def test_a_class_name_stands_for_one_thing():
    homes = defaultdict(list)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(f"{path}:{node.lineno}")
    shared = {name: places for name, places in homes.items() if len(places) > 1}
    assert not shared, f"rename one of each to a noun of its own, or make them one: {shared}"


def test_a_file_name_stands_for_two_things_at_most():
    homes = defaultdict(list)
    for path in trees():
        if not path.endswith("__init__.py"):
            homes[path.rpartition("/")[2]].append(path)
    odd = {name: places for name, places in homes.items() if len(places) > 2}
    assert not odd, f"rename one of each to a noun that a stranger would search for: {odd}"


def test_no_variable_is_called_found():
    places = [
        f"{path}:{node.lineno}"
        for path, held in nodes().items()
        for node in held
        if "found" in (getattr(node, "id", None), getattr(node, "arg", None))
    ]
    assert not places, f"name it for what it holds, such as interval, rows or reason: {places}"


def test_no_variable_beside_the_source_is_called_found():
    folders = [ROOT.parent / name for name in ("tests", "benchmarks", "docs", "examples")]
    places = [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        if "found" in (text := path.read_text("utf-8"))
        for match in FOUND.finditer(text)
    ]
    assert not places, f"name it for what it holds, such as interval, rows or reason: {places}"


def test_nothing_is_asserted_where_a_type_could_say_it():
    places = [
        f"{path}:{node.lineno}"
        for path, held in nodes().items()
        for node in held
        if isinstance(node, ast.Assert)
    ]
    assert not places, f"use a type that can't be wrong, or raise an AssayError: {places}"


def float_formats(tree: ast.AST) -> list[int]:
    """The lines where a float is written with so many digits."""
    specs = (
        (node.lineno, node.format_spec.values)
        for node in ast.walk(tree)
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr)
    )
    return [
        line
        for line, parts in specs
        if DIGITS.search(
            "".join(
                str(getattr(part, "value", "")) if isinstance(part, ast.Constant) else "{}"
                for part in parts
            )
        )
    ]


def test_numbers_for_people_are_written_in_one_module():
    lines = {path: float_formats(tree) for path, tree in trees().items() if path != NUMBERS}
    places = [f"{path}:{n}" for path in lines if path not in FOR_MACHINES for n in lines[path]]
    assert not places, f"write them by a function of {NUMBERS}, or add one there: {places}"
    idle = [path for path in FOR_MACHINES if not lines[path]]
    assert not idle, f"these write no float any more, so take them off the list: {idle}"


def test_a_format_of_a_float_is_seen():
    written = """f"{x:.3g} {x:,.0f} {x:+.{n}f} {x:.1%} {x:5.2e}" f"{x:g} {n:,} {t:>4} {x}" """
    assert len(float_formats(ast.parse(written))) == 5
