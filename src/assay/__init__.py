"""assay judges detectors: how good, how sure, and is the other one really better.

Every measure of the catalogue is a function of this module too: ``assay.precision(...)``.

>>> import assay
>>> evaluation = assay.evaluate(["attack", "normal", "attack"], y_score=[0.9, 0.2, 0.4])
>>> evaluation["recall"].value
0.5
>>> assay.precision(tp=6635, fp=167, fn=324, tn=7743)
0.975 [0.971, 0.979]
"""

from assay.decisions import Comparison, compare
from assay.errors import AssayError
from assay.evaluation import (
    Evaluation,
    MeasureFunction,
    RunningTally,
    count,
    evaluate,
    evaluate_counts,
    fbeta,
    scorer,
)
from assay.evaluation import function_of as _function_of
from assay.inference import (
    AgrestiCoull,
    BCa,
    Bootstrap,
    ClopperPearson,
    DeLong,
    Delta,
    Estimate,
    Jeffreys,
    Newcombe,
    Significance,
    Wald,
    Wilson,
    benjamini_hochberg,
    cochran_q,
    delong_test,
    five_by_two_f,
    five_by_two_t,
    friedman,
    holm,
    mcnemar,
    nadeau_bengio,
    nemenyi,
    paired_t,
)
from assay.measures import Measure
from assay.measures import catalogue as _catalogue
from assay.tally import Confusion, Tally, from_bytes

__version__ = "0.1.0"

__all__ = [
    "AgrestiCoull",
    "AssayError",
    "BCa",
    "Bootstrap",
    "ClopperPearson",
    "Comparison",
    "Confusion",
    "DeLong",
    "Delta",
    "Estimate",
    "Evaluation",
    "Jeffreys",
    "Measure",
    "MeasureFunction",
    "Newcombe",
    "RunningTally",
    "Significance",
    "Tally",
    "Wald",
    "Wilson",
    "benjamini_hochberg",
    "cochran_q",
    "compare",
    "count",
    "delong_test",
    "evaluate",
    "evaluate_counts",
    "fbeta",
    "five_by_two_f",
    "five_by_two_t",
    "friedman",
    "from_bytes",
    "holm",
    "mcnemar",
    "nadeau_bengio",
    "nemenyi",
    "paired_t",
    "scorer",
]


def __getattr__(name: str) -> MeasureFunction:
    """A measure as a function, by its name or alias."""
    if name in _catalogue.names():
        return _function_of(name)
    raise AttributeError(f"module 'assay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(n for n in _catalogue.names() if n.isidentifier()), "__version__"]
