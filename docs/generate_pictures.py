"""The pictures of the pages, drawn from the flows of the demo when the documentation is built."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import assay
from assay.learn.scenarios import make_flows


def comparison() -> Any:
    """Both models of the flows, each at a false alarm rate of 5%; hosts are what is resampled."""
    flows = make_flows()
    return assay.compare(
        flows.label,
        scores={"old": flows.old, "new": flows.new},
        at="max-far=0.05",
        clusters=flows.host,
    ).plot


# File: what draws it, and which of its figures.
PICTURES = {"compare-forest.svg": (comparison, "forest.svg")}


def write_pictures(folder: Path) -> None:
    """Write every picture into a folder."""
    folder.mkdir(exist_ok=True)
    for name, (made, figure) in PICTURES.items():
        with TemporaryDirectory() as aside:
            made().save(aside, formats=("svg",))
            (folder / name).write_bytes(Path(aside, figure).read_bytes())
