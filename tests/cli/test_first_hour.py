"""Files as people have them: each is read, or the message names the options that then read it."""

import bz2
import gzip
import io
import json
import lzma
import re
import shlex
import zipfile
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import polars as pl
import pytest

from assay.cli.evaluate import command as evaluate

SCORES = ((1, 0.9), (0, 0.2), (1, 0.7), (0, 0.75), (1, 0.8), (0, 0.1))
ROWS = "".join(f"{label},{score}\n" for label, score in SCORES)
NAMED = "".join(f"{('benign', 'attack')[label]},{score}\n" for label, score in SCORES)
CSV = f"label,score\n{ROWS}"
ZIP = zipfile.ZIP_DEFLATED


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", ZIP) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def parquet(rows: pl.DataFrame) -> bytes:
    packed = io.BytesIO()
    rows.write_parquet(packed)
    return packed.getvalue()


def arrow(rows: pl.DataFrame) -> bytes:
    packed = io.BytesIO()
    rows.write_ipc(packed)
    return packed.getvalue()


def array(**columns: object) -> bytes:
    packed = io.BytesIO()
    np.savez(packed, **columns)
    return packed.getvalue()


def decided(*names: str) -> str:
    return f"{names[0]},{names[1]}\n" + "".join(f"{y},{int(s >= 0.5)}\n" for y, s in SCORES)


def pair(*names: str) -> str:
    rows = "".join(f"{y},{round(1 - s, 3)},{s}\n" for y, s in SCORES)
    return f"{','.join(names)}\n{rows}"


FRAME = pl.DataFrame({"label": [y for y, _ in SCORES], "score": [s for _, s in SCORES]})
COMMAS = "".join(f"{y};{str(s).replace('.', ',')}\n" for y, s in SCORES)
PERCENT = "".join(f"{y},{100 * s:g}%\n" for y, s in SCORES)

# Read without a further word.
READ: dict[str, tuple[str, str | bytes]] = {
    **{
        f"labels as {name!r}": ("rows.csv", f"{name},score\n{ROWS}")
        for name in (
            *("actual", "Truth", "target", "y", "y_true", "Y-Test", "class", "Ground Truth"),
            *("ground_truth", "LABEL", " label "),
        )
    },
    **{
        f"scores as {name!r}": ("rows.csv", f"label,{name}\n{ROWS}")
        for name in (
            *("proba", "Prob", "y_prob", "probability", "p", "risk", "Anomaly Score", "y-score"),
            *("anomaly_score", "y.prob"),
        )
    },
    **{
        f"decisions as {name!r}": ("rows.csv", decided("label", name))
        for name in ("predicted", "pred", "y_pred", "prediction", "Decision", "alert")
    },
    "a pair of probabilities": ("rows.csv", pair("y_true", "prob_0", "prob_1")),
    "a pair by another name": ("rows.csv", pair("y_true", "proba_0", "proba_1")),
    "scores in percent": ("rows.csv", f"label,score\n{PERCENT}"),
    "percent behind a blank": ("rows.csv", f"label,score\n{PERCENT.replace('%', ' %')}"),
    "gzip": ("rows.csv.gz", gzip.compress(CSV.encode())),
    "bzip2": ("rows.csv.bz2", bz2.compress(CSV.encode())),
    "bzip2 in two streams": (
        "rows.csv.bz2",
        bz2.compress(CSV[:30].encode()) + bz2.compress(CSV[30:].encode()),
    ),
    "xz": ("rows.csv.xz", lzma.compress(CSV.encode())),
    "bzip2 without its suffix": ("rows", bz2.compress(CSV.encode())),
    "zip of a text": ("rows.zip", zipped(rows_csv=CSV.encode())),
    "zip of a Parquet file": ("rows.zip", zipped(rows_parquet=parquet(FRAME))),
    "zip of JSON": ("rows.zip", zipped(rows_json=FRAME.write_json().encode())),
    "a JSON array": ("rows.json", FRAME.write_json()),
    "a JSON array over lines": (
        "rows.json",
        FRAME.write_json().replace("{", "\n  {\n    ").replace("}", "\n  }"),
    ),
    "a JSON array called text": ("rows.txt", FRAME.write_json()),
    "JSON lines": ("rows.jsonl", FRAME.write_ndjson()),
    "tabs": ("rows.tsv", CSV.replace(",", "\t")),
    "tabs without a suffix": ("rows", CSV.replace(",", "\t")),
    "a byte order mark": ("rows.csv", "\ufeff" + CSV),
    "line ends of Windows": ("rows.csv", CSV.replace("\n", "\r\n")),
    "no end of the last line": ("rows.csv", CSV.rstrip("\n")),
    "the index that pandas writes": (
        "rows.csv",
        ",label,score\n" + "".join(f"{i},{y},{s}\n" for i, (y, s) in enumerate(SCORES)),
    ),
    "quotes around everything": (
        "rows.csv",
        re.sub(r"[^,\n]+", lambda cell: f'"{cell[0]}"', CSV),
    ),
    "blanks before quotes": (
        "rows.csv",
        re.sub(r"[^,\n]+", lambda cell: f' "{cell[0]}"', CSV),
    ),
    "blanks around numbers": ("rows.csv", CSV.replace(",", ", ").replace(", score", ",score")),
    "booleans": (
        "rows.jsonl",
        "".join(f'{{"label": {str(y == 1).lower()}, "score": {s}}}\n' for y, s in SCORES),
    ),
    "arrays": ("rows.npz", array(y_true=FRAME["label"], y_score=FRAME["score"])),
    "arrays by other names": ("rows.npz", array(truth=FRAME["label"], proba=FRAME["score"])),
    "a delimiter that ends each line": ("rows.csv", CSV.replace("\n", ",\n")),
    "one that ends each line of Windows": ("rows.csv", CSV.replace("\n", ",\r\n")),
    "an index, and a delimiter that ends each line": (
        "rows.csv",
        ",label,score,\n" + "".join(f"{i},{y},{s},\n" for i, (y, s) in enumerate(SCORES)),
    ),
    "powers of ten": ("rows.csv", "label,score\n" + "".join(f"{y},{s:e}\n" for y, s in SCORES)),
    "no nought before the point": ("rows.csv", CSV.replace("0.", ".")),
    "signs before numbers": ("rows.csv", re.sub(r",0", ",+0", CSV)),
    "labels yes and no": (
        "rows.csv",
        "label,score\n" + "".join(f"{('no', 'yes')[y]},{s}\n" for y, s in SCORES),
    ),
    "labels in capitals": ("rows.csv", f"LABEL,SCORE\n{NAMED.upper()}"),
    "labels and decisions of Python": (
        "rows.csv",
        "target,pred\n" + "".join(f"{y == 1},{s >= 0.5}\n" for y, s in SCORES),
    ),
    "a score and a decision": (
        "rows.csv",
        "actual,predicted,probability\n" + "".join(f"{y},{s >= 0.5:d},{s}\n" for y, s in SCORES),
    ),
    "a score in many columns": (
        "rows.csv",
        "flow,host,label,bytes,score,note\n"
        + "".join(f"{i},h{i},{y},{i * 99},{s},x\n" for i, (y, s) in enumerate(SCORES)),
    ),
    "a note with a comma and a line end": (
        "rows.csv",
        "note,label,score\n" + "".join(f'"a, b\nc",{y},{s}\n' for y, s in SCORES),
    ),
    "a name beyond ASCII": (
        "rows.csv",
        "größe,label,score\n" + "".join(f"ü,{y},{s}\n" for y, s in SCORES),
    ),
    "zstd by polars": ("rows.parquet", parquet(FRAME)),
    "an Arrow file": ("rows.arrow", arrow(FRAME)),
    "JSON with more inside": (
        "rows.jsonl",
        "".join(f'{{"meta": {{"host": "a"}}, "label": {y}, "score": {s}}}\n' for y, s in SCORES),
    ),
    "JSON lines called json": ("rows.json", FRAME.write_ndjson()),
    "JSON lines of Windows": ("rows.jsonl", FRAME.write_ndjson().replace("\n", "\r\n")),
    "gzip of JSON lines": ("rows.jsonl.gz", gzip.compress(FRAME.write_ndjson().encode())),
    "gzip of a JSON array": ("rows.json.gz", gzip.compress(FRAME.write_json().encode())),
    "xz of tabs": ("rows.tsv.xz", lzma.compress(CSV.replace(",", "\t").encode())),
    "a pair in the other order": (
        "rows.csv",
        "prob_1,prob_0,label\n" + "".join(f"{s},{round(1 - s, 3)},{y}\n" for y, s in SCORES),
    ),
    "a pair in capitals": ("rows.csv", pair("Y_TRUE", "Prob_0", "Prob_1")),
    "dashes in names": ("rows.csv", CSV.replace("label,score", "ground-truth,anomaly-score")),
    "percent in quotes": (
        "rows.csv",
        "label,score\n" + "".join(f'{y},"{100 * s:.1f}%"\n' for y, s in SCORES),
    ),
    "a mark and tabs": ("rows.tsv", "\ufeff" + CSV.replace(",", "\t")),
    "an empty line at the end": ("rows.csv", CSV + "\n"),
}

# Refused at first, with a message whose own options read it.
TOLD: dict[str, tuple[str, str | bytes]] = {
    "semicolons": ("rows.csv", CSV.replace(",", ";")),
    "blanks between columns": ("rows.txt", CSV.replace(",", " ")),
    "a probability of each name": (
        "rows.csv",
        "class,proba_benign,proba_attack\n"
        + "".join(f"{('benign', 'attack')[y]},{round(1 - s, 3)},{s}\n" for y, s in SCORES),
    ),
    "a probability of each of three": (
        "rows.csv",
        "class,p_a,p_b,p_c\n" + "".join(f"{'abc'[i % 3]},0.5,0.25,0.25\n" for i in range(9)),
    ),
    "floats as labels": (
        "rows.csv",
        "label,score\n" + "".join(f"{float(y)},{s}\n" for y, s in SCORES),
    ),
    "labels with blanks behind": ("rows.csv", f"label,score\n{NAMED.replace(',', ' ,')}"),
    "semicolons and capitals": ("rows.csv", CSV.replace(",", ";").replace("la", "LA")),
    "no header and tabs": ("rows.tsv", ROWS.replace(",", "\t")),
    "labels that are not known": (
        "rows.csv",
        f"label,score\n{NAMED.replace('benign', 'good').replace('attack', 'bad')}",
    ),
    "bars": ("rows.csv", CSV.replace(",", "|")),
    "tabs in a file called csv": ("rows.csv", CSV.replace(",", "\t")),
    "commas in a file called tsv": ("rows.tsv", CSV),
    "decimal commas": ("rows.csv", f"label;score\n{COMMAS}"),
    "decimal commas in quotes": (
        "rows.csv",
        "label,score\n" + re.sub(r"(\d,\d+)$", r'"\1"', COMMAS, flags=re.M).replace(";", ","),
    ),
    "decimal commas in percent": (
        "rows.csv",
        "label;score\n" + "".join(f"{y};{100 * s:.1f}%\n".replace(".", ",") for y, s in SCORES),
    ),
    "no header": ("rows.csv", ROWS),
    "no header, named labels": ("rows.csv", NAMED),
    "no header, the score first": (
        "rows.csv",
        "".join(f"{s},{name}\n" for name, s in (row.split(",") for row in NAMED.split())),
    ),
    "no header and semicolons": ("rows.csv", NAMED.replace(",", ";")),
    "two columns of labels": (
        "rows.csv",
        "truth,class,score\n" + "".join(f"{y},{y},{s}\n" for y, s in SCORES),
    ),
    "two columns of scores": (
        "rows.csv",
        "label,score,risk\n" + "".join(f"{y},{s},{s}\n" for y, s in SCORES),
    ),
    "a score and a pair": (
        "rows.csv",
        "label,score,prob_0,prob_1\n"
        + "".join(f"{y},{s},{round(1 - s, 3)},{s}\n" for y, s in SCORES),
    ),
    "two pairs": (
        "rows.csv",
        "label,p_0,p_1,prob_0,prob_1\n"
        + "".join(f"{y},{round(1 - s, 3)},{s},{round(1 - s, 3)},{s}\n" for y, s in SCORES),
    ),
    "labels that say nothing": (
        "rows.csv",
        "label,score\n" + "".join(f"{'ab'[y]},{s}\n" for y, s in SCORES),
    ),
    "labels of SVM": (
        "rows.csv",
        "label,score\n" + "".join(f"{2 * y - 1},{s}\n" for y, s in SCORES),
    ),
    "a title": ("rows.csv", f"Alerts of today\n\n{CSV}"),
    "a title, zipped": ("rows.csv.gz", gzip.compress(f"Alerts of today\n\n{CSV}".encode())),
    "a title above other delimiters": ("rows.csv", f"Alerts\n\n{CSV.replace(',', ';')}"),
    "a title above tabs": ("rows.txt", f"Alerts\n\n{CSV}".replace(",", "\t")),
    "a title of a spreadsheet": ("rows.csv", f"Alerts,\n,\n{CSV}"),
    "keys and values above the header": ("rows.csv", f"by,alice\nat,noon\n{CSV}"),
    "a comment above the header": ("rows.csv", f"# of today\n{CSV}"),
    "comments above decimal commas": ("rows.csv", f"# of today\n# by me\nlabel;score\n{COMMAS}"),
    "a comment above decimal commas in percent": (
        "rows.csv",
        "# of today\nlabel;score\n"
        + "".join(f"{y};{100 * s:.1f}%\n".replace(".", ",") for y, s in SCORES),
    ),
    "an empty line at the beginning": ("rows.csv", f"\n{CSV}"),
    "a separator for Excel": ("rows.csv", f"sep=;\n{CSV.replace(',', ';')}"),
    "apostrophes as quotes": ("rows.csv", re.sub(r"[^,\n]+", lambda cell: f"'{cell[0]}'", CSV)),
    "apostrophes and semicolons": (
        "rows.csv",
        re.sub(r"[^,\n]+", lambda cell: f"'{cell[0]}'", CSV).replace(",", ";"),
    ),
    "UTF-16": ("rows.csv", CSV.encode("utf-16")),
    "UTF-16 without a mark": (
        "rows.csv",
        (CSV * 4).replace("label,score", "1,0.5").encode("utf-16-le"),
    ),
    "another alphabet": (
        "rows.csv",
        f"label,score,note\n{ROWS.replace(chr(10), ',né' + chr(10))}".encode("cp1252"),
    ),
    "a bad row": ("rows.csv", CSV + "1,unknown\n"),
    "a missing score": ("rows.csv", CSV + "1,\n"),
    "a missing label": ("rows.csv", CSV + ",0.4\n"),
    "a row cut short": ("rows.csv", CSV + "1\n"),
    "not a number": ("rows.csv", CSV + "1,nan\n"),
    "infinity": ("rows.jsonl", FRAME.write_ndjson() + '{"label": 1, "score": 1e999}\n'),
}


def options_in(message: str) -> list[str]:
    """The options that a message names, up to the first alternative, as they are typed."""
    flags = {
        name
        for option in evaluate.params
        if isinstance(option, click.Option) and option.is_flag
        for name in option.opts
    }
    # To leave rows out is the last resort.
    better = message.partition("Correct the row")[0]
    advice = re.split(r" or --", better if " --" in better else message)[0]
    names: list[str] = []
    for name, value in re.findall(r"(--[a-z-]+)(?: ('[^']*'|\"[^\"]*\"|[\w.+-]+))?", advice):
        known = [option for option in evaluate.params if name in option.opts]
        assert known, f"{name} is no option"
        if name in flags:
            names.append(name)
        elif value:
            names += [name, shlex.split(value)[0].replace("\\t", "\t")]
    return names


def written(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("case", READ)
def test_it_is_read(tmp_path: Path, cli: Callable, case: str) -> None:
    outcome = cli("evaluate", written(tmp_path, *READ[case]), "--format", "json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["confusion"] == [[2, 1], [0, 3]]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", TOLD)
def test_the_message_has_the_options_that_read_it(tmp_path: Path, cli: Callable, case: str) -> None:
    command = ["evaluate", written(tmp_path, *TOLD[case]), "--format", "json"]
    outcome = cli(*command)
    assert outcome.code == 3, f"nothing was wrong: {outcome.out}"
    for _ in range(3):
        command += options_in(outcome.err)
        outcome = cli(*command)
        if outcome.code == 0:
            break
    assert outcome.code == 0, (command, outcome.err)
    assert sum(map(sum, json.loads(outcome.out)["confusion"])) >= len(SCORES)
    assert json.loads(outcome.out)["source"]["rows_used"] >= len(SCORES)


def test_there_are_a_hundred_inputs_at_least() -> None:
    assert len(READ) + len(TOLD) >= 100


# Refused, since no option reads it, with what to do instead.
REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    "rows inside of an object": (
        "rows.json",
        json.dumps({"data": FRAME.to_dicts()}),
        """jq -c '.["data"][]'""",
    ),
    "columns of lists": ("rows.json", json.dumps(FRAME.to_dict(as_series=False)), "to_json("),
    "columns as pandas writes them": (
        "rows.json",
        json.dumps({c.name: {str(i): v for i, v in enumerate(c)} for c in FRAME}),
        "orient='records', lines=True",
    ),
    "an object over lines": ("rows.json", json.dumps({"data": [1]}, indent=1), "jq -c ."),
    "a comment above nothing": ("rows.csv", "# of today\n", "remove what stands above"),
    "a table in Markdown": ("rows.csv", "| label | score |\n|---|---|\n", "in Markdown"),
    "the label as the score": ("rows.csv", CSV, "can't be the label and what the model said"),
    "two names alike": ("rows.csv", CSV.replace("label", "score"), "more than once"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_option_reads_is_refused_with_what_to_do(
    tmp_path: Path, cli: Callable, case: str
) -> None:
    name, content, advice = REFUSED[case]
    told = ["--score", "label"] if case == "the label as the score" else []
    outcome = cli("evaluate", written(tmp_path, name, content), *told)
    assert outcome.code == 3
    assert advice in outcome.err


def test_a_comparison_without_models_names_the_command_that_may_be_meant(
    tmp_path: Path, cli: Callable
) -> None:
    rows = "".join(f"{i},{y},{s},{1 - s}\n" for i, (y, s) in enumerate(SCORES))
    files = [written(tmp_path, name, f"id,label,score,old\n{rows}") for name in ("a.csv", "b.csv")]
    for given in (files, files[:1]):
        refused = cli("compare", *given)
        assert refused.code == 2
        told = re.search(r"Perhaps: assay (.*)\. See", refused.err)
        assert told
        assert cli(*shlex.split(told[1]), "--format", "json").code == 0


def test_o_is_out(tmp_path: Path, cli: Callable) -> None:
    out = tmp_path / "report.md"
    assert cli("evaluate", written(tmp_path, "rows.csv", CSV), "-o", out).code == 0
    assert out.read_text().startswith("#")


@pytest.mark.parametrize(
    "line",
    [
        "evaluate FOLDER",
        "threshold FOLDER --max-fpr 0.5",
        "compare FOLDER --label label --model a=score --model b=other",
        "gate FOLDER --baseline FOLDER --id id --label label --score score --rule 'new(f1) >= 0'",
        "monitor FOLDER --time time",
        "sample FOLDER --score score --labels 14 --out rows.csv",
        "incidents FOLDER --incident incident --time time --timezone UTC --score score",
        "check FOLDER --label label",
    ],
)
def test_every_command_tells_which_files_of_a_folder_are_not_read(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "rows"
    folder.mkdir()
    rows = (
        f"{i},2026-03-0{1 + i % 3} 10:{i:02d},{'i1' if i % 2 else ''},"
        f"{('normal', 'attack')[i % 2]},{(i * 7 % 40) / 40},{i / 40}\n"
        for i in range(40)
    )
    (folder / "a.csv").write_text("id,time,incident,label,score,other\n" + "".join(rows))
    (folder / "more.json").write_text("[]")
    told = cli(*shlex.split(line.replace("FOLDER", "rows")))
    assert told.code in (0, 1), told.err
    printed = " ".join((told.out + told.err).split())
    assert "of the folder rows 1 file was left out (more.json), since its suffix is" in printed


def test_the_call_that_saves_columns_is_told_as_it_is_typed(tmp_path: Path, cli: Callable) -> None:
    np.save(tmp_path / "scores.npy", np.ones(3))
    told = cli("evaluate", tmp_path / "scores.npy")
    assert told.code == 3
    assert "numpy.savez(file, **{'label': ..., 'score': ...})" in told.err
