"""How sure we can be: intervals, tests, and what many tests cost."""

from assay.inference.bands import with_band
from assay.inference.bootstrap import BCa, Bootstrap
from assay.inference.chosen import Chosen, ScoredRows, choose_anew
from assay.inference.data_sets import (
    SignedRankPosterior,
    iman_davenport,
    mean_rank_tests,
    signed_rank_posterior,
    wilcoxon,
)
from assay.inference.delong import delong_of, delong_test
from assay.inference.delta import Delta
from assay.inference.differences import (
    paired_bootstrap,
    paired_influence,
    paired_score_bootstrap,
    paired_scores,
    resampled_clusters,
    resampled_pairs,
)
from assay.inference.estimate import Estimate
from assay.inference.estimation import METHODS, Method, estimate, method_of
from assay.inference.folds import five_by_two_f, five_by_two_t, nadeau_bengio, paired_t
from assay.inference.mcnemar import cochran_q, mcnemar, mcnemar_of, paired_difference
from assay.inference.operating import AtThreshold, MaxFar, MaxFpr
from assay.inference.proportions import (
    AgrestiCoull,
    ClopperPearson,
    Jeffreys,
    ProportionInterval,
    Wald,
    Wilson,
)
from assay.inference.quantity import Quantity
from assay.inference.ranks import friedman, mean_ranks, nemenyi
from assay.inference.scored import DeLong, Newcombe
from assay.inference.significance import Significance, benjamini_hochberg, holm
from assay.inference.strata import FayFeuer, GammaInterval, Strata, Tiwari
from assay.inference.survival import KaplanMeier, kaplan_meier

__all__ = [
    "METHODS",
    "AgrestiCoull",
    "AtThreshold",
    "BCa",
    "Bootstrap",
    "Chosen",
    "ClopperPearson",
    "DeLong",
    "Delta",
    "Estimate",
    "FayFeuer",
    "GammaInterval",
    "Jeffreys",
    "KaplanMeier",
    "MaxFar",
    "MaxFpr",
    "Method",
    "Newcombe",
    "ProportionInterval",
    "Quantity",
    "ScoredRows",
    "SignedRankPosterior",
    "Significance",
    "Strata",
    "Tiwari",
    "Wald",
    "Wilson",
    "benjamini_hochberg",
    "choose_anew",
    "cochran_q",
    "delong_of",
    "delong_test",
    "estimate",
    "five_by_two_f",
    "five_by_two_t",
    "friedman",
    "holm",
    "iman_davenport",
    "kaplan_meier",
    "mcnemar",
    "mcnemar_of",
    "mean_rank_tests",
    "mean_ranks",
    "method_of",
    "nadeau_bengio",
    "nemenyi",
    "paired_bootstrap",
    "paired_difference",
    "paired_influence",
    "paired_score_bootstrap",
    "paired_scores",
    "paired_t",
    "resampled_clusters",
    "resampled_pairs",
    "signed_rank_posterior",
    "wilcoxon",
    "with_band",
]
