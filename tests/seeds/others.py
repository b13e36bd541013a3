"""Documents 001 to 004, in their own order."""

from decimal import Decimal
from fractions import Fraction
from functools import partial

from .shape import Number

__all__ = ["OTHERS"]

_TABLE = "darknet"
_BASE_RATE = "secuml_base_rate"

_ddos = partial(Number, "001", "Example Calculation")
_ddos_wrong = partial(Number, "001", verdict="wrong")
_darknet = partial(Number, "002")
_darknet_wrong = partial(Number, "002", verdict="wrong")
_secuml = partial(Number, "003")
_secuml_wrong = partial(Number, "003", verdict="wrong")

_DDOS = (
    _ddos_wrong(
        "Implementation in Code",
        "spread of the folds",
        "scores.std()",
        "scores.std(ddof=1)",
        "the formula divides by k - 1, the call by k",
        why="Formula and code differ by sqrt(k/(k - 1)): 1.118 for five folds. The formula is the "
        "right one.",
    ),
    _ddos_wrong(
        "Implementation in Code",
        "value of a ratio over nothing",
        "zero_division=0",
        "undefined, with its reason",
        "0/0",
        why="Decided otherwise: a zero would read as the worst model where there is no answer.",
    ),
    _ddos_wrong(
        "Implementation in Code",
        "names imported",
        "cross_val_score, not imported",
        "sklearn.model_selection has it",
        "NameError at the first call",
        why="Only sklearn.metrics is imported from.",
    ),
    Number("001", "Cross-Validation Process", "folds", "5", None, "", verdict="given"),
    _ddos("correct", "365", Fraction(365), "85 + 280"),
    _ddos("rows", "400", Fraction(400), "85 + 280 + 20 + 15"),
    _ddos("accuracy", "0.9125 = 91.25%", Fraction(73, 80), "365/400", "accuracy", "ddos"),
    _ddos("flagged", "105", Fraction(105), "85 + 20"),
    _ddos("precision", "0.8095 = 80.95%", Fraction(17, 21), "85/105", "precision", "ddos"),
    _ddos("attacks", "100", Fraction(100), "85 + 15"),
    _ddos("recall", "0.85 = 85%", Fraction(17, 20), "85/100", "recall", "ddos"),
    _ddos("product of precision and recall", "0.688", Fraction(27523, 40000), "0.8095*0.85"),
    _ddos("sum of precision and recall", "1.6595", Fraction(3319, 2000), "0.8095 + 0.85"),
    _ddos("F1 as its last quotient", "0.829", Fraction(2752, 3319), "2*0.688/1.6595"),
    _ddos("F1", "0.829 = 82.9%", Fraction(34, 41), "2*85/(2*85 + 20 + 15)", "f1", "ddos"),
)

_DARKNET_FORMULAS = (
    _darknet_wrong(
        "5.2",
        "MCC of K classes, denominator",
        "sqrt(sum t_k*(N - p_k))*sqrt(sum p_k*(N - t_k))",
        "sqrt(sum t_k*(N - t_k))*sqrt(sum p_k*(N - p_k))",
        "both roots are of N**2 - sum(t_k*p_k), so the whole is Cohen's kappa: 12680/14930",
        None,
        _TABLE,
        why="The inner sums leave out a column where a row belongs, and the reverse. On the "
        "example it gives 0.8493, kappa's value; the MCC is 0.8495.",
    ),
    _darknet_wrong(
        "5.2",
        "MCC of K classes, short form",
        "MCC = cov(y, d)/sqrt(var(y)*var(d))",
        "the covariance summed over the indicators of all classes",
        "Pearson's r of the codes is 0.8867, 0.8490 or 0.8082 as the classes are numbered",
        None,
        _TABLE,
        why="Class codes are names; a correlation of them changes with the numbering.",
    ),
    _darknet_wrong(
        "6.2",
        "area under the curve as a probability",
        "AUC = P(s+ > s-)",
        "AUC = P(s+ > s-) + P(s+ = s-)/2",
        "constant scores: 0 by this, 1/2 by the trapezoids",
        why="Ties count for nothing here and for a half in the trapezoidal rule above it.",
    ),
    Number("002", "7.1", "level of the test", "0.05", None, "", verdict="given"),
    Number("002", "8.1", "normal quantile", "1.96", None, "", verdict="given"),
    Number("002", "8.3", "resamples", "1000", None, "", verdict="given"),
    _darknet("8.3", "lower order statistic", "25", Fraction(25), "0.05/2*1000"),
    _darknet("8.3", "upper order statistic", "975", Fraction(975), "(1 - 0.05/2)*1000"),
)

_DARKNET_EXAMPLE = (
    _darknet("9", "rows", "150", Fraction(150), "45 + 3 + 2 + 4 + 38 + 3 + 1 + 2 + 52"),
    _darknet("9 step 1", "A missed", "5", Fraction(5), "3 + 2"),
    _darknet("9 step 1", "A false", "5", Fraction(5), "4 + 1"),
    _darknet("9 step 1", "neither A nor called A", "95", Fraction(95), "38 + 3 + 2 + 52"),
    _darknet("9 step 1", "called A", "50", Fraction(50), "45 + 4 + 1"),
    _darknet("9 step 1", "truly A", "50", Fraction(50), "45 + 3 + 2"),
    _darknet(
        "9 step 1", "precision of A", "0.900", Fraction(9, 10), "45/50", "precision.A", _TABLE
    ),
    _darknet("9 step 1", "recall of A", "0.900", Fraction(9, 10), "45/50", "recall.A", _TABLE),
    _darknet(
        "9 step 1", "F1 of A", "0.900", Fraction(9, 10), "2*45/(2*45 + 5 + 5)", "f1.A", _TABLE
    ),
    _darknet("9 step 1", "B missed", "7", Fraction(7), "4 + 3"),
    _darknet("9 step 1", "B false", "5", Fraction(5), "3 + 2"),
    _darknet("9 step 1", "neither B nor called B", "100", Fraction(100), "45 + 2 + 1 + 52"),
    _darknet("9 step 1", "called B", "43", Fraction(43), "38 + 5"),
    _darknet("9 step 1", "truly B", "45", Fraction(45), "38 + 7"),
    _darknet(
        "9 step 1", "precision of B", "0.884", Fraction(38, 43), "38/43", "precision.B", _TABLE
    ),
    _darknet("9 step 1", "recall of B", "0.844", Fraction(38, 45), "38/45", "recall.B", _TABLE),
    _darknet(
        "9 step 1", "F1 of B", "0.864", Fraction(19, 22), "2*38/(2*38 + 5 + 7)", "f1.B", _TABLE
    ),
    _darknet(
        "9 step 1",
        "F1 of B, rounded inputs",
        "0.864",
        Fraction(46631, 54000),
        "2*0.884*0.844/(0.884 + 0.844)",
    ),
    _darknet("9 step 1", "C missed", "3", Fraction(3), "1 + 2"),
    _darknet("9 step 1", "C false", "5", Fraction(5), "2 + 3"),
    _darknet("9 step 1", "neither C nor called C", "90", Fraction(90), "45 + 3 + 4 + 38"),
    _darknet("9 step 1", "called C", "57", Fraction(57), "52 + 5"),
    _darknet("9 step 1", "truly C", "55", Fraction(55), "52 + 3"),
    _darknet(
        "9 step 1", "precision of C", "0.912", Fraction(52, 57), "52/57", "precision.C", _TABLE
    ),
    _darknet("9 step 1", "recall of C", "0.945", Fraction(52, 55), "52/55", "recall.C", _TABLE),
    _darknet(
        "9 step 1",
        "F1 of C",
        "0.928",
        Fraction(13, 14),
        "2*52/(2*52 + 5 + 3)",
        "f1.C",
        _TABLE,
        note="From the rounded precision and recall; the nearest is 0.929.",
    ),
    _darknet(
        "9 step 1",
        "F1 of C, rounded inputs",
        "0.928",
        Fraction(14364, 15475),
        "2*0.912*0.945/(0.912 + 0.945)",
    ),
    _darknet(
        "9 step 2",
        "macro precision",
        "0.899",
        Fraction(66079, 73530),
        "(45/50 + 38/43 + 52/57)/3",
        "precision.macro",
        _TABLE,
    ),
    _darknet(
        "9 step 2",
        "macro precision, rounded inputs",
        "0.899",
        Fraction(337, 375),
        "(0.900 + 0.884 + 0.912)/3",
    ),
    _darknet(
        "9 step 2",
        "macro recall",
        "0.896",
        Fraction(2663, 2970),
        "(45/50 + 38/45 + 52/55)/3",
        "recall.macro",
        _TABLE,
        note="From the rounded recalls; the nearest is 0.897.",
    ),
    _darknet(
        "9 step 2",
        "macro recall, rounded inputs",
        "0.896",
        Fraction(2689, 3000),
        "(0.900 + 0.844 + 0.945)/3",
    ),
    _darknet(
        "9 step 2",
        "macro F1",
        "0.897",
        Fraction(691, 770),
        "(90/100 + 76/88 + 104/112)/3",
        "f1.macro",
        _TABLE,
    ),
    _darknet(
        "9 step 2",
        "macro F1, rounded inputs",
        "0.897",
        Fraction(673, 750),
        "(0.900 + 0.864 + 0.928)/3",
    ),
    _darknet("9 step 3", "correct", "135", Fraction(135), "45 + 38 + 52"),
    _darknet("9 step 3", "accuracy", "0.900", Fraction(9, 10), "135/150", "accuracy", _TABLE),
    _darknet(
        "9 step 4", "observed agreement", "0.900", Fraction(9, 10), "135/150", "accuracy", _TABLE
    ),
    _darknet("9 step 4", "chance product of A", "2500", Fraction(2500), "50*50"),
    _darknet("9 step 4", "chance product of B", "1935", Fraction(1935), "45*43"),
    _darknet("9 step 4", "chance product of C", "3135", Fraction(3135), "55*57"),
    _darknet(
        "9 step 4", "sum of the chance products", "7570", Fraction(7570), "2500 + 1935 + 3135"
    ),
    _darknet("9 step 4", "rows squared", "22500", Fraction(22500), "150**2"),
    _darknet("9 step 4", "chance agreement", "0.3364", Fraction(757, 2250), "7570/22500"),
    _darknet(
        "9 step 4", "agreement beyond chance", "0.5636", Fraction(1409, 2500), "0.900 - 0.3364"
    ),
    _darknet("9 step 4", "room beyond chance", "0.6636", Fraction(1659, 2500), "1 - 0.3364"),
    _darknet(
        "9 step 4", "kappa as its last quotient", "0.849", Fraction(1409, 1659), "0.5636/0.6636"
    ),
    _darknet(
        "9 step 4",
        "kappa",
        "0.849",
        Fraction(1268, 1493),
        "(150*135 - 7570)/(150**2 - 7570)",
        "kappa",
        _TABLE,
    ),
    _darknet_wrong(
        "9 step 5",
        "how the MCC is found",
        "MCC = Pearson's r of the labels",
        "(N*correct - sum(t_k*p_k))/sqrt((N**2 - sum(t_k**2))*(N**2 - sum(p_k**2)))",
        "with codes 0, 1, 2 it would be 0.8867",
        None,
        _TABLE,
        why="Depends on how the classes are numbered.",
    ),
    _darknet_wrong(
        "9 step 5",
        "MCC of the example",
        "0.845",
        Decimal("0.849525418180665319658741640529"),
        "(150*135 - 7570)/sqrt((150**2 - 7550)*(150**2 - 7598))",
        "mcc",
        _TABLE,
        right="0.850",
        why="No reading gives it: Pearson's r of the codes is 0.8867, 0.8490 or 0.8082, the "
        "formula as printed 0.8493, the mean of the three one-vs-rest values 0.8480.",
    ),
)

_SECUML = (
    _secuml("Classification Error Rate", "benign rows", "98", Fraction(98), "100 - 2"),
    _secuml(
        "Classification Error Rate",
        "error rate of never flagging",
        "2%",
        Fraction(1, 50),
        "2/100",
        "error_rate",
        "secuml_always_benign",
    ),
    _secuml("False Alarm Rate", "rows", "10,000", Fraction(10000), "10 + 9990"),
    _secuml("False Alarm Rate", "hits", "8", Fraction(8), "10 - 2"),
    _secuml("False Alarm Rate", "benign rows passed", "9980", Fraction(9980), "9990 - 10"),
    _secuml(
        "False Alarm Rate",
        "false positive rate",
        "0.1%",
        Fraction(1, 999),
        "10/(10 + 9980)",
        "false_positive_rate",
        _BASE_RATE,
    ),
    _secuml(
        "False Alarm Rate",
        "false discovery rate",
        "55%",
        Fraction(5, 9),
        "10/(10 + 8)",
        "false_discovery_rate",
        _BASE_RATE,
        note="Cut off; the nearest is 56%.",
    ),
    _secuml_wrong(
        "ROC and FAR-DR Curves",
        "false alarm rate when everything is flagged",
        "FAR = 100% at threshold 0%",
        "FPR = 100%; FAR = FDR = 1 - prevalence",
        "99.9% in the base-rate example; and with nothing flagged FAR is undefined, not 0",
        None,
        _BASE_RATE,
        why="Means the FPR here; the note just above has fixed FAR to be the FDR.",
    ),
    _secuml_wrong(
        "ROC and FAR-DR Curves",
        "where a ROC curve lies",
        "TPR >= FPR everywhere",
        "anywhere in the unit square",
        "the network of 000 is at (0.9393, 0.9118)",
        None,
        "safelink_ann_printed",
        why="A model that ranks worse than chance runs below the line.",
    ),
    _secuml_wrong(
        "ROC and FAR-DR Curves",
        "least area under the ROC curve",
        "AUC >= 50%",
        "0 <= AUC <= 1",
        "turn any good ranking round; 000 reports 0.4812",
        None,
        "safelink_ann_true",
        why="One half is what chance gives, not the least there is.",
    ),
)

_NOTES = (
    Number(
        "004",
        "Misclassification Error",
        "another name of the error rate",
        "accuracy = (FP + FN)/n",
        "accuracy = (TP + TN)/n = 1 - (FP + FN)/n",
        "the forest of 000: 0.0330 is the error rate, 0.9670 the accuracy",
        None,
        "safelink_forest",
        "wrong",
        why="Accuracy is listed as a synonym of the error rate; it is its complement.",
    ),
)

OTHERS: tuple[Number, ...] = (
    *_DDOS,
    *_DARKNET_FORMULAS,
    *_DARKNET_EXAMPLE,
    *_SECUML,
    *_NOTES,
)
