"""Models in one file: many rows are counted while they are read, and say the same."""

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.decisions.compare import comparing
from assay.decisions.compare.comparing import FileComparison, NoScores, compare_files
from assay.errors import InputError, LabelError, ScoreError
from assay.measures import RECALL, ROC_AUC, catalogue
from assay.sources.files import Model, Request, several_models
from assay.sources.files.inputs import STDIN

SIZE = 3000
MODELS = [Model("old", "a"), Model("new", "b")]
FORMULAS = {measure.name for measure in catalogue.CATALOGUE if measure.formula is not None}


def frame(size: int = SIZE) -> pl.DataFrame:
    generator = np.random.default_rng(3)
    truth = generator.random(size) < 0.3
    latent = generator.normal(size=size) + 1.5 * truth
    return pl.DataFrame(
        {
            "label": np.where(truth, np.where(latent > 1, "dos", "scan"), "benign"),
            "a": 1 / (1 + np.exp(1 - latent - generator.normal(0, 0.5, size))),
            "b": 1 / (1 + np.exp(1 - latent)),
            "n": generator.integers(0, 3, size),
            "kind": np.where(truth, np.where(latent > 1, "dos", "scan"), "-"),
        }
    )


@pytest.fixture(autouse=True)
def _many_lots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several_models, "LOT", 500)


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "scores.csv"
    frame().write_csv(file)
    return str(file)


def compared(path: str, mode: str, request: Request | None = None, **options) -> FileComparison:
    # Pieces of a few hundred rows, so that lots are many.
    request = request or Request(chunk_bytes=1 << 14)
    return compare_files([path], request, MODELS, mode=mode, negative="benign", **options)


def notes(comparison: FileComparison) -> set[str]:
    return {note for note in comparison.comparison.notes if not note.startswith("mode ")}


def test_rows_are_let_go_and_say_the_same(path: str) -> None:
    kept, counted = (compared(path, mode) for mode in ("exact", "grid"))
    assert kept.matched is not None
    assert counted.matched is None
    assert counted.comparison.mode == "grid"
    with pytest.raises(InputError, match="counted and let go"):
        counted.comparison.flipped()
    assert counted.comparison.flips == kept.comparison.flips
    assert counted.comparison.thresholds == kept.comparison.thresholds
    assert kept.rows_used == counted.rows_used == SIZE
    for difference in counted.comparison.differences:
        exact = kept.comparison.difference(difference.measure)
        if difference.measure in FORMULAS:
            assert difference == exact
        else:
            low, high = difference.difference.bound or (float(difference.difference),) * 2
            assert low <= float(exact.difference) <= high


def test_arrays_and_files_count_the_same(path: str) -> None:
    lots = compared(path, "grid")
    whole = compared(path, "grid", Request(id=None), keep_rows=True)
    assert whole.matched is not None
    assert lots.comparison.differences[0] == whole.comparison.differences[0]
    names = {difference.measure for difference in whole.comparison.differences}
    assert {difference.measure for difference in lots.comparison.differences} == names
    auc = [each.comparison.difference(ROC_AUC.name) for each in (lots, whole)]
    assert auc[0] == auc[1]


def test_few_rows_are_kept_by_themselves(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compared(path, "auto").comparison.mode == "exact"
    monkeypatch.setattr(comparing, "MOST_ROWS", SIZE - 1)
    assert compared(path, "auto").comparison.mode == "grid"
    monkeypatch.setattr(comparing, "MOST_ROWS", SIZE)
    assert compared(path, "auto").comparison.mode == "exact"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("rule", ["max-far=0.2", "max-fpr=0.05", "threshold=0.4"])
def test_a_rule_is_asked_of_the_counts(path: str, rule: str) -> None:
    kept, counted = (compared(path, mode, at=rule, resamples=200) for mode in ("exact", "grid"))
    for name in ("old", "new"):
        a, b = (each.comparison.thresholds[name] for each in (kept, counted))
        assert b == pytest.approx(a, rel=2**-15)
    a, b = (each.comparison.difference(RECALL.name).difference for each in (kept, counted))
    assert float(a) == pytest.approx(float(b), abs=2e-3)
    assert b.high - b.low == pytest.approx(a.high - a.low, rel=0.5)


def test_counts_and_families_are_counted(path: str) -> None:
    request = Request(count="n", family="kind", chunk_bytes=1 << 14)
    kept, counted = (compared(path, mode, request) for mode in ("exact", "grid"))
    assert counted.comparison.flips == kept.comparison.flips
    assert {flip.family for flip in counted.comparison.flips} >= {"-", "dos", "scan"}
    assert counted.comparison.difference(RECALL.name) == kept.comparison.difference(RECALL.name)
    assert notes(kept) <= notes(counted)


def test_standard_input_is_counted_once(path: str) -> None:
    content = Path(path).read_bytes()
    request = Request(input_format="csv")
    comparison, again = (
        compare_files(
            [STDIN],
            request,
            MODELS,
            mode="grid",
            negative="benign",
            stdin=io.BytesIO(content),
            **more,
        )
        for more in ({}, {"at": "max-far=0.2", "resamples": 50})
    )
    assert comparison.matched is None
    assert comparison.comparison.differences == compared(path, "grid").comparison.differences
    # A rule needs the rows twice.
    assert again.matched is not None


def test_scores_without_a_scale_are_not_decided_on(tmp_path: Path) -> None:
    file = tmp_path / "logits.csv"
    logits = frame().with_columns(pl.col("b").log() - (1 - pl.col("b")).log())
    logits.write_csv(file)
    comparison, kept = (compared(str(file), mode) for mode in ("grid", "exact"))
    assert comparison.comparison.thresholds == {}
    assert notes(kept) <= notes(comparison)
    decided = compared(str(file), "grid", threshold={"old": 0.5, "new": 0.0}).comparison
    assert decided.thresholds == {"old": 0.5, "new": 0.0}


@pytest.mark.parametrize("mode", ["grid", "exact"])
def test_a_threshold_of_no_model_is_refused(path: str, mode: str) -> None:
    with pytest.raises(InputError, match="names 'nwe', which is no model"):
        compared(path, mode, threshold={"old": 0.5, "nwe": 0.0})


def test_scores_that_are_no_numbers_are_left_out_and_listed(tmp_path: Path) -> None:
    file = tmp_path / "broken.csv"
    text = frame().write_csv().splitlines()
    text[700] = "benign,,0.5,1,-"
    text[900] = "benign,inf,0.5,1,-"
    file.write_text("\n".join(text) + "\n")
    with pytest.raises(ScoreError, match=r"line 701.*skip"):
        compared(str(file), "grid")
    skip = Request(on_bad_row="skip", chunk_bytes=1 << 14)
    kept, counted = (compared(str(file), mode, skip) for mode in ("exact", "grid"))
    assert counted.rows_used == kept.rows_used == SIZE - 2
    assert counted.rows.rows_refused == kept.rows.rows_refused == 2
    assert counted.rows.refused == kept.rows.refused
    assert counted.comparison.flips == kept.comparison.flips


def test_decisions_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "decided.csv"
    decided = frame().with_columns((pl.col(name) > 0.5).cast(pl.Int8) for name in ("a", "b"))
    decided.with_columns((pl.col("label") != "benign").cast(pl.Int8)).write_csv(file)
    with pytest.raises(InputError, match="keeps scores of two classes"):
        compare_files([str(file)], Request(), MODELS, mode="grid")
    with pytest.raises(NoScores, match="these models hold decisions"):
        compare_files([str(file)], Request(), MODELS, threshold=0.5)
    assert compare_files([str(file)], Request(), MODELS).comparison.mode == "exact"


def test_an_ambiguous_positive_is_asked_for(path: str) -> None:
    with pytest.raises(LabelError, match="'dos'"):
        compare_files([path], Request(chunk_bytes=1 << 14), MODELS, mode="grid", positive="worm")


def test_a_threshold_and_a_rule_are_too_much(path: str) -> None:
    with pytest.raises(InputError, match="not both"):
        compared(path, "grid", at="max-far=0.1", threshold=0.5)


def test_a_mode_that_is_not_known_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="auto, exact, grid; found 'cuts'"):
        compared(path, "cuts")


def test_a_column_of_ids_that_was_taken_as_scores_is_told(tmp_path: Path) -> None:
    ids = np.random.default_rng(6).permutation(9 * SIZE)[:SIZE]
    frame().with_columns(flow_id=pl.Series(ids)).write_csv(tmp_path / "flows.csv")
    models = [Model("old", "a"), Model("new", "flow_id")]
    path = str(tmp_path / "flows.csv")
    comparison = compare_files([path], Request(), models, negative="benign").comparison
    assert [finding.code for finding in comparison.findings if finding.mistake] == ["E021"]
    assert comparison.findings[0].message.startswith(
        "'new': Column 'flow_id' was taken as the score"
    )
