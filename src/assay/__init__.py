"""assay judges detectors: how good, how sure, and is the other one really better.

Every measure of the catalogue is a function of this module too: ``assay.precision(...)``.

>>> import assay
>>> evaluation = assay.evaluate(["attack", "normal", "attack"], [0.9, 0.2, 0.4])
>>> evaluation["recall"].value
0.5
>>> assay.precision(tp=6635, fp=167, fn=324, tn=7743)
0.975 [0.971, 0.979]
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.errors import __version__ as __version__

if TYPE_CHECKING:
    from assay.decisions import Comparison, Gate
    from assay.decisions.audit import Audit, audit_files, read_claims
    from assay.decisions.audit.audit import audit
    from assay.decisions.compare import compare, compare_folds, compare_models
    from assay.decisions.gate.from_evaluation import gate_evaluation
    from assay.decisions.gate.from_files import gate_files
    from assay.decisions.gate.gate import gate
    from assay.decisions.incidents import Incidents, incidents
    from assay.decisions.monitor.monitor import monitor, monitor_files
    from assay.decisions.monitor.result import Monitor
    from assay.decisions.plan import Plan, plan
    from assay.decisions.sample import StratifiedSample, sample
    from assay.decisions.threshold import Choice, choose_threshold, choose_threshold_files
    from assay.errors import AssayError
    from assay.evaluation import (
        Evaluation,
        MeasureFunction,
        RunningTally,
        count,
        evaluate_counts,
        fbeta,
    )
    from assay.evaluation.displays import (
        CalibrationDisplay,
        ConfusionMatrixDisplay,
        CostCurveDisplay,
        DecisionCurveDisplay,
        DetDisplay,
        FarDrDisplay,
        GainDisplay,
        LiftDisplay,
        PrecisionRecallDisplay,
        RocDisplay,
    )
    from assay.evaluation.evaluate import evaluate
    from assay.evaluation.from_files import evaluate_files
    from assay.evaluation.labelled_alerts import Unlabelled
    from assay.evaluation.of_model import evaluate_model
    from assay.evaluation.scorer import scorer
    from assay.inference import (
        AgrestiCoull,
        AtThreshold,
        BCa,
        Bootstrap,
        ClopperPearson,
        DeLong,
        Delta,
        Estimate,
        FayFeuer,
        Jeffreys,
        MaxFar,
        MaxFpr,
        Newcombe,
        Significance,
        Tiwari,
        Wald,
        Wilson,
        benjamini_hochberg,
        cochran_q,
        delong_test,
        five_by_two_f,
        five_by_two_t,
        friedman,
        holm,
        iman_davenport,
        mcnemar,
        mean_rank_tests,
        nadeau_bengio,
        nemenyi,
        paired_t,
        signed_rank_posterior,
        wilcoxon,
    )
    from assay.measures import Measure
    from assay.sources.files.request import Request
    from assay.sources.logs import Events, read_events
    from assay.store import KeptRows, Store
    from assay.tally import Confusion, DailyTally, Resolved, Tally, from_bytes
    from assay.web.client import Client


__all__ = [
    "AgrestiCoull",
    "AssayError",
    "AtThreshold",
    "Audit",
    "BCa",
    "Bootstrap",
    "CalibrationDisplay",
    "Choice",
    "Client",
    "ClopperPearson",
    "Comparison",
    "Confusion",
    "ConfusionMatrixDisplay",
    "CostCurveDisplay",
    "DailyTally",
    "DeLong",
    "DecisionCurveDisplay",
    "Delta",
    "DetDisplay",
    "Estimate",
    "Evaluation",
    "Events",
    "FarDrDisplay",
    "FayFeuer",
    "GainDisplay",
    "Gate",
    "Incidents",
    "Jeffreys",
    "KeptRows",
    "LiftDisplay",
    "MaxFar",
    "MaxFpr",
    "Measure",
    "MeasureFunction",
    "Monitor",
    "Newcombe",
    "Plan",
    "PrecisionRecallDisplay",
    "Request",
    "Resolved",
    "RocDisplay",
    "RunningTally",
    "Significance",
    "Store",
    "StratifiedSample",
    "Tally",
    "Tiwari",
    "Unlabelled",
    "Wald",
    "Wilson",
    "audit",
    "audit_files",
    "benjamini_hochberg",
    "choose_threshold",
    "choose_threshold_files",
    "cochran_q",
    "compare",
    "compare_folds",
    "compare_models",
    "count",
    "delong_test",
    "evaluate",
    "evaluate_counts",
    "evaluate_files",
    "evaluate_model",
    "fbeta",
    "five_by_two_f",
    "five_by_two_t",
    "friedman",
    "from_bytes",
    "gate",
    "gate_evaluation",
    "gate_files",
    "holm",
    "iman_davenport",
    "incidents",
    "mcnemar",
    "mean_rank_tests",
    "monitor",
    "monitor_files",
    "nadeau_bengio",
    "nemenyi",
    "paired_t",
    "plan",
    "read_claims",
    "read_events",
    "sample",
    "scorer",
    "signed_rank_posterior",
    "wilcoxon",
]


# Where each public name lives; it is imported when it is first asked for.
_HOMES: Mapping[str, tuple[str, ...]] = {
    "assay.decisions": (
        "Comparison",
        "Gate",
        "Monitor",
        "compare",
        "compare_folds",
        "compare_models",
        "gate",
        "monitor",
        "monitor_files",
    ),
    "assay.decisions.audit": ("Audit", "audit", "audit_files", "read_claims"),
    "assay.decisions.gate.from_evaluation": ("gate_evaluation",),
    "assay.decisions.gate.from_files": ("gate_files",),
    "assay.decisions.incidents": ("Incidents", "incidents"),
    "assay.decisions.plan": ("Plan", "plan"),
    "assay.decisions.sample": ("StratifiedSample", "sample"),
    "assay.decisions.threshold": ("Choice", "choose_threshold", "choose_threshold_files"),
    "assay.errors": ("AssayError",),
    "assay.evaluation": (
        "Evaluation",
        "MeasureFunction",
        "RunningTally",
        "count",
        "evaluate",
        "evaluate_counts",
        "evaluate_model",
        "fbeta",
        "scorer",
    ),
    "assay.evaluation.displays": (
        "CalibrationDisplay",
        "ConfusionMatrixDisplay",
        "CostCurveDisplay",
        "DecisionCurveDisplay",
        "DetDisplay",
        "FarDrDisplay",
        "GainDisplay",
        "LiftDisplay",
        "PrecisionRecallDisplay",
        "RocDisplay",
    ),
    "assay.evaluation.from_files": ("evaluate_files",),
    "assay.evaluation.labelled_alerts": ("Unlabelled",),
    "assay.inference": (
        "AgrestiCoull",
        "AtThreshold",
        "BCa",
        "Bootstrap",
        "ClopperPearson",
        "DeLong",
        "Delta",
        "Estimate",
        "FayFeuer",
        "Jeffreys",
        "MaxFar",
        "MaxFpr",
        "Newcombe",
        "Significance",
        "Tiwari",
        "Wald",
        "Wilson",
        "benjamini_hochberg",
        "cochran_q",
        "delong_test",
        "five_by_two_f",
        "five_by_two_t",
        "friedman",
        "holm",
        "iman_davenport",
        "mcnemar",
        "mean_rank_tests",
        "nadeau_bengio",
        "nemenyi",
        "paired_t",
        "signed_rank_posterior",
        "wilcoxon",
    ),
    "assay.measures": ("Measure",),
    "assay.sources.files.request": ("Request",),
    "assay.sources.logs": ("Events", "read_events"),
    "assay.store": ("KeptRows", "Store"),
    "assay.tally": (
        "Confusion",
        "DailyTally",
        "Resolved",
        "Tally",
        "from_bytes",
    ),
    "assay.web.client": ("Client",),
}
_MODULES = frozenset(
    {
        "cli",
        "curves",
        "decisions",
        "engines",
        "errors",
        "evaluation",
        "formula",
        "inference",
        "learn",
        "measures",
        "mlflow",
        "plots",
        "pytest_plugin",
        "report",
        "sources",
        "store",
        "tally",
        "web",
    }
)


def __getattr__(name: str) -> Any:
    """A public name, a module of the package, or a measure as a function."""
    if name in _MODULES:
        return import_module(f"assay.{name}")
    for home, names in _HOMES.items():
        if name in names:
            found = getattr(import_module(home), name)
            globals()[name] = found
            return found
    if not name.startswith("_") and name in import_module("assay.measures.catalogue").names():
        return import_module("assay.evaluation").function_of(name)
    raise AttributeError(f"module 'assay' has no attribute {name!r}")


def __dir__() -> list[str]:
    measures = import_module("assay.measures.catalogue").names()
    return [*__all__, *(name for name in measures if name.isidentifier()), "__version__"]
