"""Run in a copy of the package to which the guide was followed: sees each new thing work.

Prints what each came to as JSON: null where it works, else why not.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))


def document(*arguments: str) -> Any:
    """What a command says in JSON."""
    from assay.cli.app import run

    out = Path("written.json")
    assert run([*arguments, "--format", "json", "--out", str(out), "--quiet"]) in (0, 1), arguments
    return json.loads(out.read_text("utf-8"))


def predictions() -> str:
    lines = [f"{'attack' if i % 3 else 'normal'},{i % 7 / 7}" for i in range(60)]
    Path("rows.csv").write_text("\n".join(["label,score", *lines]) + "\n", "utf-8")
    return "rows.csv"


def flows() -> str:
    lines = [f"{i % 50},{i * 7 % 23},{'attack' if i % 23 > 11 else 'normal'}" for i in range(120)]
    Path("flows.csv").write_text("\n".join(["Unnamed: 0,x,label", *lines]) + "\n", "utf-8")
    return "flows.csv"


def generated(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, HERE.parents[1] / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure() -> None:
    measures = {each["measure"] for each in document("evaluate", predictions())["estimates"]}
    assert {"critical_error_rate", "somers_d"} <= measures


def finding() -> None:
    findings = document("evaluate", predictions(), "--level", "0.4")["findings"]
    (mine,) = (each for each in findings if each["code"] == "E024")
    assert mine["message"] == "The level is 0.4."
    page = generated("generate_findings").page()
    assert "E024: a low level\n---" in page
    assert "The level is 0.4." in page


def check() -> None:
    checked = document("check", flows(), "--label", "label")
    (mine,) = (each for each in checked["findings"] if each["code"] == "L022")
    assert mine["columns"] == ["Unnamed: 0"]
    assert "L022" in next(p for p in checked["pitfalls"] if p["pitfall"] == "P4")["findings"]
    assert "L022: columns without a name" in generated("generate_findings").page()


def recipe() -> None:
    from assay.cli.app import run

    learned = ["train", "bayes", flows(), "--label", "label", "--out", "run", "--quiet"]
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        assert run([*learned, "--set", "smoothing=0.001"]) == 0
        assert run(["predict", "run/model.skops", "flows.csv", "--out", "said.csv", "--quiet"]) == 0
    assert len(Path("said.csv").read_text("utf-8").splitlines()) == 121
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(["train", "--help"]) == 0
    assert "naive Bayes on encoded, standardised columns" in out.getvalue()


def reader() -> None:
    import polars as pl

    pl.read_csv(predictions()).write_avro("rows.avro")
    again = document("evaluate", "rows.avro")
    assert again["estimates"] == document("evaluate", "rows.csv")["estimates"]
    assert document("evaluate", "rows.avro", "--input-format", "avro")["source"]["rows_used"] == 60


def engine() -> None:
    import polars as pl

    import assay

    class DataFrame:
        """A frame of a library that this test makes up."""

        __module__ = "shelves"

        def __init__(self, frame: pl.DataFrame) -> None:
            self.columns = frame.columns
            self.shelves = [frame[:1].to_arrow(), frame[1:40].to_arrow(), frame[40:].to_arrow()]

    sys.modules["shelves"] = types.ModuleType("shelves")
    here = pl.read_csv(predictions())
    there = DataFrame(here)
    names = {"label": "label", "score": "score"}
    assert assay.count(there, **names).to_bytes() == assay.count(here, **names).to_bytes()
    assert assay.evaluate(there, **names)["recall"] == assay.evaluate(here, **names)["recall"]


def face() -> None:
    from assay.cli.app import run

    arguments = ["evaluate", predictions(), "--quiet", "--out"]
    assert run([*arguments, "said.chat"]) == 0
    assert run([*arguments, "said.txt", "--format", "chat"]) == 0
    lines = Path("said.chat").read_text("utf-8")
    assert lines == Path("said.txt").read_text("utf-8")
    assert lines.count("\n") > 1
    assert "Catches" in lines


def page() -> None:
    from tests.web.harness import Harness

    with Harness() as app:
        answer = app.get("/codes")
        assert answer.status == 200
        assert "<dt>E001</dt>" in answer.text
        assert '<a href="/codes" aria-current="page">Codes</a>' in answer.text
        assert app.get("/measures/recall.chat").headers["content-type"].startswith("text/plain")
        assert app.ask("GET", "/codes", headers={"host": "127.0.0.1:8710"}).status != 200


THINGS: tuple[Callable[[], None], ...] = (
    *(measure, finding, check, recipe),
    *(reader, engine, face, page),
)


def main() -> None:
    import assay

    # The copy, and not the package that is installed.
    assert Path(assay.__file__).parents[2] == Path.cwd().parent
    outcomes = {}
    for thing in THINGS:
        try:
            thing()
        except BaseException:  # noqa: BLE001 - the test shows it
            outcomes[thing.__name__] = traceback.format_exc()
        else:
            outcomes[thing.__name__] = None
    Path("outcomes.json").write_text(json.dumps(outcomes), "utf-8")


if __name__ == "__main__":
    main()
