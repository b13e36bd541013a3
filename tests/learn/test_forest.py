"""A forest that says the same for any number of threads."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from assay.learn.ensembles import Forest


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(1)
    X = generator.normal(size=(20_000, 4))
    return X, (X[:, 0] + generator.normal(size=len(X)) > 0).astype(int)


def test_its_trees_are_those_of_scikit_learn(rows) -> None:
    X, y = rows
    ours = Forest(7, max_depth=4, random_state=0).fit(X[:500], y[:500])
    theirs = RandomForestClassifier(7, max_depth=4, random_state=0).fit(X[:500], y[:500])
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-15)
    assert ours.n_jobs is None


def test_probabilities_have_the_same_bits_for_any_number_of_threads(rows, monkeypatch) -> None:
    X, y = rows
    said = []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("ASSAY_THREADS", threads)
        said.append(Forest(9, random_state=0).fit(X[:2000], y[:2000]).predict_proba(X))
    assert (said[0] == said[1]).all()
    assert (said[0] == said[2]).all()
