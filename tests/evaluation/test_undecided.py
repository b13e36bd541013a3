"""Scores without a scale and without a threshold: everything that needs none, and why no more."""

import json
import math
from collections.abc import Callable
from typing import Any

import jsonschema
import numpy as np
import pytest

import assay
from assay.cli.app import run
from assay.errors import AssayError, InputError, MethodError, ScoreError, TallyError
from assay.evaluation.judge import NO_DECISIONS, needs_decisions
from assay.measures import CATALOGUE
from assay.report import document_of, draw
from assay.report.document import FORMATS, schema_of
from assay.tally import from_bytes

OF_SCORES = {measure.name for measure in CATALOGUE if measure.of_scores is not None}
DRAWN = np.random.default_rng(5)
TRUTH = ["attack" if i % 3 == 0 else "normal" for i in range(300)]
LOGITS = DRAWN.normal(size=300) + 1.4 * np.array([t == "attack" for t in TRUTH])
OTHER = LOGITS + DRAWN.normal(size=300)
SITES = ["a" if i % 2 else "b" for i in range(300)]
HOSTS = [f"h{i % 20}" for i in range(300)]
SCALES: dict[str, Callable[[Any], Any]] = {
    "logits": lambda s: s,
    "percentages": lambda s: 100 / (1 + np.exp(-s)),
    "distances": lambda s: np.exp(s / 4) * 300,
    "negative": lambda s: s - 20,
}
GIVEN: dict[str, dict[str, Any]] = {
    "plain": {},
    "slices": {"slices": {"family": SITES, "site": SITES}, "family": "family"},
    "clusters": {"clusters": HOSTS},
    "weights": {"sample_weight": [0.5, 2.0, 1.5] * 100},
    "counts": {"counts": [1, 2, 3] * 100},
    "base rate": {"base_rate": 0.001, "volume": 1e6},
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("scale", SCALES)
def test_what_needs_no_threshold_is_as_with_one(scale: str, given: str) -> None:
    scores = SCALES[scale](LOGITS)
    evaluation = assay.evaluate(TRUTH, y_score=scores, **GIVEN[given])
    with_one = assay.evaluate(TRUTH, y_score=scores, threshold=scores[7], **GIVEN[given])
    assert not evaluation.decided
    assert evaluation.tally.threshold is None
    for entry, other in zip(evaluation.entries, with_one.entries, strict=True):
        if not math.isnan(entry.estimate):
            assert entry.estimate == other.estimate
        elif not math.isnan(other.estimate):
            assert entry.estimate.undefined == NO_DECISIONS
    for name in ("roc_auc", "average_precision", "partial_auc", "prevalence"):
        assert not math.isnan(evaluation[name])
    assert evaluation.curves.sweep.tp.tolist() == with_one.curves.sweep.tp.tolist()


def test_every_measure_of_decisions_has_the_reason() -> None:
    evaluation = assay.evaluate(TRUTH, y_score=LOGITS)
    for measure in CATALOGUE:
        if measure.formula is not None and measure.name != "prevalence":
            assert needs_decisions(measure.formula)
            assert evaluation[measure.name].undefined == NO_DECISIONS
    with pytest.raises(MethodError, match="no confusion matrix"):
        _ = evaluation.confusion
    assert assay.precision(TRUTH, y_score=LOGITS).undefined == NO_DECISIONS
    assert evaluation.deployment == ()


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([-3.0, 2.0], "say threshold=0 if these are logits"),
        ([0.0, 98.0], "say threshold=50 if these are percentages"),
        ([2.0, 900.0], "say threshold=, the score from which on a row is flagged"),
        ([0.0, 7.0], "say threshold=, the score from which on a row is flagged"),
        ([-9.0, -1.0], "say threshold=, the score from which on a row is flagged"),
        ([0.5, 100.5], "say threshold=, the score from which on a row is flagged"),
    ],
)
def test_the_note_tells_the_range_and_the_likely_threshold(scores: list[float], said: str) -> None:
    notes = assay.evaluate(["normal", "attack"], y_score=scores).notes
    assert [note for note in notes if said in note and f"{scores[0]:g} to {scores[1]:g}" in note]


def test_with_a_threshold_or_decisions_nothing_is_missing() -> None:
    decisions = ["attack" if score > 0 else "normal" for score in LOGITS]
    for given in ({"threshold": 0.0}, {"y_pred": decisions}):
        evaluation = assay.evaluate(TRUTH, y_score=LOGITS, **given)
        assert evaluation.decided
        assert not math.isnan(evaluation["recall"])
        assert not any("threshold was given" in note for note in evaluation.notes)


@pytest.mark.parametrize("given", GIVEN)
def test_no_finding_is_about_decisions_that_were_not_made(given: str) -> None:
    few = ["attack"] * 5 + ["normal"] * 295
    evaluation = assay.evaluate(few, y_score=LOGITS, **GIVEN[given])
    assert {finding.code for finding in evaluation.findings} <= {"E001", "E002"}
    assert [f.code for f in assay.evaluate(TRUTH, y_score=-LOGITS).findings] == ["E001"]


# -- what is shown ---------------------------------------------------------------------------------


@pytest.mark.sampled(14)
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("face", FORMATS)
def test_every_face_shows_the_ranking_and_the_reason_once(face: str, given: str) -> None:
    document = document_of(assay.evaluate(TRUTH, y_score=LOGITS, **GIVEN[given]))
    text = " ".join(draw(document, face).split())
    if face == "csv":
        return
    assert text.count("no threshold was given, so no row is decided on") == 1
    assert text.count("Ranks attacks above others in") == 1
    if face == "json":
        plain = json.loads(text)
        assert plain["confusion"] is None
        assert plain["threshold"] is None
        assert [entry["support"] for entry in plain["per_class"]] == _supports(given)
        jsonschema.Draft202012Validator(schema_of("assay.evaluation/1")).validate(plain)
        return
    titles = [section.title for section in document.report.sections]
    assert titles == ["Main results", "At low false positive rates"]
    if face != "html":
        assert "undefined" not in text
    else:
        assert "No threshold was given: the page begins at 0" in text
        assert '"threshold": 0' in text or '"threshold":0' in text


def _supports(given: str) -> list[float]:
    amounts = GIVEN[given].get("sample_weight") or GIVEN[given].get("counts") or [1] * 300
    both: dict[str, float] = {"normal": 0, "attack": 0}
    for label, amount in zip(TRUTH, amounts, strict=True):
        both[label] += amount
    return list(both.values())


def test_the_page_begins_in_the_middle_where_nothing_is_likely() -> None:
    panel = document_of(
        assay.evaluate(["normal", "attack"] * 9, y_score=[2.0, 900.0] * 9)
    ).report.panel
    assert panel is not None
    assert (panel.threshold, panel.given, panel.decided) == (451.0, False, (9, 0, 0, 9))


def test_the_page_of_clusters_begins_without_intervals() -> None:
    panel = document_of(assay.evaluate(TRUTH, y_score=LOGITS, clusters=HOSTS)).report.panel
    assert panel is not None
    assert panel.clustered
    assert not panel.shown_at
    assert all(math.isnan(e.low) for estimate in panel.deployed.values() for e in estimate.values())


@pytest.mark.parametrize("given", GIVEN)
def test_text_and_notebooks_show_it(given: str) -> None:
    evaluation = assay.evaluate(TRUTH, y_score=LOGITS, **GIVEN[given])
    for text in (repr(evaluation), evaluation._repr_html_()):
        assert "roc_auc" in text or "ROC AUC" in text
        assert "recall" not in text
        assert "threshold=0 if these are logits" in text.replace("&#x27;", "'")


@pytest.mark.usefixtures("blank_pages")
def test_figures_are_the_curves(tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    evaluation = assay.evaluate(TRUTH, y_score=LOGITS, slices={"site": SITES})
    drawn = {path.stem for path in evaluation.plot.save(tmp_path, formats=["svg"])}
    curves = {"roc", "precision_recall", "far_dr", "thresholds", "det", "gain", "lift_curve"}
    assert drawn == curves | {"precision_recall_gain", "hull", "cost", "scores"}


# -- tallies ---------------------------------------------------------------------------------------


def test_tallies_without_decisions_add_and_are_kept() -> None:
    halves = [
        assay.count(TRUTH[rows], y_score=LOGITS[rows]) for rows in (slice(150), slice(150, 300))
    ]
    total = halves[0] + halves[1]
    assert total == assay.count(TRUTH, y_score=LOGITS)
    assert from_bytes(total.to_bytes()) == total
    assert not assay.Evaluation(from_bytes(total.to_bytes())).tally.decided
    for other, remedy in (
        ({"threshold": 0.0}, "with the same threshold="),
        ({"y_pred": TRUTH}, "one counted decisions and the other did not"),
    ):
        with pytest.raises(TallyError, match=remedy):
            _ = total + assay.count(TRUTH, y_score=LOGITS, **other)


# -- files and comparisons -------------------------------------------------------------------------


def test_rows_without_a_label_need_a_threshold(tmp_path: Any) -> None:
    path = tmp_path / "p.csv"
    path.write_text("label,score\nattack,3\nnormal,-1\n,2\n")
    request = assay.sources.files.Request(unlabelled=True)
    with pytest.raises(ScoreError, match="say threshold="):
        assay.evaluate_files(path, request)
    assert assay.evaluate_files(path, request, threshold=0).unlabelled is not None


@pytest.mark.parametrize("clusters", [None, HOSTS])
def test_models_are_compared_by_their_scores(clusters: Any) -> None:
    models = {"old": LOGITS, "new": OTHER}
    comparison = assay.compare(TRUTH, scores=models, clusters=clusters, resamples=100)
    with_one = assay.compare(TRUTH, scores=models, threshold=0, clusters=clusters, resamples=100)
    kept = [d for d in with_one.differences if d.measure in OF_SCORES]
    assert list(comparison.differences) == kept
    assert comparison.verdicts == with_one.verdicts
    assert [t.test for t in comparison.tests] == ([] if clusters else ["delong"])
    assert (comparison.thresholds, comparison.flips) == ({}, ())
    for name in models:
        assert any(f"scores of {name!r} run from" in note for note in comparison.notes)
    assert any("McNemar" in note and "left out" in note for note in comparison.notes)
    with pytest.raises(InputError, match="without a threshold"):
        comparison.flipped()


def test_one_model_without_decisions_is_enough() -> None:
    shares = 1 / (1 + np.exp(-LOGITS))
    comparison = assay.compare(
        TRUTH, scores={"p": shares, "raw": OTHER, "third": LOGITS}, resamples=100
    )
    assert {d.measure for d in comparison.differences} <= OF_SCORES
    assert not any("scores of 'p'" in note for note in comparison.notes)
    mixed = {"raw": 0.0, "third": 0.0, "p": 0.5}
    full = assay.compare(
        TRUTH,
        scores={"p": shares, "raw": OTHER, "third": LOGITS},
        threshold=mixed,
        resamples=100,
    )
    assert "recall" in {d.measure for d in full.differences}


@pytest.mark.parametrize("face", FORMATS)
def test_every_face_of_a_comparison_says_why(face: str) -> None:
    comparison = assay.compare(TRUTH, scores={"old": LOGITS, "new": OTHER}, resamples=100)
    text = " ".join(draw(document_of(comparison), face).split())
    assert "roc_auc" in text or "ROC AUC" in text
    if face != "csv":
        assert text.count("only scores are compared") == 1


def test_the_command_line_names_its_option(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    rows = zip(TRUTH, LOGITS, OTHER, strict=True)
    path.write_text("label,score,b\n" + "".join(f"{t},{s},{o}\n" for t, s, o in rows))
    assert run(["evaluate", str(path), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert "--threshold 0 if these are logits" in out
    assert "threshold=" not in out
    assert "--threshold 0 if these are logits" in err
    both = ["--label", "label", "--model", "a=score", "--model", "b=b"]
    assert run(["compare", str(path), *both, "--format", "json"]) == 0
    out, _ = capsys.readouterr()
    assert "--threshold 0 if these are logits" in out
    assert "threshold=" not in out
    flips = ["--flips", str(tmp_path / "flips.csv")]
    assert run(["compare", str(path), *both, *flips]) == 3


def test_a_gate_still_asks_for_a_threshold() -> None:
    with pytest.raises(AssayError, match="threshold"):
        assay.gate(TRUTH, new=LOGITS, rules="new(recall) >= 0.1")
    assert assay.gate(TRUTH, new=LOGITS, rules="new(roc_auc) >= 0.1").outcome.value == "pass"
