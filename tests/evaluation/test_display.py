"""What an evaluation looks like in a terminal and in a notebook.

The texts are kept in ``golden``. After a wanted change, renew them with

    RENEW_GOLDEN=1 python -m pytest tests/evaluation/test_display.py
"""

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from assay import Evaluation, evaluate, evaluate_counts

GOLDEN = Path(__file__).parent / "golden"


def rows() -> tuple[np.ndarray, np.ndarray]:
    truth = np.array(["attack", "normal", "normal"] * 40)
    steps = np.arange(120) % 16 / 16
    return truth, np.where(truth == "attack", 0.25 + 0.75 * steps, 0.75 * steps)


def scored(**options) -> Evaluation:
    truth, scores = rows()
    return evaluate(truth, y_score=scores, **options)


def many() -> Evaluation:
    truth = np.array(["dos", "normal", "scan"] * 20)
    strength = 0.4 + 0.5 * (np.arange(60) % 7 / 7)
    table = np.repeat(((1 - strength) / 2)[:, None], 3, axis=1)
    shifted = (np.arange(60) + (np.arange(60) % 11 == 0)) % 3
    table[np.arange(60), shifted] = strength
    return evaluate(truth, y_proba=table)


CASES = {
    "binary": scored(),
    "binary_level": scored(level=0.9, threshold=0.25),
    "weighted": scored(sample_weight=np.linspace(0.5, 2, 120)),
    "clusters": scored(clusters=np.arange(120) // 6),
    "classes": many(),
    "decisions": evaluate(
        ["spam", "ham", "ham", "spam"] * 9, y_pred=["spam", "ham", "spam", "spam"] * 9
    ),
    "counts": evaluate_counts(tp=6635, fp=167, fn=324, tn=7743, labels=["normal", "attack"]),
    "classes_counts": evaluate_counts(
        matrix=[[45, 3, 2], [4, 38, 3], [1, 2, 52]], labels=["A", "B", "C"]
    ),
    "nothing_flagged": evaluate_counts(tp=0, fp=0, fn=3, tn=7),
}


@pytest.mark.parametrize("name", CASES)
def test_text_is_the_golden_one(name: str) -> None:
    path = GOLDEN / f"{name}.txt"
    shown = f"{CASES[name]!r}\n"
    if os.environ.get("RENEW_GOLDEN"):
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


def test_every_golden_text_has_its_case() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)


def test_many_labels_leave_out_the_matrix() -> None:
    names = [f"family{i:02}" for i in range(13)]
    wide = repr(evaluate(names, y_pred=names))
    assert "->" not in wide
    assert "->" in repr(evaluate(names[:12], y_pred=names[:12]))
    assert "truth / decision" not in evaluate(names, y_pred=names)._repr_html_()


def test_sums_of_weights_are_shown_without_the_noise_of_rounding() -> None:
    noisy = evaluate([0, 1, 1, 0], y_pred=[0, 1, 0, 1], sample_weight=[0.1, 0.2, 0.7, 1.1])
    for shown in (repr(noisy), noisy._repr_html_(), repr(CASES["weighted"])):
        assert not re.search(r"\d\.\d{8}", shown)


# -- notebooks -------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Collects tags and text."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not attrs
        self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.closed.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    return tags


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</td></tr></table><h1>",
    "\"'><svg/onload=alert(1)>",
    "&lt;b&gt;",
]


@pytest.mark.parametrize("name", CASES)
def test_html_is_well_formed_and_holds_only_tables(name: str) -> None:
    found = parsed(CASES[name]._repr_html_())
    assert set(found.opened) == {"div", "p", "table", "tr", "th", "td"}
    assert sorted(found.opened) == sorted(found.closed)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_html_escapes_hostile_names(hostile: str) -> None:
    two = evaluate([hostile, "b", "b"], y_pred=[hostile, "b", hostile], positive=hostile)
    many_names = evaluate([hostile, "b", "c"], y_pred=["b", "b", "b"])
    for evaluation in (two, many_names):
        found = parsed(evaluation._repr_html_())
        assert set(found.opened) <= {"div", "p", "table", "tr", "th", "td"}
        assert any(hostile in word for word in found.words)


def test_html_shows_value_interval_and_method() -> None:
    html = CASES["counts"]._repr_html_()
    assert "<td>precision</td><td>0.975</td><td>0.971 to 0.979</td><td>wilson</td>" in html
    assert "<th>95% interval</th>" in html
    assert "7,743" in html


def test_html_shows_why_a_value_is_undefined() -> None:
    html = CASES["nothing_flagged"]._repr_html_()
    assert (
        "<td>precision</td><td>undefined</td><td></td>"
        "<td>nothing was flagged (TP + FP = 0)</td>" in html
    )
