"""Makes values.json from the repositories of the papers' authors. Run with their checkouts:

    python tests/oracles/ranges/make_values.py TSAD-Evaluator affiliation-metrics-py

``evaluate`` has to be built before, by ``make CXXFLAGS="-include climits"`` in the first one's
``src``. Ranges are [start, end), as flat lists: start, end, start, end, ...
"""

import gzip
import itertools
import json
import subprocess
import sys
from pathlib import Path

# The results of Huet, Navarro and Rossi (2022): affiliation precision / recall, as printed.
PRINTED = {
    "machinetemp": {
        "trivial": "1.00/0.50",
        "adversary": "0.49/1.00",
        "greenhouse": "0.71/0.99",
        "lstmad": "0.50/1.00",
        "luminol": "0.54/0.99",
    },
    "nyctaxi": {
        "trivial": "1.00/0.30",
        "adversary": "0.54/1.00",
        "greenhouse": "0.51/0.99",
        "lstmad": "0.51/1.00",
        "luminol": "0.38/0.79",
    },
    "twitteraapl": {
        "trivial": "1.00/0.49",
        "adversary": "0.50/1.00",
        "greenhouse": "0.78/0.98",
        "lstmad": "0.66/0.99",
        "luminol": "0.73/0.98",
    },
    "swat": {"trivial": "1.00/0.03", "ocsvm": "0.65/0.70", "seq2seq": "0.86/0.79"},
}
EVALUATED = ("simple/simple", "nyc_taxi/luminol", "aapl/greenhouse", "space_shuttle/lstm_ad")


def ranges(flags: list[bool]) -> list[int]:
    """Where flags begin and end to be set."""
    padded = [False, *flags, False]
    return [i for i, (a, b) in enumerate(itertools.pairwise(padded)) if a != b]


def evaluated(checkout: Path) -> list[dict]:
    cases = []
    for name in EVALUATED:
        real, predicted = (checkout / "examples" / f"{name}.{part}" for part in ("real", "pred"))
        read = [[line.strip() == "1" for line in file.open()] for file in (real, predicted)]
        case = {"name": name, "incidents": ranges(read[0]), "alarms": ranges(read[1])}
        case["values"] = []
        for alpha, cardinality, bias in itertools.product(
            (0, 0.25), ("one", "reciprocal"), ("flat", "front", "back")
        ):
            printed = subprocess.run(
                [
                    checkout / "src" / "evaluate",
                    *("-t", real, predicted, "1", str(alpha), cardinality, "flat", bias),
                ],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            values = dict(line.split(" = ") for line in printed.splitlines() if " = " in line)
            case["values"].append(
                {
                    "alpha": alpha,
                    "cardinality": cardinality,
                    "bias": bias,
                    "precision": values["Precision"],
                    "recall": values["Recall"],
                }
            )
        cases.append(case)
    return cases


def printed(checkout: Path) -> list[dict]:
    def read(name: str) -> list[bool]:
        with gzip.open(checkout / "data" / f"{name}.gz", "rt") as file:
            return [line.strip() in ("1", "1.0") for line in file]

    cases = []
    for data, methods in PRINTED.items():
        truth = read(f"{data}_groundtruth")
        case = {"name": data, "steps": len(truth), "incidents": ranges(truth), "methods": []}
        for method, values in methods.items():
            alarms = ranges(read(f"{data}_{method}"))
            case["methods"].append({"name": method, "alarms": alarms, "printed": values})
        cases.append(case)
    return cases


if __name__ == "__main__":
    evaluator, measures = map(Path, sys.argv[1:])
    values = {"range_based": evaluated(evaluator), "affiliation": printed(measures)}
    text = json.dumps(values, separators=(",", ":"))
    Path(__file__).with_name("values.json").write_text(text + "\n")
