"""Where the real files lie, and what a test says that misses one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[3] / "shared" / "data"))

TRAIN = FOLDER / "nsl_kdd_train.parquet"
TEST = FOLDER / "nsl_kdd_test.parquet"
NETWORK = FOLDER / "preds_safelink_ann.parquet"
LISTINGS = FOLDER / "agora_listings_2014q1.parquet"
WEBSITES = FOLDER / "uci_phishing_websites.parquet"


def needs(*paths: Path) -> pytest.MarkDecorator:
    """Skip where a file is absent."""
    absent = [path.name for path in paths if not path.exists()]
    reason = f"the real data are absent: {', '.join(absent)} not in $ASSAY_DATA"
    return pytest.mark.skipif(bool(absent), reason=reason)
