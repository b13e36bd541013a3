"""Which measures are shown where, and in which order: the only lists of measures that there are.

Everything else goes by the catalogue, or is about one measure and names its declaration.
"""

from __future__ import annotations

from typing import NamedTuple

from assay.measures import catalogue
from assay.measures.scores import OpenSet, OverPairs


class Shown(NamedTuple):
    """Names of measures, with an average where they have one: of two classes, and of more.

    With ``scores``, all measures of scores that two classes have follow those of two.
    """

    two: tuple[str, ...]
    many: tuple[str, ...]
    scores: bool = False

    def of(self, *, binary: bool) -> tuple[str, ...]:
        """Those of two classes, or of more."""
        if not binary:
            return self.many
        return (*self.two, *(of_scores() if self.scores else ()))


def of_scores() -> tuple[str, ...]:
    """The measures of scores that two classes have, but for those that are shown apart."""
    found = [measure for measure in catalogue.CATALOGUE if measure.of_scores is not None]
    apart = {*LOW_RATES, *FURTHER}
    return tuple(
        m.name
        for m in found
        if not isinstance(m.of_scores, OverPairs | OpenSet) and m.name not in apart
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# -- evaluations -----------------------------------------------------------------------------------

# Measures of scores with a table of their own, and those that stand in the appendix alone.
LOW_RATES = _names("recall_at_fpr_1e2 recall_at_fpr_1e3 recall_at_fpr_1e4 recall_at_fpr_1e5")
FURTHER = _names(
    "precision_recall_gain_area h_measure_symmetric top_decile_lift "
    "brier_reliability brier_resolution"
)
# What an evaluation prints of itself.
PRINTED = Shown(
    two=_names(
        "accuracy precision recall false_positive_rate false_discovery_rate specificity f1 "
        "balanced_accuracy mcc kappa"
    ),
    many=_names(
        "accuracy precision.macro recall.macro f1.macro f1.weighted balanced_accuracy kappa mcc "
        "roc_auc.macro roc_auc_ovo log_loss brier"
    ),
    scores=True,
)
# The two tables of results that a report opens with; all other measures follow in its appendix.
MAIN = Shown(
    two=_names(
        "accuracy recall false_positive_rate precision false_discovery_rate f1 "
        "precision.macro recall.macro f1.macro f1.weighted"
    ),
    many=_names("accuracy precision.macro recall.macro f1.macro f1.weighted"),
)
ADVANCED = Shown(
    two=_names("balanced_accuracy kappa mcc"),
    many=_names(
        "balanced_accuracy kappa mcc jaccard error_rate roc_auc.macro roc_auc.weighted "
        "roc_auc_ovo average_precision.macro average_precision.weighted log_loss brier "
        "oscr known_auc"
    ),
    scores=True,
)
# What is told of each class, of each of many besides, and of each of several models; and what is
# told in all of its averages.
PER_CLASS = _names("precision recall f1")
PER_CLASS_OF_MANY = _names("false_positive_rate specificity roc_auc average_precision")
PER_CLASS_OF_MODELS = _names("precision recall f1 false_positive_rate")
AVERAGED = _names("precision recall f1 specificity false_positive_rate")
# What labelled alerts tell by themselves.
OF_ALERTS = _names("precision false_discovery_rate alert_rate")
# What figures show: against the threshold; of slices, of kinds of attack, and of alerts alone.
OVER_THRESHOLDS = _names("precision recall")
SLICES = Shown(two=_names("recall false_positive_rate"), many=_names("accuracy"))
SLICES_OF_ATTACKS = _names("recall")
SLICES_OF_ALERTS = _names("precision")
# What is followed over days, weeks and months.
OVER_TIME = Shown(
    two=_names("recall false_positive_rate precision f1 roc_auc"),
    many=_names("accuracy f1.macro balanced_accuracy roc_auc.macro"),
)
# What is computed at base rates: at the usual ones, and at those that were asked for.
AT_USUAL_BASE_RATES = _names("precision false_discovery_rate")
AT_BASE_RATES = _names(
    "precision false_discovery_rate negative_predictive_value f1 accuracy mcc alert_rate c_id lift"
)
RANKED_AT_BASE_RATES = _names("average_precision")
# What the page of a report shows first while its threshold moves, and what it shows at a base rate.
MOVING = _names(
    "recall false_discovery_rate precision false_positive_rate f1 mcc balanced_accuracy accuracy"
)
DEPLOYED = _names("precision false_discovery_rate negative_predictive_value f1 accuracy mcc")

# -- decisions -------------------------------------------------------------------------------------

# What a threshold is told by: on the rows, at a base rate, and side by side with others.
AT_THRESHOLD = _names(
    "recall false_positive_rate precision false_discovery_rate alert_rate f1 mcc accuracy "
    "balanced_accuracy informedness"
)
AT_THRESHOLD_DEPLOYED = _names("precision false_discovery_rate alert_rate f1 mcc accuracy")
SIDE_BY_SIDE = _names("recall false_positive_rate false_discovery_rate precision")
# What models are compared by: the ranking where there are scores, of many classes that of each
# against the rest, all classes alike; else the share that is right.
DECIDING = _names("roc_auc roc_auc.macro accuracy")
# Of a figure of differences: measures on one scale, so that they can stand on one axis.
DIFFERENCES = _names(
    "roc_auc roc_auc.macro roc_auc.weighted roc_auc_ovo partial_auc average_precision "
    "average_precision.macro accuracy balanced_accuracy precision recall false_positive_rate "
    "false_discovery_rate f1 precision.macro recall.macro f1.macro precision.weighted "
    "recall.weighted f1.weighted mcc kappa"
)
# What predictions of folds are measured by, before their folds are compared.
PREDICTED_FOLDS = Shown(
    two=_names(
        "roc_auc average_precision accuracy balanced_accuracy precision recall false_positive_rate "
        "f1 mcc"
    ),
    many=_names("accuracy balanced_accuracy precision.macro recall.macro f1.macro mcc"),
)

# What is watched after deployment: of one model, and the difference of two.
WATCHED = _names("precision recall alert_rate")
WATCHED_DIFFERENCES = _names("accuracy recall alert_rate")

# -- learning --------------------------------------------------------------------------------------

# What a check and a trivial model are told by.
CHECKED = Shown(
    two=_names("accuracy recall false_discovery_rate roc_auc"),
    many=_names("accuracy balanced_accuracy"),
)
# What is compared between the rows that a model learned and those that judge it.
LEARNED = Shown(two=_names("accuracy roc_auc"), many=_names("accuracy"))
# What is told of each fold, and what a model card quotes.
FOLDS = Shown(
    two=_names("accuracy recall false_positive_rate precision f1 roc_auc"),
    many=_names("accuracy precision.macro recall.macro f1.macro roc_auc.macro"),
)
CARD = Shown(
    two=_names(
        "accuracy recall precision f1 false_positive_rate false_discovery_rate roc_auc "
        "average_precision mcc"
    ),
    many=_names("accuracy precision.macro recall.macro f1.macro f1.weighted mcc"),
)
