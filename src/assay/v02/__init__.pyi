"""The public names of assay, each with its home: the one list of them.

Type checkers read it as it is. ``__init__.py`` reads it when assay is imported, and imports a name
when it is first asked for; so a line is ``from HOME import NAME as NAME`` and holds one name.
"""

from assay.v02.decisions import Comparison as Comparison
from assay.v02.decisions import Gate as Gate
from assay.v02.decisions.audit import Audit as Audit
from assay.v02.decisions.audit import audit as audit
from assay.v02.decisions.audit import audit_files as audit_files
from assay.v02.decisions.audit import read_claims as read_claims
from assay.v02.decisions.compare import compare as compare
from assay.v02.decisions.compare import compare_folds as compare_folds
from assay.v02.decisions.compare import compare_models as compare_models
from assay.v02.decisions.gate_inputs import gate_evaluation as gate_evaluation
from assay.v02.decisions.gate_inputs import gate_files as gate_files
from assay.v02.decisions.gate_rules import gate as gate
from assay.v02.decisions.incidents import Incidents as Incidents
from assay.v02.decisions.incidents import incidents as incidents
from assay.v02.decisions.monitor_batches import monitor as monitor
from assay.v02.decisions.monitor_batches import monitor_files as monitor_files
from assay.v02.decisions.monitor_result import Monitor as Monitor
from assay.v02.decisions.plan_goals import Plan as Plan
from assay.v02.decisions.plan_goals import plan as plan
from assay.v02.decisions.sample import StratifiedSample as StratifiedSample
from assay.v02.decisions.sample import sample as sample
from assay.v02.decisions.threshold import Choice as Choice
from assay.v02.decisions.threshold import choose_threshold as choose_threshold
from assay.v02.decisions.threshold import choose_threshold_files as choose_threshold_files
from assay.errors import AssayError as AssayError
from assay.v02.evaluation import Evaluation as Evaluation
from assay.v02.evaluation import MeasureFunction as MeasureFunction
from assay.v02.evaluation import RunningTally as RunningTally
from assay.v02.evaluation import count as count
from assay.v02.evaluation import evaluate_counts as evaluate_counts
from assay.v02.evaluation import fbeta as fbeta
from assay.v02.evaluation.deployment import Unlabelled as Unlabelled
from assay.v02.evaluation.evaluate import evaluate as evaluate
from assay.v02.evaluation.evaluate_model import evaluate_model as evaluate_model
from assay.v02.evaluation.named_columns import evaluate_files as evaluate_files
from assay.v02.evaluation.scikit_learn import CalibrationDisplay as CalibrationDisplay
from assay.v02.evaluation.scikit_learn import ConfusionMatrixDisplay as ConfusionMatrixDisplay
from assay.v02.evaluation.scikit_learn import CostCurveDisplay as CostCurveDisplay
from assay.v02.evaluation.scikit_learn import DecisionCurveDisplay as DecisionCurveDisplay
from assay.v02.evaluation.scikit_learn import DetDisplay as DetDisplay
from assay.v02.evaluation.scikit_learn import FarDrDisplay as FarDrDisplay
from assay.v02.evaluation.scikit_learn import GainDisplay as GainDisplay
from assay.v02.evaluation.scikit_learn import LiftDisplay as LiftDisplay
from assay.v02.evaluation.scikit_learn import PrecisionRecallDisplay as PrecisionRecallDisplay
from assay.v02.evaluation.scikit_learn import RocDisplay as RocDisplay
from assay.v02.evaluation.scikit_learn import scorer as scorer
from assay.v02.inference import AgrestiCoull as AgrestiCoull
from assay.v02.inference import AtThreshold as AtThreshold
from assay.v02.inference import BCa as BCa
from assay.v02.inference import Bootstrap as Bootstrap
from assay.v02.inference import ClopperPearson as ClopperPearson
from assay.v02.inference import DeLong as DeLong
from assay.v02.inference import Delta as Delta
from assay.v02.inference import Estimate as Estimate
from assay.v02.inference import FayFeuer as FayFeuer
from assay.v02.inference import Jeffreys as Jeffreys
from assay.v02.inference import MaxFar as MaxFar
from assay.v02.inference import MaxFpr as MaxFpr
from assay.v02.inference import Newcombe as Newcombe
from assay.v02.inference import Significance as Significance
from assay.v02.inference import Tiwari as Tiwari
from assay.v02.inference import Wald as Wald
from assay.v02.inference import Wilson as Wilson
from assay.v02.inference import benjamini_hochberg as benjamini_hochberg
from assay.v02.inference import cochran_q as cochran_q
from assay.v02.inference import delong_test as delong_test
from assay.v02.inference import five_by_two_f as five_by_two_f
from assay.v02.inference import five_by_two_t as five_by_two_t
from assay.v02.inference import friedman as friedman
from assay.v02.inference import holm as holm
from assay.v02.inference import iman_davenport as iman_davenport
from assay.v02.inference import mcnemar as mcnemar
from assay.v02.inference import mean_rank_tests as mean_rank_tests
from assay.v02.inference import nadeau_bengio as nadeau_bengio
from assay.v02.inference import nemenyi as nemenyi
from assay.v02.inference import paired_t as paired_t
from assay.v02.inference import signed_rank_posterior as signed_rank_posterior
from assay.v02.inference import wilcoxon as wilcoxon
from assay.v02.measures import Measure as Measure
from assay.v02.sources.files.request import Request as Request
from assay.v02.sources.logs import Events as Events
from assay.v02.sources.logs import read_events as read_events
from assay.v02.store import KeptRows as KeptRows
from assay.v02.store import Store as Store
from assay.v02.tally import Confusion as Confusion
from assay.v02.tally import DailyTally as DailyTally
from assay.v02.tally import Resolved as Resolved
from assay.v02.tally import Tally as Tally
from assay.v02.tally import from_bytes as from_bytes
from assay.v02.web import Client as Client

__version__: str

def __getattr__(name: str) -> MeasureFunction: ...  # every measure of the catalogue
