"""``assay gate``: fail the build when the new model does not keep the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.v02.cli import options
from assay.v02.cli.messages import NO, Progress
from assay.v02.cli.options import (
    LABELS,
    NEGATIVE,
    PAIR_MODE,
    POSITIVE,
    Command,
    Option,
    column_option,
    judging,
    must_name_one_side,
)
from assay.v02.cli.reading import TEXT_OPTIONS, naming_inputs, reading_only, within_memory
from assay.v02.cli.recording import Recording, must_keep_rows, recording, rows_of_models
from assay.v02.cli.reporting import (
    FIGURES,
    ProvenanceBuilder,
    Reporting,
    check_beside,
    check_figures,
    draw_figures,
    must_not_replace,
    must_read_once,
    reporting,
    write,
)
from assay.errors import InputError
from assay.v02.escaping import plural

if TYPE_CHECKING:
    from assay.v02.decisions import Gate, Rule
    from assay.v02.sources.files import MatchedRows, Request
    from assay.v02.store import KeptRows, KeptRun
    from assay.v02.tally import Tally

_WITH_BASELINE = "assay gate new.csv --baseline old.csv --id flow --score score"
_WITH_LAST = "assay gate new.csv --score score --id flow --baseline last-passed --record flows"
EXAMPLES = (
    (
        "at most one point of detection may be lost, both models at 10% false alarms",
        f"{_WITH_BASELINE} --rule 'new-old(detection_rate@max-far=0.1) >= -0.01'",
    ),
    (
        "half of the alarms real where 1 row in 1,000 is an attack; no baseline is needed",
        "assay gate new.csv --score score --rule 'new(precision@base-rate=0.001) >= 0.5'",
    ),
    (
        "rules from a file, each family by itself, a report for the build server",
        f"{_WITH_BASELINE} --family family --rules gate.toml --junit gate.xml",
    ),
    (
        "against the last gate that passed, and kept for the next one",
        f"{_WITH_LAST} --rule 'new-old(recall) >= -0.01'",
    ),
    (
        "a comment for the pull request",
        f"{_WITH_BASELINE} --rule 'new-old(roc_auc) >= 0' --format markdown",
    ),
)

_rule = partial(click.option, cls=Option, section="Rules")


@click.command(
    cls=Command,
    name="gate",
    examples=EXAMPLES,
    short_help="Fail the build when the new model is really worse.",
)
@click.argument("file", metavar="FILE")
@_rule(
    "--rule",
    "rules",
    multiple=True,
    metavar="RULE",
    help="What has to hold, as 'new(precision) >= 0.5' or 'new-old(f1) >= -1%'; may be repeated.",
)
@_rule(
    "--rules",
    "rule_file",
    type=options.InputPath(),
    metavar="FILE",
    help="A file of rules: TOML, or one a line.",
)
@_rule("--allow-undecided", is_flag=True, help="End with 0 where the rows can't decide.")
@_rule("--joint", is_flag=True, help="The level holds for all rules together, by Bonferroni.")
@_rule(
    "--junit",
    type=options.FilePath(),
    metavar="FILE",
    help="Write JUnit XML for a build server into this file.",
)
@column_option("--score", required=True, help="What the new model said: scores, or decisions.")
@column_option("--baseline-score", help="What the old model said.  [default: as --score]")
@column_option("--id", "id_column", help="What names a row in both files.")
@click.option(
    "--baseline",
    cls=Option,
    section="Files and rows",
    metavar="FILE|RUN",
    help="The old model's predictions of the same rows; run:ID for a run that was kept, "
    "last-passed for the last gate that passed.",
)
@reading_only(
    *("label", "family", "count", "cluster"),
    *TEXT_OPTIONS,
    *("on_bad_row", "max_memory"),
)
@POSITIVE
@NEGATIVE
@LABELS
@judging(
    "--threshold",
    type=options.number,
    metavar="T",
    help="Of rules that set none themselves.  [default: 0.5 for scores in [0, 1]]",
)
@judging(
    "--baseline-threshold",
    type=options.number,
    metavar="T",
    help="The same for the old model.  [default: that of a run, else as --threshold]",
)
@judging(
    "--resamples",
    type=click.IntRange(min=2),
    metavar="N",
    help="How often a bootstrap draws.  [default: 1000, more where the level asks for it]",
)
@PAIR_MODE
@FIGURES
@recording(rows=True)
@reporting
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    file: str,
    rules: tuple[str, ...],
    rule_file: Path | None,
    allow_undecided: bool,
    joint: bool,
    junit: Path | None,
    score: str,
    baseline_score: str | None,
    id_column: str | None,
    baseline: str | None,
    request: Request,
    positive: str | None,
    negative: str | None,
    labels: tuple[str, ...] | None,
    threshold: float | None,
    baseline_threshold: float | None,
    resamples: int | None,
    mode: str,
    figures: Path | None,
    reporting: Reporting,
) -> None:
    """Judge a new model's predictions by rules, beside a baseline on the same rows.

    A rule bounds a measure of the new model, of the old one, or of their difference. It passes when
    its whole interval keeps the bound, fails when none of it does, and is undecided otherwise. Ends
    with 0 if all rules pass, and with 1 if any fails or is undecided.
    """
    judging_rows = _NewRows()
    if baseline is not None and _is_run(baseline):
        judging_rows.old = _old_run(baseline, reporting.recording)
        if reporting.recording.name is None:
            # The store was named for the baseline.
            reporting = replace(reporting, recording=replace(reporting.recording, store=None))
    old_run = judging_rows.old
    needs_rows = old_run is not None or reporting.recording.name is not None
    inputs = [file] if baseline is None or old_run is not None else [file, baseline]
    must_read_once(inputs, "FILE and --baseline")
    reporting.check()
    must_keep_rows(reporting.recording, inputs, request)
    must_not_replace(reporting.out, inputs, request)
    if junit is not None:
        given = [*inputs, *([] if rule_file is None else [rule_file])]
        check_beside("--junit", junit, given, reporting.out)
        from assay.v02.report.gate import broken_off

        # Whatever happens now, nobody takes an older verdict for this one.
        write(junit, broken_off())
    must_name_one_side(positive, negative)
    check_figures(figures)
    parsed = _rules(rules, rule_file)
    has_old = baseline is not None or baseline_score is not None
    _check_needs(
        parsed, has_old=has_old, has_family=request.family is not None or negative is not None
    )
    if len(inputs) > 1 and id_column is None:
        raise click.UsageError(
            "--baseline needs --id, the column that names a row in both files: rows are matched "
            "by it, never by their order"
        )
    making = ProvenanceBuilder(context, inputs, request, reporting)
    with Progress(quiet=reporting.quiet) as progress, within_memory(request), naming_inputs(inputs):
        from assay.v02 import gate_files

        result = gate_files(
            file,
            request,
            rules=parsed,
            score=score,
            baseline=None if old_run is not None else baseline,
            baseline_score=baseline_score,
            id_column=id_column,
            positive=positive,
            negative=negative,
            labels=labels,
            threshold=threshold,
            baseline_threshold=baseline_threshold,
            level=reporting.level,
            joint=joint,
            resamples=resamples,
            seed=reporting.seed,
            mode=mode,
            progress=progress,
            resampling=_resampling(progress),
            judge=judging_rows.judge if needs_rows else None,
        )
        if old_run is not None:
            result = replace(result, source={**result.source, "baseline": f"run:{old_run.id}"})
        result = replace(result, allow_undecided=allow_undecided)
        document = making.document(result)
    for line in _source_notes(result, request.label):
        reporting.say(line)
    if junit is not None:
        from assay.v02.report import draw

        write(junit, draw(document, "junit"))
        reporting.say(f"wrote {junit} (JUnit)")
    draw_figures(result.plot, figures, reporting)
    tally = judging_rows.tally() if reporting.recording.name is not None else None
    reporting.deliver(document, tally=tally, rows=lambda: judging_rows.kept(result.positive))
    if result.outcome == "fail" or (result.outcome == "undecided" and not allow_undecided):
        context.exit(NO)


def _is_run(baseline: str) -> bool:
    return baseline.startswith("run:") or baseline.partition("~")[0] in ("last", "last-passed")


def _old_run(baseline: str, recording: Recording) -> KeptRun:
    """The run that is the baseline; of the same name, where the gate is recorded under one."""
    from assay.v02.store import Store

    with Store(recording.store, read_only=True) as store:
        return store.find(baseline, name=recording.name).loaded()


@dataclass
class _NewRows:
    """The rows of the new model, for a baseline that is a run, and to be kept."""

    old: KeptRun | None = None
    matched: MatchedRows | None = None
    given: dict[str, Any] = field(default_factory=dict)

    def judge(self, matched: MatchedRows, given: dict[str, Any]) -> Gate:
        """Judge the rules, against the run where there is one."""
        from assay.v02 import gate
        from assay.v02.store.comparing import gate_against_run

        self.matched, self.given = matched, given
        if self.old is None:
            return gate(**given)
        return gate_against_run(self.old, rows_of_models(matched, None), **given)

    def kept(self, positive: str | None) -> KeptRows | None:
        """The rows with what both models said of them; None where none were judged."""
        return None if self.matched is None else rows_of_models(self.matched, positive)

    def tally(self) -> Tally:
        """What was counted of the new model."""
        from assay.v02 import count

        named = ("positive", "negative", "labels", "threshold", "counts")
        outputs = {"y_score": self.given["new"], "y_pred": self.given["new_decision"]}
        return count(self.given["y_true"], **outputs, **{key: self.given[key] for key in named})


def _rules(written: tuple[str, ...], path: Path | None) -> tuple[Rule, ...]:
    """The rules of the command line, which may be mistyped, or of a file, which may be wrong."""
    if bool(written) == (path is not None):
        raise click.UsageError("give --rule, once for each, or --rules with a file of them")
    from assay.v02.decisions import parse_rule, read_rules

    if path is not None:
        return read_rules(path)
    try:
        return tuple(parse_rule(text) for text in written)
    except InputError as error:
        raise click.UsageError(f"--rule: {error}") from error


def _check_needs(rules: tuple[Rule, ...], *, has_old: bool, has_family: bool) -> None:
    for rule in rules:
        if "old" in rule.models and not has_old:
            raise click.UsageError(
                f"the rule {rule.text!r} needs --baseline, or --baseline-score for another column "
                f"of the same file"
            )
        if (rule.family is not None or rule.every_family) and not has_family:
            raise click.UsageError(f"the rule {rule.text!r} needs --family, the column of families")


def _resampling(progress: Progress) -> Callable[[int, int], None]:
    """Progress of the resamples, a stage of its own from the first on."""
    begun: list[Progress] = []

    def told(done: int, total: int) -> None:
        if not begun:
            begun.append(progress.stage("resampling"))
        progress(done, total)

    return told


def _source_notes(gate: Gate, label: str | None) -> Iterator[str]:
    """What stands beside a report: what was guessed, and what was left out."""
    source = gate.source
    if label is None and "label" in source["chosen"]:
        yield f"note: the label is column {source['chosen']['label']!r}, recognised by its name"
    if source["rows_refused"]:
        refused = source["rows_refused"]
        were = plural(refused, "was", "were")
        yield f"note: {refused:,} of {source['rows_read']:,} rows {were} refused"
