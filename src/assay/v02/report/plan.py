"""The documents of a plan and of a sample: how many labelled rows are needed, and which."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assay.v02.decisions.plan_goals import WORST, Goal, Need, Plan
from assay.v02.decisions.sample import DrawnStratum, StratifiedSample
from assay.v02.decisions.sample_strata import STRATUM, WEIGHT
from assay.v02.escaping import plural
from assay.v02.evaluation.wording import listed
from assay.v02.number_text import count, exact_percent, percent, significant, threshold_text
from assay.v02.report.sections import (
    Block,
    Cell,
    Column,
    Kind,
    Prose,
    Report,
    Section,
    Table,
    Tier,
    quoted,
)

_UNLIKELY = 1e-4
_METHODS = {"wilson": "Wilson", "clopper-pearson": "Clopper-Pearson", "connor": "Connor's formula"}


def report_of(plan: Plan) -> Report:
    """What a report says of a plan."""
    headline = tuple(_headline(plan))
    return Report(
        title="How many labelled rows are needed",
        headline=headline,
        sections=tuple(_section(plan, goal) for goal in plan.goals),
        notes=(*plan.notes, *_notes(plan)),
        records=tuple(plan.records()),
    )


def _headline(plan: Plan) -> Iterator[str]:
    for goal in plan.goals:
        if goal.hopeless is not None:
            yield f"Not possible: {goal.hopeless}."
    for goal in plan.goals:
        yield f"{_goal_start(plan, goal)} takes {_least_rows(goal)}{_enough_rows(plan, goal)}."
    shared = plan.certified
    if len(shared) > 1:
        yield (
            f"The {len(shared)} goals share the error in equal parts (Bonferroni): each holds with "
            f"{exact_percent(shared[0].confidence)} confidence, all together with "
            f"{exact_percent(plan.confidence)}."
        )


def _goal_start(plan: Plan, goal: Goal) -> str:
    """A goal, as the start of a sentence."""
    target, sure = exact_percent(goal.target), f"with {exact_percent(goal.confidence)} confidence"
    match goal.name:
        case "max_fpr":
            return f"To show a false positive rate of at most {target} {sure}"
        case "min_dr":
            of = "" if goal.family is None else f" of {quoted(goal.family)}"
            return f"To show a detection rate{of} of at least {target} {sure}"
        case "max_far":
            where = f"at a base rate of {exact_percent(plan.base_rate or 0)}"
            return f"To show a false alarm rate (FAR) of at most {target} {where} {sure}"
        case "width":
            return (
                f"A {exact_percent(goal.confidence)} interval that is at most {goal.target:g} wide"
            )
        case "recall_width":
            return (
                f"A {exact_percent(goal.confidence)} interval of the detection rate that is at "
                f"most {goal.target:g} wide"
            )
        case _:
            return (
                f"To tell two models apart, of which one is right on {target} more of the rows and "
                f"which disagree on {exact_percent(goal.discordant or 0)},"
            )


def _least_rows(goal: Goal) -> str:
    """What it takes at the least."""
    needs = goal.needs
    match goal.name:
        case "max_fpr":
            return f"{_so_many(needs[0].negatives, 'negative')} {_errors(needs[0])}"
        case "min_dr":
            return f"{_so_many(needs[0].positives, 'positive')} {_errors(needs[0])}"
        case "max_far":
            both = [need for need in needs if need.positives is not None]
            alerts = next(need for need in needs if need.alerts is not None)
            or_alerts = f"{_so_many(alerts.alerts, 'labelled alert')} {_errors(alerts)}"
            if not both:
                return or_alerts
            least = min(both, key=lambda need: need.total)
            return (
                f"{_so_many(least.negatives, 'negative')} {_errors(least)} and "
                f"{_so_many(least.positives, 'positive')}, {_missed(least)}; or {or_alerts}"
            )
        case "width":
            worst = next(need for need in needs if need.expected == WORST)
            text = f"{_so_many(worst.rows, 'row')}, whatever the share is"
            if needs[0].expected != WORST:
                share = exact_percent(needs[0].expected or 0)
                usual = f"{_so_many(needs[0].rows, 'row')} where the share is {share}"
                text = f"{usual}, {count(worst.rows or 0)} whatever it is"
            return text
        case "recall_width":
            rare = next((n for n in _by_rate(goal)[::-1] if n[1].rows is not None), needs[:3])
            where = f"where {exact_percent(rare[0].base_rate or 0)} of rows are attacks"
            by_strata = f"{_labels(rare[1])} drawn by strata of a good score"
            return f"{_labels(rare[0])} drawn at random {where}, or {by_strata}"
        case _:
            enough = goal.enough or needs[0]
            return (
                f"{_so_many(enough.rows, 'row')} for a chance of {percent(enough.chance or 0)} "
                f"(McNemar's test at {exact_percent(goal.confidence)})"
            )


def _by_rate(goal: Goal) -> list[tuple[Need, ...]]:
    """Labels at random, by strata of good scores and of useless ones, for each base rate."""
    return [goal.needs[at : at + 3] for at in range(0, len(goal.needs), 3)]


def _labels(need: Need) -> str:
    return "more labels than there are rows" if need.rows is None else _so_many(need.rows, "label")


def _so_many(number: int | None, noun: str) -> str:
    return f"{count(number or 0)} {plural(number or 0, noun, f'{noun}s')}"


def _errors(need: Need) -> str:
    if need.false_alarms is not None:
        return _allowed(need.false_alarms, "false alarm")
    return _allowed(need.misses or 0, "miss")


def _allowed(errors: int, noun: str) -> str:
    if errors == 0:
        return f"without one {noun}"
    many = "misses" if noun == "miss" else "false alarms"
    return f"with {count(errors)} {noun if errors == 1 else many} at most"


def _missed(need: Need) -> str:
    return "all detected" if not need.misses else f"of which {count(need.misses)} may be missed"


def _enough_rows(plan: Plan, goal: Goal) -> str:
    """What succeeds with the power, given the expected rates."""
    enough = goal.enough
    if enough is None or goal.name == "difference":
        return ""
    rows = [
        f"{count(number)} {noun}"
        for number, noun in ((enough.negatives, "negatives"), (enough.positives, "positives"))
        if number is not None
    ]
    allowed = [
        f"{count(number)} {noun}"
        for number, noun in ((enough.false_alarms, "false alarms"), (enough.misses, "misses"))
        if number is not None
    ]
    return (
        f"; to succeed with a chance of {exact_percent(plan.power)} take {listed(rows)}, with at "
        f"most {listed(allowed)}"
    )


# -- sections --------------------------------------------------------------------------------------


def _section(plan: Plan, goal: Goal) -> Section:
    makers: dict[str, Callable[[Plan, Goal], tuple[str, list[Block]]]] = {
        "max_fpr": _certified,
        "min_dr": _certified,
        "max_far": _far,
        "width": _width,
        "recall_width": _recall_width,
        "difference": _difference,
    }
    title, blocks = makers[goal.name](plan, goal)
    return Section(title, tuple(blocks), Tier.MAIN)


def _certified(plan: Plan, goal: Goal) -> tuple[str, list[Block]]:
    negatives = goal.name == "max_fpr"
    rows, errors = ("negatives", "false alarms") if negatives else ("positives", "misses")
    columns = [Column(f"{errors} allowed", Kind.COUNT), Column(f"{rows} needed", Kind.COUNT)]
    needs = _sorted_needs(goal)
    chance = any(need.chance is not None for need in needs)
    columns += [Column("chance of success", Kind.SHARE)] * chance
    table = []
    for need in needs:
        allowed = need.false_alarms if negatives else need.misses
        cells: list[Cell] = [allowed, need.negatives if negatives else need.positives]
        table.append((*cells, *([_chance(need)] * chance)))
    sign = "at most" if negatives else "at least"
    heading = "False positive rate" if negatives else "Detection rate"
    of = "" if goal.family is None else f" of {quoted(goal.family)}"
    caption = f"{exact_percent(goal.confidence)} confidence; exact binomial bounds"
    blocks: list[Block] = [Table(caption, tuple(columns), tuple(table), _expected(plan, goal))]
    if plan.base_rate is not None:
        blocks.append(Prose(_as_they_come(plan.base_rate, goal)))
    return f"{heading}{of} {sign} {exact_percent(goal.target)}", blocks


def _sorted_needs(goal: Goal) -> list[Need]:
    """The needs, with what is enough among them, the fewest rows first."""
    sizes = dict.fromkeys((*goal.needs, *((goal.enough,) if goal.enough else ())))
    return sorted(sizes, key=lambda need: need.total)


def _expected(plan: Plan, goal: Goal) -> tuple[str, ...]:
    rate = plan.expected_fpr if goal.name == "max_fpr" else plan.expected_dr
    if rate is None or goal.family is not None:
        return ()
    called = "false positive rate" if goal.name == "max_fpr" else "detection rate"
    return (
        f"The chance of success is that of a detector with a {called} of {exact_percent(rate)}.",
    )


def _as_they_come(base_rate: float, goal: Goal) -> str:
    """How many rows hold so many of one class."""
    least = goal.enough or goal.needs[0]
    if least.positives is None:
        needed, called, share = least.negatives, ("negative takes", "negatives take"), 1 - base_rate
    else:
        needed, called, share = least.positives, ("positive takes", "positives take"), base_rate
    return (
        f"Labelled as they come, at a base rate of {exact_percent(base_rate)}, "
        f"{count(needed or 0)} {plural(needed or 0, *called)} about "
        f"{_so_many(round((needed or 0) / share), 'row')}."
    )


def _far(plan: Plan, goal: Goal) -> tuple[str, list[Block]]:
    both = [need for need in goal.needs if need.positives is not None]
    errors = list(dict.fromkeys(need.false_alarms for need in both))
    columns = (
        Column("positives", Kind.COUNT),
        Column("misses allowed", Kind.COUNT),
        Column("DR shown", Kind.SHARE),
        *(
            Column(_so_many(k, "false alarm"), Kind.COUNT, optional=i > 2)
            for i, k in enumerate(errors)
        ),
    )
    rows: list[tuple[Cell, ...]] = []
    for positives in dict.fromkeys(need.positives for need in both):
        same = [need for need in both if need.positives == positives]
        negatives = [need.negatives for need in same]
        rows.append((positives, same[0].misses, same[0].detection_rate, *negatives))
    blocks: list[Block] = []
    if rows:
        assumed = (
            "every positive is detected"
            if plan.expected_dr is None
            else f"the detection rate is {exact_percent(plan.expected_dr)}"
        )
        caption = f"Negatives needed with so many false alarms at most, where {assumed}"
        blocks.append(Table(caption, columns, tuple(rows)))
    blocks += [
        Prose(
            "Positives bound the detection rate from below and negatives the false positive rate "
            "from above; both bounds share the error, a tenth of it for the detection rate."
        )
    ]
    alerts = [need for need in goal.needs if need.alerts is not None]
    chance = any(need.chance is not None for need in alerts)
    heads = [Column("false alarms allowed", Kind.COUNT), Column("alerts needed", Kind.COUNT)]
    heads += [Column("chance of success", Kind.SHARE)] * chance
    cells = tuple((n.false_alarms, n.alerts, *([_chance(n)] * chance)) for n in alerts)
    caption = "Or label alerts where the detector runs, picked at random"
    blocks.append(Table(caption, tuple(heads), cells))
    target, rate = exact_percent(goal.target), exact_percent(plan.base_rate or 0)
    return f"False alarm rate at most {target} at a base rate of {rate}", blocks


def _width(_: Plan, goal: Goal) -> tuple[str, list[Block]]:
    columns = (
        Column("expected share", Kind.SHARE),
        Column("method"),
        Column("rows needed", Kind.COUNT),
        Column("chance that it is as narrow", Kind.SHARE),
    )
    rows = tuple(
        (need.expected, _METHODS[need.method or ""], need.rows, _chance(need))
        for need in goal.needs
    )
    caption = "Rows of the denominator: negatives of a false positive rate, alerts of a precision"
    text = (
        "The share that is seen differs from the expected one, and the interval with it: the "
        "second number of rows of each method allows for that."
    )
    notes = (text,) if any(need.expected != WORST for need in goal.needs) else ()
    title = f"{exact_percent(goal.confidence)} interval at most {goal.target:g} wide"
    return title, [Table(caption, columns, rows, notes)]


def _recall_width(plan: Plan, goal: Goal) -> tuple[str, list[Block]]:
    columns = (
        Column("base rate", Kind.SHARE),
        Column("at random", Kind.COUNT),
        Column("by strata, good scores", Kind.COUNT),
        Column("by strata, useless below the threshold", Kind.COUNT),
    )
    rows: list[tuple[Cell, ...]] = []
    for three in _by_rate(goal):
        labels = ("all are too few" if need.rows is None else need.rows for need in three)
        rows.append((exact_percent(three[0].base_rate or 0), *labels))
    expected = exact_percent(goal.needs[0].expected or 0)
    caption = (
        f"Labels needed of {count(plan.rows or 0)} rows, where the detection rate is {expected}"
    )
    false = (
        "one alarm in two is false"
        if plan.expected_fpr is None
        else f"the false positive rate is {exact_percent(plan.expected_fpr)}"
    )
    methods = "Wilson's interval at random; Fay and Feuer's by strata, drawn as assay sample does."
    scores = (
        f"Good scores: two normal curves of these rates, where {false}. Useless ones: missed "
        f"attacks are like any other row below the threshold."
    )
    title = f"Detection rate within {goal.target:g}"
    return title, [Table(caption, columns, tuple(rows), (methods, scores))]


def _difference(_: Plan, goal: Goal) -> tuple[str, list[Block]]:
    columns = (
        Column("rows needed", Kind.COUNT),
        Column("of them discordant", Kind.COUNT),
        Column("chance to show it", Kind.SHARE),
        Column("by"),
    )
    share = goal.discordant or 0.0
    rows = tuple(
        (
            need.rows,
            round((need.rows or 0) * share),
            _chance(need),
            _METHODS.get(need.method or "", ""),
        )
        for need in _sorted_needs(goal)
    )
    caption = (
        f"McNemar's test at {exact_percent(goal.confidence)}, exact power; {exact_percent(share)} "
        f"of rows are right with one model only"
    )
    notes = (
        "Rows are those that are compared: all, or positives alone where detection is compared.",
    )
    return f"Difference of {exact_percent(goal.target)}", [Table(caption, columns, rows, notes)]


def _chance(need: Need) -> Cell:
    """A chance; beyond four nines digits tell nothing."""
    if need.chance is None:
        return None
    if 0 < need.chance < _UNLIKELY:
        return f"under {exact_percent(_UNLIKELY)}"
    if 1 - _UNLIKELY < need.chance < 1:
        return f"over {exact_percent(1 - _UNLIKELY)}"
    return percent(need.chance)


def _notes(plan: Plan) -> Iterator[str]:
    if plan.certified:
        yield (
            "The same rows choose a threshold: the number of errors allowed is what the guaranteed "
            "threshold lets through."
        )
        yield "Rows are independent of each other: flows of one host count for less."


# -- samples: which rows to label, and what they will tell -----------------------------------------


_RULES = {
    "sqrt": "by the root of the rows of each stratum",
    "optimal": "as if scores were chances of an attack (Neyman)",
    "proportional": "by the rows of each stratum",
    "equal": "in equal parts",
}
# Where none was seen in a stratum, fewer than this many times the weight may be there, at 95%.
_UNSEEN = 3.69


def sample_report(sample: StratifiedSample) -> Report:
    """What a report says of a sample."""
    return Report(
        title="Which rows to label",
        headline=tuple(_sample_headline(sample)),
        sections=(Section("Strata", tuple(_strata(sample)), Tier.MAIN),),
        notes=(*sample.notes, *_sample_notes(sample)),
        records=tuple(sample.records()),
    )


def _sample_headline(sample: StratifiedSample) -> Iterator[str]:
    yield (
        f"{count(sample.labels)} of {count(sample.rows)} rows "
        f"{plural(sample.labels, 'is', 'are')} to be labelled, drawn by {len(sample.strata)} "
        f"{plural(len(sample.strata), 'stratum', 'strata')} of the score, with seed {sample.seed}."
    )
    if sample.alerts and sample.threshold is not None:
        drawn = sum(stratum.drawn for stratum in sample.strata if stratum.alerts)
        share = "all" if drawn == sample.alerts else count(drawn)
        yield (
            f"{share.capitalize()} of the {count(sample.alerts)} "
            f"{plural(sample.alerts, 'alert', 'alerts')} (from {threshold_text(sample.threshold)} "
            f"on) {plural(drawn, 'is', 'are')} among them."
        )


def _strata(sample: StratifiedSample) -> Iterator[Block]:
    columns = (
        Column("stratum"),
        Column("scores from"),
        Column("to"),
        Column("rows", Kind.COUNT),
        Column("to label", Kind.COUNT),
        Column("each stands for"),
    )
    rows = tuple(_row(stratum) for stratum in sample.strata)
    yield Table(
        f"Labels are shared out {_RULES[sample.allocation]}",
        columns,
        rows,
        tuple(_of_alerts(sample)),
    )
    heaviest = max(sample.strata, key=lambda stratum: stratum.weight)
    unseen = min(round(_UNSEEN * heaviest.weight), heaviest.rows - heaviest.drawn)
    if unseen:
        yield Prose(
            f"If no attack is found in stratum {heaviest.stratum}, up to {count(unseen)} may still "
            f"be there (at 95%): the interval of the detection rate holds them."
        )


def _row(stratum: DrawnStratum) -> tuple[Cell, ...]:
    name = f"{stratum.stratum} (alerts)" if stratum.alerts else stratum.stratum
    low, high = significant(stratum.low, 4), significant(stratum.high, 4)
    return name, low, high, stratum.rows, stratum.drawn, significant(stratum.weight, 4)


def _of_alerts(sample: StratifiedSample) -> Iterator[str]:
    if sample.alerts and sample.threshold is not None:
        yield "Alerts are a stratum of their own, with labels of their own."


def _sample_notes(sample: StratifiedSample) -> Iterator[str]:
    yield (
        f"Label every row that was drawn, add the labels as a column, and evaluate with --score "
        f"{sample.score} --weight {WEIGHT} --strata {STRATUM}; rows left out would bias the answer."
    )
