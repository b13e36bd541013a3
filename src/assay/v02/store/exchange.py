"""Runs out of a store and into another: as JSON lines, to the byte; as metrics to other programs.

An export is one JSON value a line: a head, then content and runs. Content is text where it is
UTF-8, else base64; a run names its content by SHA-256, which is checked when it is read.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from assay.errors import StoreError
from assay.v02.escaping import sentence, visible
from assay.v02.report import IMPORTED
from assay.v02.report.document import json_text
from assay.v02.report.monitor import Sample, exposition
from assay.v02.store.records import Content, PreparedRun, checked_name, checked_tags, packed
from assay.v02.store.run import KeptRun, stored_moment, summary_of
from assay.v02.store.store import Store

SCHEMA = "assay.export/1"
_ID = re.compile("[0-9a-z]{1,64}")
_FIELDS = ("id", "name", "made", "note", "tags")
# A head only names the schema; content has no more bytes than so many a line.
LONGEST_HEAD, LONGEST_LINE = 1 << 16, 1 << 30
# So many runs are added at once; if the process ends, those that were are kept.
_AT_ONCE = 200


# -- our own -------------------------------------------------------------------------------------


@dataclass
class Export:
    """The lines of an export; content that several runs have stands once.

    A run whose document can't be read is left out, and a tally or rows that can't be are left out
    of their run: ``damaged`` says what was wrong, ``written`` how many runs were written.
    """

    runs: Iterable[KeptRun]
    damaged: list[str] = field(default_factory=list)
    written: int = 0

    def __iter__(self) -> Iterator[str]:
        yield _line({"schema": SCHEMA})
        told: set[str] = set()
        for run in self.runs:
            lines: list[str] = []
            held: dict[str, str] = {}
            for role, sha256 in run.contents.items():
                try:
                    if sha256 not in told:
                        lines.append(
                            _line({"content": sha256, **_content_entry(run.content(role))})
                        )
                    held[role] = sha256
                except StoreError as error:
                    self.damaged.append(str(error))
            if "document" in held:
                told |= set(held.values())
                self.written += 1
                fields = {name: getattr(run, name) for name in _FIELDS}
                yield from lines
                yield _line({"run": {**fields, "tags": list(run.tags), **held}})


def readable(runs: Iterable[KeptRun], damaged: list[str]) -> Iterator[KeptRun]:
    """The runs whose document can be read; what is wrong with others is added to ``damaged``."""
    for run in runs:
        try:
            run.content("document")
        except StoreError as error:
            damaged.append(str(error))
        else:
            yield run


def imported(store: Store, runs: Sequence[PreparedRun]) -> tuple[int, int]:
    """Add runs that were read; tells how many were added, and how many the store had."""
    added = 0
    for start in range(0, len(runs), _AT_ONCE):
        added += len(store.add(runs[start : start + _AT_ONCE]))
    return added, len(runs) - added


def from_export(lines: Iterable[str], name: str) -> list[PreparedRun]:
    """The runs of an export, all of them, so that a store gets none of one that is damaged."""
    contents: dict[str, bytes] = {}
    runs: list[PreparedRun] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        where = f"{name}, line {number}"
        line_values = _parsed(line, where)
        if number == 1:
            if line_values.get("schema") != SCHEMA:
                raise StoreError(
                    f"{where}: found the schema {line_values.get('schema')!r}, not {SCHEMA}"
                )
        elif "content" in line_values:
            contents[str(line_values["content"])] = _decoded(line_values, where)
        else:
            runs.append(_prepared(line_values.get("run"), contents, where))
    if not number:
        raise StoreError(f"{name} is empty, and an export has a line that says {SCHEMA}")
    return runs


def export_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """The lines of an export, none longer than one can be: the first only names the schema."""
    most = LONGEST_HEAD
    while line := stream.readline(most + 1):
        if len(line) > most:
            raise StoreError(f"{name}: a line has more than {most:,} bytes, so this is no export")
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise StoreError(f"{name}: an export is UTF-8 text, and this is not") from error
        most = LONGEST_LINE


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n"


def _content_entry(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _parsed(line: str, where: str) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{where}: no JSON: {error}") from error
    if not isinstance(values, dict):
        raise StoreError(f"{where}: found {type(values).__name__}, expected an object")
    return values


def _decoded(values: Mapping[str, Any], where: str) -> bytes:
    try:
        if "text" in values:
            return str(values["text"]).encode()
        return base64.b64decode(str(values["base64"]), validate=True)
    except (KeyError, ValueError) as error:
        raise StoreError(f"{where}: the content can't be read: {error}") from error


def _prepared(values: Any, contents: Mapping[str, bytes], where: str) -> PreparedRun:
    if not isinstance(values, dict) or not isinstance(values.get("id"), str):
        raise StoreError(f"{where}: found neither content nor a run with its id")
    kept: dict[str, Content] = {}
    for role in ("document", "tally", "rows"):
        sha256 = values.get(role)
        if sha256 is None:
            continue
        if not isinstance(sha256, str) or sha256 not in contents:
            raise StoreError(f"{where}: the {role} of run {values['id']} comes after it, or never")
        kept[role] = packed(contents[sha256])
        if kept[role].sha256 != sha256:
            raise StoreError(f"{where}: the {role} of run {values['id']} is not what was exported")
    if "document" not in kept:
        raise StoreError(f"{where}: run {values['id']} has no document")
    try:
        document = contents[values["document"]].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise StoreError(f"{where}: the document of run {values['id']} is no text") from error
    return _run(values, document, kept)


def _run(values: Mapping[str, Any], document: str, contents: Mapping[str, Content]) -> PreparedRun:
    summary = summary_of(document)
    if not _ID.fullmatch(str(values["id"])):
        raise StoreError(f"the id of a run is letters and digits; found {str(values['id'])[:60]!r}")
    run = KeptRun(
        seq=0,
        id=str(values["id"]),
        name=checked_name(str(values.get("name", ""))),
        kind=summary.kind,
        made=stored_moment(values.get("made")),
        headline=summary.headline,
        gate=summary.gate,
        tags=checked_tags(values.get("tags", ())),
        note=visible(str(values.get("note", ""))),
        test_set=summary.test_set,
        level=summary.level,
    )
    return run, summary, contents


# -- MLflow ----------------------------------------------------------------------------------------


def from_mlflow(place: Path, *, name: str | None = None) -> list[PreparedRun]:
    """The metrics of MLflow's runs: of a folder ``mlruns``, or of its database of SQLite.

    Metrics ``recall``, ``recall_low`` and ``recall_high`` become one estimate. Nothing of MLflow
    has to be installed.
    """
    runs = list(_of_folder(place) if place.is_dir() else _of_database(place))
    if not runs:
        raise StoreError(f"{place} holds no runs of MLflow; name the folder mlruns, or mlflow.db")
    return [_of_mlflow(run, name) for run in runs]


def _of_mlflow(run: Mapping[str, Any], name: str | None) -> PreparedRun:
    metrics: Mapping[str, float] = run["metrics"]
    estimates = [
        {
            "measure": key,
            "value": _finite(value),
            "low": _finite(metrics.get(f"{key}_low")),
            "high": _finite(metrics.get(f"{key}_high")),
            **({} if math.isfinite(value) else {"undefined": f"MLflow has {value}"}),
        }
        for key, value in sorted(metrics.items())
        if not key.endswith(("_low", "_high")) or key.rpartition("_")[0] not in metrics
    ]
    made = datetime.fromtimestamp(run["start"] / 1000, UTC).isoformat()
    document = {
        "schema": f"assay.{IMPORTED}/1",
        "source": {"name": f"MLflow run {run['id']}"},
        "provenance": {"made": made, "inputs": []},
        "headline": [f"{len(estimates)} metrics of MLflow run {run['name'] or run['id']}"],
        "estimates": estimates,
    }
    text = json_text(document)
    fields = {
        "id": run["id"][:12],
        "name": name or run["experiment"],
        "made": made,
        "tags": ["mlflow"],
    }
    return _run(fields, text, {"document": packed(text.encode())})


def _finite(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else number


def _milliseconds(start: Any) -> int:
    """When a run began; one that does not tell is older than all others."""
    return int(start) if str(start).isdecimal() else 0


def _of_folder(place: Path) -> Iterator[dict[str, Any]]:
    for meta in sorted(place.glob("*/*/meta.yaml")):
        told = _keys(meta)
        experiment = _keys(meta.parents[1] / "meta.yaml")
        if "run_id" not in told or told.get("lifecycle_stage") == "deleted":
            continue
        metrics = {}
        for file in sorted((meta.parent / "metrics").rglob("*")):
            if file.is_file():
                # One line a value: milliseconds, value, step; the last one counts.
                lines = file.read_text("utf-8").split("\n")
                values = [line.split(" ")[1] for line in lines if line.count(" ") >= 1]
                if values:
                    key = file.relative_to(meta.parent / "metrics").as_posix()
                    metrics[key] = float(values[-1])
        yield {
            "id": told["run_id"],
            "name": told.get("run_name", ""),
            "experiment": experiment.get("name", "mlflow"),
            "start": _milliseconds(told.get("start_time")),
            "metrics": metrics,
        }


def _keys(path: Path) -> dict[str, str]:
    """The keys of a flat YAML file, as MLflow writes it."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in lines if not line.startswith((" ", "#", "-")))
    return {key.strip(): value.strip().strip("'\"") for key, _, value in pairs}


def _of_database(place: Path) -> Iterator[dict[str, Any]]:
    import sqlite3
    from contextlib import closing

    if not place.is_file():
        raise StoreError(f"there is no folder or database {place}")
    try:
        with closing(
            sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            runs = connection.execute(
                "SELECT run_uuid, runs.name, experiments.name, start_time FROM runs "
                "JOIN experiments USING (experiment_id) WHERE runs.lifecycle_stage = 'active' "
                "ORDER BY start_time, run_uuid"
            ).fetchall()
            for id_, name, experiment, start in runs:
                rows = connection.execute(
                    "SELECT key, value, is_nan FROM latest_metrics WHERE run_uuid = ?", (id_,)
                )
                yield {
                    "id": id_,
                    "name": name,
                    "experiment": experiment,
                    "start": _milliseconds(start),
                    "metrics": {key: math.nan if is_nan else value for key, value, is_nan in rows},
                }
    except sqlite3.Error as error:
        raise StoreError(f"{place} is no database of MLflow: {error}") from error


class MlflowRefused(StoreError):
    """MLflow can't be reached, or takes no run."""


def to_mlflow(runs: Iterable[KeptRun], uri: str | None = None) -> int:
    """Write runs to MLflow: estimates as metrics, with ``_low`` and ``_high``; tells how many."""
    try:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    except ImportError as error:
        raise StoreError(
            "an export to MLflow needs its package, mlflow, which is not installed; install it, or "
            "export as json or openmetrics"
        ) from error
    try:
        return _logged(MlflowClient(tracking_uri=uri), runs)
    except MlflowException as refusal:
        reason = sentence(str(refusal).strip().partition("\n")[0])
        raise MlflowRefused(f"MLflow was not written to: {reason}") from refusal


def _logged(client: Any, runs: Iterable[KeptRun]) -> int:
    from mlflow.entities import Metric, RunTag

    number = 0
    for number, run in enumerate(runs, start=1):  # noqa: B007 - the last one tells how many
        moment = int(datetime.fromisoformat(run.made).timestamp() * 1000)
        experiment = client.get_experiment_by_name(run.name)
        place = (
            client.create_experiment(run.name) if experiment is None else experiment.experiment_id
        )
        there = client.create_run(place, start_time=moment, run_name=run.id)
        metrics = [
            Metric(key, value, moment, 0)
            for each in summary_of(run.document).values
            for key, value in (
                (_metric(each.measure), each.value),
                (f"{_metric(each.measure)}_low", each.low),
                (f"{_metric(each.measure)}_high", each.high),
            )
            if value is not None
        ]
        tags = [RunTag("assay.run", run.id), RunTag("assay.kind", run.kind)]
        tags += [RunTag(f"assay.tag.{tag}", "true") for tag in run.tags]
        tags += [RunTag("assay.gate", run.gate)] if run.gate else []
        for start in range(0, len(metrics), 1000):
            client.log_batch(there.info.run_id, metrics[start : start + 1000], tags=tags)
        client.log_text(there.info.run_id, run.document, "assay.json")
        client.set_terminated(there.info.run_id, end_time=moment)
    return number


def _metric(measure: str) -> str:
    """A name that MLflow allows."""
    return "".join(sign if sign.isalnum() or sign in "_-. /" else "_" for sign in measure)


# -- OpenMetrics -----------------------------------------------------------------------------------

_FAMILIES = {
    "assay_estimate": "An estimate of the last run of a name.",
    "assay_estimate_low": "The lower end of its interval.",
    "assay_estimate_high": "The upper end of its interval.",
    "assay_estimate_rows": "How many rows it rests on.",
    "assay_gate_passed": "Whether the last gate of a name passed.",
    "assay_run_made_seconds": "When the last run of a name was made.",
}


def openmetrics(runs: Iterable[KeptRun]) -> str:
    """The text of OpenMetrics 1.0; every sample has the name and the kind of its run as labels."""
    return exposition(_FAMILIES, (sample for run in runs for sample in _samples(run)))


def _samples(run: KeptRun) -> Iterator[Sample]:
    labels = {"name": run.name, "kind": run.kind}
    yield "assay_run_made_seconds", labels, datetime.fromisoformat(run.made).timestamp()
    if run.gate is not None:
        yield "assay_gate_passed", labels, float(run.gate == "pass")
    for each in summary_of(run.document).values:
        told = {**labels, "measure": each.measure}
        for suffix, value in (
            ("", each.value),
            ("_low", each.low),
            ("_high", each.high),
            ("_rows", each.n),
        ):
            if value is not None:
                yield f"assay_estimate{suffix}", told, value
