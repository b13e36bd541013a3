"""The command line: one thin file a command, and what they share.

Nothing here imports numpy or polars before it has to, so that help comes at once.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run a command line, by default the one that was typed, and give its exit code."""
    # Signals first: whoever presses Ctrl-C while modules load should see no traceback either.
    from assay.v02.cli import interruption

    interruption.watch()
    from assay.v02.cli.app import run

    code = run(args)
    interruption.finish()
    return code
