"""What the command says of real files beside what R says of the same rows; see ``r/README.md``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any, TypeAlias

import polars as pl
import pytest

from .documents import Told, evaluate
from .files import NETWORK, TEST, needs
from .rows_for_r import UNIT, forest, network

pytestmark = [needs(TEST, NETWORK), pytest.mark.slow]

VALUES = json.loads((Path(__file__).parent / "r" / "values.json").read_text("utf-8"))
SETS = tuple(VALUES["sets"])
BASE_RATES = (0.1, 0.01, 0.001, 0.0001)
Z = NormalDist().inv_cdf((1 + VALUES["meta"]["level"]) / 2)

Tell: TypeAlias = Callable[..., Told]


def close(expected: Any, tolerance: float = 1e-12) -> Any:
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


@pytest.fixture(scope="module")
def tell(tmp_path_factory: pytest.TempPathFactory) -> Tell:
    """The document of a set of rows; each is made once."""
    folder = tmp_path_factory.mktemp("r")
    rows = network()
    forest().with_columns(pl.col("score") / UNIT).write_parquet(folder / "forest.parquet")
    rows.filter(split="test").write_parquet(folder / "network_test.parquet")
    rows.filter(split="deploy").write_parquet(folder / "network_deploy.parquet")
    rows.head(600).write_parquet(folder / "network_600.parquet")

    @cache
    def document(name: str, *options: str) -> Told:
        file = NETWORK if name == "network" else folder / f"{name}.parquet"
        if name == "forest":
            options = ("--negative", "normal", "--slice", "protocol_type", *options)
        return evaluate(folder / "out.json", file, *options)

    return document


def test_no_set_of_rows_is_forgotten() -> None:
    assert SETS == ("forest", "network", "network_test", "network_deploy", "network_600")


@pytest.fixture(params=SETS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def r(name: str) -> dict[str, Any]:
    document: dict[str, Any] = VALUES["sets"][name]
    return document


@pytest.fixture
def told(name: str, tell: Tell) -> Told:
    return tell(name)


def test_r_was_given_the_same_rows(r: dict[str, Any], told: Told) -> None:
    assert told["source"]["rows_used"] == r["rows"]
    assert told.cells() == r["cells"]


# -- scores ----------------------------------------------------------------------------------------


def logit(share: float) -> float:
    return math.log(share / (1 - share))


def test_the_auc_and_its_interval_have_the_variance_of_proc(r: dict[str, Any], told: Told) -> None:
    """pROC's interval is normal on the plain scale and ours on the logit scale: the standard error
    that is behind ours gives pROC's."""
    roc_auc, expected = told.estimates()["roc_auc"], r["ranking"]
    auc = roc_auc["value"]
    assert auc == close(expected["auc"])
    assert roc_auc["method"] == "delong"
    low, high = logit(roc_auc["low"]), logit(roc_auc["high"])
    assert (low + high) / 2 == close(logit(auc), 1e-9)
    error = (high - low) / 2 / Z * auc * (1 - auc)
    assert error**2 == pytest.approx(expected["variance"], rel=1e-9)
    ends = [auc - Z * error, auc + Z * error]
    assert ends == close([expected["lower"], expected["upper"]], 1e-11)


def test_the_partial_auc_is_that_of_proc(r: dict[str, Any], told: Told) -> None:
    assert told.values()["partial_auc"] == close(r["ranking"]["partial_corrected"])


def test_losses_are_those_of_r(r: dict[str, Any], told: Told) -> None:
    values = told.values()
    assert {name: values[name] for name in r["losses"]} == close(r["losses"])


# -- decisions -------------------------------------------------------------------------------------

CARET = {
    "Sensitivity": "recall",
    "Specificity": "specificity",
    "Pos Pred Value": "precision",
    "Neg Pred Value": "negative_predictive_value",
    "Precision": "precision",
    "Recall": "recall",
    "F1": "f1",
    "Prevalence": "prevalence",
    "Detection Prevalence": "alert_rate",
}


def by_class(told: Told, suffix: str = "", part: tuple[str, str] | None = None) -> dict[str, float]:
    """Our numbers under caret's names."""
    values = told.values(part=part)
    cells = told.cells(part=part)
    hits = cells["tn" if suffix else "tp"]
    # caret's "Detection Rate" is TP / N; ours is another word for recall.
    return {
        **{key: values[name + suffix] for key, name in CARET.items()},
        "Detection Rate": hits / sum(cells.values()),
        "Balanced Accuracy": values["balanced_accuracy"],
    }


def test_a_confusion_matrix_is_read_as_caret_reads_it(r: dict[str, Any], told: Told) -> None:
    assert by_class(told) == close(r["caret"]["positive"])
    assert by_class(told, "." + told["labels"][0]) == close(r["caret"]["negative"])
    values, overall = told.values(), r["caret"]["overall"]
    assert values["accuracy"] == close(overall["Accuracy"])
    assert values["kappa"] == close(overall["Kappa"])


def test_the_exact_interval_of_accuracy_is_that_of_caret(
    r: dict[str, Any], name: str, tell: Tell
) -> None:
    accuracy = tell(name, "--interval", "clopper-pearson").estimates()["accuracy"]
    overall = r["caret"]["overall"]
    ends = [overall["AccuracyLower"], overall["AccuracyUpper"]]
    assert [accuracy["low"], accuracy["high"]] == close(ends, 1e-11)


def test_tests_of_the_matrix_are_those_of_caret(r: dict[str, Any], told: Told) -> None:
    tests = {each["test"]: each for each in told["tests"]}
    overall = r["caret"]["overall"]
    majority = tests["accuracy_against_majority"]
    assert majority["table"]["share"] == close(overall["AccuracyNull"])
    assert majority["p"] == pytest.approx(overall["AccuracyPValue"], rel=1e-9, abs=1e-300)
    assert tests["mcnemar_errors"]["p"] == pytest.approx(
        overall["McnemarPValue"], rel=1e-9, abs=1e-300
    )


def test_shares_have_wilson_s_interval_as_r_gives_it(r: dict[str, Any], told: Told) -> None:
    estimates = told.estimates()
    for name, share in r["shares"].items():
        ours = estimates[name]
        assert (ours["method"], ours["n"]) == ("wilson", share["n"])
        assert ours["value"] == close(share["k"] / share["n"])
        assert [ours["low"], ours["high"]] == close(share["wilson"], 1e-11), name


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson", "agresti-coull", "jeffreys"])
def test_shares_have_the_interval_that_is_asked_for(method: str, tell: Tell) -> None:
    estimates = tell("network_test", "--interval", method).estimates()
    for name, share in VALUES["sets"]["network_test"]["shares"].items():
        ours = estimates[name]
        assert ours["method"] == method
        assert [ours["low"], ours["high"]] == close(share[method], 1e-11), name


def test_ratios_and_their_intervals_are_those_of_epir(r: dict[str, Any], told: Told) -> None:
    estimates = told.estimates()
    for name, expected in r["ratios"].items():
        ours = estimates[name]
        if name == "informedness":
            # epiR adds the ends of two other intervals; ours is by the delta method.
            assert ours["value"] == close(expected[0])
            continue
        assert [ours[key] for key in ("value", "low", "high")] == close(expected, 1e-11), name


def test_precision_at_a_base_rate_is_caret_s_at_a_prevalence(r: dict[str, Any], told: Told) -> None:
    for expected in r["at_base_rates"]:
        values = told.values(base_rate=expected["base_rate"])
        assert values["precision"] == close(expected["precision"])


def test_both_predictive_values_at_a_base_rate_are_caret_s(tell: Tell) -> None:
    asked = [f"--base-rate={rate}" for rate in BASE_RATES]
    told = tell("network_test", *asked)
    for expected in VALUES["sets"]["network_test"]["at_base_rates"]:
        values = told.values(base_rate=expected["base_rate"])
        for name in ("precision", "negative_predictive_value"):
            assert values[name] == close(expected[name]), name


# -- parts -----------------------------------------------------------------------------------------


def test_families_have_the_exact_interval_of_r(tell: Tell) -> None:
    told = tell("forest")
    assert told.parts("family") == {"normal", *VALUES["families"]}
    for name, share in VALUES["families"].items():
        recall = told.estimates(part=("family", name))["recall"]
        assert (recall["method"], recall["n"]) == ("clopper-pearson", share["n"])
        assert recall["value"] == close(share["k"] / share["n"]), name
        ends = [recall["low"], recall["high"]]
        assert ends == pytest.approx(share["clopper-pearson"], rel=1e-11, abs=1e-16), name


@pytest.mark.parametrize("protocol", VALUES["protocols"])
def test_slices_are_read_as_caret_reads_their_rows(protocol: str, tell: Tell) -> None:
    told, part = tell("forest"), ("protocol_type", protocol)
    expected = VALUES["protocols"][protocol]
    assert told.cells(part=part) == expected["cells"]
    assert by_class(told, part=part) == close(expected["caret"]["positive"])
    estimates = told.estimates(part=part)
    assert estimates["kappa"]["value"] == close(expected["caret"]["overall"]["Kappa"])
    for name, share in expected["shares"].items():
        ends = [estimates[name]["low"], estimates[name]["high"]]
        assert ends == close(share["wilson"], 1e-11), name
