"""A new measure of any kind needs its declaration only: endless, without a direction, of scores."""

from __future__ import annotations

import importlib.util
import json
import math
import random
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import assay
from assay.cli.app import app
from assay.formula import FN, FP, TP, javascript, value
from assay.measures import (
    HIGHER,
    LOWER,
    NEITHER,
    Counts,
    Definition,
    Influence,
    Law,
    Measure,
    Ranked,
    auc_influence,
    catalogue,
)
from assay.tally import ScoreTally

from .statements import cases

_SAID = {
    "reads": "A measure that is made up here.",
    "misleads": "Nobody should use it.",
    "reference": "made up for this test",
}
ENDLESS = Measure(
    name="false_alarms_per_hit",
    group="rates",
    formula=FP / TP,
    better=LOWER,
    range=(0, math.inf),
    example=(Counts(tp=3, fp=1, fn=2, tn=4), Fraction(1, 3)),
    **_SAID,
)
WITHOUT_DIRECTION = Measure(
    name="share_of_false_alarms",
    group="rates",
    formula=FP / (FP + FN),
    better=NEITHER,
    range=(0, 1),
    averaged=False,
    example=(Counts(tp=3, fp=1, fn=2, tn=4), Fraction(1, 3)),
    **_SAID,
)


def _gini(tally: ScoreTally) -> Influence:
    auc = auc_influence(tally)
    return Influence(2 * auc.value - 1, 2 * auc.positive, 2 * auc.negative)


OF_SCORES = Measure(
    name="gini_of_ranks",
    group="ranking",
    better=HIGHER,
    range=(-1, 1),
    averaged=False,
    of_scores=Ranked(
        influence=_gini, invariant_under=(Law.CLASS_SWAP, Law.PREVALENCE, Law.SCORE_MAP)
    ),
    definition=Definition("2 AUC - 1", r"2\,\mathrm{AUC} - 1", "AUC is the area."),
    **_SAID,
)
NEW = (ENDLESS, WITHOUT_DIRECTION, OF_SCORES)
COUNTED = (ENDLESS, WITHOUT_DIRECTION)
every = pytest.mark.parametrize("measure", NEW, ids=lambda measure: measure.name)
counted = pytest.mark.parametrize("measure", COUNTED, ids=lambda measure: measure.name)


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "CATALOGUE", (*catalogue.CATALOGUE, *NEW))


def rows(size: int = 80) -> dict[str, list[Any]]:
    rng = random.Random(5)
    truth = [rng.choice(("attack", "normal")) for _ in range(size)]
    one = [min(max(rng.gauss(0.6 if t == "attack" else 0.4, 0.2), 0), 1) for t in truth]
    other = [min(max(rng.gauss(0.7 if t == "attack" else 0.4, 0.2), 0), 1) for t in truth]
    return {"truth": truth, "one": one, "other": other}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    found = rows()
    lines = [
        "truth,one,other",
        *(",".join(map(str, row)) for row in zip(*found.values(), strict=True)),
    ]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@every
def test_it_is_in_the_python_interface_with_an_interval(measure: Measure) -> None:
    found = rows()
    evaluation = assay.evaluate(found["truth"], y_score=found["one"])
    estimate = evaluation[measure.name]
    assert estimate.low < estimate.value < estimate.high
    function = getattr(assay, measure.name)
    if measure.formula is not None:
        assert function(tp=3, fp=1, fn=2, tn=4).value == pytest.approx(1 / 3)
    else:
        auc = evaluation["roc_auc"].value
        assert estimate.value == pytest.approx(2 * auc - 1)
        assert function(found["truth"], found["one"]).value == pytest.approx(2 * auc - 1)


@every
def test_the_command_line_tells_of_it_and_its_json_holds_it(measure: Measure, table: Path) -> None:
    told = CliRunner().invoke(app, ["measures", measure.name])
    assert told.exit_code == 0, told.output
    assert "made up here" in told.output
    run = CliRunner().invoke(
        app, ["evaluate", str(table), "--label", "truth", "--score", "one", "--format", "json"]
    )
    assert run.exit_code == 0, run.output
    document = json.loads(run.stdout)
    assert measure.name in {estimate["measure"] for estimate in document["estimates"]}


@every
def test_two_models_are_compared_by_it(measure: Measure) -> None:
    found = rows()
    models = {"one": found["one"], "other": found["other"]}
    comparison = assay.compare(found["truth"], scores=models, positive="attack")
    by_name = {each["measure"]: each for each in comparison.to_dict()["differences"]}
    difference = by_name[measure.name]
    assert difference["low"] < difference["difference"] < difference["high"]


@every
def test_the_page_holds_it_and_moves_it_with_the_threshold(measure: Measure, table: Path) -> None:
    run = CliRunner().invoke(
        app, ["evaluate", str(table), "--label", "truth", "--score", "one", "--format", "html"]
    )
    assert run.exit_code == 0, run.output
    assert measure.title in run.stdout
    if measure.formula is not None:
        assert javascript(measure.formula) in unescape(run.stdout)


@every
def test_the_documentation_has_its_page(measure: Measure) -> None:
    generator = Path(__file__).parents[2] / "docs" / "generate.py"
    spec = importlib.util.spec_from_file_location("generate", generator)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert any(measure.name in name for name in module.pages())


@every
def test_it_is_under_the_laws(measure: Measure) -> None:
    run = [(law, face) for law, face in cases() if face.measure is measure]
    assert len({law.name for law, _ in run}) >= 10
    for law, face in run:
        law.check(face)


# -- the audit -------------------------------------------------------------------------------------


def cells_of(rng: random.Random) -> dict[str, int]:
    return {name: rng.randint(1, 400) for name in ("tp", "fp", "fn", "tn")}


def printed(measure: Measure, cells: dict[str, int]) -> str:
    assert measure.formula is not None
    return f"{value(measure.formula, {name.upper(): n for name, n in cells.items()}):.4f}"


def claims(measure: Measure) -> list[dict[str, Any]]:
    """Honest claims with the measure: beside a matrix, supports, a size, and nothing."""
    rng = random.Random(3)
    found = []
    for told in ("matrix", "support", "n", "nothing") * 4:
        cells = cells_of(rng)
        names = ("accuracy", "recall", "precision", "mcc")
        reported = {name: printed(catalogue.find(name), cells) for name in names}
        reported[measure.name] = printed(measure, cells)
        claim: dict[str, Any] = {"positive": "attack", "negative": "normal", "reported": reported}
        if told == "matrix":
            claim["confusion"] = cells
        elif told == "support":
            positives, negatives = cells["tp"] + cells["fn"], cells["fp"] + cells["tn"]
            claim["support"] = {"normal": negatives, "attack": positives}
        elif told == "n":
            claim["n"] = sum(cells.values())
        found.append(claim)
    return found


@counted
def test_honest_claims_with_it_pass(measure: Measure) -> None:
    for claim in claims(measure):
        found = assay.audit(claim).claims[0]
        assert str(found.verdict) != "inconsistent", (claim, found)


@counted
def test_a_wrong_one_beside_counts_is_found(measure: Measure) -> None:
    for claim in claims(measure)[:2]:
        right = float(claim["reported"][measure.name])
        wrong = claim | {"reported": claim["reported"] | {measure.name: f"{right / 2 + 0.01:.4f}"}}
        verdicts = {n.key: str(n.verdict) for n in assay.audit(wrong).claims[0].numbers}
        assert verdicts[measure.name] == "inconsistent"
        assert [key for key, verdict in verdicts.items() if verdict == "inconsistent"] == [
            measure.name
        ]


def test_of_scores_nothing_but_its_range_is_known() -> None:
    claim = {"confusion": cells_of(random.Random(1)), "positive": "attack"}
    allowed = assay.audit(claim | {"reported": {OF_SCORES.name: "0.91"}}).claims[0]
    assert str(allowed.numbers[0].verdict) == "undetermined"
    outside = assay.audit(claim | {"reported": {OF_SCORES.name: "-150"}}).claims[0]
    assert str(outside.numbers[0].verdict) == "inconsistent"
