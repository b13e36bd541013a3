"""Sphinx configuration."""

import importlib.util
import sys
from functools import cache
from html import escape
from pathlib import Path
from types import ModuleType

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from assay import __version__

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent
MEASURES = HERE / "measures"
# Pages that are written by a function page() of the script beside them, and lines of other pages
# that stand for what a function of a script gives.
WRITTEN = {"findings.rst": "generate_findings.py"}
FILLED = {
    "cli": {
        ".. commands": ("generate_cli.py", "commands"),
        ".. options": ("generate_cli.py", "options"),
    },
    "install": {".. extras": ("generate_install.py", "extras")},
}

project = "assay"
copyright = "the assay contributors"
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build"]
templates_path = ["templates"]
# Every page is read without a network, from a folder as well as from a server.
html_math_renderer = "mathml"

html_theme = "furo"
html_title = f"assay {release}"

autodoc_member_order = "bysource"
napoleon_numpy_docstring = False

# The build reads no other project's inventory, so it runs without a network.
# Names from other packages can't be resolved then; our own must be, but for the inside of 0.2.
_INSIDE = "v02|store|tally|reading|counts"
nitpick_ignore_regex = [(r"py:.*", rf"(?!assay(\.|$)).*|assay\.({_INSIDE})\..*")]


@cache
def script(name: str) -> ModuleType:
    """A script of this folder, as a module."""
    spec = importlib.util.spec_from_file_location(name.removesuffix(".py"), HERE / name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for what their annotations name
    spec.loader.exec_module(module)
    return module


def write_pages(app: Sphinx) -> None:
    """Write docs/measures/ from the catalogue, pages of findings and options, and pictures."""
    for page, writer in WRITTEN.items():
        (HERE / page).write_text(script(writer).page(), "utf-8")
    script("generate_pictures.py").write_pictures(HERE / "pictures")
    generate = script("generate.py")
    generate.write_pages(MEASURES)
    for page, missing in (
        ("references", generate.missing_references()),
        ("api", generate.missing_names()),
    ):
        if missing:
            logger.warning("docs/%s.rst does not list %s", page, ", ".join(missing))


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put what is computed in the place of the lines that stand for it."""
    for line, (writer, function) in FILLED.get(docname, {}).items():
        source[0] = source[0].replace(f"\n{line}\n", f"\n{getattr(script(writer), function)()}\n")


def draw_formula(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML; what can't be translated is a warning."""
    mathml = script("mathml.py")
    block = isinstance(node, nodes.math_block)
    try:
        drawn = mathml.mathml(node.astext(), block=block)
    except mathml.UnknownTex as problem:
        logger.warning("docs/mathml.py does not know %s", problem, location=node)
        drawn = escape(node.astext())
    translator.body.append(f'<div class="math">{drawn}</div>\n' if block else drawn)
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (draw_formula, None), (draw_formula, None))
    app.connect("builder-inited", write_pages)
    app.connect("source-read", fill)
