"""How often intervals at a chosen threshold hold the truth: `make resampling`.

The difference in detection rate of two detectors at a limit, its threshold chosen from the sample:
chosen anew in each resample, and taken as given. Some 15 minutes on two cores; the results go to
benchmarks/results as JSON.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from resampling.scenario import LEVEL, Setting, coverage

from assay.inference import MaxFar, MaxFpr

RESULTS = Path(__file__).parent / "results" / "resampling.json"
RULES = (MaxFar(0.1), MaxFar(0.02), MaxFpr(0.01), MaxFpr(0.1))
SIZES = ((2_000, 0.2), (10_000, 0.02), (10_000, 0.2))
BLOCK = 50  # samples a job


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=400, help="samples a setting")
    parser.add_argument("--resamples", type=int, default=300, help="resamples a sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=RESULTS, help="the JSON file")
    asked = parser.parse_args()
    settings = [Setting(rule, *size) for rule, size in itertools.product(RULES, SIZES)]
    blocks = -(-asked.samples // BLOCK)
    rows = []
    with ProcessPoolExecutor(asked.jobs) as pool:
        for setting in settings:
            todo = [
                pool.submit(coverage, setting, BLOCK, asked.resamples, i) for i in range(blocks)
            ]
            studies = [job.result() for job in todo]
            samples = sum(part.samples for part in studies)
            anew, given = (sum(getattr(p, k) for p in studies) / samples for k in ("anew", "given"))
            print(f"{setting!s:44} anew {anew:6.1%}   as given {given:6.1%}", flush=True)
            rows.append(
                {
                    "rule": str(setting.rule),
                    "rows": setting.rows,
                    "prevalence": setting.prevalence,
                    "truth": setting.truth,
                    "samples": samples,
                    "anew": anew,
                    "given": given,
                }
            )
    document = {"level": LEVEL, "resamples": asked.resamples, "settings": rows}
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    print(f"Wrote {asked.out}")


if __name__ == "__main__":
    main()
