"""What every result can do: show itself in a notebook, be saved, become a dataframe."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

# Reports stand above results, so what draws them is found by its name, when it is asked for.
_DRAWN_BY = "assay.report.results"


class Result:
    """A result that a report is made of.

    >>> import assay
    >>> plan = assay.plan(max_fpr=1e-4)
    >>> print(str(plan).splitlines()[0])
    How many labelled rows are needed
    >>> plan.to_frame("polars").columns[:4]
    ['goal', 'family', 'target', 'confidence']
    """

    def __repr__(self) -> str:
        text: str = _drawing().text_of(self)
        return text

    def _repr_html_(self) -> str:
        """What a notebook shows: at most 40 lines, the rest folded."""
        html: str = _drawing().cell_of(self)
        return html

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the whole report, as the suffix says, and give its path.

        There are .html, .md, .tex, .json, .csv, .txt, and .pdf where Chromium or a TeX is
        installed. A file that is there is replaced when the new one is whole.
        """
        saved: Path = _drawing().save(self, path)
        return saved

    def to_frame(self, library: str | None = None) -> Any:
        """What it found as a tidy dataframe, the rows of its CSV.

        ``library`` is ``"pandas"`` or ``"polars"``; if it is not said, pandas where it is
        installed, else polars.
        """
        return _drawing().frame_of(self, library)


def _drawing() -> Any:
    return import_module(_DRAWN_BY)
