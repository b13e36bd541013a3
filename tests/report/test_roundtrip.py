"""Documents come back from JSON: the same values, and every face the same to the byte."""

import json
from dataclasses import replace
from functools import cache

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import audit, choose_threshold, compare, evaluate, gate, plan
from assay.learn.checks import CheckFinding
from assay.report import FORMATS, Document, document_of, draw
from assay.report.document import schema_of

from . import test_check
from .test_faces import CASES

DOCUMENTS = [case for case in CASES if not case.startswith("measures")]


@cache
def document(case: str) -> Document:
    example = CASES[case]()
    assert isinstance(example, Document)
    return example


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", DOCUMENTS)
def test_a_document_comes_back_from_json(case: str) -> None:
    text = document(case).to_json()
    again = Document.from_json(text)
    assert again.to_json() == text
    assert again == document(case)
    assert (again.kind, again.headline) == (document(case).kind, document(case).headline)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", DOCUMENTS)
def test_every_face_of_a_document_read_back_is_the_same(case: str) -> None:
    again = Document.from_json(document(case).to_json())
    further = {"gate": ["junit"], "training": ["card"], "monitor": ["openmetrics"]}.get(
        again.kind, []
    )
    for face in [*FORMATS, *further]:
        assert draw(again, face) == draw(document(case), face)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("case", DOCUMENTS)
def test_every_document_keeps_its_schema(case: str) -> None:
    content = json.loads(document(case).to_json())
    validator = jsonschema.Draft202012Validator(schema_of(content["schema"]))
    assert [
        f"{list(e.absolute_path)}: {e.message}"[:200] for e in validator.iter_errors(content)
    ] == []


# -- any result of a kind --------------------------------------------------------------------------

NAMES = st.text(min_size=1, max_size=4)
SHARES = st.floats(0.01, 0.99)


def comes_back(content: Document) -> None:
    text = content.to_json()
    again = Document.from_json(text)
    assert again.to_json() == text
    for face in ("terminal", "csv", "markdown"):
        assert draw(again, face) == draw(content, face)


@st.composite
def scored(draw_: st.DrawFn) -> dict:
    rows = draw_(st.lists(st.tuples(st.booleans(), st.floats(-2, 2)), min_size=2, max_size=12))
    truth = [int(one) for one, _ in rows]
    truth[:2] = [0, 1]
    return {"truth": truth, "scores": [score for _, score in rows]}


@settings(max_examples=30)
@given(
    scored(),
    st.none() | st.floats(-1, 1),
    st.none() | SHARES,
    st.none() | st.floats(1, 1e6),
    st.booleans(),
    st.lists(NAMES, min_size=2, max_size=3),
    st.none() | st.integers(1, 4),
)
def test_any_evaluation_comes_back(
    rows, threshold, base_rate, volume, weighted, names, days
) -> None:
    size = len(rows["truth"])
    evaluation = evaluate(
        rows["truth"],
        y_score=rows["scores"],
        labels=[0, 1],
        threshold=threshold,
        base_rate=base_rate,
        volume=volume,
        sample_weight=[1.5 + i for i in range(size)] if weighted else None,
        slices={"part": [names[i % len(names)] for i in range(size)]},
        times=days and [f"2026-11-0{1 + i % days}" for i in range(size)],
    )
    comes_back(document_of(evaluation))


def test_a_trend_over_the_days_that_have_a_value_comes_back() -> None:
    days = [f"2026-11-0{day}" for day in (1, 1, 2, 3, 3)]
    rows = {"y_score": [0.9, 0.2, 0.4, 0.8, 0.1], "times": days}
    judged = evaluate([1, 0, 0, 1, 0], **rows)
    trend = judged.over_time["recall"].defined
    assert trend is not None
    assert trend.periods == ("2026-11-01", "2026-11-03")
    comes_back(document_of(judged))


@settings(max_examples=15)
@given(st.lists(st.tuples(NAMES, NAMES), min_size=3, max_size=12))
def test_any_classes_come_back(rows) -> None:
    truth, said = zip(*rows, strict=True)
    names = sorted({*truth, *said, "x", "y", "z"})
    comes_back(document_of(evaluate([*truth, *names], y_pred=[*said, *names])))


@settings(max_examples=20)
@given(SHARES, SHARES, st.none() | SHARES, SHARES, st.dictionaries(NAMES, SHARES, max_size=2))
def test_any_plan_comes_back(max_fpr, min_dr, expected, confidence, families) -> None:
    comes_back(
        document_of(
            plan(
                max_fpr=max_fpr,
                min_dr=min_dr,
                expected_dr=expected,
                confidence=confidence,
                min_dr_families=families or None,
            )
        )
    )


@settings(max_examples=15)
@given(scored(), SHARES, st.sampled_from(["max_fpr", "max_far", "min_dr"]), NAMES)
def test_any_threshold_comes_back(rows, limit, constraint, family) -> None:
    families = [family] * len(rows["truth"])
    choice = choose_threshold(
        rows["truth"],
        y_score=rows["scores"],
        families=families,
        resamples=20,
        **{constraint: limit},
    )
    comes_back(document_of(choice))


@settings(max_examples=10)
@given(scored(), NAMES, st.sampled_from([None, "max-fpr=0.25", "threshold=0.1"]))
def test_any_comparison_comes_back(rows, name, at) -> None:
    scores = {f"a{name}": rows["scores"], f"b{name}": rows["scores"][::-1]}
    comes_back(document_of(compare(rows["truth"], scores=scores, at=at, resamples=20)))


@settings(max_examples=15)
@given(scored(), st.floats(-0.9, 0.9), st.sampled_from([">=", "<"]))
def test_any_gate_comes_back(rows, bound, operator) -> None:
    rules = [f"new-old(roc_auc) {operator} {bound!r}", f"new(mcc@threshold=0.5) {operator} 0"]
    judgement = gate(rows["truth"], new=rows["scores"], old=rows["scores"][::-1], rules=rules)
    comes_back(document_of(judgement))


@settings(max_examples=20)
@given(
    NAMES,
    st.fixed_dictionaries({cell: st.integers(0, 999) for cell in ("tn", "fp", "fn", "tp")}),
    st.dictionaries(st.sampled_from(["accuracy", "f1", "mcc", "auc"]), SHARES, min_size=1),
)
def test_any_audit_comes_back(name, cells, reported) -> None:
    numbers = {key: f"{value:.3f}" for key, value in reported.items()}
    comes_back(document_of(audit({"name": name, "confusion": cells, "reported": numbers})))


@settings(max_examples=20)
@given(
    st.lists(
        st.builds(
            CheckFinding,
            code=st.just("L001"),
            severity=st.sampled_from(["info", "warning", "leak"]),
            message=NAMES,
            columns=st.lists(NAMES, max_size=2).map(tuple),
            evidence=st.dictionaries(NAMES, st.none() | st.floats() | NAMES, max_size=2),
        ),
        max_size=3,
    ),
    st.lists(NAMES, min_size=2, max_size=2, unique=True),
)
def test_any_check_comes_back(findings, labels) -> None:
    comes_back(
        document_of(replace(test_check.example(), findings=tuple(findings), notes=tuple(labels)))
    )


@settings(max_examples=10)
@given(NAMES, st.dictionaries(NAMES, st.none() | st.integers() | NAMES, max_size=3), NAMES)
def test_any_training_comes_back(recipe, given_, note) -> None:
    training = document("training: forest by folds").result
    changed = replace(
        training.training, recipe=recipe, settings=given_, set_otherwise=tuple(given_)
    )
    notes = replace(training.evaluation, notes=(note,))
    comes_back(document_of(replace(training, training=changed, evaluation=notes)))
