"""Sums of sampling weights: none is rounded but once."""

from fractions import Fraction

import numpy as np
import pytest

from assay.tally.blocks import BLOCK
from assay.tally.weight_sums import WeightSum, sums_by_cell, weight_sum


def _exactly(total: WeightSum) -> Fraction:
    return sum(map(Fraction, total.rest), Fraction(float(total)))


@pytest.mark.parametrize("bits", range(35, 40))
def test_a_full_block_of_weights_with_all_bits_set_adds_up_exactly(bits: int) -> None:
    largest = (1 << bits) - 1
    weights = np.full(BLOCK, float(largest))
    weights[0] -= 1
    exact = BLOCK * largest - 1
    assert _exactly(weight_sum(weights)) == exact
    (total,) = sums_by_cell(weights, np.zeros(BLOCK, np.uint8), 1)
    assert _exactly(total) == exact
