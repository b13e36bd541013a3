"""The document of a choice of threshold. After a wanted change, renew its texts with

RENEW_GOLDEN=1 python -m pytest tests/report/test_threshold.py
"""

import csv
import io
import json
import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Estimate
from assay.decisions.threshold import Choice, Point, Shown, choose_threshold
from assay.decisions.threshold.estimates import BREAKS, OPTIMISTIC
from assay.evaluation.findings import Finding
from assay.report import FORMATS, Document, Provenance, document_of, draw
from assay.report.document import schema_of
from assay.report.sections import Table

from .goldens import checked
from .hostile import NAMES

GOLDEN = Path(__file__).parent / "golden_threshold"
MADE = Provenance("0.1.0", "assay threshold flows.csv", (("flows.csv", 4096, "0f" * 32),))
SUFFIXES = {"json": "json", "csv": "csv", "markdown": "md", "latex": "tex"}


# -- choices made by hand --------------------------------------------------------------------------


def shown(measure: str, value: float, reach: float, **where: object) -> Shown:
    estimate = Estimate(value, max(value - reach, 0), value + reach, method="bootstrap", n=400)
    return Shown(measure, estimate, "attack", **where)


def point(name: str, threshold: float, detected: float, false: float) -> Point:
    far = 0.999 * false / (0.999 * false + 0.001 * detected)
    promised = name == "guaranteed"
    return Point(
        threshold,
        "FPR <= 0.002: at most 3 of the 4,000 negatives flagged."
        if promised
        else f"The highest detection rate on these rows. {BREAKS}",
        0.9 if promised else None,
        (
            shown("recall", detected, 0.02),
            shown("false_positive_rate", false, 0.0005),
            shown("precision", 0.97, 0.01),
            shown("false_discovery_rate", 0.03, 0.01),
            shown("precision", 1 - far, 0.05, base_rate=0.001),
            shown("false_discovery_rate", far, 0.05, base_rate=0.001),
            shown("alerts_per_day", 1e6 * false + 1000 * detected, 300, base_rate=0.001),
            shown("false_alarms_per_day", 999_000 * false, 250, base_rate=0.001),
            shown("missed_per_day", 1000 * (1 - detected), 20, base_rate=0.001),
            shown("days_over_budget", 0.02, 0.01, base_rate=0.001),
            shown("recall", detected - 0.3, 0.1, family="beacon"),
            shown("recall", detected + 0.05, 0.02, family="dos"),
        ),
        name,
        "" if promised else BREAKS,
    )


def both() -> Choice:
    guaranteed, empirical = (
        point("guaranteed", 0.71, 0.9, 0.001),
        point("empirical", 0.6, 0.92, 0.002),
    )
    return Choice(
        constraints={"max_fpr": 0.002, "min_dr.beacon": 0.5, "max_alerts": 3000.0},
        objective="highest detection rate",
        empirical=empirical,
        guaranteed=guaranteed,
        infeasible=None,
        positive="attack",
        labels=("normal", "attack"),
        base_rate=0.001,
        volume=1e6,
        family="family",
        findings=(Finding("T001", "info", "It was chosen and judged on the same rows."),),
        notes=("Intervals choose anew.", "The confidence is for all (Bonferroni)."),
        source={
            "name": "flows.csv",
            "rows_read": 4402,
            "rows_used": 4400,
            "rows_refused": 2,
            "refused": [{"row": 7, "reason": "the score is missing"}] * 2,
            "positives": 400,
            "negatives": 4000,
        },
        holdout={
            "of": "guaranteed",
            "threshold": 0.71,
            "source": {"name": "other.csv", "rows_read": 1000},
            "estimates": guaranteed.estimates,
            "constraints": (
                held("max_fpr", 0.002, 0.001, held=True, sure=False),
                held("min_dr.beacon", 0.5, 0.4, held=False, sure=True),
                held("max_alerts", 3000.0, 1900.0, held=True, sure=True),
                held("min_dr", 0.5, math.nan, held=None, sure=False),
            ),
            "mode": "exact",
        },
        mode="grid",
    )


def held(constraint: str, limit: float, value: float, *, held: object, sure: bool) -> dict:
    ends = {"value": value, "low": value * 0.9, "high": value * 1.1}
    return {"constraint": constraint, "limit": limit, **ends, "held": held, "sure": sure}


def impossible() -> Choice:
    why = "Not possible on this data with a confidence of 0.9. It takes 227,082 negatives."
    return replace(both(), guaranteed=None, infeasible=why, holdout=None)


def nothing() -> Choice:
    why = "No threshold keeps a FAR of at most 0.1 on these rows."
    return replace(both(), guaranteed=None, empirical=None, infeasible=why, holdout=None)


def candidates() -> Choice:
    usual = tuple(
        replace(
            point(name, 0.1 * i, 0.9, 0.002 * i),
            rule=f"{name} on these rows; nothing more.",
            worth="",
        )
        for i, name in enumerate(("Youden", "best F1"), 1)
    )
    objective = "none: the usual points side by side"
    empty = {"constraints": {}, "empirical": None, "guaranteed": None, "holdout": None}
    return replace(both(), candidates=usual, objective=objective, **empty)


def costs() -> Choice:
    rule = f"The lowest expected cost on these rows. {OPTIMISTIC}"
    chosen = replace(point("empirical", 0.6, 0.92, 0.002), rule=rule, worth=OPTIMISTIC)
    cost = Shown("expected_cost", Estimate(0.006, 0.005, 0.007, method="bootstrap", n=4400))
    chosen = replace(chosen, estimates=(*chosen.estimates, cost))
    return replace(
        candidates(),
        constraints={"cost_fp": 1.0, "cost_fn": 50.0},
        objective="lowest expected cost",
        empirical=chosen,
        candidates=(replace(chosen, name="lowest cost"),),
    )


CHOICES = {
    "both": both,
    "impossible": impossible,
    "nothing": nothing,
    "candidates": candidates,
    "costs": costs,
}


@cache
def document(case: str) -> Document:
    return document_of(CHOICES[case](), provenance=MADE)


def tables(case: str) -> dict[str, Table]:
    """The first table of each section."""
    return {
        s.title: next(b for b in s.blocks if isinstance(b, Table))
        for s in document(case).report.sections
    }


# -- the headline ----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["impossible", "nothing"])
def test_not_possible_on_this_data_comes_first(case: str) -> None:
    first = document(case).report.headline[0]
    assert first.startswith("Not possible on this data")
    assert CHOICES[case]().infeasible in first


def test_the_guaranteed_threshold_is_the_answer_with_all_its_digits() -> None:
    exact = replace(both(), guaranteed=point("guaranteed", 0.1 + 0.2, 0.9, 0.001))
    said = document_of(exact).report.headline
    assert said[0] == (
        "Flag from a score of 0.30000000000000004 on: with 90% confidence new data keep all 3 "
        "constraints together."
    )
    assert said[1].startswith("It catches 90.0% [88.0, 92.0] of attacks; ")


@pytest.mark.parametrize("case", ["both", "impossible"])
def test_the_empirical_threshold_never_stands_without_what_it_is_worth(case: str) -> None:
    for line in document(case).report.headline:
        assert "0.6 " not in line or BREAKS in line
    shown_in = [
        block
        for section in document(case).report.sections
        for block in section.blocks
        if isinstance(block, Table) and block.rows and block.rows[0][0] == "threshold"
    ]
    assert shown_in
    for table in shown_in:
        assert BREAKS in " ".join(table.notes)
    for face in FORMATS:
        text = re.sub(r"\s+", " ", draw(document(case), face, width=80))
        assert text.count(BREAKS) >= 2


def test_costs_fit_the_rows_and_it_is_said() -> None:
    assert OPTIMISTIC in document("costs").report.headline[0]
    assert BREAKS not in draw(document("costs"), "markdown")


def test_without_constraints_nothing_is_promised() -> None:
    assert "nothing is promised" in document("candidates").report.headline[0]


def test_the_holdout_tells_what_broke() -> None:
    said = " ".join(document("both").report.headline)
    assert (
        "On the holdout other.csv the guaranteed threshold broke detection rate of 'beacon' at "
        "least." in said
    )
    kept = both()
    only = {**kept.holdout, "constraints": kept.holdout["constraints"][:1]}
    assert "kept its constraint." in " ".join(
        document_of(replace(kept, holdout=only)).report.headline
    )


def test_a_constraint_that_the_holdout_cannot_tell_of_is_not_called_kept() -> None:
    kept = both()
    held, odd = kept.holdout["constraints"][0], {**kept.holdout["constraints"][0], "held": None}
    for constraints, said in (
        ([held, odd], "kept 1 of 2 constraints; its rows can't tell of the rest."),
        ([odd], "can't be judged: its rows tell of no constraint."),
    ):
        only = {**kept.holdout, "constraints": constraints}
        assert said in " ".join(document_of(replace(kept, holdout=only)).report.headline)


# -- the tables ------------------------------------------------------------------------------------


def test_both_thresholds_stand_in_one_table_with_rates_and_numbers_a_day() -> None:
    table = tables("both")["Guaranteed and empirical"]
    assert [column.name for column in table.columns] == ["measure", "guaranteed", "empirical"]
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["threshold"] == ("0.71", "0.6")
    assert rows["promised for new data"] == ("90% confidence", "nothing")
    choice = both()
    assert rows["detection rate (recall)"] == (
        choice.guaranteed["recall"],
        choice.empirical["recall"],
    )
    # At the base rate, not on the rows.
    assert rows["false alarm rate (FAR)"][0] == choice.guaranteed["false_discovery_rate"] > 0.5
    assert rows["alerts a day"][0] == "1,900 [1,600, 2,200]"
    assert rows["missed a day"][1].startswith("80.0 [60.0, ")
    assert rows["days with more alerts than allowed"][0] == "2% [1%, 3%]"


def test_constraints_share_the_error() -> None:
    table = tables("both")["Constraints"]
    assert [row[0] for row in table.rows] == [
        "false positive rate at most",
        "detection rate of 'beacon' at least",
        "alerts a day at most",
    ]
    assert {row[2] for row in table.rows} == {"at most 3.33%"}
    assert "Bonferroni" in table.notes[0]
    assert not any("Bonferroni" in note for note in document("both").report.notes)


def test_one_constraint_has_all_of_the_error() -> None:
    alone = replace(both(), constraints={"max_fpr": 0.002}, holdout=None)
    (table,) = [s for s in document_of(alone).report.sections if s.title == "Constraints"]
    assert table.blocks[0].rows[0][2] == "at most 10%"
    assert not table.blocks[0].notes
    assert "keep the constraint." in document_of(alone).report.headline[0]


def test_the_holdout_says_of_each_constraint_whether_it_held() -> None:
    said = {row[0]: row[3] for row in tables("both")["Holdout"].rows}
    assert said == {
        "false positive rate at most": "held, but the interval reaches beyond",
        "detection rate of 'beacon' at least": "NOT held, with all of the interval",
        "alerts a day at most": "held, with all of the interval",
        "detection rate at least": "can't be told: undefined",
    }


def test_families_are_told_worst_first_beside_what_was_asked() -> None:
    table = tables("both")["Families"]
    assert [row[0] for row in table.rows] == ["beacon", "dos"]
    assert [row[-1] for row in table.rows] == ["at least 50%", None]
    assert "asked" not in [c.name for c in tables("candidates")["Families"].columns]


def test_many_families_are_cut() -> None:
    many = tuple(shown("recall", i / 100, 0.01, family=f"f{i}") for i in range(80))
    full = replace(
        both(),
        guaranteed=None,
        empirical=replace(both().empirical, estimates=(*both().empirical.estimates, *many)),
    )
    (section,) = [s for s in document_of(full).report.sections if s.title == "Families"]
    assert len(section.blocks[0].rows) == 50
    assert section.blocks[0].notes == ("32 more are better than these.",)


def test_candidates_are_rows_with_what_each_means_a_day() -> None:
    section = next(s for s in document("candidates").report.sections if s.title == "Candidates")
    rates, days, said = section.blocks
    assert [row[0] for row in rates.rows] == [row[0] for row in days.rows] == ["Youden", "best F1"]
    assert [c.name for c in days.columns] == [
        "candidate",
        "alerts a day",
        "false alarms a day",
        "missed a day",
    ]
    assert said.text == "Youden: Youden on these rows. Best F1: best F1 on these rows."


def test_refused_rows_are_listed() -> None:
    assert document("both").report.sections[-1].title == "Refused rows"


# -- programs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CHOICES)
def test_json_follows_its_schema(case: str) -> None:
    content = json.loads(draw(document(case), "json"))
    jsonschema.Draft202012Validator(schema_of("assay.threshold/1")).validate(content)
    assert content["headline"] == list(document(case).report.headline)


@pytest.mark.parametrize("case", CHOICES)
def test_csv_has_a_row_an_estimate(case: str) -> None:
    rows = list(csv.DictReader(io.StringIO(draw(document(case), "csv"), newline="")))
    choice = CHOICES[case]()
    points = [p for p in (choice.guaranteed, choice.empirical, *choice.candidates) if p is not None]
    held_out = len(choice.holdout["estimates"]) if choice.holdout else 0
    if choice.infeasible:
        first = rows.pop(0)
        assert (first["point"], first["rule"], first["value"]) == (
            "infeasible",
            choice.infeasible,
            "",
        )
    assert len(rows) == sum(len(p.estimates) for p in points) + held_out
    if choice.guaranteed:
        assert rows[0]["point"] == "guaranteed"
        assert float(rows[0]["value"]) == choice.guaranteed["recall"].value


@pytest.mark.parametrize("case", CHOICES)
def test_csv_tells_how_the_scores_of_each_row_were_kept(case: str) -> None:
    head, *lines = csv.reader(io.StringIO(draw(document(case), "csv"), newline=""))
    assert head[-1] == "mode"
    for line in lines:
        assert line[-1] == ("exact" if line[0] == "holdout" else "grid")


@pytest.mark.parametrize("face", ["terminal", "json", "markdown", "latex", "html"])
def test_every_face_says_that_every_score_was_kept(face: str) -> None:
    choice = choose_threshold([0, 1] * 20, y_score=np.arange(40), resamples=20, max_fpr=0.5)
    text = draw(document_of(choice), face)
    assert "mode exact: every distinct score was kept" in text
    assert json.loads(draw(document_of(choice), "json"))["mode"] == "exact"


# -- any choice ------------------------------------------------------------------------------------


@pytest.mark.parametrize("face", FORMATS)
@pytest.mark.parametrize("case", CHOICES)
def test_every_face_shows_every_choice(case: str, face: str) -> None:
    for width in (20, 80, 100):
        assert draw(document(case), face, width=width).strip()


@given(names=st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True))
@settings(max_examples=30)
def test_names_of_families_and_labels_are_harmless(names: list[str]) -> None:
    family, label = names
    odd = replace(
        both(),
        positive=label,
        labels=("normal", label),
        family=family,
        constraints={f"min_dr.{family}": 0.5},
        empirical=replace(
            both().empirical,
            estimates=(*both().empirical.estimates, shown("recall", 0.5, 0.1, family=family)),
        ),
    )
    for face in FORMATS:
        text = draw(document_of(odd), face)
        if face in ("markdown", "html"):
            assert "<script>alert" not in text
            assert "<img" not in text


@pytest.mark.parametrize("seed", range(12))
def test_choices_of_the_library_are_shown_in_every_face(seed: int) -> None:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, 60)
    truth[:2] = 0, 1
    scores = np.round(random.normal(truth, 1.0), 1 if seed % 2 else 6)
    asked = [
        {"max_fpr": 0.2},
        {"max_far": 0.3, "base_rate": 0.5},
        {"min_dr": 0.5, "min_dr_families": 0.3},
        {},
        {"max_alerts": 300.0, "volume": 1000.0, "base_rate": 0.1},
        {"cost_fp": 1.0, "cost_fn": 3.0},
    ][seed % 6]
    choice = choose_threshold(
        truth, y_score=scores, families=truth * random.integers(1, 3, 60), resamples=20, **asked
    )
    made = document_of(choice)
    for face in FORMATS:
        assert draw(made, face, width=80)
    content = json.loads(draw(made, "json"))
    jsonschema.Draft202012Validator(schema_of("assay.threshold/1")).validate(content)


# -- goldens ---------------------------------------------------------------------------------------


def goldens() -> dict[str, tuple[str, str, int | None]]:
    files: dict[str, tuple[str, str, int | None]] = {}
    for case in CHOICES:
        files[f"{case}_80.txt"] = (case, "terminal", 80)
    files["both_100.txt"] = ("both", "terminal", 100)
    for face, suffix in SUFFIXES.items():
        files[f"both.{suffix}"] = ("both", face, None)
    return files


@pytest.mark.parametrize("name", goldens())
def test_report_is_the_golden_one(name: str) -> None:
    case, face, width = goldens()[name]
    text = draw(document(case), face, width=width)
    checked(GOLDEN / name, text)


def test_every_golden_text_has_its_case() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(goldens())
