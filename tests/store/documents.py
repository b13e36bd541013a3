"""Documents that tests record, and ways to run a store in other processes."""

import functools
import json
import os
import subprocess
import sys
from typing import Any

import assay


@functools.cache
def _evaluation(tp: int) -> str:
    return json.dumps(assay.evaluate_counts(tp=tp, fp=5, fn=100 - tp, tn=95).to_dict())


def evaluation(
    tp: int = 90, *, made: str | None = None, rows: str | None = None, **more: Any
) -> str:
    """An evaluation of 200 rows; ``rows`` stands for the labels of the test set."""
    document = {**json.loads(_evaluation(tp)), **more}
    if made is not None:
        document["provenance"] = {"made": made, "inputs": []}
    if rows is not None:
        document["source"]["labels_sha256"] = rows
    return json.dumps(document)


def small(number: int) -> str:
    """A document of one estimate, quick to record."""
    estimate = {"measure": "recall", "value": 0.9, "low": 0.8, "high": 0.95, "n": 100}
    return json.dumps(
        {"schema": "assay.evaluation/1", "number": number, "level": 0.95, "estimates": [estimate]}
    )


def gate(outcome: str, **more: Any) -> str:
    rule = {"rule": "new(recall) >= 0.8", "outcome": outcome, "value": 0.9, "low": 0.8, "high": 1}
    return json.dumps({"schema": "assay.gate/1", "outcome": outcome, "rules": [rule], **more})


def child(code: str, *arguments: object) -> subprocess.Popen[bytes]:
    """A process that runs some code, with the arguments in ``sys.argv``."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
    )
