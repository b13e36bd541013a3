"""From columns, frames, tallies or files to a choice of threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from assay.v02.decisions.threshold import explanations
from assay.v02.decisions.threshold.choice import Choice, Point, findings_of
from assay.v02.decisions.threshold.constraints import Requirements, requirements
from assay.v02.decisions.threshold.estimates import (
    ResampledChoices,
    estimates_at,
    judge,
    labelled_like,
    worth,
)
from assay.v02.decisions.threshold.objectives import (
    ThresholdRule,
    candidates_of,
    empirical_rule,
    guaranteed_rule,
)
from assay.v02.decisions.threshold.sweep import (
    CountedFiles,
    ScoredTallies,
    ThresholdSweep,
    family_of,
    tallies_of,
    tallies_of_tally,
    thinned,
)
from assay.v02.engines.frames import CountedFrame
from assay.errors import CountError, InputError
from assay.v02.evaluation.evaluation import likely_mistakes
from assay.v02.evaluation.findings import Finding, urgent_first
from assay.v02.evaluation.named_columns import count_frame, names_columns
from assay.v02.evaluation.wording import keeping, mode_note, untried
from assay.v02.inference import Bootstrap
from assay.v02.inference.threshold_resampling import Chooser, Progress
from assay.v02.inference.threshold_rules import NOTHING
from assay.v02.sources import FAMILY, Coded, code_arrays, must_share_index
from assay.v02.sources.files import Name, Request, given_names, silent
from assay.v02.sources.files import Progress as ReadProgress
from assay.v02.sources.files.request import RowSource, must_read, request_of
from assay.v02.sources.validation import LeftOut, OnBadRow, good_rows, skips, suggesting_skip
from assay.v02.tally import Tally
from assay.v02.tally.keeping import AUTO, Cuts, Grid
from assay.v02.tally.scores import extremes

ANEW = (
    "Intervals choose the threshold anew in each resample, and tell what this threshold would do "
    "on new rows."
)
# What the thresholds are where not every score was kept; promises hold as ever, since a score is
# flagged by its cell alone.
EDGES = {
    Grid.name: "Thresholds are edges of cells, so that the counts of each one are exact.",
    Cuts.name: "Thresholds are the scores of the others, and the gaps between them.",
}
_HOLDOUT = ("y_true", "y_score", "families", "counts", "clusters")


def choose_threshold(
    y_true: Any,
    *,
    y_score: Any = None,
    label: str | None = None,
    score: str | None = None,
    count: str | None = None,
    cluster: str | None = None,
    on_bad_row: OnBadRow | None = None,
    mode: str | None = None,
    max_memory: int | None = None,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    max_far: float | None = None,
    max_fpr: float | None = None,
    min_dr: float | None = None,
    min_dr_families: Mapping[str, float] | float | None = None,
    max_alerts: float | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    base_rate: float | None = None,
    volume: float | None = None,
    confidence: float = 0.9,
    families: Any = None,
    counts: Any = None,
    clusters: Any = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 42,
    holdout: Any = None,
    progress: Progress | None = None,
) -> Choice:
    """Choose the score from which on a row is flagged.

    Constraints, alone or together: ``max_far`` (false alarm rate, at ``base_rate``), ``max_fpr``,
    ``min_dr`` (detection rate), ``min_dr_families`` (of each family, or of those that a mapping
    names; ``families`` is their column), ``max_alerts`` a day among ``volume`` rows. ``cost_fp``
    and ``cost_fn`` are what a false alarm and a missed attack cost. The detection rate is made as
    high as the constraints allow; with detection rates alone the FAR as low; with costs the cost.
    Without any of these the usual points stand side by side.

    ``choice.empirical`` is the best threshold on these rows, ``choice.guaranteed`` the one that
    keeps all constraints on new rows with the chance ``confidence``, and ``choice.infeasible`` why
    there is none. ``level`` is that of the intervals, from ``resamples`` that each choose anew.
    ``holdout`` are unseen rows that judge the choice: a pair of truth and scores, or a mapping with
    ``y_true``, ``y_score`` and perhaps ``families``, ``counts`` and ``clusters``. ``progress``
    hears how many resamples are done, and how many there will be.

    Of a frame (pandas, polars, pyarrow, DuckDB, Spark, Dask, Ray, or a mapping) say which column is
    which: ``label``, ``score``, ``count``, ``cluster``; rows are counted where they are, ``mode``
    says how scores are kept, and ``holdout`` is such a frame too. Both may also be a tally that
    :func:`assay.count` gave. Families are then the labels beside ``negative``.

    >>> truth = ["normal"] * 300 + ["attack"] * 100
    >>> scores = [i / 400 for i in range(300)] + [0.5 + i / 200 for i in range(100)]
    >>> choice = choose_threshold(truth, y_score=scores, max_fpr=0.1, resamples=50)
    >>> choice.empirical.threshold, choice.guaranteed.threshold
    (0.675, 0.695)
    >>> choice.empirical["detection_rate"].value
    0.65
    """
    labelling: dict[str, Any] = {"positive": positive, "negative": negative, "labels": labels}
    asked = {
        "max_far": max_far,
        "max_fpr": max_fpr,
        "min_dr": min_dr,
        "min_dr_families": min_dr_families,
        "max_alerts": max_alerts,
        "cost_fp": cost_fp,
        "cost_fn": cost_fn,
        "base_rate": base_rate,
        "volume": volume,
        "confidence": confidence,
    }
    method = Bootstrap(level, resamples, seed)
    named: dict[str, Any] = {"label": label, "score": score, "count": count, "cluster": cluster}
    named |= {"mode": mode, "on_bad_row": on_bad_row, "max_memory": max_memory}
    arrays = {"y_score": y_score, "counts": counts, "clusters": clusters}
    if isinstance(y_true, Tally) or names_columns(y_true, named | arrays):
        if families is not None:
            raise InputError(
                "families= is a column of its own beside arrays; of a frame or a tally the labels "
                "are the families: name the kind of attack in the label, and say negative="
            )
        if isinstance(y_true, Tally):
            # Of a frame they were refused before.
            named |= arrays
        tallies, unseen = _counted_elsewhere(y_true, holdout, named, labelling)
        return choose_of_tallies(
            tallies, asked, family=FAMILY, method=method, holdout=unseen, progress=progress
        )
    given = {"y_true": y_true, "y_score": y_score, "families": families}
    given |= {"counts": counts, "clusters": clusters}
    must_share_index(given)
    rows, left_out = _coded(given, on_bad_row)
    tallies = tallies_of(rows, labelling, left_out)
    unseen = None
    if holdout is not None:
        columns = _holdout(holdout)
        must_share_index({f"holdout {name}": column for name, column in columns.items()})
        others, left_out = _coded(columns, on_bad_row)
        like = labelled_like(rows.truth, others.truth, tallies.resolved.positive, labelling)
        unseen = tallies_of(others, like, left_out)
    return choose_of_tallies(
        tallies, asked, family=FAMILY, method=method, holdout=unseen, progress=progress
    )


def choose_of_tallies(
    tallies: ScoredTallies,
    asked: Mapping[str, Any],
    *,
    family: str,
    method: Bootstrap,
    holdout: ScoredTallies | None = None,
    progress: Progress | None = None,
) -> Choice:
    """Choose from what was counted; ``family`` names the column that holds families."""
    swept = ThresholdSweep.of(tallies)
    swept.must_have_both_kinds()
    want = requirements(**asked, families=tuple(each.name for each in swept.families))
    unseen = None
    if holdout is not None:
        # Kinds that only one of them has may give a side another name.
        unseen = replace(ThresholdSweep.of(holdout), positive=swept.positive, labels=swept.labels)
    choosing = _Choosing(swept, want, method, progress)
    empirical, guaranteed, candidates = choosing.points()
    why = choosing.infeasible(empirical, guaranteed)
    chosen = guaranteed or empirical
    judged = None
    if unseen is not None and chosen is not None and chosen.threshold is not None:
        judged = judge(
            unseen,
            chosen.threshold,
            promised=guaranteed is not None,
            wanted=want,
            level=method.level,
            source=_row_source(holdout.source if holdout else {}, unseen),
        )
    if judged is not None and holdout is not None:
        judged["mode"] = keeping(holdout.resolved).name
    points = (empirical, guaranteed, *candidates)
    return Choice(
        constraints=want.constraints,
        objective=want.objective,
        empirical=empirical,
        guaranteed=guaranteed,
        infeasible=why,
        candidates=candidates,
        holdout=judged,
        positive=swept.positive,
        labels=swept.labels,
        confidence=float(want.confidence),
        level=method.level,
        base_rate=None if want.base_rate is None else float(want.base_rate),
        volume=None if want.volume is None else float(want.volume),
        family=family if swept.families else None,
        findings=urgent_first(
            (*_mistakes(tallies), *findings_of(swept, want, chosen, unseen, judged))
        ),
        notes=(*tallies.notes, *_notes(tallies, want, holdout)),
        source=_row_source(tallies.source, swept),
        mode=keeping(tallies.resolved).name,
        sweep=thinned(swept, [p.threshold for p in points if p and p.threshold is not None]),
    )


def _mistakes(tallies: ScoredTallies) -> tuple[Finding, ...]:
    column = tallies.source.get("chosen", {}).get("score")
    return likely_mistakes(tallies.resolved, column=column)


@dataclass(frozen=True, eq=False)
class _Choosing:
    """All points of one data set, from one set of resamples."""

    swept: ThresholdSweep
    wanted: Requirements
    method: Bootstrap
    progress: Progress | None

    @cached_property
    def empirical(self) -> ThresholdRule:
        """What is best on the rows at hand."""
        return empirical_rule(self.wanted)

    @cached_property
    def guaranteed(self) -> ThresholdRule:
        """What is best of what can be promised."""
        return guaranteed_rule(self.wanted)

    def points(self) -> tuple[Point | None, Point | None, tuple[Point, ...]]:
        """The empirical and the guaranteed point and the usual ones, where there are such."""
        usual = {} if self.wanted.size else candidates_of(self.wanted)
        rules: dict[str, Chooser] = {name: rule for name, (rule, _) in usual.items()}
        if self.wanted.constraints:
            rules["empirical"] = self.empirical
        if self.wanted.size and self.swept.sample is None:
            rules["guaranteed"] = self.guaranteed
        seen = self.swept.seen_by(*rules.values())
        positions = {name: rule.position(seen.counts) for name, rule in rules.items()}
        decided = {name: rule for name, rule in rules.items() if positions[name] != NOTHING}
        drawn = {}
        if decided:
            each = list(dict.fromkeys(decided.values()))
            drawn = self.swept.chosen(each, self.method, self.progress)

        def point(name: str, said: str, confidence: float | None = None) -> Point | None:
            if name not in decided:
                return None
            chosen = drawn[decided[name]]
            threshold = float(seen.thresholds[positions[name]])
            resampled = ResampledChoices(self.swept, chosen, self.method)
            estimates = estimates_at(
                self.swept, threshold, self.wanted, self.method.level, resampled
            )
            # FAR is promised at the ranks of positives, and not between them.
            exactly = confidence is not None and self.wanted.max_far is not None
            below = None if exactly else self.swept.below(threshold)
            return Point(threshold, said, confidence, estimates, name, below=below)

        guaranteed = None
        if "guaranteed" in decided:
            said = explanations.guaranteed(self.wanted, self.swept)
            guaranteed = point("guaranteed", said, float(self.wanted.confidence))
        candidates = [
            point(name, f"{said[0].upper()}{said[1:]} on these rows; nothing is promised.")
            for name, (_, said) in usual.items()
        ]
        empirical = point("empirical", explanations.empirical(self.wanted))
        if empirical is not None and empirical.threshold is not None:
            note = worth(self.swept, empirical.threshold, self.wanted, empirical.estimates)
            empirical = replace(empirical, rule=f"{empirical.rule} {note}", worth=note)
        return (
            empirical,
            guaranteed,
            tuple(each for each in candidates if each is not None),
        )

    def infeasible(self, empirical: Point | None, guaranteed: Point | None) -> str | None:
        """Why nothing was found, or nothing can be promised."""
        if not self.wanted.size:
            return None
        reasons = []
        if empirical is None:
            reasons.append(explanations.not_found(self.swept, self.wanted, self.empirical))
        if self.swept.sample is not None:
            reasons.append(explanations.CLUSTERS)
        elif guaranteed is None:
            reasons.append(
                explanations.not_promised(
                    self.swept,
                    self.wanted,
                    self.guaranteed,
                    on_these_rows=empirical is not None,
                )
            )
        if any(reasons):
            reasons.append(untried(self.swept.tally.kept.name))
        return " ".join(filter(None, reasons)) or None


def _notes(tallies: ScoredTallies, want: Requirements, holdout: ScoredTallies | None) -> list[str]:
    mode, edges = mode_note(tallies.resolved), EDGES.get(keeping(tallies.resolved).name)
    notes = [ANEW, f"{mode}. {edges}" if edges else mode]
    if holdout is not None and mode_note(holdout.resolved) != mode:
        notes.append(f"holdout: {mode_note(holdout.resolved)}")
    if want.size > 1:
        notes.append(
            f"The confidence of {float(want.confidence):g} is for all {want.size} constraints "
            f"together: they share the error (Bonferroni)."
        )
    if want.max_alerts is not None:
        notes.append(
            "The budget bounds the expected number of alerts a day; the share of days above it "
            "takes rows as independent of each other."
        )
    if tallies.frequencies:
        notes.append("A row that is counted n times is taken as n independent rows.")
    return notes


def _row_source(source: Mapping[str, Any], swept: ThresholdSweep) -> RowSource:
    read, refused = source.get("rows_read", 0), source.get("rows_refused", 0)
    return {
        "name": source.get("name", ""),
        "rows_read": read,
        "rows_used": read - refused,
        "rows_refused": refused,
        "refused": list(source.get("refused", ())),
        "positives": swept.positives,
        "negatives": swept.negatives,
        "chosen": source.get("chosen", {}),
        **({"labels_sha256": source["labels_sha256"]} if source.get("labels_sha256") else {}),
    }


def _counted_elsewhere(
    rows: Any, holdout: Any, named: Mapping[str, Any], sides: Mapping[str, Any]
) -> tuple[ScoredTallies, ScoredTallies | None]:
    """What an engine counted of rows and of a holdout, which are frames or tallies both."""

    def counted(of: Any) -> tuple[str, CountedFrame]:
        if isinstance(of, Tally):
            given = [f"{name}=" for name, value in named.items() if value is not None]
            if given:
                raise InputError(f"a tally is counted already: leave out {', '.join(given)}")
            return "tally", CountedFrame(of)
        # Any threshold will do: thresholds are what is looked for.
        return "frame", count_frame(of, {**named, **sides, "threshold": 0.0})

    name, these = counted(rows)
    tally = these.tally
    said = {**tally.sides, **{side: value for side, value in sides.items() if value is not None}}
    said = {side: said.get(side) for side in sides}
    tallies = tallies_of_tally(these, said, name)
    if holdout is None:
        return tallies, None
    name, others = counted(holdout)
    like = labelled_like(tally.labels, others.tally.labels, tallies.resolved.positive, said)
    return tallies, tallies_of_tally(others, like, name)


def _holdout(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in _HOLDOUT]
        if unknown or not {"y_true", "y_score"} <= set(given):
            raise InputError(
                f"a holdout has y_true and y_score, and may have {', '.join(_HOLDOUT[2:])}; found "
                f"{', '.join(map(str, given)) or 'nothing'}"
            )
        return dict(given)
    if isinstance(given, tuple | list) and len(given) == 2:
        return {"y_true": given[0], "y_score": given[1]}
    raise InputError(
        "a holdout is a pair of truth and scores, or a mapping with y_true and y_score"
    )


def _coded(columns: Mapping[str, Any], on_bad_row: OnBadRow | None) -> tuple[Coded, LeftOut]:
    """The rows, and those that were left out."""
    families = columns.get("families")
    left_out = LeftOut()
    arrays = {name: columns.get(name) for name in _HOLDOUT if name != "families"}
    arrays["slices"] = None if families is None else {FAMILY: families}
    if skips(on_bad_row):
        left_out, (arrays,) = good_rows(arrays)
    with suggesting_skip(arrays):
        rows = code_arrays(**arrays)
        if rows.score is not None:
            extremes(rows.score)  # which refuses what is not finite
    return rows, left_out


def choose_threshold_files(
    inputs: Name | Sequence[Name],
    request: Request | None = None,
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    max_far: float | None = None,
    max_fpr: float | None = None,
    min_dr: float | None = None,
    min_dr_families: Mapping[str, float] | float | None = None,
    max_alerts: float | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    base_rate: float | None = None,
    volume: float | None = None,
    confidence: float = 0.9,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 42,
    holdout: Name | Sequence[Name] | None = None,
    mode: str = AUTO,
    progress: ReadProgress = silent,
    resampled: Progress | None = None,
) -> Choice:
    r"""Choose a threshold on scores that are in files; see :func:`choose_threshold`.

    ``inputs`` and ``holdout`` are paths, ``-`` for standard input, or ``sqlite:FILE?QUERY``.
    ``request`` says which columns to read and how, its ``family`` which tells the kind of attack.
    ``mode`` says how scores are kept, as in :func:`evaluate_files`. ``progress`` hears how much was
    read, ``resampled`` how many resamples are done.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "predictions.csv")
    ...     _ = path.write_text("label,score\n" + "attack,0.9\nnormal,0.2\n" * 50)
    ...     choice = choose_threshold_files(str(path), max_fpr=0.1, resamples=20)
    >>> choice.guaranteed.threshold
    0.9
    """
    request = replace(request_of(request), by_threshold=True)
    if request.weight is not None:
        raise CountError(
            f"column {request.weight!r} holds sampling weights: a threshold is chosen, and its "
            f"promise made, by counting rows. Leave the weight out, or say count= where a row "
            f"stands for many"
        )
    if request.decision is not None:
        raise InputError("a threshold decides on scores: name the score, not a decision")
    read = ("label", "score", "probabilities", "probability_pattern", "family", "count", "cluster")
    must_read("the choice of a threshold", request, *read)
    sides = {"positive": positive, "negative": negative, "labels": labels}
    files = CountedFiles(given_names(inputs), request, sides, progress, mode)
    tallies, unseen = files.tallies(), None
    if holdout is not None:
        like = dict(sides)
        if negative is None:
            like["positive"] = tallies.resolved.positive
        others = CountedFiles(given_names(holdout), request, like, progress, mode)
        try:
            alike = labelled_like(files.labels, others.labels, tallies.resolved.positive, sides)
            unseen = others.tallies(alike)
        except InputError as error:
            raise type(error)(f"{others.name}: {error}") from error
    return choose_of_tallies(
        tallies,
        {
            "max_far": max_far,
            "max_fpr": max_fpr,
            "min_dr": min_dr,
            "min_dr_families": min_dr_families,
            "max_alerts": max_alerts,
            "cost_fp": cost_fp,
            "cost_fn": cost_fn,
            "base_rate": base_rate,
            "volume": volume,
            "confidence": confidence,
        },
        family=family_of(files),
        method=Bootstrap(level, resamples, seed),
        holdout=unseen,
        progress=resampled,
    )
