"""``assay demo``: the whole tool on data that it makes itself."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.v02.cli.messages import OutputError, say
from assay.v02.cli.options import Command, FilePath, Option
from assay.v02.cli.reporting import DEFAULT_LEVEL, LEARNING_SEED, LEVEL, QUIET, STDOUT_FACE
from assay.errors import install_line
from assay.v02.report import atomic_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.v02.learn.scenarios import Flows

PREDICTIONS = "predictions.csv"
REPORTS = {
    "report.html": "a page with moving parts: open this one in a browser",
    "report.md": "for a pull request",
    "report.tex": "tables for a paper",
    "report.json": "for other programs",
}
# Pages on what follows: each is the report of a command on the same predictions.
DECISIONS = {
    "threshold.html": (
        "where to set the alarm for 2,000 alerts a day",
        "threshold",
        *("--max-alerts", "2000", "--base-rate", "0.1%", "--volume", "1000000"),
        *("--family", "family"),
    ),
    "comparison.html": (
        "is it better than the model that it replaces?",
        "compare",
        *("--label", "label", "--model", "old=old_score", "--model", "new=score"),
        *("--at", "max-far=0.1", "--family", "family"),
    ),
}
# What is kept where a store is named: the model that is replaced, then the new one.
KEPT = "flow-detector"
VERSIONS = {"old": "old_score", "new": "score"}
JUDGED = ("--family", "family", "--base-rate", "0.1%", "--volume", "1000000")
RULES = (
    *("--rule", "new-old(detection_rate@max-far=0.1) >= -0.01"),
    *("--rule", "new(precision@base-rate=0.001) >= 0.5"),
)
# Detectors that are trained on a scenario, by the folder of their run.
PACKETS, PACKET_ROWS = "arp.csv", 5000
RECIPES = ("forest", "network")
TRAINING = ("--label", "label", "--family", "family", "--time", "time", "--drop", "host")
TRAINED = "trained.html"
# A folder that bears this mark may be written into again.
MARK = ".made-by-assay-demo"
DEFAULT_SEED = 42

OPTIONS = (
    *("--family", "family", "--slice", "protocol", "--time", "time", "--cluster", "host"),
    *("--base-rate", "0.1%", "--volume", "1000000"),
)
EXAMPLES = (
    ("writes into ./assay-demo", "assay demo"),
    ("another folder, other draws", "assay demo --out try --seed 7"),
)


@click.command(
    cls=Command,
    name="demo",
    examples=EXAMPLES,
    short_help="Try everything on made-up data.",
)
@click.option(
    "-o",
    "--out",
    cls=Option,
    section="Report",
    type=FilePath(),
    metavar="DIR",
    default="assay-demo",
    show_default=True,
    help="The folder to write into.",
)
@STDOUT_FACE
@click.option(
    "--store",
    cls=Option,
    section="Report",
    metavar="PATH|URL",
    help="Keep the judgements there too, for assay runs and assay serve.",
)
@LEVEL
@LEARNING_SEED
@QUIET
def command(
    *, out: Path, face: str, store: str | None, level: float, seed: int, quiet: bool
) -> None:
    """Try everything on made-up data: 20,000 network flows, five families of attack.

    Writes the predictions of a detector as CSV, judges them, shows the report, and leaves it as
    HTML, Markdown, LaTeX and JSON too; chooses a threshold for it, and compares it with the model
    that it replaces. Then it makes 5,000 packets of a network in which somebody poses as somebody
    else, trains a random forest and a neural network on them, and compares the two; that needs
    scikit-learn, which comes with the extra learn.
    """

    def tell(text: str = "") -> None:
        if not quiet:
            say(text)

    _prepare(out)
    from assay.v02.learn.scenarios import make_flows

    predictions = out / PREDICTIONS
    flows = make_flows(seed)
    _write(predictions, table(flows))
    tell(f"Made {len(flows):,} network flows of two weeks, and what a detector said of them.")
    arguments = ["evaluate", str(predictions), *OPTIONS]
    if level != DEFAULT_LEVEL:
        arguments += ["--level", repr(level)]
    tell("The report that follows is that of")
    tell(f"  {_shell_line(arguments)}")
    tell()
    _run([*arguments, "--format", face, "--quiet"])
    for name in REPORTS:
        _run([*arguments, "--out", str(out / name), "--quiet"])
    for name, (_, subcommand, *options) in DECISIONS.items():
        _run([subcommand, str(predictions), *options, "--out", str(out / name), "--quiet"])
    if store is not None:
        _keep(predictions, store)
        tell(f"Kept the judgements in {store}: assay serve --store {shlex.quote(store)}")
    runs = _trained(out, seed, tell) if _can_train() else {}
    tell()
    for line in _guide(out, arguments, runs):
        tell(line)


def _keep(predictions: Path, store: str) -> None:
    """Keep both models with their rows, a threshold, their comparison, and a gate."""
    from assay.v02.store import Store

    file = str(predictions)
    store_options = ("--record", KEPT, "--store", store, "--quiet", "--format", "json")
    for tag, column in VERSIONS.items():
        version = ("--score", column, "--tag", tag, "--keep-rows")
        _command_output(["evaluate", file, *JUDGED, *version, *store_options])
    for _, subcommand, *options in DECISIONS.values():
        _command_output([subcommand, file, *options, *store_options])
    with Store(store, read_only=True) as kept:
        (old,) = kept.runs(name=KEPT, tag="old", limit=1).runs
    # That a rule does not hold is worth seeing, and no failure of the demo.
    with contextlib.suppress(click.exceptions.Exit):
        beside = ("--label", "label", "--score", "score", "--baseline", f"run:{old.id}")
        _command_output(["gate", file, *beside, *RULES, *store_options])


def _can_train() -> bool:
    return all(find_spec(package) is not None for package in ("sklearn", "skops"))


def _trained(out: Path, seed: int, tell: Callable[[str], None]) -> dict[str, list[str]]:
    """Train detectors on the packets of a network, and compare them; gives their commands."""
    packets = out / PACKETS
    _run(
        [
            "data",
            "arp",
            *_seed_option(seed),
            "--rows",
            str(PACKET_ROWS),
            "--out",
            str(packets),
            "--quiet",
        ]
    )
    tell(f"Made {PACKET_ROWS:,} ARP packets of a network, {packets}. Training on them:")
    runs = {}
    for recipe in RECIPES:
        folder = out / recipe
        arguments = [
            "train",
            recipe,
            str(packets),
            *TRAINING,
            *_seed_option(seed),
            "--out",
            str(folder),
        ]
        tell(f"  {_shell_line(arguments)}")
        _command_output([*arguments, "--quiet"])  # the report is in the folder
        tell(f"      {_headline(folder)}")
        runs[recipe] = arguments
    judged = [str(out / folder / "predictions.parquet") for folder in runs]
    models = [f"{folder}={file}:score" for folder, file in zip(runs, judged, strict=True)]
    arguments = [
        *("compare", judged[0], "--label", "label", "--id", "row", "--family", "family"),
        *(part for model in models for part in ("--model", model)),
    ]
    tell(f"  {_shell_line(arguments)}")
    _run([*arguments, "--out", str(out / TRAINED), "--quiet"])
    for verdict in json.loads(_command_output([*arguments, "--format", "json", "--quiet"]))[
        "verdicts"
    ]:
        tell(f"      {verdict['text']}")
    return runs


def _seed_option(seed: int) -> list[str]:
    return [] if seed == DEFAULT_SEED else ["--seed", str(seed)]


def _headline(run: Path) -> str:
    """What a training comes to, in one sentence."""
    try:
        document = json.loads((run / "evaluation.json").read_text("utf-8"))
    except OSError as error:
        raise OutputError.of(run, error) from error
    return str(document["headline"][0])


def _prepare(folder: Path) -> None:
    """Make the folder; one that holds somebody else's files is left alone."""
    if str(folder).startswith("-"):
        raise click.UsageError(f"{str(folder)!r} would be taken for an option; name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not (folder / MARK).exists():
            raise OutputError(
                f"{folder} holds files that the demo did not make; "
                f"name another folder with --out, or empty this one"
            )
        (folder / MARK).touch()
    except OSError as error:
        raise OutputError.of(folder, error) from error


def table(flows: Flows) -> bytes:
    """The flows as CSV, in the order of time."""
    import numpy as np

    flows = flows.where(np.argsort(flows.time, kind="stable"))
    columns = {
        "time": np.datetime_as_string(flows.time, timezone="UTC"),
        "host": flows.host,
        "protocol": flows.protocol,
        "family": flows.family,
        "label": flows.label,
        "score": flows.new,
        "old_score": flows.old,
    }
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return text.getvalue().encode()


def _write(path: Path, content: bytes) -> None:
    try:
        atomic_files.write(path, content)
    except OSError as error:
        raise OutputError.of(path, error) from error


def _run(arguments: list[str]) -> None:
    """Run a command line as a user would."""
    from assay.v02.cli.app import app

    app.main(arguments, prog_name="assay", standalone_mode=False)


def _command_output(arguments: list[str]) -> bytes:
    """What a command prints: the standard output of the demo is for one report alone."""
    buffer = io.BytesIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(buffer, "utf-8")) as text:
        _run(arguments)
        text.flush()
        return buffer.getvalue()


def _shell_line(arguments: list[str]) -> str:
    return shlex.join(["assay", *arguments])


def _guide(out: Path, arguments: list[str], runs: dict[str, list[str]]) -> list[str]:
    """What there is to see now, and what to try next."""
    from assay.v02.measures import FALSE_DISCOVERY_RATE

    predictions = str(out / PREDICTIONS)
    return [
        "Written:",
        f"  {predictions}: what was evaluated",
        *(f"  {out / name}: {what}" for name, what in REPORTS.items()),
        *(f"  {out / name}: {what[0]}" for name, what in DECISIONS.items()),
        *_guide_to_runs(out, runs),
        "",
        "Next:",
        f"  {_shell_line(['threshold', predictions, '--max-far', '10%', '--base-rate', '0.01%'])}",
        "      what can't be promised from so few rows, and how many it would take",
        f"  {_shell_line(['plan', '--max-fpr', '1e-5'])}",
        "      how many labelled rows show a false positive rate",
        f"  {_shell_line([*arguments, '--threshold', '0.9'])}",
        "      fewer alerts, and what that misses",
        f"  {_shell_line(['measures', FALSE_DISCOVERY_RATE.name])}",
        "      what the false alarm rate says, and when it misleads",
    ]


def _guide_to_runs(out: Path, runs: dict[str, list[str]]) -> list[str]:
    if not runs:
        return [f"  no trained detectors, which need scikit-learn: {install_line('learn')}"]
    return [
        f"  {out / PACKETS}: the packets that were learned from",
        f"  {out / TRAINED}: is the network better than the forest?",
        *(
            f"  {out / recipe / 'report.html'}: {recipe} on packets that it did not learn; its "
            f"model is beside it"
            for recipe in RECIPES
        ),
    ]
