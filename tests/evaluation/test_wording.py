from assay.evaluation.wording import listed, name, some


def test_few_labels_are_named_in_full_and_many_are_counted() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert some(["a", "b"]) == "a and b"
    assert some(list("abcdef")) == "a, b, c, d, e and 1 more"


def test_a_long_label_is_cut_and_an_odd_one_escaped() -> None:
    assert len(name("x" * 1000)) == 42
    assert name("a\nb") == r"'a\nb'"
