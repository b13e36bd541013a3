"""Columns of labels, and the digest that tells one test set from another."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.sources.coded import LabelDigest, Labels
from assay.sources.columns import labels_of

NAMES = st.lists(st.sampled_from(["a", "b", "c", "ä", "attack"]), min_size=1, max_size=30)


def digest_of(*pieces: list[str]) -> str:
    digest = LabelDigest()
    for piece in pieces:
        if piece:
            digest.add(labels_of(piece, "label"))
    return digest.hexdigest()


@given(NAMES, st.integers(0, 30), st.integers(0, 30))
def test_the_digest_does_not_depend_on_the_pieces(names: list[str], i: int, j: int) -> None:
    i, j = sorted((i, j))
    assert digest_of(names) == digest_of(names[:i], names[i:j], names[j:])


@given(NAMES, NAMES)
def test_other_labels_or_another_order_give_another_digest(a: list[str], b: list[str]) -> None:
    assert (digest_of(a) == digest_of(b)) == (a == b)


def test_names_may_be_numbered_in_any_way_and_need_not_occur() -> None:
    digest = LabelDigest()
    digest.add(Labels(np.array([2, 0, 2]), ("b", "unused", "a"), "text"))
    assert digest.hexdigest() == digest_of(["a", "b", "a"])


def test_more_labels_than_a_byte_holds_are_told_apart() -> None:
    names = [f"label {i}" for i in range(400)]
    swapped = [*names[:398], names[399], names[398]]
    same = [*names, names[300], names[399]]
    assert digest_of(names, same[400:]) == digest_of(same)
    assert digest_of([*names, names[300]]) != digest_of([*names, names[301]])
    assert digest_of(names) != digest_of(swapped)
