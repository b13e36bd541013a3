"""All checks together: what holds of any table, and that clean ones are left alone."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys

import jsonschema
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay.learn.checks as package
from assay.errors import InputError
from assay.learn.checks import CHECKS, CodedCheck, check
from assay.learn.data import data_of
from assay.report.document import schema_of

from .tables import clean, data, parted


def test_codes_are_in_order_without_gap() -> None:
    assert [each.code for each in CHECKS] == [f"L{i:03}" for i in range(1, len(CHECKS) + 1)]


def test_no_check_is_forgotten() -> None:
    checks = []
    for module in pkgutil.iter_modules(package.__path__):
        each = getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "CHECK", None)
        if isinstance(each, CodedCheck):
            checks.append(each)
    assert sorted(checks, key=lambda each: each.code) == list(CHECKS)


@pytest.mark.parametrize("each", CHECKS, ids=lambda each: each.code)
def test_a_check_tells_why_and_what_to_do_in_sentences(each: CodedCheck) -> None:
    assert each.why.endswith(".")
    assert each.remedy.endswith(".")
    assert ">>>" in (each.look.__doc__ or "")
    assert each.severity in ("info", "warning", "leak")


# -- false alarms ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_clean_parts_leak_in_hardly_any_draw() -> None:
    generator = np.random.default_rng(11)
    draws = 40
    leaking = [
        leak_check.leaks
        for _ in range(draws)
        if (leak_check := check(*parted(clean(generator)))).leaks
    ]
    assert len(leaking) <= 0.05 * draws, [f.message for leaks in leaking for f in leaks]


def test_one_clean_file_has_no_leak_and_no_warning() -> None:
    generator = np.random.default_rng(12)
    alarmed = [
        leak_check.findings
        for _ in range(20)
        if (leak_check := check(data(clean(generator)))).findings
    ]
    assert len(alarmed) <= 1, alarmed


@pytest.mark.sampled(3)
@pytest.mark.parametrize("values", [2, 3, 10])
@pytest.mark.parametrize("columns", [1, 3, 5])
def test_columns_of_few_values_repeat_by_chance(values: int, columns: int) -> None:
    generator = np.random.default_rng(5)
    leaks = 0
    for _ in range(10):
        table = {f"x{i}": generator.integers(0, values, 600) for i in range(columns)}
        frame = pl.DataFrame({**table, "label": generator.choice(["normal", "attack"], 600)})
        leaks += bool(check(*parted(frame)).leaks)
    assert leaks == 0


def test_columns_that_are_functions_of_others_are_no_leak() -> None:
    generator = np.random.default_rng(6)
    leaks = 0
    for _ in range(10):
        a, b = generator.normal(size=(2, 2000))
        frame = pl.DataFrame({"a": a, "b": b, "c": a + b, "d": a - 2 * b})
        frame = frame.with_columns(label=pl.Series(generator.choice(["normal", "attack"], 2000)))
        leaks += bool(check(*parted(frame)).leaks)
    assert leaks == 0


@pytest.mark.slow
def test_few_rows_of_many_columns_have_no_shortcut_by_chance() -> None:
    generator = np.random.default_rng(8)
    leaks = 0
    for _ in range(20):
        frame = pl.DataFrame({f"x{i}": generator.normal(size=12) for i in range(40)})
        frame = frame.with_columns(label=pl.Series(["normal", "attack"] * 6))
        leaks += "L011" in check(data(frame))
    assert leaks <= 1


# -- any table -------------------------------------------------------------------------------------


CELLS = {
    "number": st.one_of(st.none(), st.integers(-3, 3), st.floats(allow_nan=True)),
    "text": st.one_of(st.none(), st.text(max_size=4), st.sampled_from(["10.0.0.1", "2024-01-01"])),
    "nothing": st.none(),
    "same": st.just(1.0),
}


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    """Small tables of any columns and labels."""
    rows = draw(st.integers(1, 25))
    classes = draw(st.integers(1, 4))
    column = lambda cells: draw(st.lists(cells, min_size=rows, max_size=rows))  # noqa: E731
    table = {
        name: pl.Series(
            column(CELLS[kind]), dtype=pl.String if kind == "text" else pl.Float64, strict=False
        )
        for name, kind in zip(
            draw(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4, unique=True)),
            draw(st.lists(st.sampled_from(list(CELLS)), min_size=4, max_size=4)),
            strict=False,
        )
    }
    labels = column(st.sampled_from(["normal", "dos", "scan", "worm"][:classes]))
    return pl.DataFrame({**table, "the label": labels})


@settings(max_examples=60, deadline=None)
@given(frames(), frames(), st.booleans())
def test_any_table_gives_a_document_that_keeps_the_schema(
    one: pl.DataFrame, two: pl.DataFrame, both: bool
) -> None:
    names = [name for name in one.columns if name in two.columns and name != "the label"]
    try:
        train = data_of(
            one, label="the label", negative="normal", labels=["normal", "dos", "scan", "worm"]
        )
        test = None
        if both and names:
            test = data_of(
                two, label="the label", negative="normal", labels=["normal", "dos", "scan", "worm"]
            )
        leak_check = check(train, test, base_rate=0.01)
    except InputError:
        return
    plain = json.loads(json.dumps(leak_check.to_dict(), allow_nan=False))
    jsonschema.validate(plain, schema_of("assay.check/1"))
    order = ["leak", "warning", "info"]
    severities = [order.index(each.severity) for each in leak_check]
    assert severities == sorted(severities)
    for each in leak_check:
        assert each.message.endswith(".")
        assert each.message[0] != " "
        assert set(each.columns) <= set(train.frame.columns)
        assert all(1 <= row <= max(one.height, two.height) for row in each.rows)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_the_order_of_columns_changes_no_severity(seed: int) -> None:
    generator = np.random.default_rng(seed)
    frame = clean(generator, rows=80).with_columns(id=pl.int_range(80))
    train, test = parted(frame)
    turned, judged = parted(frame.select(reversed(frame.columns)))
    one, two = check(train, test), check(turned, judged)
    assert {(f.code, f.severity) for f in one} == {(f.code, f.severity) for f in two}


def test_the_same_rows_and_seed_give_the_same_document() -> None:
    frame = clean(np.random.default_rng(3))
    one, two = (check(data(frame), seed=7).to_dict() for _ in range(2))
    assert one == two


# -- arguments -------------------------------------------------------------------------------------


def test_what_is_missing_in_a_part_is_named() -> None:
    frame = clean(np.random.default_rng(1))
    train, test = parted(frame)
    with pytest.raises(InputError, match="has no column 'x0'"):
        check(train, data(frame.drop("x0"), positive="attack"))
    with pytest.raises(InputError, match="no column 'host' to group by"):
        check(train, test, groups=["host"])
    with pytest.raises(InputError, match="without the times of column 'day'"):
        check(train, test, time="day")
    with pytest.raises(InputError, match="between 0 and 1"):
        check(train, test, base_rate=1.5)
    with pytest.raises(InputError, match="no rows"):
        check(train.take(np.arange(0)))


def test_times_with_and_without_a_zone_are_not_compared() -> None:
    frame = clean(np.random.default_rng(1), rows=20)
    naive = frame.with_columns(day=pl.Series([f"2024-01-{i + 1:02}" for i in range(20)]))
    zoned = frame.with_columns(day=pl.Series([f"2024-01-{i + 1:02}T00:00:00Z" for i in range(20)]))
    with pytest.raises(InputError, match="have a zone"):
        check(data(naive, time="day"), data(zoned, time="day"), time="day")


def test_numbers_in_one_part_and_text_in_the_other_are_compared_as_text() -> None:
    frame = clean(np.random.default_rng(1), rows=60)
    whole = frame.with_columns(pl.col("hits").cast(pl.Float64))
    odd = frame[:20].with_columns(hits=pl.Series(["many", *map(str, frame["hits"][1:20])]))
    leak_check = check(data(whole), data(odd))
    assert any("compared as text: 'hits'" in note for note in leak_check.notes)
    assert leak_check["L001"].evidence["test_rows"] == 19


def test_a_column_of_the_test_part_alone_is_noted() -> None:
    frame = clean(np.random.default_rng(1), rows=60)
    leak_check = check(data(frame), data(frame.with_columns(more=pl.lit(1))))
    assert any("'more'" in note for note in leak_check.notes)


def test_a_finding_is_found_by_its_code() -> None:
    leak_check = check(data(clean(np.random.default_rng(2)).with_columns(id=pl.int_range(400))))
    assert "L012" in leak_check
    assert "L001" not in leak_check
    assert leak_check.honest
    with pytest.raises(KeyError):
        leak_check["L001"]


def test_rows_are_checked_without_scikit_learn() -> None:
    code = """
import sys
sys.modules["sklearn"] = None
import polars as pl
from assay.learn.checks import check
from assay.learn.data import data_of
label = ["normal", "attack"] * 30
data = data_of(pl.DataFrame({"x": range(60), "copy": label, "label": label}), label="label")
checked = check(data)
print([each.code for each in checked.leaks], [each.name for each in checked.baselines])
print(checked.notes)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "['L011'] ['majority', 'best single column']" in done.stdout
    assert "pip install 'assay-detectors[learn]'" in done.stdout
