"""Train the recipes on real, public data, and write the tables of docs/real_data.rst.

The data are not in the repository: they are looked for in $ASSAY_DATA, else in ../shared/data. Each
run stays in build/realdata and is not repeated; delete that folder to start afresh.

    python benchmarks/real_data.py            run what is missing, then write the tables
    python benchmarks/real_data.py --tables   only write them, from the runs there are
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from assay.inference.significance import student
from assay.inference.threshold_rules import best_operating

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data"))
RUNS = ROOT / "build" / "realdata"
PAGE = ROOT / "docs" / "real_data.rst"

NSL = ("nsl_kdd_train.parquet", "--label", "label", "--negative", "normal", "--drop", "difficulty")
OFFICIAL = ("--validation", "file:nsl_kdd_test.parquet")
UNSW = ("unsw_nb15_82332.parquet", "--label", "label", "--drop", "attack_cat")
ARP_DROPPED = (
    *("id", "expiration_id", "src_ip", "src_mac", "src_oui", "src_port"),
    *("dst_ip", "dst_mac", "dst_oui", "dst_port", "vlan_id", "tunnel_id"),
    *(
        f"{way}_{end}_seen_ms"
        for way in ("bidirectional", "src2dst", "dst2src")
        for end in ("first", "last")
    ),
)
ARP = (
    *("arp_uq_mitm.parquet", "--label", "Label", "--positive", "arp_spoofing"),
    *(part for column in ARP_DROPPED for part in ("--drop", column)),
    *("--validation", "kfold:5"),
)
CIC = (
    *("cicids2017_improved_sample.parquet", "--label", "Label", "--positive", "DDoS"),
    *(
        part
        for c in ("id", "Flow ID", "Src IP", "Dst IP", "Src Port", "Timestamp")
        for part in ("--drop", c)
    ),
)
AGORA = (
    *("agora_listings_2014q1.parquet", "--label", "subcat", "--text", "title"),
    *("--on-bad-row", "skip", "--set", "model=svm", "--set", "characters=0"),
)
LING = ("lingspam_bare.parquet", "--label", "label", "--text", "text")
SITES = ("uci_phishing_websites.parquet", "--label", "Result", "--positive", "-1")
SEEDS = range(42, 52)
FOREST, TEXT, INSIDE = "forest", "text", ("--validation", "holdout:0.3")
TWO = ("accuracy", "recall", "false_positive_rate", "roc_auc")
MANY = ("accuracy", "f1.macro")


@dataclass(frozen=True)
class Case:
    """One training, by its name: the recipe, the rest of the command, and how it is called."""

    name: str
    called: str
    recipe: str
    options: tuple[str, ...]

    @property
    def command(self) -> tuple[str, ...]:
        """The command line, but for the name of the program."""
        return ("train", self.recipe, *self.options, "--out", str(RUNS / self.name))

    def run(self) -> None:
        """Train it, unless that was done."""
        if (RUNS / self.name / "run.json").exists():
            return
        assay(*self.command, "--quiet", "--format", "csv")

    @property
    def document(self) -> dict[str, Any] | None:
        """What it left, if anything."""
        path = RUNS / self.name / "evaluation.json"
        return json.loads(path.read_text("utf-8")) if path.exists() else None


CASES = {
    "arp": (
        Case("arp-forest", "forest", FOREST, ARP),
        Case("arp-ann", "network", "network", ARP),
    ),
    "phishing": (
        Case("sites-forest", "5 folds of rows", FOREST, (*SITES, "--validation", "kfold:5")),
    ),
    "nsl": (
        Case("nsl-42", "official test", FOREST, (*NSL, *OFFICIAL)),
        Case("nsl-inside", "30% of the training file", FOREST, (*NSL, *INSIDE)),
    ),
    "detector": (
        Case(
            "nsl-detector",
            "detector, threshold chosen for 10%",
            "detector",
            (*NSL, *OFFICIAL, "--max-far", "0.1"),
        ),
        Case(
            "nsl-far",
            "forest, threshold chosen for 10%",
            FOREST,
            (*NSL, *OFFICIAL, "--max-far", "0.1"),
        ),
    ),
    "agora": tuple(
        Case(f"agora-{name}", called, TEXT, (*AGORA, "--validation", scheme))
        for name, called, scheme in (
            ("rows", "random rows", "kfold:5"),
            ("listing", "listings", "group:listing,k=5"),
            ("vendor", "vendors", "group:vendor,k=5"),
        )
    ),
    "lingspam": (Case("ling-folds", "its ten folds", TEXT, (*LING, "--validation", "folds:fold")),),
    "unsw": (
        Case("unsw-without", "without id", FOREST, (*UNSW, "--drop", "id")),
        Case("unsw-with", "with id", FOREST, UNSW),
    ),
    "cic": (Case("cic-tree", "DDoS against all others", "tree", CIC),),
    "seeds": tuple(
        Case(f"nsl-{seed}", f"seed {seed}", FOREST, (*NSL, *OFFICIAL, "--seed", str(seed)))
        for seed in SEEDS[1:]
    ),
}
CHECKS = {
    "check-unsw": (*UNSW, "--recipe", FOREST),
    "check-phishing": (*SITES, "--recipe", FOREST),
    "check-cic": CIC[:5],
    "check-nsl": (NSL[0], "nsl_kdd_test.parquet", *NSL[1:]),
    "check-arp": ARP[:5],
    "check-lingspam": (*LING, "--drop", "fold"),
    "check-agora": (*AGORA[:7], "--group", "listing", "--group", "vendor", "--recipe", TEXT),
}


def assay(*arguments: str) -> str:
    """Run a command as a user would, where the data lie."""
    print("assay", *arguments, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "assay", *arguments],
        cwd=DATA,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1):
        print(done.stderr, flush=True)
    return done.stdout


def run_all() -> None:
    RUNS.mkdir(parents=True, exist_ok=True)
    for cases in CASES.values():
        for case in cases:
            case.run()
    for name, options in CHECKS.items():
        path = RUNS / f"{name}.json"
        if not path.exists():
            path.write_text(assay("check", *options, "--quiet", "--format", "json"), "utf-8")
    path = RUNS / "compare.json"
    if not path.exists():
        models = [
            part
            for name, run in (("forest", "nsl-42"), ("detector", "nsl-detector"))
            for part in ("--model", f"{name}={RUNS / run / 'predictions.parquet'}:score")
        ]
        judged = str(RUNS / "nsl-42" / "predictions.parquet")
        path.write_text(
            assay(
                *("compare", judged, "--label", "label", "--positive", "not normal", "--id", "row"),
                *(*models, "--at", "max-far=0.1", "--quiet", "--format", "json"),
            ),
            "utf-8",
        )


# -- tables ----------------------------------------------------------------------------------------


def estimate(document: dict[str, Any], key: str) -> str:
    """A value and its interval, as the document has them."""
    measure, _, average = key.partition(".")
    for each in document["estimates"]:
        if (
            each["measure"] == measure
            and (each["average"] or "") == average
            and each["slice"] is None
            and each["base_rate"] is None
            and each["label"] in (None, document["positive"])
        ):
            return written(each["value"], each["low"], each["high"])
    return ""


def written(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "undefined"
    digits = 4 if min(abs(value), abs(1 - value)) < 0.01 else 3
    ends = "" if low is None else f" [{low:.{digits}f}, {high:.{digits}f}]"
    return f"{value:.{digits}f}{ends}"


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (heads, *rows):
        for i, cell in enumerate(row):
            lines.append(f"   {'*' if i == 0 else ' '} - {cell}".rstrip())
    return "\n".join(lines)


def called(key: str) -> str:
    names = {"recall": "detection rate", "roc_auc": "AUC", "f1.macro": "F1, macro"}
    return names.get(key, key.replace("_", " "))


def of_cases(cases: tuple[Case, ...], *, folds: bool = False) -> str:
    rows, keys = [], TWO
    for case in cases:
        document = case.document
        if document is None:
            continue
        keys = TWO if document["positive"] is not None else MANY
        judged = f"{document['training']['rows_judged']:,}"
        rows.append((case.called, judged, *(estimate(document, key) for key in keys)))
        if folds and len(document["training"]["folds"]) > 1:
            means = [mean_of(document, key) for key in keys]
            rows.append((f"{case.called}: mean over the folds", "", *means))
    return table(("", "rows judged", *map(called, keys)), rows)


def mean_of(document: dict[str, Any], key: str) -> str:
    measure = document["training"]["measures"].get(key)
    if measure is None:
        return ""
    mean = measure["mean"]
    said = written(mean["value"], mean["low"], mean["high"])
    return said if measure["sd"] is None else f"{said}, sd {measure['sd']:.2g}"


def of_seeds() -> str:
    documents = [case.document for case in (CASES["nsl"][0], *CASES["seeds"])]
    known = [document for document in documents if document is not None]
    if len(known) < 2:
        return ""
    rows = []
    for key in TWO:
        values = [each["training"]["measures"][key]["values"][0] for each in known]
        mean, sd = statistics.fmean(values), statistics.stdev(values)
        reach = student(0.95, len(values) - 1) * sd / len(values) ** 0.5
        ends = written(mean, mean - reach, mean + reach)
        rows.append((called(key), ends, f"{sd:.4f}", f"{min(values):.3f} to {max(values):.3f}"))
    return table(("", f"mean of {len(known)} seeds", "sd", "from and to"), rows)


def of_families() -> str:
    document = CASES["nsl"][0].document
    if document is None:
        return ""
    rows = [
        (each["slice"]["value"], str(each["n"]), written(each["value"], each["low"], each["high"]))
        for each in document["estimates"]
        if each["measure"] == "recall" and each["slice"] and each["n"] >= 100
        and each["slice"]["value"] != "normal"
    ]  # fmt: skip
    rows.sort(key=lambda row: row[2])
    return table(("family", "rows", "detection rate"), rows)


def of_check(name: str) -> str:
    path = RUNS / f"{name}.json"
    if not path.exists() or not path.read_text("utf-8").strip():
        return ""
    document = json.loads(path.read_text("utf-8"))
    rows = [
        (each["code"], each["severity"], " ".join(plain(each["message"]).split()))
        for each in document["findings"]
        if each["severity"] != "info"
    ]
    said = table(("code", "", "what was found"), rows)
    retest = document["retest"]
    if retest is None:
        return said
    drops = [
        (called(each["measure"]), written(each["before"], None, None),
         written(each["after"], None, None), written(each["value"], each["low"], each["high"]))
        for each in retest["drops"]
    ]  # fmt: skip
    removed = f"{retest['recipe']} as the rows are, and again without {plain(retest['removed'])}:"
    return f"{said}\n\n{removed}\n\n" + table(("", "as it is", "without", "drop"), drops)


def plain(text: str) -> str:
    return re.sub(r"([*`|_\\])", r"\\\1", text)


def of_compare() -> str:
    path = RUNS / "compare.json"
    if not path.exists() or not path.read_text("utf-8").strip():
        return ""
    document = json.loads(path.read_text("utf-8"))
    rows = [
        (called(each["measure"]), written(each["value_a"], None, None),
         written(each["value_b"], None, None),
         f"{each['difference']:+.3f} [{each['low']:+.3f}, {each['high']:+.3f}]")
        for each in document["differences"]
        if each["measure"] in ("recall", "false_discovery_rate", "roc_auc", "average_precision")
        and each["low"] is not None
    ]  # fmt: skip
    said = " ".join(plain(each["text"]) for each in document["verdicts"])
    return table(("", "forest", "detector", "difference"), rows) + f"\n\n{said}"


def of_lost() -> str:
    """The families in which the forest finds most that the detector misses, at a FAR of 10%."""
    paths = [RUNS / name / "predictions.parquet" for name in ("nsl-42", "nsl-detector")]
    if not all(path.exists() for path in paths):
        return ""
    learned = pl.read_parquet(DATA / NSL[0])["label"].value_counts()
    judged = pl.read_parquet(paths[0]).select("family", "label")
    for name, path in zip(("forest", "detector"), paths, strict=True):
        scores = pl.read_parquet(path)["score"]
        best = best_operating(scores.to_numpy(), (judged["label"] != "normal").to_numpy(), 0.1)
        if best is None:
            return ""
        decisions = (scores >= best.threshold).alias(name)
        judged = judged.with_columns(scores.alias(f"{name} score"), decisions)
    families = (
        judged.filter(pl.col("label") != "normal")
        .group_by("family")
        .agg(
            pl.len(),
            (pl.col("forest").sum().cast(int) - pl.col("detector").sum()).alias("lost"),
            pl.col("forest", "detector").mean(),
            pl.col("forest score", "detector score").median(),
        )
        .join(learned.rename({"label": "family", "count": "learned"}), on="family", how="left")
        .sort("lost", "family", descending=[True, False])
    )
    rows = [
        (each["family"], f"{each['learned'] or 0:,}", f"{each['len']:,}",
         *(f"{each[name]:.0%}, {each[f'{name} score']:.2g}" for name in ("forest", "detector")),
         f"{each['lost']:,}")
        for each in families.head(3).to_dicts()
    ]  # fmt: skip
    heads = ("family", "rows learned", "rows judged", "forest: found, median score")
    return table((*heads, "detector: found, median score", "rows lost"), rows)


def of_deployed() -> str:
    rows = []
    for case in (CASES["nsl"][0], *CASES["detector"]):
        document = case.document
        if document is not None:
            named = "forest, threshold 0.5" if case.name == "nsl-42" else case.called
            keys = ("recall", "false_discovery_rate", "roc_auc")
            rows.append(
                (named, f"{document['threshold']:.3g}", *(estimate(document, k) for k in keys))
            )
    return table(("", "threshold", "detection rate", "false alarm rate", "AUC"), rows)


TABLES = {
    **{name: partial(of_check, name) for name in CHECKS},
    "deployed": of_deployed,
    "lost": of_lost,
    "arp": lambda: of_cases(CASES["arp"], folds=True),
    "nsl": lambda: of_cases(CASES["nsl"]),
    "seeds": of_seeds,
    "families": of_families,
    "detector": of_compare,
    "unsw": lambda: of_cases(CASES["unsw"]),
    "cic": lambda: of_cases(CASES["cic"]),
    "agora": lambda: of_cases(CASES["agora"], folds=True),
    "lingspam": lambda: of_cases(CASES["lingspam"], folds=True),
    "phishing": lambda: of_cases(CASES["phishing"], folds=True),
}


def write_tables() -> None:
    """Put each table between the two comments that name it; what has no run stays as it is."""
    text = PAGE.read_text("utf-8")
    for name, made in TABLES.items():
        content = made()
        if content.count("\n") < 6:
            continue
        between = re.compile(rf"(\.\. begin {name}\n).*?(\n\.\. end {name}\n)", re.DOTALL)
        text = between.sub(lambda match, c=content: f"{match[1]}\n{c}\n{match[2]}", text)
    PAGE.write_text(text, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", action="store_true", help="write the tables only")
    if not DATA.is_dir():
        sys.exit(f"the real data are absent: there is no folder {DATA}; see $ASSAY_DATA")
    if not parser.parse_args().tables:
        run_all()
    write_tables()
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
