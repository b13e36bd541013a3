"""Judge rules: does the new model keep them, with confidence? And what that finds."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from assay.v02.decisions import rule_estimates
from assay.v02.decisions.gate_tallies import GateTallies, Points, counted_gate, gate_tallies
from assay.v02.decisions.rule import NEW, OLD, Operating, Outcome, Rule
from assay.v02.decisions.rule_grammar import Rules, parse_rule, parsed_rules
from assay.v02.engines.frames import columns_by_name
from assay.v02.engines.models import MOST_ROWS, ModelRows, on_grid
from assay.errors import InputError, LengthMismatch, MethodError
from assay.v02.evaluation.evaluation import mistakes_of_models
from assay.v02.evaluation.findings import Finding
from assay.v02.evaluation.named_columns import refusal_notes
from assay.v02.evaluation.wording import none_keeps, untried
from assay.v02.inference import Bootstrap, Estimate
from assay.v02.inference.bootstrap import RESAMPLES, SEED
from assay.v02.inference.fields import Recorded, Result, field_error, stored
from assay.v02.inference.significance import MOST_RESAMPLES, check_draws, check_flag, check_level
from assay.v02.inference.threshold_resampling import ChosenTables, choose_anew, choose_from_counts
from assay.v02.inference.threshold_rules import AtThreshold
from assay.v02.number_text import fixed, grouped, significant
from assay.v02.sources import FAMILY, code_arrays, common_labels, must_share_index
from assay.v02.sources.files.request import RowSource
from assay.v02.sources.validation import LeftOut, OnBadRow, good_rows, skips, suggesting_skip
from assay.v02.tally.keeping import AUTO, Exact

if TYPE_CHECKING:
    from assay.v02.decisions.plotting import GatePlots


# So many resamples lie beyond each end of an interval, where nobody said how many to draw.
_BEYOND = 5
# More are drawn only where somebody says how many.
MOST_UNASKED = 20_000
# What floating point may add to a difference of shares, or to any other number.
_NOISE, _RELATIVE_NOISE = 1e-14, 1e-12


def gate(
    y_true: Any,
    *,
    rules: Rules,
    label: str | None = None,
    new: Any = None,
    old: Any = None,
    new_decision: Any = None,
    old_decision: Any = None,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    families: Any = None,
    clusters: Any = None,
    counts: Any = None,
    threshold: float | None = None,
    old_threshold: float | None = None,
    level: float = 0.95,
    joint: bool = False,
    resamples: int | None = None,
    seed: int = SEED,
    mode: str = AUTO,
    on_bad_row: OnBadRow | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Gate:
    """Judge a new model, alone or beside an old one on the same rows, by rules.

    ``new`` and ``old`` are scores; ``new_decision`` and ``old_decision`` take their place where
    there are only decisions. With ``label`` the rows are a frame of any library, and every column
    is named. A rule such as ``new-old(detection_rate@max-far=0.1) >= -0.01``
    passes when the whole interval keeps it, fails when none of it does, and is undecided
    otherwise; ``rules`` are texts, a mapping from names to texts, or the path of a file of them.
    Rules that name no threshold are judged at ``threshold`` (by default 0.5 for scores in [0, 1]),
    the old model at ``old_threshold`` where that differs. With ``joint``, the level holds for all
    rules together. ``mode`` is how scores are kept: ``exact`` keeps all rows, ``grid`` counts them
    into cells, in memory that does not grow with them; ``auto`` is exact up to five million rows.
    ``on_bad_row="skip"`` leaves out and counts the rows that can't be used, whichever model they
    are bad for.

    >>> truth = ["attack", "normal"] * 200
    >>> judged = gate(truth, new=[0.9, 0.1] * 200, rules="new(precision) >= 0.9")
    >>> judged.outcome.value, judged.rules[0].estimate
    ('pass', 1.000 [0.981, 1.000])
    """
    asked = parsed_rules(rules)
    named = {"new": new, "new_decision": new_decision, "old": old, "old_decision": old_decision}
    named |= {"counts": counts, "clusters": clusters, "families": families}
    y_true, named = columns_by_name(y_true, label, named, MOST_ROWS)
    new, new_decision, old, old_decision, counts, clusters, families = named.values()
    must_share_index({"y_true": y_true, **named})
    left_out = LeftOut()
    every = {"y_true": y_true, "counts": counts, "clusters": clusters, "families": families}
    outputs = [{"y_score": new, "y_pred": new_decision}, {"y_score": old, "y_pred": old_decision}]
    if skips(on_bad_row):
        left_out, (every, *outputs) = good_rows(every, *outputs)
        y_true, counts, clusters, families = every.values()
        (new, new_decision), (old, old_decision) = (tuple(model.values()) for model in outputs)
    columns = {NEW: (new, new_decision), OLD: (old, old_decision)}
    with suggesting_skip(every, *outputs):
        rows = _rows(
            y_true,
            columns,
            {
                "counts": counts,
                "clusters": clusters,
                "slices": None if families is None else {FAMILY: families},
            },
            {"positive": positive, "negative": negative, "labels": labels},
        )
    must_have_models(asked, rows.models)
    thresholds = {NEW: threshold, OLD: old_threshold}
    must_have_scores(rows, thresholds)
    level, paired = check_level(level), any(rule.compares for rule in asked)
    if on_grid(mode, rows):
        tallies, each = counted_gate(
            rows.lots, tuple(rows.models), asked, lambda _: rows.sides, thresholds, level
        )
    else:
        tallies = gate_tallies(rows, thresholds, level, paired=paired)
        each = tallies.expanded(asked)
    judged = judged_rules(
        tallies,
        each,
        joint=joint,
        resamples=resamples,
        seed=seed,
        progress=progress,
    )
    return replace(judged, notes=(*refusal_notes(left_out.reasons), *judged.notes))


def judged_rules(
    tallies: GateTallies,
    each: Sequence[Rule],
    *,
    joint: bool = False,
    resamples: int | None = None,
    seed: int = SEED,
    progress: Callable[[int, int], None] | None = None,
) -> Gate:
    """The rules, one a family where they are of each family, judged from what was counted."""
    level, joint = tallies.level, check_flag("joint=", joint)
    rule_level = 1 - (1 - level) / len(each) if joint else level
    tallies = replace(tallies, level=rule_level)
    drawn = any(_is_resampled(tallies, rule) for rule in each)
    method = Bootstrap(rule_level, resamples_for(resamples, rule_level, drawn=drawn), seed)
    chosen = _chosen(tallies, each, method, progress)
    negatives, positives = tallies.sizes
    return Gate(
        rules=tuple(_judged_rule(tallies, rule, chosen, method) for rule in each),
        level=level,
        rule_level=rule_level,
        joint=joint,
        resamples=method.resamples,
        seed=seed,
        labels=tallies.labels,
        positive=tallies.positive,
        rows={"rows": negatives + positives, "positives": positives, "negatives": negatives},
        notes=tallies.notes,
        threshold=tallies.own_threshold(NEW),
        findings=mistakes_of_models(
            {model: tallies.decided(model) for model in tallies.models}, threshold_given=True
        ),
        mode=tallies.mode,
    )


def must_have_models(rules: Iterable[Rule], models: Container[str]) -> None:
    """Refuse a rule about a model that was not given."""
    for rule in rules:
        for model in rule.models:
            if model not in models:
                raise InputError(f"the rule {rule.text!r} needs the {model} model: give {model}=")


def must_have_scores(rows: ModelRows, thresholds: Mapping[str, float | None]) -> None:
    """Refuse a threshold of a model that was not given, or that has only decisions."""
    for model, threshold in thresholds.items():
        name = "threshold=" if model == NEW else f"{model}_threshold="
        if threshold is not None and model not in rows.models:
            raise InputError(f"{name} is of the {model} model, which was not given: say {model}=")
        if threshold is not None and rows.models[model].score is None:
            raise InputError(f"{name} decides on scores; decisions are taken as they are")


def _rows(
    y_true: Any,
    columns: Mapping[str, tuple[Any, Any]],
    shared: Mapping[str, Any],
    sides: Mapping[str, Any],
) -> ModelRows:
    """The rows of each model that was given."""
    decisions = {model: output for model, (_, output) in columns.items() if output is not None}
    if decisions and sides["labels"] is None:
        sides = {**sides, "labels": common_labels(y_true, decisions)}
    coded = {}
    for model, (score, decision) in columns.items():
        if score is not None and decision is not None:
            raise InputError(f"give {model}= (scores) or {model}_decision=, not both")
        if score is None and decision is None:
            continue
        output = {"y_score": score} if decision is None else {"y_pred": decision}
        try:
            coded[model] = code_arrays(y_true, labels=sides["labels"], **shared, **output)
        except LengthMismatch as mismatch:
            raise LengthMismatch(f"the {model} model: {mismatch}") from mismatch
    if NEW not in coded:
        raise InputError("give new=, the scores of the new model, or new_decision=")
    if OLD in coded and (coded[NEW].score is None) != (coded[OLD].score is None):
        raise InputError("give scores of both models or decisions of both, not one of each")
    return ModelRows.of(coded, {}, **sides)


def resamples_for(asked: int | None, level: float, *, drawn: bool = True) -> int:
    """How many resamples to draw: as asked, or as many as the level needs where any are drawn."""
    needed = math.ceil(2 / (1 - level) * (1 - 1e-9))
    if asked is None:
        if drawn and needed > MOST_UNASKED:
            way = f"resamples={needed}, or " if needed <= MOST_RESAMPLES else ""
            raise MethodError(
                f"at a level of {significant(level, 12)} an interval needs {needed:,} resamples or "
                f"more, which takes long: say {way}a lower level="
            )
        return max(RESAMPLES, min(math.ceil(2 * _BEYOND / (1 - level)), MOST_UNASKED))
    check_draws("a gate", asked, "resamples", least=2)
    if asked < needed:
        raise MethodError(
            f"at a level of {significant(level, 6)} an interval needs {needed} resamples or more; "
            f"found {asked}"
        )
    return asked


# -- judging ---------------------------------------------------------------------------------------


# By model, point, and whether both models have the same resamples.
_Anew: TypeAlias = Mapping[tuple[str, Any, bool], ChosenTables]


def _is_anew(tallies: GateTallies, rule: Rule, point: Operating) -> bool:
    """Whether a rule needs resamples of the rows themselves."""
    if not isinstance(point, AtThreshold):
        return True
    return tallies.clustered and (rule.compares or rule.family is not None)


def _is_resampled(tallies: GateTallies, rule: Rule) -> bool:
    """Whether the interval of a rule comes from resamples at all."""
    if rule.of_scores:
        return False
    points = [tallies.point(model, rule) for model in rule.models]
    return rule.compares or any(_is_anew(tallies, rule, point) for point in points)


def _chosen(
    tallies: GateTallies,
    rules: Iterable[Rule],
    method: Bootstrap,
    progress: Callable[[int, int], None] | None,
) -> _Anew:
    """Every point that some rule needs: of one model from its counts, of both from the rows."""
    alone: dict[str, dict[Operating, None]] = {}
    # Rows that are kept are drawn anew once for all rules; counts are those of one rule.
    shared: dict[Points | None, tuple[Rule, dict[Operating, None]]] = {}
    for rule in rules:
        if rule.of_scores:
            continue
        for model in rule.models:
            point = tallies.point(model, rule)
            if not _is_anew(tallies, rule, point):
                continue
            if rule.compares or tallies.clustered:
                key = tallies.points(rule) if tallies.rows is None else None
                shared.setdefault(key, (rule, {}))[1][point] = None
            else:
                alone.setdefault(model, {})[point] = None
    choices: dict[tuple[str, Any, bool], ChosenTables] = {}
    sets = len(shared) + len(alone)
    for number, (rule, points) in enumerate(shared.values()):
        rows = tallies.scored(tallies.sample(rule))
        heard = _after(progress, number, sets)
        anew = choose_anew(rows, list(points), method, progress=heard)
        for paired in (True, False) if tallies.clustered else (True,):
            choices |= {(model, point, paired): chosen for (model, point), chosen in anew.items()}
    for number, model in enumerate(sorted(alone), start=len(shared)):
        heard = _after(progress, number, sets)
        pyramid = tallies.models[model].pyramid
        anew_alone = choose_from_counts(pyramid, list(alone[model]), method, progress=heard)
        choices |= {(model, point, False): chosen for point, chosen in anew_alone.items()}
    return choices


def _after(
    progress: Callable[[int, int], None] | None, sets: int, all_sets: int
) -> Callable[[int, int], None] | None:
    """Who hears of one set of resamples after some others."""
    if progress is None:
        return None
    return lambda done, resamples: progress(sets * resamples + done, all_sets * resamples)


def _judged_rule(tallies: GateTallies, rule: Rule, chosen: _Anew, method: Bootstrap) -> JudgedRule:
    measure = rule.score_measure
    if measure is not None:
        single = {m: rule_estimates.of_scores(tallies, rule, measure, m) for m in rule.models}
        estimate = (
            rule_estimates.of_both_scores(tallies, rule, measure)
            if rule.compares
            else single[rule.subject]
        )
        return verdict(rule, estimate, {model: float(value) for model, value in single.items()}, {})
    points = {model: tallies.point(model, rule) for model in rule.models}
    fixed = {m: p.threshold for m, p in points.items() if isinstance(p, AtThreshold)}
    if any(_is_anew(tallies, rule, point) for point in points.values()):
        measured = {m: chosen[m, point, rule.compares] for m, point in points.items()}
        estimate = (
            rule_estimates.between(tallies, rule, measured, method)
            if rule.compares
            else rule_estimates.with_choice(tallies, rule, measured[rule.subject], method)
        )
    elif rule.compares:
        measured = rule_estimates.at_given(tallies, rule, fixed, method)
        estimate = rule_estimates.between(tallies, rule, measured, method)
    else:
        threshold = fixed[rule.subject]
        estimate = rule_estimates.at_threshold(tallies, rule, rule.subject, threshold)
        return verdict(rule, estimate, {rule.subject: float(estimate)}, fixed)
    each = {
        model: rule_estimates.values(tallies, rule, measured[model])[0] for model in rule.models
    }
    at = {model: measured[model].threshold for model in rule.models}
    return verdict(rule, estimate, each, at, tallies.mode)


def verdict(
    rule: Rule,
    estimate: Estimate,
    values: Mapping[str, float],
    thresholds: Mapping[str, float | None],
    mode: str = Exact.name,
) -> JudgedRule:
    """How a rule came out, with what each model had, and where; ``mode`` is how scores are kept."""
    scale = max([1.0, *(abs(v) for v in values.values() if math.isfinite(v))])
    noise = _NOISE * scale if rule.compares else 0.0

    def exact(number: float) -> float:
        """An end that is the bound but for the noise of floating point is the bound."""
        is_bound = math.isclose(number, rule.bound, rel_tol=_RELATIVE_NOISE, abs_tol=noise)
        return rule.bound if is_bound else number

    estimate = estimate.changed(
        exact(float(estimate)), low=exact(estimate.low), high=exact(estimate.high)
    )
    without = [m for m, at in thresholds.items() if at is None and not math.isnan(estimate)]
    none = [
        f"{none_keeps(f' of the {model} model', rule.at, mode)}, so it flags nothing"
        for model in without
    ]
    # A threshold that was not tried might keep it, and then the rule be kept or not.
    unsure = bool(none) and bool(untried(mode))
    none += [untried(mode).removesuffix(".")] if unsure else []
    notes = [*([] if estimate.note is None else [estimate.note]), *none]
    estimate = estimate.changed(note="; ".join(notes) or None)
    outcome = Outcome.UNDECIDED if unsure else rule.outcome(estimate.low, estimate.high)
    reason = "; ".join(none) if unsure else reason_of(rule, estimate, outcome)
    return JudgedRule(rule, outcome, estimate, reason, values, thresholds)


# -- what a gate found -----------------------------------------------------------------------------


def _rule_written(rule: Rule) -> dict[str, Any]:
    """A rule as text, and what it says in parts."""
    return {
        "rule": rule.text,
        "name": rule.name,
        "why": rule.why,
        "subject": rule.subject,
        "measure": rule.written if rule.measure is None else rule.measure.name,
        "label": rule.label,
        "average": rule.average,
        "family": rule.family,
        "base_rate": rule.base_rate,
        "volume": rule.volume,
        "at": None if rule.at is None else str(rule.at),
        "operator": rule.operator,
        "bound": rule.bound,
    }


def _rule_read(given: dict[str, Any], at: str) -> Rule:
    """The rule that its text tells, with its name and what it is for."""
    text, name, why = (given.get(key) for key in ("rule", "name", "why"))
    if not isinstance(text, str) or not all(isinstance(t, str | None) for t in (name, why)):
        raise field_error(at, [text, name, why], "the text of a rule, its name and why")
    return parse_rule(text, name=name, why=why)


@dataclass(frozen=True)
class JudgedRule(Recorded):
    """A rule and how it came out.

    ``values`` are those of each model that it looked at, ``thresholds`` where those decided (None
    where nothing could be flagged).
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("new", "old")
    FIRST: ClassVar[tuple[str, ...]] = ("rule", "outcome", "value", "low", "high", "reason")

    rule: Rule = field(metadata=stored(inline=True, write=_rule_written, read=_rule_read))
    outcome: Outcome
    estimate: Estimate = field(metadata=stored(inline=True, renamed={"bound": "bounds"}))
    reason: str
    values: Mapping[str, float] = field(default_factory=dict)
    thresholds: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def new(self) -> float | None:
        """The value of the new model by itself."""
        return _finite_or_none(self.values.get("new"))

    @property
    def old(self) -> float | None:
        """The value of the old model by itself."""
        return _finite_or_none(self.values.get("old"))


def _finite_or_none(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


@dataclass(frozen=True)
class Gate(Result, Recorded):
    """The outcome of all rules together, and of each.

    ``level`` is what was asked for; each rule is judged at ``rule_level``, which is higher where
    the rules were to hold jointly. ``rows`` counts the rows, positives and negatives.
    ``allow_undecided`` says that rows which can't decide fail no build. ``threshold`` is where the
    new model flags rows if a rule sets none: None for decisions, and where rules had to set one.
    ``findings`` are what looks like a mistake, such as scores that are turned round. ``mode`` is
    how scores are kept: ``exact``, or of many rows as a ``grid``.
    """

    SCHEMA: ClassVar[str] = "assay.gate/1"
    DERIVED: ClassVar[tuple[str, ...]] = ("outcome",)

    rules: tuple[JudgedRule, ...]
    level: float
    rule_level: float
    joint: bool
    resamples: int
    seed: int
    labels: tuple[str, ...]
    positive: str
    rows: Mapping[str, int]
    notes: tuple[str, ...] = ()
    source: RowSource = field(default_factory=RowSource)
    allow_undecided: bool = False
    threshold: float | None = None
    findings: tuple[Finding, ...] = ()
    mode: str = "exact"

    @property
    def outcome(self) -> Outcome:
        """Fail where any rule fails, else undecided where any is, else pass."""
        outcomes = {judged.outcome for judged in self.rules}
        for outcome in (Outcome.FAIL, Outcome.UNDECIDED):
            if outcome in outcomes:
                return outcome
        return Outcome.PASS

    @property
    def passed(self) -> bool:
        """Whether every rule is kept, with confidence."""
        return self.outcome is Outcome.PASS

    @property
    def plot(self) -> GatePlots:
        """Figures by matplotlib: ``gate.plot.rules()``; needs the extra ``plot``."""
        from assay.v02.decisions.plotting import GatePlots

        return GatePlots(self)

    def __repr__(self) -> str:
        width = max(len(judged.outcome.value) for judged in self.rules)
        lines = [
            f"{judged.outcome.value:<{width}}  {judged.rule.text}: {judged.estimate}"
            for judged in self.rules
        ]
        return "\n".join([f"Gate: {self.outcome.value}", *lines])


def reason_of(rule: Rule, estimate: Estimate, outcome: Outcome) -> str:
    """Why a rule came out as it did, as a sentence tells it."""
    if math.isnan(estimate):
        return f"undefined: {estimate.undefined}" if estimate.undefined else "undefined"
    if math.isnan(estimate.low):
        return estimate.note or "there is no interval"
    bound = grouped(rule.bound, 12)
    if outcome is Outcome.UNDECIDED:
        return (
            f"part of the interval keeps the bound and part does not{_rows_to_tell(rule, estimate)}"
        )
    kept = outcome is Outcome.PASS
    words = _KEPT if kept else _BROKEN
    return f"the whole interval is {words[rule.operator]} {bound}"


def _rows_to_tell(rule: Rule, estimate: Estimate) -> str:
    """How many rows would tell, since intervals shrink with the root of their number."""
    off = float(estimate) - rule.bound
    side = float(estimate) - estimate.low if off > 0 else estimate.high - float(estimate)
    if off == 0 or not math.isfinite(side):
        return ""
    times = (side / abs(off)) ** 2
    if times > _MOST_TIMES:
        return "; it is too close to the bound for any number of rows"
    shown = significant(max(times, 1.1), 2) if times < 10 else fixed(times, 0)
    return f"; about {shown} times as many rows would tell, if the value stays"


# More rows than so many times those there are won't be found.
_MOST_TIMES = 1000
_KEPT = {">=": "at least", ">": "above", "<=": "at most", "<": "below"}
_BROKEN = {">=": "below", ">": "at most", "<=": "above", "<": "at least"}
