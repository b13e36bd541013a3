"""A gate on what is not in columns: files, and evaluations that were made already."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.v02.decisions.gate_rules import (
    Gate,
    JudgedRule,
    gate,
    judged_rules,
    must_have_models,
    resamples_for,
    verdict,
)
from assay.v02.decisions.gate_tallies import GateTallies, ModelTallies, counted_gate
from assay.v02.decisions.rule import NEW, OLD, Rule
from assay.v02.decisions.rule_grammar import Rules, parsed_rules
from assay.v02.engines.models import MOST_ROWS
from assay.errors import InputError, MethodError
from assay.v02.evaluation.deployment import daily
from assay.v02.evaluation.wording import keeping
from assay.v02.inference import Estimate
from assay.v02.inference.bootstrap import SEED
from assay.v02.inference.significance import check_level
from assay.v02.inference.threshold_rules import AtThreshold
from assay.v02.sources import FAMILY
from assay.v02.sources.files import (
    MatchedRows,
    Model,
    Progress,
    Request,
    Rows,
    read_models,
    silent,
    typed,
)
from assay.v02.sources.files.inputs import STDIN
from assay.v02.sources.files.request import RowSource, must_read, refused_row, request_of
from assay.v02.sources.files.several_models import ModelReading
from assay.v02.tally.keeping import AUTO, Exact, Grid

if TYPE_CHECKING:
    from assay.v02.evaluation import Evaluation


# Judges the rows that were read, given the arguments of a gate.
RowsJudge: TypeAlias = Callable[[MatchedRows, dict[str, Any]], Gate]


def gate_files(
    file: str,
    request: Request | None = None,
    *,
    rules: Rules,
    score: str,
    baseline: str | None = None,
    baseline_score: str | None = None,
    id_column: str | None = None,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    threshold: float | None = None,
    baseline_threshold: float | None = None,
    level: float = 0.95,
    joint: bool = False,
    resamples: int | None = None,
    seed: int = SEED,
    mode: str = AUTO,
    progress: Progress = silent,
    resampling: Callable[[int, int], None] | None = None,
    judge: RowsJudge | None = None,
) -> Gate:
    r"""Judge the predictions of a file by rules, beside those of a baseline on the same rows.

    The baseline is another file, matched by ``id_column``, or another column of the same file.
    A column whose values are all labels holds decisions instead of scores. ``judge`` takes the
    place of :func:`assay.gate`, for rules about a model whose rows are elsewhere; the rows are kept
    in memory then. ``mode`` is that of :func:`assay.gate`.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "new.csv")
    ...     _ = path.write_text("label,score\n" + "attack,0.9\nnormal,0.2\n" * 50)
    ...     gate_files(str(path), score="score", rules="new(recall) >= 0.9").outcome.value
    'pass'
    """
    request = request_of(request)
    must_read("a gate", request, "label", "score", "family", "count", "cluster")
    sides = {"positive": positive, "negative": negative, "labels": labels}
    models = [Model(NEW, score, file)]
    if baseline is not None or baseline_score is not None:
        models.append(Model(OLD, baseline_score or score, file if baseline is None else baseline))
    thresholds = {NEW: threshold, OLD: baseline_threshold}
    options: dict[str, Any] = {
        "joint": joint,
        "resamples": resamples,
        "seed": seed,
        "progress": resampling,
    }
    rows: Rows | None = None
    here = all(model.file == file for model in models) and file != STDIN
    if mode == Grid.name and judge is not None:
        raise InputError(
            "mode='grid' counts rows and lets them go, and a run as the baseline needs them, as do "
            "rows that are to be kept. Leave mode= out"
        )
    counted = mode != Exact.name and id_column is None and request.cluster is None
    if here and counted and judge is None:
        asked = replace(request, score=None, decision=None, probabilities={})
        reading = ModelReading(
            [file],
            replace(asked, probability_pattern=None),
            [replace(model, file=None) for model in models],
            progress,
        )
        rows = reading.few(0 if mode == Grid.name else MOST_ROWS)
        if rows is None:
            judged = _of_lots(
                reading, parsed_rules(rules), sides, thresholds, check_level(level), options
            )
            return replace(
                judged,
                source=_source(reading.source, None),
                notes=(*reading.source.notes, *judged.notes),
            )
    matched = read_models(
        [file],
        request,
        models,
        id_column=id_column,
        labels=[str(label) for label in labels or ()],
        progress=progress,
        rows=rows,
    )
    if matched.probabilities:
        raise InputError(
            f"a gate judges one score or decision a row; {score!r} names a probability a class. "
            f"Name the column of the positive label"
        )
    columns = dict(matched.columns)
    sliced = columns.get("slices", {})
    family = matched.family or FAMILY
    given: dict[str, Any] = dict(
        y_true=columns["y_true"],
        rules=rules,
        new=matched.scores.get(NEW),
        old=matched.scores.get(OLD),
        new_decision=matched.decisions.get(NEW),
        old_decision=matched.decisions.get(OLD),
        **typed(columns["y_true"].kind, **sides),
        families=sliced.get(family),
        clusters=columns.get("clusters"),
        counts=columns.get("counts"),
        threshold=thresholds[NEW],
        old_threshold=thresholds[OLD],
        level=level,
        **options,
    )
    judged = gate(**given, mode=mode) if judge is None else judge(matched, given)
    source = _source(matched, matched.files[0] if matched.files else None)
    return replace(judged, source=source, notes=(*matched.notes, *judged.notes))


def _of_lots(
    reading: ModelReading,
    rules: Sequence[Rule],
    sides: Mapping[str, Any],
    thresholds: Mapping[str, float | None],
    level: float,
    options: Mapping[str, Any],
) -> Gate:
    """Judge rows that are counted while they are read, and let go."""
    must_have_models(rules, reading.models)
    tallies, each = counted_gate(
        reading.lots,
        reading.models,
        rules,
        lambda kind: typed(kind, **sides),
        thresholds,
        level,
    )
    return judged_rules(tallies, each, **options)


def _source(rows: Rows | MatchedRows, baseline: str | None) -> RowSource:
    return {
        "name": rows.name,
        "baseline": baseline,
        "rows_read": rows.rows_read,
        "rows_used": rows.rows_read - rows.rows_refused,
        "rows_refused": rows.rows_refused,
        "refused": [refused_row(refused) for refused in rows.refused],
        "chosen": dict(rows.chosen),
        "labels_sha256": rows.labels_sha256,
    }


# -- evaluations -----------------------------------------------------------------------------------


NOT_MATCHED = (
    "the two models were evaluated apart, so it is not known what both said of one row: the "
    "interval of a difference is as wide as those of both; assay.gate on the rows is narrower"
)
_BOTH = "both intervals"


def gate_evaluation(
    evaluation: Evaluation,
    *,
    rules: Rules,
    baseline: Evaluation | None = None,
    resamples: int | None = None,
    seed: int = SEED,
) -> Gate:
    """Judge rules on an evaluation of the new model, and on one of the old where rules need it.

    Rules that set no threshold are judged by the evaluation's own estimates: at its threshold, by
    its level and method, with its weights and clusters. The interval of a difference is as wide as
    those of both models together, since two evaluations do not tell what both said of one row.

    >>> from assay import evaluate
    >>> evaluation = evaluate(["attack", "normal"] * 200, y_score=[0.9, 0.1] * 200)
    >>> gate_evaluation(evaluation, rules="new(precision) >= 0.9").outcome.value
    'pass'
    """
    models = {NEW: evaluation} if baseline is None else {NEW: evaluation, OLD: baseline}
    for model, given in models.items():
        _check(model, given)
    notes = tuple(_notes(models))
    asked = parsed_rules(rules)
    for rule in asked:
        if OLD in rule.models and baseline is None:
            raise InputError(
                f"the rule {rule.text!r} needs the old model: say baseline=, its evaluation"
            )
    each = [one for rule in asked for one in _expanded(rule, evaluation)]
    draw = partial(judged_rules, resamples=resamples, seed=seed)
    judged = tuple(_judged_rule(rule, models, draw) for rule in each)
    negatives, positives = (round(rows) for rows in evaluation.tally.confusion.rows)
    source = {"name": evaluation.source.get("name", "evaluation")}
    if baseline is not None:
        source["baseline"] = baseline.source.get("name", "evaluation")
    return Gate(
        rules=judged,
        level=evaluation.level,
        rule_level=evaluation.level,
        joint=False,
        resamples=resamples_for(resamples, evaluation.level, drawn=False),
        seed=seed,
        labels=evaluation.labels,
        positive=evaluation.positive or "",
        rows={"rows": negatives + positives, "positives": positives, "negatives": negatives},
        notes=(*evaluation.notes, *notes),
        threshold=evaluation.tally.threshold,
    )


def _check(model: str, evaluation: Evaluation) -> None:
    """Refuse what is no evaluation of one positive label."""
    if not hasattr(evaluation, "judge"):
        raise InputError(
            f"the {model} model is given by an evaluation, as assay.evaluate makes one; found "
            f"{type(evaluation).__name__}"
        )
    if evaluation.positive is None:
        raise InputError(
            f"a gate judges one positive label, and there are {len(evaluation.labels)} classes: "
            f"evaluate with positive= or negative="
        )


def _notes(models: Mapping[str, Evaluation]) -> Iterator[str]:
    """What two evaluations have to share, and what should be said where they do not."""
    if OLD not in models:
        return
    new, old = models[NEW], models[OLD]
    if new.labels != old.labels:
        raise InputError(
            f"the new model was evaluated on the labels {list(new.labels)}, the old one on "
            f"{list(old.labels)}: evaluate both on the same rows"
        )
    if new.level != old.level:
        raise InputError(
            f"the new model was evaluated at the level {new.level:g}, the old one at "
            f"{old.level:g}: evaluate both with the same level="
        )
    yield NOT_MATCHED
    sizes = [each.tally.confusion.rows for each in (new, old)]
    if sizes[0] != sizes[1]:
        sizes_text = [f"{pos:,g} positives and {neg:,g} negatives" for neg, pos in sizes]
        yield (
            f"the models were evaluated on other rows: the new one on {sizes_text[0]}, the old one "
            f"on {sizes_text[1]}. A difference may be that of the rows"
        )


def _expanded(rule: Rule, evaluation: Evaluation) -> Iterator[Rule]:
    """The rule, or one a family of the evaluation's."""
    if rule.family is None and not rule.every_family:
        yield rule
        return
    families = [value for column, value in evaluation.slices if column == evaluation.family]
    if not families:
        raise InputError(
            f"the rule {rule.text!r} is about families: evaluate with slices= and family=, the "
            f"name of the one that holds them"
        )
    if rule.family is not None and rule.family not in families:
        raise InputError(
            f"no row is of the family {rule.family!r}; there are {', '.join(families)}"
        )
    has_positives = [
        value for value in families if evaluation.slices[evaluation.family or "", value].rows[1]
    ]
    yield from [rule] if rule.family is not None else map(rule.of_family, has_positives)


def _judged_rule(
    rule: Rule, models: Mapping[str, Evaluation], draw: Callable[..., Gate]
) -> JudgedRule:
    single = {
        model: _of_model(replace(rule, subject=NEW), models[model], draw) for model in rule.models
    }
    values = {model: float(judged.estimate) for model, judged in single.items()}
    thresholds = {model: judged.thresholds.get(NEW) for model, judged in single.items()}
    if rule.of_scores:
        thresholds = {}
    if rule.compares:
        estimate = _difference(rule, single[NEW].estimate, single[OLD].estimate)
    else:
        estimate = single[rule.subject].estimate
    return verdict(rule, estimate, values, thresholds)


def _of_model(rule: Rule, evaluation: Evaluation, draw: Callable[..., Gate]) -> JudgedRule:
    """One model by a rule: as the evaluation has it, or with a threshold of the rule's own."""
    tally = evaluation.tally
    same_threshold = tally.threshold is not None and rule.at == AtThreshold(tally.threshold)
    if rule.at is None or same_threshold or rule.of_scores:
        return verdict(rule, _of_evaluation(rule, evaluation), {}, {NEW: tally.threshold})
    missing = _missing(rule, evaluation)
    if missing is not None or tally.scores is None:
        raise MethodError(
            f"the rule {rule.text!r} sets a threshold of its own, and {missing}. Judge the rows "
            f"themselves: assay.gate(y_true, new=, old=, rules=)"
        )
    models = {NEW: ModelTallies(tally, tally.scores[0])}
    tallies = GateTallies(models, (), None, None, {NEW: None, OLD: None}, evaluation.level)
    return draw(tallies, [rule]).rules[0]


def _missing(rule: Rule, evaluation: Evaluation) -> str | None:
    """What an evaluation does not keep, and a threshold other than its own needs."""
    tally = evaluation.tally
    if tally.scores is None:
        return "the evaluation has decisions and no scores"
    if rule.family is not None:
        return "an evaluation counts families at its own threshold only"
    if evaluation.weighted or evaluation.strata is not None:
        return "the rows of the evaluation have weights"
    if tally.clusters is not None:
        return "the rows of the evaluation come in clusters"
    if evaluation.unlabelled is not None:
        return "the evaluation has rows without a label"
    if not isinstance(keeping(tally), Exact):
        return f"the scores of the evaluation were kept as {keeping(tally).name}"
    return None


def _of_evaluation(rule: Rule, evaluation: Evaluation) -> Estimate:
    """What the evaluation says itself."""
    judge, measure = evaluation.judge, rule.measure
    if measure is None:
        return daily(judge, rule.written, rule.volume or math.nan, rule.base_rate)
    if rule.family is not None:
        return judge.of_slice(measure, (evaluation.family or "", rule.family))
    suffix = rule.average or rule.label
    if rule.base_rate is not None:
        if suffix is not None and suffix != evaluation.positive:
            raise InputError(
                f"the rule {rule.text!r} is about {suffix!r}, and a base rate is the share of the "
                f"positive {evaluation.positive!r}"
            )
        return judge.at_base_rate(measure, rule.base_rate)
    return evaluation[measure.name if suffix is None else f"{measure.name}.{suffix}"]


def _difference(rule: Rule, new: Estimate, old: Estimate) -> Estimate:
    """New less old, with an interval that holds however the rows of both belong together.

    The spread of a difference is at most the sum of both spreads, so it reaches from the low end of
    the new model less the high end of the old one to the opposite.
    """
    for model, estimate in ((NEW, new), (OLD, old)):
        if math.isnan(estimate):
            why = f"of the {model} model: {estimate.undefined or 'it is undefined'}"
            return Estimate(math.nan, level=new.level, undefined=why)
    least, most = rule.range
    low, high = max(new.low - old.high, least), min(new.high - old.low, most)
    return Estimate(
        float(new) - float(old),
        low,
        high,
        method=_BOTH,
        n=new.n,
        level=new.level,
        note=None if math.isfinite(low) and math.isfinite(high) else "a model has no interval",
    )
