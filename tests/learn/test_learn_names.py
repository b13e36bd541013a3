"""What `assay.learn` shows to the world."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import assay.learn
from assay.learn import data_of, find_recipe, make_arp, train

DROPPED = ["time", "host", "family"]


def test_all_is_without_repetition_and_is_what_dir_shows() -> None:
    assert len(assay.learn.__all__) == len(set(assay.learn.__all__))
    assert dir(assay.learn) == sorted(assay.learn.__all__)


@pytest.mark.parametrize("name", assay.learn.__all__)
def test_every_name_exists(name: str) -> None:
    assert getattr(assay.learn, name) is not None


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = assay.learn.nonsense


def test_scenarios_are_there_without_scikit_learn() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from assay.learn import make_ddos; print(len(make_ddos(rows=10)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "10"


def test_a_recipe_may_be_named() -> None:
    data = data_of(make_arp(rows=600), label="label", drop=DROPPED)
    named = train("tree", data, importance=False)
    run = train(find_recipe("tree"), data, importance=False)
    np.testing.assert_array_equal(named.scores, run.scores)


def test_a_frame_of_pandas_is_that_of_polars() -> None:
    frame = make_arp(rows=300)
    other = pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    ours, theirs = (data_of(each, label="label", drop=DROPPED) for each in (frame, other))
    assert ours.frame.equals(theirs.frame)
    np.testing.assert_array_equal(ours.truth, theirs.truth)
