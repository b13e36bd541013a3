"""The small tables that the frozen questions are asked about, the same on every machine.

`write_tables(folder)` writes them; texts that are easier to read as they are lie in `given/`.
All draws come from `random.Random`, whose streams are the same in every version of Python.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

Row = dict[str, Any]
GIVEN = Path(__file__).parent / "given"
START = datetime(2026, 3, 2, tzinfo=UTC)


def write_tables(folder: Path) -> None:
    """Write every table into a folder."""
    for path in sorted(GIVEN.iterdir()):
        shutil.copyfile(path, folder / path.name)
    _write_flows(folder)
    _write_odd_tables(folder)
    _write_classes(folder)
    _write_samples(folder)
    _write_weeks(folder)
    _write_folds(folder)
    _write_training(folder)
    _write_logs(folder)


def _write(path: Path, rows: list[Row], *, delimiter: str = ",", header: bool = True) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter, lineterminator="\n")
        if header:
            writer.writeheader()
        writer.writerows(rows)


def _score(random: Random, mean: float, spread: float = 0.17, digits: int = 2) -> float:
    """A score in [0, 1]; two digits make ties."""
    return round(min(1.0, max(0.0, random.gauss(mean, spread))), digits)


def _time(minutes: float) -> str:
    return (START + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


# -- two classes -----------------------------------------------------------------------------------


def _flows(rows: int = 500, seed: int = 1) -> list[Row]:
    """Flows of a week, in hosts: two scores with ties, a decision, families and protocols."""
    random = Random(seed)
    table = []
    for i in range(rows):
        attack = random.random() < 0.3
        family = random.choice(["dos", "dos", "scan", "botnet"]) if attack else ""
        host = random.randrange(40)
        mean = (0.68 if family != "botnet" else 0.52) if attack else 0.32 + host % 4 * 0.02
        score = _score(random, mean)
        old = round(min(1, max(0, 0.6 * score + 0.4 * _score(random, mean - 0.05, 0.25))), 2)
        table.append(
            {
                "flow": f"f{i:03}",
                "label": "attack" if attack else "normal",
                "score": score,
                "old_score": old,
                "other_score": round((score + 2 * old) / 3, 2),
                "said": "attack" if score >= 0.45 else "normal",
                "said_before": "attack" if old >= 0.5 else "normal",
                "family": family,
                "protocol": random.choice(["tcp", "tcp", "udp", "icmp"]),
                "host": f"h{host:02}",
                "time": _time(20 * i + random.randrange(20)),
                "incident": f"i{i // 60}" if attack else "",
            }
        )
    return table


def _write_flows(folder: Path) -> None:
    import duckdb
    import polars as pl

    flows = _flows()
    _write(folder / "flows.csv", flows)
    _write(folder / "days.csv", flows[:200])
    _write(folder / "flows.tsv", flows, delimiter="\t")
    _write(folder / "later.csv", _flows(300, seed=2))
    _write(folder / "new.csv", [{k: v for k, v in f.items() if "_" not in k} for f in flows])
    random = Random(3)
    old = [
        {"flow": f["flow"], "label": f["label"], "score": f["old_score"], "host": f["host"]}
        for f in random.sample(flows, len(flows))
    ]
    _write(folder / "old.csv", old)
    _write(folder / "relabelled.csv", [{**f, "label": "attack"} for f in old])
    _write(folder / "fewer.csv", old[:400])
    (folder / "flows.jsonl").write_text("".join(json.dumps(f) + "\n" for f in flows), "utf-8")
    (folder / "flows.csv.gz").write_bytes(
        gzip.compress((folder / "flows.csv").read_bytes(), mtime=0)
    )
    frame = pl.DataFrame(flows)
    frame.write_parquet(folder / "flows.parquet")
    frame.write_ipc(folder / "flows.arrow")
    frame.write_excel(folder / "flows.xlsx", worksheet="predictions")
    parts = folder / "parts"
    parts.mkdir()
    frame[:200].write_csv(parts / "part-1.csv")
    frame[200:].write_csv(parts / "part-2.csv")
    german = [
        {"label": f["label"], "score": str(f["score"]).replace(".", ",")} for f in flows[:200]
    ]
    _write(folder / "german.csv", german, delimiter=";")
    rows = [(f["label"], f["score"]) for f in flows]
    with sqlite3.connect(folder / "flows.db") as database:
        database.execute("create table flows (label text, score real)")
        database.executemany("insert into flows values (?, ?)", rows)
    database.close()
    with duckdb.connect(str(folder / "flows.duckdb")) as store:
        store.execute("create table flows (label text, score double)")
        store.executemany("insert into flows values (?, ?)", rows)
    counted: dict[tuple[str, float, str], int] = {}
    for f in flows:
        key = (f["label"], round(f["score"], 1), f["protocol"])
        counted[key] = counted.get(key, 0) + 1
    _write(
        folder / "counted.csv",
        [
            {"label": label, "score": score, "protocol": protocol, "n": n}
            for (label, score, protocol), n in sorted(counted.items())
        ],
    )


def _write_odd_tables(folder: Path) -> None:
    """Labels of other kinds, too few rows, perfect, inverted and useless scores, and bad rows."""
    random = Random(4)

    def drawn(n: int, share: float, low: float, high: float, names: Any = (0, 1)) -> list[Row]:
        rows = []
        for _ in range(n):
            attack = random.random() < share
            rows.append(
                {"label": names[attack], "score": _score(random, high if attack else low, 0.2)}
            )
        return rows

    _write(folder / "zero_one.csv", drawn(120, 0.4, 0.4, 0.6))
    signed = [
        {"label": row["label"], "score": round(8 * row["score"] - 4, 2)}
        for row in drawn(150, 0.4, 0.35, 0.65, names=(-1, 1))
    ]
    _write(folder / "signed.csv", signed)
    _write(folder / "swapped.csv", drawn(200, 0.3, 0.7, 0.35, names=("normal", "attack")))
    _write(folder / "useless.csv", drawn(200, 0.3, 0.5, 0.5, names=("normal", "attack")))
    _write(folder / "rare.csv", drawn(600, 0.02, 0.25, 0.8, names=("normal", "attack")))
    names = ("normal", "attack")
    perfect = [{"label": names[i % 4 == 0], "score": 0.9 if i % 4 == 0 else 0.1} for i in range(80)]
    _write(folder / "perfect.csv", perfect)
    _write(folder / "tiny.csv", drawn(12, 0.4, 0.3, 0.7, names=names))
    _write(folder / "constant.csv", [{**row, "score": 0.4} for row in perfect])
    _write(folder / "only_normal.csv", [{**row, "label": "normal"} for row in perfect])
    _write(folder / "other_words.csv", drawn(100, 0.4, 0.4, 0.6, names=("safe", "unsafe")))
    rows = drawn(100, 0.3, 0.3, 0.7, names=names)
    _write(folder / "no_header.csv", rows, header=False)
    title = "Export of the sensor\n\n"
    (folder / "titled.csv").write_text(title + (folder / "tiny.csv").read_text("utf-8"), "utf-8")
    bad = [{**row, "score": "" if i in {7, 31} else row["score"]} for i, row in enumerate(rows)]
    bad[50]["label"], bad[60]["score"] = "", "nan"
    _write(folder / "bad.csv", bad)
    _write(
        folder / "unlabelled.csv",
        [{**r, "label": r["label"] * (i % 3 > 0)} for i, r in enumerate(rows)],
    )
    german = "label,score\n" + "".join(
        f"{('harmlos', 'schädlich')[row['label'] == 'attack']},'{row['score']}'\n" for row in rows
    )
    (folder / "latin.csv").write_text(german, "cp1252")
    (folder / "ragged.csv").write_text("label,score\nattack,0.9\nnormal,0.1,7\n", "utf-8")
    (folder / "header_only.csv").write_text("label,score\n", "utf-8")
    (folder / "empty.csv").write_text("", "utf-8")


# -- more classes ----------------------------------------------------------------------------------


def _write_classes(folder: Path) -> None:
    """Three known classes with the probabilities of two models, and rows of a class unknown."""
    random, names = Random(5), ("dos", "normal", "scan")

    def probabilities(truth: str, skill: float) -> list[float]:
        parts = [random.random() + skill * (name == truth) + 0.02 for name in names]
        first, second = (round(part / sum(parts), 3) for part in parts[:2])
        return [first, second, round(1 - first - second, 3)]

    table = []
    for i in range(300):
        truth = random.choice(["normal", "normal", "dos", "scan"])
        forest, bayes = probabilities(truth, 1.2), probabilities(truth, 0.7)
        row: Row = {"row": i, "category": truth, "guess": names[forest.index(max(forest))]}
        row |= {f"p_{name}": p for name, p in zip(names, forest, strict=True)}
        row |= {f"bayes_{name}": p for name, p in zip(names, bayes, strict=True)}
        table.append({**row, "site": random.choice("AB")})
    _write(folder / "classes.csv", table)
    unknown = [{**row, "category": "botnet"} if i % 6 == 0 else row for i, row in enumerate(table)]
    _write(folder / "unknown.csv", unknown)
    _write(folder / "sums.csv", [{**row, "p_dos": 0.9} for row in table])
    matrix = [[0] * 3 for _ in names]
    for row in table:
        matrix[names.index(row["category"])][names.index(row["guess"])] += 1
    lines = [f"truth,{','.join(names)}"]
    lines += [f"{name},{','.join(map(str, row))}" for name, row in zip(names, matrix, strict=True)]
    (folder / "matrix.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "matrix.json").write_text(json.dumps(matrix), "utf-8")
    kinds = [
        {
            "label": row["category"],
            "score": _score(random, 0.3 + 0.3 * (row["category"] != "normal")),
        }
        for row in table
    ]
    _write(folder / "kinds.csv", kinds)


# -- rows that were drawn, rows of many days -------------------------------------------------------


def _write_samples(folder: Path) -> None:
    """Rows to draw from, and rows that were drawn by strata of the score, with their weights."""
    random = Random(6)
    rows = []
    for i in range(600):
        attack = random.random() < 0.06
        score = _score(random, 0.75 if attack else 0.2, 0.15, digits=3)
        rows.append({"flow": i, "score": score, "label": "attack" if attack else "normal"})
    _write(folder / "population.csv", [{k: r[k] for k in ("flow", "score")} for r in rows])
    drawn: list[Row] = []
    for stratum, (low, high, share) in enumerate([(0, 0.2, 0.15), (0.2, 0.5, 0.4), (0.5, 2, 1.0)]):
        inside = [row for row in rows if low <= row["score"] < high]
        chosen = random.sample(inside, round(share * len(inside)))
        weight = round(len(inside) / len(chosen), 6)
        drawn += [{**row, "stratum": f"s{stratum}", "weight": weight} for row in chosen]
    _write(folder / "drawn.csv", drawn)
    _write(folder / "bad_weight.csv", [{**row, "weight": -1} for row in drawn])


def _write_weeks(folder: Path) -> None:
    """Four weeks of a detector in use, whose labels come late; the last week it is worse."""
    random = Random(7)

    def days(first: int, last: int, *, worse: int = 99, late: int = 99) -> list[Row]:
        rows = []
        for day in range(first, last):
            for i in range(20):
                attack = random.random() < 0.3
                score = _score(random, (0.5 if day >= worse else 0.75) if attack else 0.3)
                known = day < late or (score >= 0.5 and random.random() < 0.5)
                rows.append(
                    {
                        "time": _time(1440 * day + 70 * i),
                        "label": ("attack" if attack else "normal") if known else "",
                        "score": score,
                        "said": "attack" if score >= 0.5 else "normal",
                        "old_score": round((score + _score(random, 0.5, 0.3)) / 2, 2),
                        "protocol": random.choice(["tcp", "udp", "tcp" if day < worse else "icmp"]),
                        "bytes": random.randrange(100, 900) + 300 * (day >= worse),
                    }
                )
        return rows

    _write(folder / "reference.csv", days(-20, 0))
    _write(folder / "month.csv", days(0, 28, worse=21))
    _write(folder / "late.csv", days(0, 28, late=24))
    whole = days(0, 28)
    _write(folder / "week1.csv", whole[:140])
    _write(folder / "fortnight.csv", whole[:280])
    _write(folder / "week2.csv", whole[140:])


# -- folds -----------------------------------------------------------------------------------------


def _write_folds(folder: Path) -> None:
    """Results of folds: two models, repeats, four models on several data sets, predictions."""
    random = Random(8)

    def results(models: dict[str, float], repeats: int, folds: int, size: int) -> list[Row]:
        rows = []
        for repeat in range(1, repeats + 1):
            for fold in range(1, folds + 1):
                luck = random.gauss(0, 0.01)
                for model, mean in models.items():
                    accuracy = round(mean + luck + random.gauss(0, 0.008), 3)
                    f1 = round(accuracy - 0.05 + random.gauss(0, 0.004), 3)
                    head = {"model": model, "repeat": repeat, "fold": fold}
                    sizes = {"n_train": size * (folds - 1), "n_test": size}
                    rows.append({**head, **sizes, "accuracy": accuracy, "f1": f1})
        return rows

    _write(folder / "folds.csv", results({"old": 0.9, "new": 0.92}, 1, 10, 50))
    _write(folder / "repeated.csv", results({"old": 0.9, "new": 0.91}, 5, 2, 250))
    _write(folder / "three.csv", results({"a": 0.9, "b": 0.91, "c": 0.86}, 2, 5, 100))
    sets = []
    for name in ("iris", "wine", "flows", "mail", "logs", "dns"):
        shift = random.uniform(-0.1, 0.05)
        models = {"bayes": 0.84 + shift, "boost": 0.9 + shift, "forest": 0.89 + shift}
        one = results(models, 1, 5, 60)
        sets += [{"dataset": name, **{k: r[k] for k in r if k != "f1"}} for r in one]
    _write(folder / "datasets.csv", sets)
    for name in ("iris", "wine"):
        rows = [
            {k: v for k, v in r.items() if k != "dataset"} for r in sets if r["dataset"] == name
        ]
        _write(folder / f"{name}.csv", rows)
    said = []
    for i in range(120):
        truth = random.random() < 0.4
        for model, mean in (("old", 0.6), ("new", 0.66)):
            score = _score(random, mean if truth else 1 - mean)
            label = "attack" if truth else "normal"
            row = {"model": model, "fold": i % 4 + 1, "id": i, "label": label, "score": score}
            said.append(row)
    _write(folder / "fold_predictions.csv", said)


# -- tables to learn from --------------------------------------------------------------------------


def _write_training(folder: Path) -> None:
    """Flows with features, split by time; the same with leaks; texts in three categories."""
    random = Random(9)
    rows = []
    for i in range(240):
        attack = random.random() < 0.4
        rows.append(
            {
                "bytes": round(random.gauss(600 if attack else 500, 60), 1),
                "rate": round(random.gauss(0.7 if attack else 0, 1), 3),
                "flags": random.choice(["S", "SA", "R"] if attack else ["SA", "SA", "F"]),
                "noise": round(random.gauss(0, 1), 3),
                "host": f"h{i // 20:02}",
                "time": _time(30 * i),
                "family": random.choice(["dos", "scan"]) if attack else "normal",
                "part": "abcd"[i % 4],
                "label": "attack" if attack else "normal",
            }
        )
    _write(folder / "learn.csv", rows)
    _write(folder / "train.csv", rows[:160])
    _write(folder / "test.csv", rows[160:])
    _write(folder / "copied.csv", rows[160:] + rows[:12])
    _write(folder / "near.csv", [{**row, "noise": round(row["noise"] + 1e-9, 9)} for row in rows])
    by_label = sorted(rows, key=lambda row: row["label"])
    _write(folder / "sorted.csv", [{"id": i, **row} for i, row in enumerate(by_label)])
    _write(
        folder / "leaky.csv",
        [
            {**row, "verdict": round((row["label"] == "attack") + random.uniform(0, 0.2), 3)}
            for row in rows
        ],
    )
    _write(folder / "mixed_days.csv", random.sample(rows, len(rows)))
    _write(folder / "unseen.csv", [{k: r[k] for k in r if k != "label"} for r in rows[200:]])
    topics = {
        "drugs": "pure grams tested fast shipping blend",
        "cards": "valid balance bank fullz fresh track",
        "books": "guide pages author edition reading print",
    }
    texts = []
    for i in range(180):
        topic = random.choice(sorted(topics))
        words = [*topics[topic].split(), "new", "best", "offer", "cheap", "quality", "sale"]
        title = " ".join(random.choice(words) for _ in range(6))
        texts.append({"title": title, "vendor": f"v{i // 9:02}", "category": topic})
    _write(folder / "texts.csv", texts)


# -- logs ------------------------------------------------------------------------------------------


def _write_logs(folder: Path) -> None:
    """Four days of a sensor: alerts of Suricata, connections of Zeek, a schedule of attacks."""
    random = Random(10)
    attacks = [
        ("port scan", "scan", 500, 530, "203.0.113.7", "10.0.2.0/24", ""),
        ("ssh logins", "brute force", 1900, 1975, "198.51.100.23", "10.0.1.22", "22"),
        ("web flood", "flood", 2900, 2925, "192.0.2.0/24", "10.0.1.80", "80"),
        ("file theft", "theft", 3600, 3900, "10.0.3.9", "198.51.100.80", ""),
        ("beacon", "malware", 4000, 5000, "10.0.3.50", "203.0.113.99", "443"),
        ("name tunnel", "theft", 5100, 5160, "10.0.3.77", "10.0.0.53", "53"),
    ]
    head = ("attack", "family", "start", "end", "src_ip", "dst_ip", "dst_port")
    schedule = [
        dict(zip(head, (*a[:2], _time(a[2]), _time(a[3]), *a[4:]), strict=True)) for a in attacks
    ]
    _write(folder / "attacks.csv", schedule)
    local = [{k: v.rstrip("Z").replace("T", " ") for k, v in r.items()} for r in schedule]
    _write(folder / "local.csv", local)
    _write(folder / "open.csv", [{**row, "end": ""} for row in schedule])
    events = []  # minute, source, destination, port, rule, severity
    for n, (attack, count, late) in enumerate([(0, 14, 0), (1, 20, 5), (2, 30, 0), (4, 5, 600)]):
        _, _, first, last, source, target, port = attacks[attack]
        source, target = source.replace(".0/24", ".5"), target.replace(".0/24", ".9")
        for _ in range(count):
            minute = random.uniform(first + late, last + (2 if n == 1 else 0))
            events.append((minute, source, target, int(port or 8080), n, 1 + n % 2))
    for _ in range(150):
        minute, client = random.uniform(0, 5600), f"10.0.3.{random.randrange(9)}"
        rule, severity = random.choice([(4, 3), (5, 3), (6, 2), (0, 1)])
        for _ in range(random.choice([1, 1, 3])):
            minute += random.random()
            events.append((minute, client, "10.0.1.80", 443, rule, severity))
    rules = (
        "SCAN many ports",
        "SSH many logins",
        "FLOOD of requests",
        "BEACON beat",
        "POLICY unusual program",
        "DNS odd answer",
        "WEB database words",
    )
    with (folder / "eve.json").open("w", encoding="utf-8") as file:
        for minute, source, target, port, rule, severity in sorted(events):
            alert = {"signature_id": 1000 + rule, "signature": rules[rule], "severity": severity}
            stamp = (START + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%S.%f+0000")
            line = {
                "timestamp": stamp,
                "event_type": "alert",
                "src_ip": source,
                "src_port": 40000,
                "dest_ip": target,
                "dest_port": port,
                "proto": "TCP",
                "alert": alert,
            }
            file.write(json.dumps(line) + "\n")
    fields = ("ts", "uid", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "proto")
    with (folder / "conn.log").open("w", encoding="utf-8") as file:
        file.write("#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n")
        file.write("#path\tconn\n#fields\t" + "\t".join(fields) + "\n")
        file.write("#types\ttime\tstring\taddr\tport\taddr\tport\tenum\n")
        for i in range(0, 5760, 10):
            stamp = f"{(START + timedelta(minutes=i)).timestamp():.6f}"
            row = (stamp, f"C{i}", f"10.0.3.{i % 90}", "40000", "10.0.1.80", "443", "tcp")
            file.write("\t".join(row) + "\n")
    rows = []
    for i in range(400):
        minute = 14 * i
        running = [a for a in attacks if a[2] <= minute <= a[3]]
        name = running[0][0] if running else ""
        score = _score(random, 0.75 if name else 0.35)
        rows.append(
            {
                "time": _time(minute),
                "incident": name,
                "score": score,
                "family": running[0][1] if running else "",
                "host": f"h{i % 7}",
                "said": "attack" if score >= 0.6 else "normal",
                "n": 1 + i % 3,
                "rule": f"r{i % 3}",
            }
        )
    _write(folder / "incident_rows.csv", rows)
