import pytest

from assay.errors import MethodError
from assay.measures import find
from assay.report.sections import count_formula


def test_a_measure_of_scores_has_no_formula_of_counts() -> None:
    assert count_formula(find("recall")) is find("recall").formula
    with pytest.raises(MethodError, match="roc_auc has no formula of counts"):
        count_formula(find("roc_auc"))
