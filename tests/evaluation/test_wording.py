from assay.evaluation.wording import interval, listed, name, rows, some
from assay.inference import Estimate


def test_one_row_is_singular() -> None:
    assert rows(1) == "1 row"
    assert rows(1.0) == "1 row"
    assert rows(12345) == "12,345 rows"


def test_large_sums_of_weights_are_written_out() -> None:
    assert rows(12345.6) == "12,346 rows"


def test_small_estimates_keep_their_digits() -> None:
    assert interval(Estimate(0.00012, 0.0000567, 0.000321)) == "0.00012 [5.67e-05, 0.000321]"
    assert interval(Estimate(0.5)) == "0.5"


def test_few_labels_are_named_in_full_and_many_are_counted() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert some(["a", "b"]) == "a and b"
    assert some(list("abcdef")) == "a, b, c, d, e and 1 more"


def test_a_long_label_is_cut_and_an_odd_one_escaped() -> None:
    assert len(name("x" * 1000)) == 42
    assert name("a\nb") == r"'a\nb'"
