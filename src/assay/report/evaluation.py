"""The document of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.evaluation.deployment import reading
from assay.evaluation.entries import per_label
from assay.evaluation.kept import bound_text, bounds_note
from assay.evaluation.labelled_alerts import NOT_LABELLED, alerts_only
from assay.evaluation.snapshot import Snapshot
from assay.evaluation.words import listed
from assay.inference import Estimate, Significance
from assay.measures import AVERAGES, RECALL, Needs, catalogue, find, parse
from assay.measures.measure import spoken
from assay.measures.shown import (
    ADVANCED,
    AVERAGED,
    FURTHER,
    MAIN,
    OF_ALERTS,
    PER_CLASS,
    PER_CLASS_OF_MANY,
    of_scores,
)
from assay.report import deployment, over_time, slices
from assay.report.chance import own_tests
from assay.report.headline import headline, largest_confusions
from assay.report.names import name
from assay.report.numbers import count, daily, p_value
from assay.report.refused import refused_rows
from assay.report.sections import (
    Cell,
    Column,
    Kind,
    Matrix,
    Prose,
    Report,
    Section,
    Table,
    Tier,
)
from assay.report.words import matrix_caption, measure_name, plural, quoted

_MEASURE_COLUMNS = (
    Column("measure"),
    Column("estimate", Kind.SHARE),
    Column("reading"),
    Column("method", optional=True),
    Column("n", Kind.COUNT, optional=True),
)
# Between which values a measure lies for sure, where scores are kept as a grid.
_BOUND = Column("bound", optional=True)
_LOW = "At low false positive rates"
# So many of the most frequent errors are listed, and so many classes.
_CONFUSIONS, _CLASSES = 10, 50


def report_of(evaluation: Snapshot) -> Report:
    """What a report says of an evaluation."""
    from assay.report.panel import panel_of

    tests = own_tests(evaluation)
    return Report(
        title=f"Evaluation of {name(evaluation.source['name'])}",
        headline=headline(evaluation),
        sections=(
            *(_of_decisions(evaluation) if evaluation.decided else _of_ranks(evaluation)),
            *_tests(tests),
            *refused_rows(evaluation.source),
        ),
        findings=evaluation.findings,
        notes=(*evaluation.notes, *bounds_note(evaluation, evaluation.bits)),
        panel=panel_of(evaluation),
        records=tuple(evaluation.records()),
        plain={"tests": [test.to_dict() for test in tests]},
    )


def _of_decisions(evaluation: Snapshot) -> tuple[Section, ...]:
    return (
        _matrix(evaluation),
        *_measures(evaluation),
        *_low_rates(evaluation),
        *deployment.sections(evaluation),
        *deployment.top_alerts(evaluation),
        *slices.sections(evaluation),
        *over_time.sections(evaluation),
        *_classes(evaluation),
        *_rates(evaluation),
    )


def _of_ranks(evaluation: Snapshot) -> tuple[Section, ...]:
    """What scores without a threshold tell; why there is no more stands among the notes."""
    shown = tuple(key for key in of_scores() if not math.isnan(evaluation[key]))
    table = _table(evaluation, shown or of_scores()[:1])
    return (
        Section("Main results", (table,), Tier.MAIN),
        *_low_rates(evaluation),
        *deployment.top_alerts(evaluation),
        *over_time.sections(evaluation),
    )


# -- measures --------------------------------------------------------------------------------------


def _matrix(evaluation: Snapshot) -> Section:
    confusion = evaluation.confusion
    caption = matrix_caption(weighted=confusion.weighted)
    if evaluation.unlabelled is not None:
        caption += "; only rows that have a label"
    matrix = Matrix(caption, confusion.labels, confusion.cells)
    errors = largest_confusions(evaluation)
    if evaluation.positive is not None or not errors:
        return Section("Confusion matrix", (matrix,), Tier.APPENDIX)
    columns = (
        Column("truth"),
        Column("decision"),
        Column("rows", Kind.COUNT),
        Column("share of the truth", Kind.SHARE),
    )
    rows = tuple(
        (confusion.labels[i], confusion.labels[j], rows, rows / confusion.rows[i])
        for rows, i, j in errors[:_CONFUSIONS]
    )
    table = Table("The most frequent confusions", columns, rows)
    return Section("Confusion matrix", (matrix, table), Tier.APPENDIX)


def _measures(evaluation: Snapshot) -> tuple[Section, ...]:
    if alerts_only(evaluation):
        return (_of_alerts(evaluation),)
    binary = evaluation.positive is not None
    main, advanced = MAIN.of(binary=binary), ADVANCED.of(binary=binary)
    if evaluation.ranked is None:
        advanced = tuple(key for key in advanced if parse(key)[0].of_scores is None)
    if not evaluation.open_set:
        advanced = tuple(key for key in advanced if parse(key)[0].needs is not Needs.OPEN_SET)
    if evaluation.costs is not None:
        costs = (m.name for m in catalogue.CATALOGUE if m.of_costs is not None)
        advanced = (*advanced, *costs)
    return (
        Section("Main results", (_table(evaluation, main),), Tier.MAIN),
        Section("Advanced results", (_table(evaluation, advanced),), Tier.ADVANCED),
    )


def _low_rates(evaluation: Snapshot) -> tuple[Section, ...]:
    """The detection rate where false positives are as rare as they have to be."""
    if not evaluation.low_rates or alerts_only(evaluation):
        return ()
    columns = (
        Column("false positive rate, at most", Kind.SHARE),
        Column("detection rate", Kind.SHARE),
        Column("threshold"),
        Column("false positives allowed", Kind.COUNT),
    )
    rows: list[tuple[Cell, ...]] = []
    beyond = []
    for each in evaluation.low_rates:
        found = evaluation[each.measure]
        if math.isnan(found):
            beyond.append(f"{each.max_fpr:g}")
            continue
        threshold = "nothing flagged" if each.threshold is None else f"{each.threshold:.6g}"
        rows.append((f"{each.max_fpr:g}", found, threshold, each.allowed))
    assert evaluation.ranked is not None  # noqa: S101 - low rates are of scores
    negatives, positives = evaluation.ranked
    if not (negatives and positives):
        return ()
    said = f"{count(negatives)} negatives resolve false positive rates down to {1 / negatives:.2g}"
    if beyond:
        said += f", so that {listed(beyond)} can't be told"
    if not rows:
        return (Section(_LOW, (Prose(f"{said}."),), Tier.ADVANCED),)
    caption = f"{100 * evaluation.level:.10g}% intervals"
    table = Table(caption, columns, tuple(rows), (f"{said}.",))
    return (Section(_LOW, (table,), Tier.ADVANCED),)


def _of_alerts(evaluation: Snapshot) -> Section:
    """What labelled alerts tell by themselves, and why there is no more."""
    table = _table(evaluation, OF_ALERTS)
    said = [Prose(f"Everything else is undefined: {NOT_LABELLED}.")]
    if evaluation.volume is not None:
        alerts = daily(evaluation["alerts_per_day"])
        rows = count(evaluation.volume)
        said.insert(0, Prose(f"In {rows} rows a day that is {alerts} alerts a day."))
    return Section("Main results", (table, *said), Tier.MAIN)


def _table(evaluation: Snapshot, keys: tuple[str, ...]) -> Table:
    caption = f"{100 * evaluation.level:.10g}% intervals"
    if evaluation.positive is not None:
        caption += f"; the positive is {quoted(evaluation.positive)}"
    shown: dict[str, Estimate] = {}
    for key in keys:
        shown[key] = evaluation[key]
        if f"{key}_defined" in evaluation:
            shown[f"{key}_defined"] = evaluation[f"{key}_defined"]
    reasons = [found.undefined for found in shown.values() if found.undefined]
    # A reason that all share is told once.
    shared = reasons[0] if len(reasons) > 2 and len(set(reasons)) == 1 else None
    rows = tuple(_row(evaluation, key, found, shared) for key, found in shown.items())
    notes = () if shared is None else (f"Undefined: {shared}.",)
    columns: tuple[Column, ...] = _MEASURE_COLUMNS
    if any(found.bound is not None for found in shown.values()):
        columns = (*columns[:2], _BOUND, *columns[2:])
        bounds = map(bound_text, shown.values())
        rows = tuple((*row[:2], text, *row[2:]) for row, text in zip(rows, bounds, strict=True))
    return Table(caption, columns, rows, (*notes, *_without_interval(shown)))


def _without_interval(shown: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Why values stand alone: each reason once, with the measures that it holds for."""
    reasons: dict[str, list[str]] = {}
    for key, found in shown.items():
        if found.note is not None and not math.isnan(found) and math.isnan(found.low):
            measure, average = parse(key)
            why = found.note.partition(";")[0]
            reasons.setdefault(why, []).append(measure_name(measure.name, average))
    return tuple(f"{listed(names)}: {why}." for why, names in reasons.items())


def _row(evaluation: Snapshot, key: str, found: Estimate, shared: str | None) -> tuple[Cell, ...]:
    """A measure with what its value means, or why it has none."""
    measure, average = parse(key)
    called = measure_name(measure.name, average)
    said = reading(evaluation, measure, found)
    if math.isnan(found):
        said = "" if found.undefined == shared else found.undefined or ""
    return (called, found, said, found.method, found.n)


# -- the appendix ----------------------------------------------------------------------------------


def _classes(evaluation: Snapshot) -> tuple[Section, ...]:
    measures = [find(measure) for measure in PER_CLASS]
    shown = [per_label(evaluation, measure) for measure in measures]
    columns = (
        Column("class"),
        Column("rows", Kind.COUNT),
        *(Column(head, Kind.COUNT, optional=True) for head in ("TP", "FP", "FN", "TN")),
        *(Column(spoken(measure.name), Kind.SHARE) for measure in measures),
    )
    rows: list[tuple[Cell, ...]] = []
    for i, label in enumerate(evaluation.labels):
        cells = evaluation.confusion.one_versus_rest(i)
        counts = (cells[key] for key in ("TP", "FP", "FN", "TN"))
        shares = (found[label] for found in shown)
        rows.append((label, evaluation.confusion.rows[i], *counts, *shares))
    order = [shown[measures.index(RECALL)][label] for label in evaluation.labels]
    ranks = sorted(range(len(rows)), key=lambda i: (math.isnan(order[i]), float(order[i]), i))
    left = max(len(rows) - _CLASSES, 0)
    notes = (f"{count(left)} more {plural(left, 'class', 'classes')} are not shown.",) * bool(left)
    kept = tuple(rows[i] for i in ranks[:_CLASSES])
    table = Table("Each class against the rest, worst recall first", columns, kept, notes)
    if evaluation.positive is not None:
        return (Section("Per class", (table,), Tier.APPENDIX, detail=True),)
    tables = (table, _rates_of_classes(evaluation, ranks[:_CLASSES]))
    return (_averages(evaluation), Section("Per class", tables, Tier.APPENDIX))


def _rates_of_classes(evaluation: Snapshot, order: list[int]) -> Table:
    """What else is told of each class against the rest, in the same order."""
    shown = {find(measure): per_label(evaluation, find(measure)) for measure in PER_CLASS_OF_MANY}
    # Without probabilities there is no ranking.
    shown = {measure: found for measure, found in shown.items() if _known(found)}
    columns = (Column("class"), *(Column(m.short, Kind.SHARE) for m in shown))
    labels = [evaluation.labels[i] for i in order]
    rows: list[tuple[Cell, ...]] = [
        (label, *(found[label] for found in shown.values())) for label in labels
    ]
    caption = f"Rates of each class against the rest, {100 * evaluation.level:.10g}% intervals"
    return Table(caption, columns, tuple(rows))


def _known(found: Mapping[str, Estimate]) -> bool:
    return any(not math.isnan(estimate) for estimate in found.values())


def _averages(evaluation: Snapshot) -> Section:
    """Each measure of a class in all of its averages, side by side."""
    columns = (Column("measure"), *(Column(average, Kind.SHARE) for average in AVERAGES))
    rows: list[tuple[Cell, ...]] = [
        (spoken(key), *(evaluation[f"{key}.{average}"] for average in AVERAGES)) for key in AVERAGED
    ]
    caption = f"Averages over the classes, {100 * evaluation.level:.10g}% intervals"
    note = "Micro precision, recall and F1 are the accuracy: each row is decided once."
    return Section("Averages", (Table(caption, columns, tuple(rows), (note,)),), Tier.APPENDIX)


def _rates(evaluation: Snapshot) -> tuple[Section, ...]:
    """Every measure of decisions that is not among the results above."""
    if evaluation.positive is None:
        return ()
    said = {*MAIN.two, *ADVANCED.two}
    if evaluation.costs is not None:
        said |= {m.name for m in catalogue.CATALOGUE if m.of_costs is not None}
    others = [m for m in catalogue.CATALOGUE if m.of_scores is None and m.name not in said]
    # One-sided ones come first, as in the JSON document.
    others.sort(key=lambda measure: measure.symmetric)
    scores = FURTHER if evaluation.ranked is not None else ()
    table = _table(evaluation, (*(measure.name for measure in others), *scores))
    return (Section("Further rates", (table,), Tier.APPENDIX, detail=True),)


def _tests(tests: tuple[Significance, ...]) -> tuple[Section, ...]:
    if not tests:
        return ()
    columns = (
        Column("test"),
        Column("statistic", Kind.SHARE),
        Column("p"),
        Column("method", optional=True),
    )
    called = {
        "accuracy_against_majority": "accuracy above the largest class's share",
        "mcnemar_errors": "McNemar, false positives against false negatives",
    }
    rows = tuple((called[t.test], t.statistic, p_value(t.p), t.method) for t in tests)
    table = Table("Of this model by itself", columns, rows)
    said = tuple(Prose(test.sentence) for test in tests)
    return (Section("Tests", (table, *said), Tier.APPENDIX, detail=True),)
