"""The document of an evaluation: its measures, classes and tests, and what its page moves."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from assay.v02.escaping import name, plural
from assay.v02.evaluation.deployment import ALERTS, NOT_LABELLED, alerts_only, reading
from assay.v02.evaluation.entries import DEFAULT_BASE_RATES, per_label
from assay.v02.evaluation.snapshot import EstimateRecord, Snapshot
from assay.v02.evaluation.wording import bounds_note, listed
from assay.v02.inference import Estimate, Significance, mcnemar
from assay.v02.measures import AVERAGES, RECALL, Measure, Needs, catalogue, find, parse
from assay.v02.measures.catalogue import (
    ADVANCED,
    AVERAGED,
    FURTHER,
    MAIN,
    MOVING,
    OF_ALERTS,
    PER_CLASS,
    PER_CLASS_OF_MANY,
    RANKED_AT_BASE_RATES,
    of_scores,
)
from assay.v02.measures.measure import spoken
from assay.v02.number_text import (
    about,
    bound_text,
    count,
    daily,
    exact_percent,
    p_text,
    p_value,
    percent,
    significant,
    threshold_text,
)
from assay.v02.report.headline import (
    USUAL_BASE_RATE,
    deployment_sections,
    headline,
    largest_confusions,
    top_alerts,
)
from assay.v02.report.sections import (
    BOUND,
    Cell,
    Column,
    Kind,
    Matrix,
    Panel,
    Prose,
    Report,
    Section,
    Table,
    Tier,
    matrix_caption,
    measure_name,
    quoted,
)
from assay.v02.report.slices import period_sections, refused_rows, slice_sections

_MEASURE_COLUMNS = (
    Column("measure"),
    Column("estimate", Kind.SHARE),
    Column("reading"),
    Column("method", optional=True),
    Column("n", Kind.COUNT, optional=True),
)
_LOW = "At low false positive rates"
# So many of the most frequent errors are listed, and so many classes.
_CONFUSIONS, _CLASSES = 10, 50


def report_of(evaluation: Snapshot) -> Report:
    """What a report says of an evaluation."""
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
        *deployment_sections(evaluation),
        *top_alerts(evaluation),
        *slice_sections(evaluation),
        *period_sections(evaluation),
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
        *top_alerts(evaluation),
        *period_sections(evaluation),
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
    bounds = any(evaluation[each.measure].bound is not None for each in evaluation.low_rates)
    columns = (
        Column("false positive rate, at most", Kind.SHARE),
        Column("detection rate", Kind.SHARE),
        *((BOUND,) if bounds else ()),
        Column("threshold"),
        Column("false positives allowed", Kind.COUNT),
    )
    rows: list[tuple[Cell, ...]] = []
    beyond = []
    for each in evaluation.low_rates:
        estimate = evaluation[each.measure]
        if math.isnan(estimate):
            beyond.append(f"{each.max_fpr:g}")
            continue
        threshold = "nothing flagged" if each.threshold is None else threshold_text(each.threshold)
        bound = (bound_text(estimate.bound),) if bounds else ()
        rows.append((f"{each.max_fpr:g}", estimate, *bound, threshold, each.allowed))
    negatives, positives = evaluation.ranked or (0, 0)
    if not (negatives and positives):
        return ()
    resolve = plural(negatives, "negative resolves", "negatives resolve")
    text = (
        f"{count(negatives)} {resolve} false positive rates down to {significant(1 / negatives, 2)}"
    )
    if beyond:
        text += f", so that {listed(beyond)} can't be told"
    if not rows:
        return (Section(_LOW, (Prose(f"{text}."),), Tier.ADVANCED),)
    caption = f"{exact_percent(evaluation.level)} intervals"
    table = Table(caption, columns, tuple(rows), (f"{text}.",))
    return (Section(_LOW, (table,), Tier.ADVANCED),)


def _of_alerts(evaluation: Snapshot) -> Section:
    """What labelled alerts tell by themselves, and why there is no more."""
    table = _table(evaluation, OF_ALERTS)
    sentences = [Prose(f"Everything else is undefined: {NOT_LABELLED}.")]
    if evaluation.volume is not None:
        alerts = daily(evaluation[ALERTS])
        rows = f"{count(evaluation.volume)} {plural(evaluation.volume, 'row', 'rows')}"
        sentences.insert(0, Prose(f"In {rows} a day that is {alerts} alerts a day."))
    return Section("Main results", (table, *sentences), Tier.MAIN)


def _table(evaluation: Snapshot, keys: tuple[str, ...]) -> Table:
    caption = f"{exact_percent(evaluation.level)} intervals"
    if evaluation.positive is not None:
        caption += f"; the positive is {quoted(evaluation.positive)}"
    shown = dict(evaluation.listed(keys))
    reasons = [estimate.undefined for estimate in shown.values() if estimate.undefined]
    # A reason that all share is told once.
    shared = reasons[0] if len(reasons) > 2 and len(set(reasons)) == 1 else None
    rows = tuple(_row(evaluation, key, estimate, shared) for key, estimate in shown.items())
    notes = () if shared is None else (f"Undefined: {shared}.",)
    columns: tuple[Column, ...] = _MEASURE_COLUMNS
    if any(estimate.bound is not None for estimate in shown.values()):
        columns = (*columns[:2], BOUND, *columns[2:])
        bounds = (bound_text(estimate.bound) for estimate in shown.values())
        rows = tuple((*row[:2], text, *row[2:]) for row, text in zip(rows, bounds, strict=True))
    return Table(caption, columns, rows, (*notes, *_without_interval(shown)))


def _without_interval(shown: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Why values stand alone: each reason once, with the measures that it holds for."""
    reasons: dict[str, list[str]] = {}
    for key, estimate in shown.items():
        if estimate.note is not None and not math.isnan(estimate) and math.isnan(estimate.low):
            measure, average = parse(key)
            why = estimate.note.partition(";")[0]
            reasons.setdefault(why, []).append(measure_name(measure.name, average))
    return tuple(f"{listed(names)}: {why}." for why, names in reasons.items())


def _row(
    evaluation: Snapshot, key: str, estimate: Estimate, shared: str | None
) -> tuple[Cell, ...]:
    """A measure with what its value means, or why it has none."""
    measure, average = parse(key)
    called = measure_name(measure.name, average)
    meaning = reading(evaluation, measure, estimate)
    if math.isnan(estimate):
        meaning = "" if estimate.undefined == shared else estimate.undefined or ""
    return (called, estimate, meaning, estimate.method, estimate.n)


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
        shares = (shares[label] for shares in shown)
        rows.append((label, evaluation.confusion.rows[i], *counts, *shares))
    order = [shown[measures.index(RECALL)][label] for label in evaluation.labels]
    ranks = sorted(range(len(rows)), key=lambda i: (math.isnan(order[i]), float(order[i]), i))
    hidden = max(len(rows) - _CLASSES, 0)
    notes = (f"{count(hidden)} more {plural(hidden, 'class', 'classes')} are not shown.",) * bool(
        hidden
    )
    first = tuple(rows[i] for i in ranks[:_CLASSES])
    table = Table("Each class against the rest, worst recall first", columns, first, notes)
    if evaluation.positive is not None:
        return (Section("Per class", (table,), Tier.APPENDIX, detail=True),)
    tables = (table, _rates_of_classes(evaluation, ranks[:_CLASSES]))
    return (_averages(evaluation), Section("Per class", tables, Tier.APPENDIX))


def _rates_of_classes(evaluation: Snapshot, order: list[int]) -> Table:
    """What else is told of each class against the rest, in the same order."""
    shown = {find(measure): per_label(evaluation, find(measure)) for measure in PER_CLASS_OF_MANY}
    # Without probabilities there is no ranking.
    shown = {measure: estimates for measure, estimates in shown.items() if _has_values(estimates)}
    columns = (Column("class"), *(Column(m.short, Kind.SHARE) for m in shown))
    labels = [evaluation.labels[i] for i in order]
    rows: list[tuple[Cell, ...]] = [
        (label, *(shares[label] for shares in shown.values())) for label in labels
    ]
    caption = f"Rates of each class against the rest, {exact_percent(evaluation.level)} intervals"
    return Table(caption, columns, tuple(rows))


def _has_values(estimates: Mapping[str, Estimate]) -> bool:
    return any(not math.isnan(estimate) for estimate in estimates.values())


def _averages(evaluation: Snapshot) -> Section:
    """Each measure of a class in all of its averages, side by side."""
    columns = (Column("measure"), *(Column(average, Kind.SHARE) for average in AVERAGES))
    rows: list[tuple[Cell, ...]] = [
        (spoken(key), *(evaluation[f"{key}.{average}"] for average in AVERAGES)) for key in AVERAGED
    ]
    caption = f"Averages over the classes, {exact_percent(evaluation.level)} intervals"
    note = "Micro precision, recall and F1 are the accuracy: each row is decided once."
    return Section("Averages", (Table(caption, columns, tuple(rows), (note,)),), Tier.APPENDIX)


def _rates(evaluation: Snapshot) -> tuple[Section, ...]:
    """Every measure of decisions that is not among the results above."""
    if evaluation.positive is None:
        return ()
    main = {*MAIN.two, *ADVANCED.two}
    if evaluation.costs is not None:
        main |= {m.name for m in catalogue.CATALOGUE if m.of_costs is not None}
    others = [m for m in catalogue.CATALOGUE if m.of_scores is None and m.name not in main]
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
    sentences = tuple(Prose(test.sentence) for test in tests)
    return (Section("Tests", (table, *sentences), Tier.APPENDIX, detail=True),)


# -- tests of one model by itself ------------------------------------------------------------------


def own_tests(evaluation: Snapshot) -> tuple[Significance, ...]:
    """The tests that this evaluation allows; none where rows are weighted, clustered or unlabelled.

    Both take rows as independent and each as one.
    """
    table = evaluation.confusion
    independent = not evaluation.clustered and not evaluation.weighted
    complete = evaluation.decided and evaluation.unlabelled is None
    if not independent or not complete or not table.total:
        return ()
    against = against_majority(sum(table.hits), table.rows, evaluation.level)
    if evaluation.positive is None:
        return (against,)
    (_, false), (missed, _) = table.cells
    return (against, lean(false, missed, evaluation.level))


def against_majority(hits: int, rows: tuple[int, ...], level: float = 0.95) -> Significance:
    """Is accuracy above the share of the largest class (the no-information rate)?

    The exact one-sided binomial test: the chance of as many hits or more if each row were right
    with that share.

    >>> print(against_majority(85, (60, 40)))
    Accuracy 85.0% is above the largest class's share of 60% (p < 0.0001).
    """
    from scipy.special import betainc

    n = sum(rows)
    share = max(rows) / n
    p = 1.0 if hits == 0 or share == 1 else float(betainc(hits, n - hits + 1, share))
    verdict = "is above" if p < 1 - level else "is not shown to be above"
    return Significance(
        test="accuracy_against_majority",
        statistic=None,
        df=(),
        p=p,
        method="exact binomial, one-sided",
        sentence=f"Accuracy {percent(hits / n)} {verdict} the largest class's share of "
        f"{about(share)} ({p_text(p)}).",
        table={"right": hits, "rows": n, "share": share},
    )


def lean(false: int, missed: int, level: float = 0.95) -> Significance:
    """Are false positives and false negatives equally many? McNemar's test, continuity corrected.

    >>> print(lean(167, 324))
    167 false positives against 324 false negatives: it errs by missing more often (p < 0.0001).
    """
    test = mcnemar(false, missed, method="corrected", level=level)
    side = "by raising false alarms" if false > missed else "by missing"
    verdict = f"it errs {side} more often" if test.p < 1 - level else "no side is shown to prevail"
    return Significance(
        test="mcnemar_errors",
        statistic=test.statistic,
        df=test.df,
        p=test.p,
        method="chi-square, continuity corrected",
        sentence=f"{count(false)} false positives against {count(missed)} false negatives: "
        f"{verdict} ({p_text(test.p)}).",
        table={"false_positives": false, "false_negatives": missed},
    )


# -- what the page needs to move a threshold -------------------------------------------------------


# What rounding leaves of a sum of weights that is 0.
_NOISE = 1e-12


def panel_of(evaluation: Snapshot) -> Panel | None:
    """The panel of an evaluation; None for more than two classes, or where labels are missing.

    Without scores its table is empty: then the threshold stands still, and only the base rate
    moves. Where no threshold was given it begins at one, as good as any to begin with.
    """
    if evaluation.positive is None or evaluation.unlabelled is not None:
        return None
    starting = evaluation.starting
    cells = evaluation.confusion.cells if starting is None else starting.confusion
    (tn, fp), (fn, tp) = cells
    estimates = evaluation.entries if starting is None else starting.estimates
    here = {each.measure: each.estimate for each in estimates if _of_whole(each, evaluation)}
    measures = _panel_measures()
    rates = evaluation.base_rates or _usual_first()
    negative, positive = evaluation.labels
    return Panel(
        negative=negative,
        positive=positive,
        negatives=tn + fp,
        positives=fn + tp,
        threshold=evaluation.threshold if starting is None else starting.threshold,
        sweep=_sweep(evaluation),
        measures=measures,
        level=evaluation.level,
        base_rates=rates,
        volume=evaluation.volume,
        weighted=evaluation.weighted,
        clustered=evaluation.clustered,
        reliability=_reliability(evaluation),
        shown_at={m.name: here[m.name] for m in measures if m.name in here},
        decided=(tp, fp, fn, tn),
        given=starting is None,
        # The page has no scores to rank anew, so rankings are left to the report's own table.
        deployed={
            rate: {
                each.measure: each.estimate
                for each in estimates
                if each.base_rate == rate and each.measure not in RANKED_AT_BASE_RATES
            }
            for rate in rates
        },
    )


def _of_whole(each: EstimateRecord, evaluation: Snapshot) -> bool:
    """Whether an estimate is of all rows, and of the positive where it is of one label."""
    whole = each.slice is None and each.base_rate is None and each.average is None
    return whole and each.label in (None, evaluation.positive)


def _panel_measures() -> tuple[Measure, ...]:
    # All others follow in the order of the catalogue.
    first = tuple(find(name) for name in MOVING)
    counted = (measure for measure in catalogue.CATALOGUE if measure.formula is not None)
    return (*first, *(measure for measure in counted if measure.name not in MOVING))


def _usual_first() -> tuple[float, ...]:
    """The usual base rates, that of the sentences first."""
    others = (rate for rate in DEFAULT_BASE_RATES if rate != USUAL_BASE_RATE)
    return (USUAL_BASE_RATE, *others)


def _sweep(evaluation: Snapshot) -> Mapping[str, tuple[float | None, ...]]:
    swept = evaluation.sweep
    if swept is None:
        return {"threshold": (), "tp": (), "fp": ()}
    tp, fp = swept.tp, swept.fp
    if evaluation.weighted:
        tp, fp = _without_noise(tp), _without_noise(fp)
    return {"threshold": swept.threshold, "tp": tp, "fp": fp}


def _without_noise(sums: tuple[float, ...]) -> tuple[float, ...]:
    """Sums of weights that never fall and start at an exact 0, which rounding may have undone."""
    total = sums[-1]
    cleaned = np.where(np.array(sums) < _NOISE * total, 0.0, sums)
    rising: list[float] = np.minimum(np.maximum.accumulate(cleaned), total).tolist()
    return tuple(rising)


def _reliability(evaluation: Snapshot) -> Mapping[str, tuple[float, ...]] | None:
    columns = evaluation.reliability
    return columns and {name: tuple(map(float, column)) for name, column in columns.items()}
