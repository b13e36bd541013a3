"""How a report came about: version, command line, and the inputs by their hashes."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.command import TYPED
from assay.cli.reporting import Reporting

if TYPE_CHECKING:
    from assay.report import Provenance
    from assay.sources.files import Request
    from assay.store import Run

# Formats that tell how they were made; to hash the input for the others would be idle work.
TELL_HOW = ("json", "markdown", "html")
# Who opens a database is nobody's business, and with which password above all.
_USER = re.compile(r"(?<=://)[^/@\s'\"]*@")
_SECRET = re.compile(r"(?i)\b(password|passwd|pwd|sslpassword|user)=[^&\s'\"]*")


class Making:
    """The making of a report: it knows the command, and hashes the inputs while they are read.

    ``maybe`` are names that may turn out to be inputs. ``always`` hashes whatever the format is.
    """

    def __init__(
        self,
        context: click.Context,
        files: Sequence[str],
        request: Request | None,
        reporting: Reporting,
        *,
        maybe: Sequence[str] = (),
        always: bool = False,
    ) -> None:
        from assay.sources.files import Hashing

        self._context, self._reporting = context, reporting
        self._started = time.monotonic()
        told = always or reporting.face in TELL_HOW or reporting.recording.name is not None
        # Counts that were typed have no file behind them.
        self._hashing = Hashing(files, request, maybe, hashes=told) if files and request else None

    def provenance(
        self, others: Sequence[str] = (), *, store: str | None = None, runs: Sequence[Run] = ()
    ) -> Provenance:
        """How the report was made; ``others`` are inputs that were found out while reading.

        Of a report about what was kept, the store is the input, and the runs by their documents.
        """
        from assay.report.provenance import Input, Provenance

        hashed = () if self._hashing is None else self._hashing.inputs(others)
        for name in () if self._hashing is None else self._hashing.changed:
            self._reporting.say(
                f"warning: {name} changed while it was read; the report is of what was read then, "
                f"and tells no hash of it"
            )
        inputs = [Input(without_secrets(e.name), e.size, e.sha256) for e in hashed]
        inputs += [] if store is None else [Input(without_secrets(store))]
        inputs += [Input(f"run:{run.id}", None, run.contents["document"]) for run in runs]
        return Provenance.here(
            without_secrets(self._context.meta.get(TYPED, "")),
            inputs,
            seed=self._reporting.seed,
            arguments=_arguments(self._context),
            seconds=time.monotonic() - self._started,
        )


def without_secrets(text: str) -> str:
    """A command line without the user and the password of any database in it.

    >>> without_secrets("assay evaluate postgresql://me:secret@host/db?password=x")
    'assay evaluate postgresql://host/db?password=...'
    """
    return _SECRET.sub(r"\1=...", _USER.sub("", text))


def _arguments(context: click.Context) -> dict[str, Any]:
    """What was given on the command line, by the names of the options."""
    given = click.core.ParameterSource.COMMANDLINE
    return {
        name: _plain(value)
        for name, value in context.params.items()
        if context.get_parameter_source(name) is given
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if value is None or isinstance(value, bool | int | float):
        return value
    return without_secrets(str(value))


def must_not_replace(out: Path | None, files: Sequence[str], request: Request) -> None:
    """Refuse a report that would be written over what it is about."""
    if out is None or not files or not out.is_file():
        return
    from assay.sources.files import paths_of

    for path in paths_of(files, request):
        if out.samefile(path):
            raise click.UsageError(f"--out {out} is an input, which it would replace")
