"""Log an evaluation into a run of MLflow, and read it back as MLflow shows it.

Run ``assay demo`` before, which leaves the predictions that are judged here.
"""

from __future__ import annotations

import mlflow

import assay

evaluation = assay.evaluate_files(
    "assay-demo/predictions.csv", assay.Request(label="label", score="score")
)
with mlflow.start_run(run_name="forest"):
    logged = assay.mlflow.log(evaluation)

run = mlflow.get_run(logged.run_id)
print(len(run.data.metrics), "metrics, such as")
for name in ("recall_low", "recall", "recall_high", "base_rate_0.001/precision"):
    print(f"  {name} {run.data.metrics[name]:.4f}")
print("parameters", dict(sorted(run.data.params.items())))
print("undefined", run.data.tags["assay.undefined"])
print("files", *logged.artifacts)
