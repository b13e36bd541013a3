"""Measures of every form, declared here or in the guide alone, are in every part of the tool.

Each part is a function below that is given a measure and fails where it is not found.
"""

from __future__ import annotations

import html
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.cli.app import run
from assay.formula import FN, FP, TP, value
from assay.measures import (
    LOWER,
    NEITHER,
    Counts,
    Definition,
    Influence,
    Law,
    MeanLoss,
    Measure,
    catalogue,
    ranking_measures,
    rates,
)
from assay.report import document_of, draw
from assay.counts import ScoreCounts

from .faces import faces
from .statements import STATEMENTS
from .test_adding_a_measure import generator

_EXAMPLE = Counts(tp=3, fp=1, fn=2, tn=4)
GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"


def documented() -> dict[str, Measure]:
    """The measures that the contributor's guide declares, from its own lines."""
    space = {
        **vars(rates),
        **vars(ranking_measures),
        "Influence": Influence,
        "ScoreCounts": ScoreCounts,
    }
    _, _, guide = GUIDE.read_text("utf-8").partition("## How to add a measure\n")
    for block in re.findall(r"```python\n(.*?)```", guide.partition("\n## ")[0], re.DOTALL):
        exec(block, space)
    return {name: space[name] for name in ("CRITICAL_ERROR_RATE", "SOMERS_D")}


ALARM_ODDS = Measure(
    name="alarm_odds",
    group="agreement",
    aliases=("odds_of_alarms",),
    formula=FP / TP,
    better=LOWER,
    range=(0, math.inf),
    reads="How many false alarms come with each attack that is found.",
    misleads="It has no largest value, and none at all where nothing is found.",
    reference="made up for this test",
    example=(_EXAMPLE, Fraction(1, 3)),
)
LEANING = Measure(
    name="leaning",
    group="rates",
    formula=FP / (FP + FN),
    better=NEITHER,
    range=(0, 1),
    averaged=False,
    reads="Of the rows that were decided wrong, the share that raised an alarm.",
    misleads="Neither a high nor a low value is good: it says which error is made, not how often.",
    reference="made up for this test",
    example=(_EXAMPLE, Fraction(1, 3)),
)
ABSOLUTE_ERROR = Measure(
    name="absolute_error",
    group="probability",
    better=LOWER,
    range=(0, 1),
    averaged=False,
    of_scores=MeanLoss(
        loss=lambda probability, truth: np.abs(probability - truth),
        largest=1.0,
        invariant_under=(Law.CLASS_SWAP,),
    ),
    definition=Definition(
        "mean of |p_i - y_i|", r"\frac{1}{n} \sum_i |p_i - y_i|", "As for the Brier score."
    ),
    reads="The mean distance of the probability from what happened.",
    misleads="It is lowest for probabilities of 0 and 1, not for true ones.",
    reference="made up for this test",
)
NEW = (ALARM_ODDS, LEANING, ABSOLUTE_ERROR, *documented().values())

_RANDOM = np.random.default_rng(5)
TRUTH = (_RANDOM.random(80) < 0.4).astype(int)
SCORES = np.round(np.clip(_RANDOM.normal(0.35 + 0.3 * TRUTH, 0.2), 0.01, 0.99), 2)
OTHER = np.round(np.clip(_RANDOM.normal(0.4 + 0.2 * TRUTH, 0.2), 0.01, 0.99), 2)
LABELS = ["attack" if truth else "normal" for truth in TRUTH]


@pytest.fixture(autouse=True)
def _declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "CATALOGUE", (*catalogue.CATALOGUE, *NEW))


def written(folder: Path, *arguments: str, face: str = "json") -> str:
    path = folder / "written"
    assert run([*arguments, "--format", face, "--out", str(path)]) == 0
    return path.read_text("utf-8")


def in_python(measure: Measure, tmp_path: Path) -> None:
    for name in (measure.name, *measure.aliases):
        assert getattr(assay, name).measure is measure
        assert name in dir(assay)
    said = [int(score >= 0.5) for score in SCORES] if measure.formula is not None else SCORES
    estimate = getattr(assay, measure.name)(TRUTH, said)
    assert measure.range[0] <= estimate.low < estimate < estimate.high <= measure.range[1]
    whole = assay.evaluate(LABELS, y_score=SCORES)[measure.name]
    assert whole.value == pytest.approx(estimate.value)


def in_json(measure: Measure, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows = (f"{label},{score}" for label, score in zip(LABELS, SCORES, strict=True))
    path.write_text("\n".join(["label,score", *rows]) + "\n", "utf-8")
    document = json.loads(written(tmp_path, "evaluate", str(path)))
    estimates = [e for e in document["estimates"] if e["measure"] == measure.name]
    assert estimates
    assert estimates[0]["low"] < estimates[0]["value"] < estimates[0]["high"]


def on_the_command_line(measure: Measure, tmp_path: Path) -> None:
    assert measure.reads in written(tmp_path, "measures", measure.name, face="markdown")
    (alone,) = json.loads(written(tmp_path, "measures", measure.name))["measures"]
    assert alone["better"] == measure.better.name.lower()
    assert alone in json.loads(written(tmp_path, "measures"))["measures"]


def in_a_comparison(measure: Measure, tmp_path: Path) -> None:
    for interval in (None, "bootstrap"):
        compared = assay.compare(
            LABELS, scores={"a": SCORES, "b": OTHER}, interval=interval, resamples=50
        )
        (difference,) = (d for d in compared.differences if d.measure == measure.name)
        assert difference.value_b - difference.value_a == pytest.approx(
            float(difference.difference)
        )
        assert difference.difference.low < difference.difference < difference.difference.high
        assert compared.estimates["a"][measure.name].value == pytest.approx(difference.value_a)


def in_a_report(measure: Measure, tmp_path: Path) -> None:
    text = draw(document_of(assay.evaluate(LABELS, y_score=SCORES)), "html")
    assert measure.title in html.unescape(text)
    if measure.formula is not None:
        assert f'"{measure.name}": (tp, fp, fn, tn) =>' in text


def in_the_documentation(measure: Measure, tmp_path: Path) -> None:
    pages = generator().pages()
    page = pages[f"{measure.name}.rst"]
    for text in (measure.reads, measure.misleads, measure.better.value):
        assert text in page
    assert f":doc:`{measure.name}`" in pages["index.rst"]


def under_the_laws(measure: Measure, tmp_path: Path) -> None:
    assert faces(measure)
    for law in STATEMENTS:
        for face in faces(measure):
            if law.reason(face) is None:
                law.check(face)


def printed(measure: Measure, cells: dict[str, int]) -> str:
    assert measure.formula is not None
    return f"{value(measure.formula, {name.upper(): n for name, n in cells.items()}):.4f}"


def claims(measure: Measure) -> Iterator[dict[str, Any]]:
    """Honest claims with a count measure: beside a matrix, supports, a size, and nothing."""
    drawn = random.Random(3)
    for told in ("matrix", "support", "n", "nothing"):
        cells = {name: drawn.randint(1, 400) for name in ("tp", "fp", "fn", "tn")}
        others = map(catalogue.find, ("accuracy", "recall", "precision", "mcc"))
        reported = {each.name: printed(each, cells) for each in (*others, measure)}
        claim: dict[str, Any] = {"positive": "attack", "negative": "normal", "reported": reported}
        rows = {"normal": cells["fp"] + cells["tn"], "attack": cells["tp"] + cells["fn"]}
        counts = {"matrix": {"confusion": cells}, "support": {"support": rows}}
        yield claim | counts.get(told, {"n": sum(cells.values())} if told == "n" else {})


def in_the_audit(measure: Measure, tmp_path: Path) -> None:
    if measure.formula is None:
        # Of scores nothing but the range is known.
        claim = {"confusion": {"tp": 30, "fp": 4, "fn": 9, "tn": 50}, "positive": "attack"}
        for text, verdict in (("0.91", "undetermined"), ("-150", "inconsistent")):
            audited_claim = assay.audit(claim | {"reported": {measure.name: text}}).claims[0]
            assert audited_claim.numbers[0].verdict == verdict
        return
    for claim in claims(measure):
        assert assay.audit(claim).claims[0].verdict != "inconsistent", claim
        if "n" in claim or not {"confusion", "support"} & set(claim):
            continue
        right = float(claim["reported"][measure.name])
        wrong = claim["reported"] | {measure.name: f"{right / 2 + 0.01:.4f}"}
        numbers = assay.audit(claim | {"reported": wrong}).claims[0].numbers
        assert [n.key for n in numbers if n.verdict == "inconsistent"] == [measure.name], wrong


PLACES: tuple[Callable[[Measure, Path], None], ...] = (
    in_python,
    in_json,
    on_the_command_line,
    in_a_comparison,
    in_a_report,
    in_the_documentation,
    under_the_laws,
    in_the_audit,
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("measure", NEW, ids=lambda measure: measure.name)
def test_a_measure_that_is_declared_is(
    measure: Measure, place: Callable[[Measure, Path], None], tmp_path: Path
) -> None:
    place(measure, tmp_path)


def test_somers_d_is_as_sure_as_the_auc_that_it_comes_from() -> None:
    evaluation = assay.evaluate(LABELS, y_score=SCORES, clusters=np.arange(80) % 16)
    somers, auc = evaluation["somers_d"], evaluation["roc_auc"]
    assert somers.value == pytest.approx(2 * auc.value - 1)
    assert somers.method == auc.method == "cluster delta"
