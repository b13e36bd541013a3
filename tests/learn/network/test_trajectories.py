"""The first 200 steps are those of PyTorch, from the same weights, batches and masks."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.learn.network import Adam, Layers, step_decay

TORCH = Path(__file__).parent / "torch"
STORED = json.loads((TORCH / "trajectories.json").read_text("utf-8"))

_spec = importlib.util.spec_from_file_location("torch_scenario", TORCH / "scenario.py")
assert _spec is not None
assert _spec.loader is not None
made = importlib.util.module_from_spec(_spec)
sys.modules["torch_scenario"] = made
_spec.loader.exec_module(made)


@pytest.mark.parametrize("name", list(made.SIZES))
def test_losses_and_weights_follow_pytorch(name: str) -> None:
    sizes = made.SIZES[name]
    given = made.scenario(sizes)
    layers = Layers(sizes)
    for to, start in zip(layers.weights, given.weights, strict=True):
        to[...] = start
    for to, start in zip(layers.biases, given.biases, strict=True):
        to[...] = start
    adam = Adam(len(layers.flat))
    losses, kept = [], {}
    for step in range(made.STEPS):
        truth = given.truth[step]
        weights = given.class_weights[truth]
        losses.append(layers.step(given.rows[step], truth, weights, given.masks[step]))
        rate = step_decay(made.RATE, step // made.STEPS_OF_EPOCH + 1)
        adam.update(layers.flat, layers.gradient, rate)
        kept[step + 1] = layers.flat.copy()
    assert np.allclose(losses, STORED[name]["losses"], rtol=0, atol=1e-9)
    for step, expected in STORED[name]["weights"].items():
        assert np.allclose(kept[int(step)], expected, rtol=0, atol=1e-9), step
