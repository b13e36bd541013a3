"""Sphinx configuration."""

import importlib.util
from importlib.metadata import version as installed_version
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent
GENERATOR = HERE / "generate.py"
MEASURES = HERE / "measures"
COVERAGE = HERE / "coverage.rst"

project = "assay"
copyright = "the assay contributors"
release = version = installed_version("assay")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"assay {release}"

autodoc_member_order = "bysource"
napoleon_numpy_docstring = False

# The build reads no other project's inventory, so it runs without a network.
# Names from other packages can't be resolved then; our own must be.
nitpick_ignore_regex = [(r"py:.*", r"(?!assay(\.|$)).*")]


def write_measure_pages(app: Sphinx) -> None:
    """Write docs/measures/ from the catalogue; its index.rst lists the pages."""
    spec = importlib.util.spec_from_file_location("generate", GENERATOR)
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    generate.write_pages(MEASURES)
    for page, missing in (
        ("references", generate.missing_references()),
        ("api", generate.missing_names()),
    ):
        if missing:
            logger.warning("docs/%s.rst does not list %s", page, ", ".join(missing))


def list_coverage(app: Sphinx, docname: str, source: list[str]) -> None:
    """List the measured coverage below the intervals, once ``make intervals`` has written it."""
    if docname == "intervals" and COVERAGE.exists():
        source[0] = source[0].replace(".. measured coverage", ".. toctree::\n\n   coverage")


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", write_measure_pages)
    app.connect("source-read", list_coverage)
