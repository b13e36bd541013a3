"""The public names of assay, each with its home: the one list of them.

Type checkers read it as it is. ``__init__.py`` reads it when assay is imported, and imports a name
when it is first asked for; so a line is ``from HOME import NAME as NAME`` and holds one name.
"""

from assay.decisions import Comparison as Comparison
from assay.decisions import Gate as Gate
from assay.decisions.audit import Audit as Audit
from assay.decisions.audit import audit as audit
from assay.decisions.audit import audit_files as audit_files
from assay.decisions.audit import read_claims as read_claims
from assay.decisions.compare import compare as compare
from assay.decisions.compare import compare_folds as compare_folds
from assay.decisions.compare import compare_models as compare_models
from assay.decisions.gate_inputs import gate_evaluation as gate_evaluation
from assay.decisions.gate_inputs import gate_files as gate_files
from assay.decisions.gate_rules import gate as gate
from assay.decisions.incidents import Incidents as Incidents
from assay.decisions.incidents import incidents as incidents
from assay.decisions.monitor_batches import monitor as monitor
from assay.decisions.monitor_batches import monitor_files as monitor_files
from assay.decisions.monitor_result import Monitor as Monitor
from assay.decisions.plan_goals import Plan as Plan
from assay.decisions.plan_goals import plan as plan
from assay.decisions.sample import StratifiedSample as StratifiedSample
from assay.decisions.sample import sample as sample
from assay.decisions.threshold import Choice as Choice
from assay.decisions.threshold import choose_threshold as choose_threshold
from assay.decisions.threshold import choose_threshold_files as choose_threshold_files
from assay.errors import AssayError as AssayError
from assay.evaluation import Evaluation as Evaluation
from assay.evaluation import MeasureFunction as MeasureFunction
from assay.evaluation import RunningTally as RunningTally
from assay.evaluation import count as count
from assay.evaluation import evaluate_counts as evaluate_counts
from assay.evaluation import fbeta as fbeta
from assay.evaluation.deployment import Unlabelled as Unlabelled
from assay.evaluation.evaluate import evaluate as evaluate
from assay.evaluation.evaluate_model import evaluate_model as evaluate_model
from assay.evaluation.named_columns import evaluate_files as evaluate_files
from assay.evaluation.scikit_learn import CalibrationDisplay as CalibrationDisplay
from assay.evaluation.scikit_learn import ConfusionMatrixDisplay as ConfusionMatrixDisplay
from assay.evaluation.scikit_learn import CostCurveDisplay as CostCurveDisplay
from assay.evaluation.scikit_learn import DecisionCurveDisplay as DecisionCurveDisplay
from assay.evaluation.scikit_learn import DetDisplay as DetDisplay
from assay.evaluation.scikit_learn import FarDrDisplay as FarDrDisplay
from assay.evaluation.scikit_learn import GainDisplay as GainDisplay
from assay.evaluation.scikit_learn import LiftDisplay as LiftDisplay
from assay.evaluation.scikit_learn import PrecisionRecallDisplay as PrecisionRecallDisplay
from assay.evaluation.scikit_learn import RocDisplay as RocDisplay
from assay.evaluation.scikit_learn import scorer as scorer
from assay.inference import AgrestiCoull as AgrestiCoull
from assay.inference import AtThreshold as AtThreshold
from assay.inference import BCa as BCa
from assay.inference import Bootstrap as Bootstrap
from assay.inference import ClopperPearson as ClopperPearson
from assay.inference import DeLong as DeLong
from assay.inference import Delta as Delta
from assay.inference import Estimate as Estimate
from assay.inference import FayFeuer as FayFeuer
from assay.inference import Jeffreys as Jeffreys
from assay.inference import MaxFar as MaxFar
from assay.inference import MaxFpr as MaxFpr
from assay.inference import Newcombe as Newcombe
from assay.inference import Significance as Significance
from assay.inference import Tiwari as Tiwari
from assay.inference import Wald as Wald
from assay.inference import Wilson as Wilson
from assay.inference import benjamini_hochberg as benjamini_hochberg
from assay.inference import cochran_q as cochran_q
from assay.inference import delong_test as delong_test
from assay.inference import five_by_two_f as five_by_two_f
from assay.inference import five_by_two_t as five_by_two_t
from assay.inference import friedman as friedman
from assay.inference import holm as holm
from assay.inference import iman_davenport as iman_davenport
from assay.inference import mcnemar as mcnemar
from assay.inference import mean_rank_tests as mean_rank_tests
from assay.inference import nadeau_bengio as nadeau_bengio
from assay.inference import nemenyi as nemenyi
from assay.inference import paired_t as paired_t
from assay.inference import signed_rank_posterior as signed_rank_posterior
from assay.inference import wilcoxon as wilcoxon
from assay.measures import Measure as Measure
from assay.sources.files.request import Request as Request
from assay.sources.logs import Events as Events
from assay.sources.logs import read_events as read_events
from assay.store import KeptRows as KeptRows
from assay.store import Store as Store
from assay.tally import Confusion as Confusion
from assay.tally import DailyTally as DailyTally
from assay.tally import Resolved as Resolved
from assay.tally import Tally as Tally
from assay.tally import from_bytes as from_bytes
from assay.web import Client as Client

__version__: str

def __getattr__(name: str) -> MeasureFunction: ...  # every measure of the catalogue
