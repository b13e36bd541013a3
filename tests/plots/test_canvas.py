"""Axes, their style, and files."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from assay.errors import InputError
from assay.inference import Estimate
from assay.measures import find
from assay.plots import confusion, dots, forest, save
from assay.plots.canvas import COLOURS, COLUMN, DASHES
from assay.tally import Confusion

from . import drawn

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quotes' & ampersands",
    "$\\input{/etc/passwd}$",
    "$$ unbalanced $",
    "\\frac{1}{0} _^{",
    "=cmd|' /C calc'!A0",
    "שלום \u202egnp.exe",
    "🙂 日本 \U0001f9ff",
    "line\nbreak\r\x00\x1b[31m",
    "_hidden",
    "x" * 10_000,
    "",
]
ROWS = [(name, Estimate(0.5 + i / 50, 0.4, 0.9)) for i, name in enumerate(HOSTILE)]
HOSTILE_TABLE = Confusion(
    tuple(HOSTILE), tuple(tuple(1 + (i == j) for j in range(12)) for i in range(12))
)
TABLE = Confusion(("normal", "attack"), ((7743, 167), (324, 6635)))


def hostile_figures() -> dict:
    return {
        "dots": lambda: dots(ROWS, find("recall")),
        "forest": lambda: forest(ROWS, pair=f"{HOSTILE[2]} less {HOSTILE[8]}"),
        "confusion": lambda: confusion(HOSTILE_TABLE),
    }


# -- axes ------------------------------------------------------------------------------------------


def test_a_figure_of_its_own_is_a_column_wide() -> None:
    assert confusion(TABLE).figure.get_figwidth() == COLUMN


def test_given_axes_are_drawn_on_and_returned() -> None:
    ax = Figure().add_subplot()
    assert confusion(TABLE, ax=ax) is ax
    assert ax.texts


def test_drawing_changes_no_setting_and_leaves_pyplot_alone(tmp_path: Path) -> None:
    code = (
        "import sys, matplotlib\n"
        "from assay.plots import confusion, save\n"
        "from assay.tally import Confusion\n"
        "table = Confusion(('a', 'b'), ((3, 1), (2, 4)))\n"
        # To ask for the backend would choose one.
        "keys = set(matplotlib.rcParams) - {'backend'}\n"
        "before = {key: matplotlib.rcParams[key] for key in keys}\n"
        "save({'confusion': lambda: confusion(table)}, sys.argv[1])\n"
        "confusion(table).figure.savefig(sys.argv[1] + '/own.png')\n"
        "assert {key: matplotlib.rcParams[key] for key in keys} == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=300)


def test_a_figure_shows_itself_in_a_notebook() -> None:
    ax = confusion(TABLE)
    for shown in (ax, ax.figure):
        assert shown._repr_png_().startswith(b"\x89PNG")
        tree = ET.fromstring(shown._repr_svg_())
        assert "attack" in {"".join(node.itertext()) for node in tree.iter()}


def test_colours_are_those_of_okabe_and_ito() -> None:
    known = {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}
    assert set(COLOURS) < known
    assert len({(COLOURS[i % 7], DASHES[i % 4]) for i in range(28)}) == 28


def test_the_style_of_others_does_not_change_a_figure_of_its_own(tmp_path: Path) -> None:
    (plain,) = save({"a": lambda: confusion(TABLE)}, tmp_path / "plain", ("svg",))
    with mpl.style.context(["dark_background", {"savefig.bbox": "tight", "font.size": 20}]):
        (dark,) = save({"a": lambda: confusion(TABLE)}, tmp_path / "dark", ("svg",))
    assert plain.read_bytes() == dark.read_bytes()


def test_the_font_is_the_readers_choice(tmp_path: Path) -> None:
    with mpl.rc_context({"font.family": "DejaVu Serif"}):
        (page,) = save({"a": lambda: confusion(TABLE)}, tmp_path, ("svg",))
    assert "DejaVu Serif" in page.read_text(encoding="utf-8")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'assay-detectors\[plot\]'"):
        confusion(TABLE)
    with pytest.raises(InputError, match=r"pip install 'assay-detectors\[plot\]'"):
        save({}, "nowhere")


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["dots", "forest", "confusion"])
def test_hostile_names_are_text_and_nothing_else(kind: str, tmp_path: Path) -> None:
    figures = {kind: hostile_figures()[kind]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paths = save(figures, tmp_path, ("pdf", "svg", "png"))
    tree = ET.fromstring(paths[1].read_bytes())
    shown = {"".join(node.itertext()) for node in tree.iter() if node.tag.endswith("}text")}
    assert not any(node.tag.endswith("}script") for node in tree.iter())
    assert any(text.startswith("<script>") for text in shown)
    assert any("日本" in text for text in shown)
    assert any("$" in text and "input" in text for text in shown)


@pytest.mark.parametrize("kind", ["dots", "forest", "confusion"])
def test_no_letter_that_a_font_lacks_is_complained_of(kind: str) -> None:
    ax = hostile_figures()[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.draw_without_rendering()
        ax.figure.get_tightbbox()


def test_tex_is_never_run_on_names() -> None:
    with mpl.rc_context({"text.usetex": True}):
        ax = Figure().add_subplot()
        forest(ROWS, pair="$a$ less $b$", ax=ax)
        other = confusion(HOSTILE_TABLE, ax=Figure().add_subplot())
    written = [text for text in [*drawn.texts(ax), *other.texts] if text.get_text()]
    ours = [text for text in written if text not in ax.get_xticklabels()]
    assert ours
    assert not any(text.get_usetex() for text in ours)


# -- files -----------------------------------------------------------------------------------------


def test_there_is_one_file_a_figure_and_format(tmp_path: Path) -> None:
    figures = {"one": lambda: confusion(TABLE), "two": lambda: dots(ROWS[:1], find("recall"))}
    paths = save(figures, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["one.pdf", "one.svg", "two.pdf", "two.svg"]
    assert all(path.parent == tmp_path / "new" / "folder" for path in paths)
    assert {path.name for path in paths[0].parent.iterdir()} == {path.name for path in paths}


def test_equal_figures_have_equal_bytes_and_no_date(tmp_path: Path) -> None:
    formats = ("pdf", "svg", "png")
    figures = {"dots": hostile_figures()["dots"]}
    first = save(figures, tmp_path / "first", formats)
    second = save(figures, tmp_path / "second", formats)
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
        for word in (b"CreationDate", b"<dc:date>", b"tIME"):
            assert word not in one.read_bytes()


def test_text_stays_text(tmp_path: Path) -> None:
    pdf, svg = save({"a": lambda: confusion(TABLE)}, tmp_path)
    assert b"/Type3" not in pdf.read_bytes().replace(b" ", b"")
    assert b"/TrueType" in pdf.read_bytes() or b"/CIDFontType2" in pdf.read_bytes()
    assert ">attack<" in svg.read_text(encoding="utf-8")


def test_a_figure_that_can_not_be_drawn_leaves_nothing(tmp_path: Path) -> None:
    figures = {
        "good": lambda: confusion(TABLE),
        "bad": lambda: dots([("a", Estimate(float("nan")))], find("recall")),
    }
    with pytest.raises(InputError):
        save(figures, tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_a_disk_that_is_full_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = save({"a": lambda: confusion(TABLE)}, tmp_path, ("svg",))
    old = path.read_bytes()

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        save({"a": lambda: dots(ROWS, find("recall"))}, tmp_path, ("svg",))
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("formats", ["pdf", ("pdf", "docx"), ("PDF",)])
def test_another_format_is_refused(formats, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pdf, svg, png"):
        save({"a": lambda: confusion(TABLE)}, tmp_path, formats)
    assert not list(tmp_path.iterdir())
