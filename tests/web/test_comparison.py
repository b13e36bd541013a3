"""Several runs beside each other: trends, comparisons, and the rows that flipped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import assay

from .harness import Harness, printed, recorded


def test_a_trend_is_drawn_and_told(kept: Harness) -> None:
    answer = kept.get("/trend?name=flows")
    assert answer.text.count("<circle") == 3
    assert kept.get("/trend.json?name=flows&measure=recall").json()["measure"] == "recall"
    assert kept.get("/trend?name=nobody").status == 404
    assert kept.get("/trend?name=flows&measure=nonsense").status == 422


def test_a_trend_has_the_run_that_was_just_kept(tmp_path: Path) -> None:
    with assay.Store(tmp_path / "runs.db") as store, Harness(store) as app:
        document = store.run(recorded(store)).document.encode()
        for runs in (1, 2, 3):
            assert app.get("/trend?name=flows").text.count("<circle") == runs
            assert app.post("/runs.json?name=flows", document).status == 201
        gone = app.get("/runs.json").json()["runs"][0]["id"]
        assert app.post(f"/runs/{gone}/delete").status == 303
        assert app.get("/trend?name=flows").text.count("<circle") == 3


@dataclass(frozen=True)
class Pair:
    """An app with two runs whose rows were kept."""

    app: Harness
    store: assay.Store
    old: str
    new: str


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    for name, shift in (("old", 0.2), ("new", 0.0)):
        scores = [(i * 7 % 100) / 200 + (0 if i % 3 else 0.5 - shift) for i in range(300)]
        rows = "".join(f"{'normal' if i % 3 else 'attack'},{s}\n" for i, s in enumerate(scores))
        (folder / f"{name}.csv").write_text(f"label,score\n{rows}")
        kept = ("--record", name, "--keep-rows", "--store", "runs.db")
        printed(folder, "evaluate", f"{name}.csv", *kept)
    place = str(folder / "runs.db")
    with assay.Store(place) as store, Harness(store, place=place) as app:
        new, old = (run.id for run in store.runs().runs)
        yield Pair(app, store, old, new)


def test_runs_are_compared_row_by_row_where_rows_were_kept(pair: Pair) -> None:
    query = f"run={pair.old}&run={pair.new}"
    text = pair.app.get(f"/compare?{query}").text
    assert "matched by their order" in text
    assert text.count('class="curve series-2"') == 4
    assert pair.app.get(f"/compare.json?{query}").json()["schema"] == "assay.compare/1"
    where = pair.app.post(f"/runs/{pair.new}/threshold").headers["location"]
    chosen = pair.app.get(f"{where}?max-fpr=20%25").text
    assert "Guaranteed" in chosen
    assert "Operating point" in chosen


def test_runs_that_are_ticked_are_compared_in_the_order_of_time(pair: Pair) -> None:
    for query in (f"run={pair.new}&run={pair.old}", f"run={pair.old}&run={pair.new}"):
        told = pair.app.get(f"/compare.json?{query}&order=time").json()
        assert told["models"] == ["old", "new"]
    turned = pair.app.get(f"/compare.json?run={pair.new}&run={pair.old}").json()
    assert turned["models"] == ["new", "old"]
    for path in ("/?kind=evaluation", "/compare"):
        assert '<input type="hidden" name="order" value="time">' in pair.app.get(path).text


@pytest.mark.slow
def test_every_row_that_flipped_is_listed(pair: Pair) -> None:
    query = f"run={pair.old}&run={pair.new}"
    held = set(pair.app.site.folder.iterdir())
    old, new = (pair.store.run(id_).rows() for id_ in (pair.old, pair.new))
    assert old is not None
    assert new is not None
    (before,), (after,) = old.scores.values(), new.scores.values()
    flipped = [i + 1 for i in range(300) if (before[i] >= 0.5) != (after[i] >= 0.5)]
    assert len(flipped) > 10
    answer = pair.app.get(f"/compare/flips.jsonl?{query}")
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert [row["row"] for row in rows] == flipped
    assert answer.headers["content-disposition"].startswith("attachment")
    page = pair.app.get(f"/compare?{query}").text
    assert "Which rows flipped" in page
    listed = page.partition('id="flipped"')[2].partition("</section>")[0]
    kinds = Counter(row["flip"] for row in rows)
    assert listed.count("<tr>") == 1 + sum(min(25, number) for number in kinds.values())
    assert f"all {len(flipped)} are in the files" in listed
    assert f"/compare/flips.csv?{query.replace('&', '&amp;')}" in page
    assert len(pair.app.get(f"/compare/flips.csv?{query}").text.splitlines()) == 1 + len(flipped)
    assert pair.app.get(f"/compare/flips.exe?{query}").status == 404
    assert pair.app.get(f"/compare/flips.csv?run={pair.old}").status == 422
    assert set(pair.app.site.folder.iterdir()) == held


def test_runs_without_rows_are_compared_unpaired(pair: Pair) -> None:
    alone = recorded(pair.store, "alone")
    query = f"run={pair.old}&run={alone}"
    text = pair.app.get(f"/compare?{query}").text
    assert "unpaired" in text
    assert "Which rows flipped" not in text
    assert pair.app.get(f"/compare.json?{query}").json()["schema"] == "assay.unpaired/1"
    assert pair.app.get(f"/compare/flips.csv?{query}").status == 422


def test_many_runs_stand_side_by_side_and_too_many_are_refused(pair: Pair) -> None:
    third = recorded(pair.store, "third")
    text = pair.app.get(f"/compare?run={pair.old}&run={pair.new}&run={third}").text
    assert "All 3 runs" in text
    assert f"run={pair.old}&amp;run={third}" in text
    query = "&".join(f"run={i:012x}" for i in range(7))
    assert pair.app.get(f"/compare?{query}").status == 422
    assert pair.app.get(f"/compare?run={pair.old}&run=nonsense").status == 404


def test_one_run_is_no_comparison(pair: Pair) -> None:
    assert pair.app.get(f"/compare.json?run={pair.old}").json()["error"]["code"] == "W422"
    text = pair.app.get(f"/compare?run={pair.old}").text
    assert text.count(f'value="{pair.old}" checked') == 1
    assert text.count(pair.old) == 1
