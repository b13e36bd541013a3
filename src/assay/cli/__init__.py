"""The command line: ``assay COMMAND`` runs the new command, or 0.2's until it has moved."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run a command line, by default the one that was typed, and return its exit code."""
    # Signals first, so that Ctrl-C while modules load shows no traceback either.
    from assay.v02.cli import interruption

    interruption.watch()
    from assay.cli.app import run

    code = run(args)
    interruption.finish()
    return code
