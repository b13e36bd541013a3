"""``assay serve``: runs, reports and judgements in a browser, and the processes that judge."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

import click

from assay.v02.cli import interruption, messages, options
from assay.v02.cli.messages import FINE, report, say
from assay.v02.cli.options import Command, Option
from assay.v02.cli.reporting import common, print_out
from assay.errors import AssayError, InputError, install_line

# Whatever has to be there, and the process that does the judging.
_NEEDS = ("starlette", "uvicorn")
LARGEST_TOKEN = 4096
WORKER = (sys.executable, "-P", "-c", "from assay.v02.cli.serve import work; work()")
EXAMPLES = (
    ("on this machine, with the runs of assay.db", "assay serve"),
    ("another store and port, to look only", "assay serve --store team.db --port 9000 --read-only"),
    (
        "for a team, behind a proxy that speaks TLS",
        "assay serve --token-file token --public-url https://assay.example.org",
    ),
)

_option = partial(click.option, cls=Option, section="Serving")


@click.command(
    cls=Command,
    name="serve",
    examples=EXAMPLES,
    short_help="Show runs, judge files and audit papers in a browser.",
)
@_option(
    "--store",
    metavar="PATH|URL",
    help="Where runs are kept.  [default: ASSAY_STORE, else assay.db]",
)
@_option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@_option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8710,
    show_default=True,
    metavar="P",
    help="The port to listen on; 0 for any that is free.",
)
@_option("--read-only", is_flag=True, help="Keep, change and delete nothing.")
@_option(
    "--token-file",
    type=options.InputPath(),
    metavar="FILE",
    help="The token that others sign in with.  [default: ASSAY_TOKEN, else a new one]",
)
@_option(
    "--public-url",
    metavar="URL",
    help="The address that people open, where it is not that of --host.",
)
@_option(
    "--max-upload",
    type=options.size,
    default="2GB",
    show_default=True,
    metavar="SIZE",
    help="The largest file that is taken.",
)
@_option(
    "--max-memory",
    type=options.size,
    default="2GB",
    show_default=True,
    metavar="SIZE",
    help="What one judgement may use.",
)
@_option(
    "--workers",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    metavar="N",
    help="How many judgements run at once.",
)
@_option("--open", "open_browser", is_flag=True, help="Open the link in a browser.")
@common
def command(
    *,
    store: str | None,
    host: str,
    port: int,
    read_only: bool,
    token_file: Path | None,
    public_url: str | None,
    max_upload: int,
    max_memory: int,
    workers: int,
    open_browser: bool,
    quiet: bool,
) -> None:
    """Show runs in a browser, compare them, judge files, audit papers.

    Listens on this machine alone, and prints a link that signs in one browser. Whoever is to
    reach it from elsewhere needs a token: name its file, and the address that people open.
    Nothing is loaded from elsewhere, and no request leaves this machine. Ctrl-C ends it.
    """
    missing = [package for package in _NEEDS if find_spec(package) is None]
    if missing:
        raise InputError(f"the web app needs {' and '.join(missing)}: {install_line('web')}")
    from assay.v02.store import Store
    from assay.v02.web.app import WebAddress, link, listen, make_app, serve
    from assay.v02.web.guards import Access, RequestLimits
    from assay.v02.web.site import Settings

    token = _token(token_file)
    WebAddress(host, port, public_url).check(token=token)
    with Store(store, read_only=read_only) as runs:
        listening, address = listen(WebAddress(host, port, public_url))
        secure = address.url.startswith("https:")
        access = Access(port=address.port, token=token, secure=secure)
        limits = RequestLimits(upload=max_upload, memory=max_memory, workers=workers)
        place = runs.place if "://" in runs.place else str(Path(runs.place).absolute())
        settings = Settings(address.origins(), WORKER, place, read_only, limits)
        app = make_app(settings, access, runs)
        entrance = link(address, access)

        def started() -> None:
            if not address.local:
                say(f"warning: others can reach {address.url}; only the token keeps them out")
            # Without it nobody gets in, so it is told even where little else is.
            say(f"Open {entrance}")
            if not quiet:
                say("The link signs in one browser. Ctrl-C ends the app.")
            if open_browser:
                click.launch(entrance)

        interruption.release()
        serve(app, listening, started)


def _token(file: Path | None) -> str | None:
    """The token of a file, or of the environment."""
    from assay.v02.web.guards import TOKEN

    if file is None:
        return os.environ.get(TOKEN) or None
    from assay.v02.sources.files.inputs import read_side_file

    try:
        return read_side_file(file, LARGEST_TOKEN, "a file of a token").decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: a token is UTF-8 text; byte {error.start + 1} is not") from error


# -- the processes that judge ----------------------------------------------------------------------

# One runs commands one after the other, as they come on standard input. Each line is {"args",
# "folder", "memory"}; the answer is one line with what the command printed, {"code", "out", "err"},
# after lines that tell how far it is. ``preview FILE`` shows the first rows of a file.
PREVIEW = "preview"
_EVERY = 0.2


def work() -> None:
    """Do jobs until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Nothing but answers goes there; commands print into memory.
    os.dup2(2, 1)
    _prepare()
    for line in sys.stdin:
        job: dict[str, Any] = json.loads(line)
        os.chdir(job["folder"])
        messages.LISTENERS[:] = [_Listener(answers)]
        _answer(answers, _command_output(job["args"], job["memory"]))
        os.chdir(os.sep)


def _prepare() -> None:
    """Import what most commands need, while nobody waits yet."""
    import assay.v02.cli.app
    import assay.v02.decisions
    import assay.v02.evaluation.named_columns
    import assay.v02.report.evaluation  # noqa: F401


def _command_output(args: list[str], memory: int) -> dict[str, Any]:
    """What a command prints, and its exit code."""
    from assay.v02.cli.app import run
    from assay.v02.sources.files.request import memory_limit

    out, err = io.BytesIO(), io.BytesIO()
    with (
        memory_limit(memory, _out_of_memory),
        contextlib.redirect_stdout(io.TextIOWrapper(out, "utf-8", write_through=True)),
        contextlib.redirect_stderr(io.TextIOWrapper(err, "utf-8", write_through=True)),
    ):
        code = _preview(args[1]) if args[0] == PREVIEW else run(args)
        sys.stdout.flush()
        sys.stderr.flush()
        printed = out.getvalue().decode(), err.getvalue().decode()
    return {"code": code, "out": printed[0], "err": printed[1]}


def _preview(name: str) -> int:
    """Print the first rows of a file, and what its columns may be."""
    from assay.v02.sources.files.read import preview

    try:
        print_out(json.dumps(preview(name).to_dict()).encode())
    except (AssayError, OSError) as error:
        return report(error)
    return FINE


def _out_of_memory(used: int) -> None:  # noqa: ARG001 - the form is that of the limit
    # Without an answer: whoever waits is told that the process has ended.
    os._exit(1)


def _answer(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


class _Listener:
    """Tells how far a command is, a few times a second."""

    def __init__(self, answers: TextIO) -> None:
        self._answers = answers
        self._last = 0.0

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._last >= _EVERY:
            self._last = now
            _answer(self._answers, {"stage": stage, "done": done, "total": total})
