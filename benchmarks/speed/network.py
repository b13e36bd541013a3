"""Training of the neural network, beside scikit-learn's and, where it is installed, PyTorch's."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any

import numpy as np

from speed.timing import Finding

ROWS, FEATURES = 52_000, 78
HIDDEN, BATCH, EPOCHS = (64, 32), 32, 3
RATE, DROPOUT = 0.001, 0.3
OURS, SCIKIT, TORCH = "ANNClassifier", "MLPClassifier", "PyTorch on the CPU"


def findings(repeats: int) -> Iterator[Finding]:
    """Seconds of each, the best of some turns that are taken one after another."""
    # A fresh process, since PyTorch brings threads along.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        timings = pool.submit(_measured, repeats).result()
    ours, accuracy = timings.pop(OURS)
    size = f"{ROWS:,} x {FEATURES}, batch {BATCH}, {EPOCHS} epochs"
    yield Finding(f"train ANNClassifier, {size}", ours, "s")
    yield Finding("  accuracy on the rows it learned from", accuracy, "")
    for peer, (seconds, accuracy) in timings.items():
        yield Finding(f"{peer}, the same", seconds, "s")
        yield Finding("  accuracy on the rows it learned from", accuracy, "")
        yield Finding("  ANNClassifier over it", ours / seconds, "x", at_most=1)


def _measured(repeats: int) -> dict[str, tuple[float, float]]:
    """Seconds and accuracy of each, by name."""
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(ROWS, FEATURES))
    signal = np.maximum(rows @ generator.normal(size=(FEATURES, 8)), 0).sum(axis=1)
    truth = (signal + generator.normal(0, 5, ROWS) > np.median(signal)).astype(np.int64)
    works: dict[str, Callable[[Any, Any], Any]] = {OURS: _ours, SCIKIT: _scikit_learn}
    if find_spec("torch") is not None:
        works[TORCH] = _torch
    best: dict[str, tuple[float, float]] = {}
    for _ in range(repeats):
        for name, work in works.items():
            started = time.perf_counter()
            decided = work(rows, truth)
            seconds = time.perf_counter() - started
            accuracy = float((decided(rows) == truth).mean())
            best[name] = min((seconds, accuracy), best.get(name, (np.inf, 0.0)))
    return best


def _ours(rows: Any, truth: Any) -> Callable[[Any], Any]:
    from assay.learn.network import ANNClassifier

    model = ANNClassifier(
        HIDDEN, learning_rate=RATE, dropout=DROPOUT, batch_size=BATCH, epochs=EPOCHS, random_state=1
    )
    return model.fit(rows, truth).predict


def _scikit_learn(rows: Any, truth: Any) -> Callable[[Any], Any]:
    """scikit-learn's network, which has no dropout, and so less to do."""
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier(
        HIDDEN,
        alpha=0.0,
        batch_size=BATCH,
        learning_rate_init=RATE,
        max_iter=EPOCHS,
        n_iter_no_change=EPOCHS + 1,
        early_stopping=False,
        random_state=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged
        model.fit(rows, truth)
    predict: Callable[[Any], Any] = model.predict
    return predict


def _torch(rows: Any, truth: Any) -> Callable[[Any], Any]:
    """PyTorch at its quickest for such batches: float32, Adam in one kernel, one thread.

    More threads only wait for each other. Batches are slices of the shuffled rows, since a loader
    costs more than the network.
    """
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(1)
    widths = (FEATURES, *HIDDEN)
    layers: list[Any] = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(DROPOUT)]
    model = nn.Sequential(*layers, nn.Linear(widths[-1], 2))
    adam = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    decay = torch.optim.lr_scheduler.StepLR(adam, 5, 0.5)
    loss = nn.CrossEntropyLoss()
    given, wanted = torch.as_tensor(rows, dtype=torch.float32), torch.as_tensor(truth)
    for _ in range(EPOCHS):
        order = torch.randperm(ROWS)
        total = torch.zeros(())
        for batch, labels in zip(
            given[order].split(BATCH), wanted[order].split(BATCH), strict=True
        ):
            adam.zero_grad()
            mean_loss = loss(model(batch), labels)
            mean_loss.backward()
            adam.step()
            total += mean_loss.detach() * len(batch)
        decay.step()

    def predict(rows: Any) -> Any:
        model.eval()
        with torch.no_grad():
            return model(torch.as_tensor(rows, dtype=torch.float32)).argmax(dim=1).numpy()

    return predict
