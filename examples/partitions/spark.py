"""A frame of Spark: Spark groups the rows by itself, and only the groups come back."""

from pyspark.sql import SparkSession

import assay

spark = SparkSession.builder.getOrCreate()
flows = spark.range(200_000).selectExpr(
    "CASE WHEN id % 50 = 0 THEN 'attack' ELSE 'normal' END AS label",
    "(id * 7919 % 1000) / 1500 + CASE WHEN id % 50 = 0 THEN 0.3 ELSE 0.0 END AS score",
    "id % 3 AS site",
)

evaluation = assay.evaluate(flows, label="label", score="score", slices=["site"])
print("detection rate", evaluation["detection_rate"])
print("AUC           ", evaluation["roc_auc"])

# As a grid the tally is small, whatever the number of rows; two days add up to both.
monday = assay.count(flows, label="label", score="score", mode="grid")
tuesday = assay.count(flows, label="label", score="score", mode="grid")
both = assay.Evaluation(monday + tuesday)
print("both days     ", both["roc_auc"], "on", both["roc_auc"].n, "rows")
print("bytes of a day", len(monday.to_bytes()))
