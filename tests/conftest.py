"""What all tests share: how long they search, and what child processes inherit."""

import signal
from collections import defaultdict

import pytest
from hypothesis import settings

# `make slow` searches longer, in tests that do not say for themselves how long.
settings.register_profile("test", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("slow", settings.get_profile("test"), max_examples=300)
settings.load_profile("test")

# Signals that are ignored here, as nohup and background jobs have it, would be ignored by every
# child process too. A handler that does nothing is not inherited.
for name in ("SIGHUP", "SIGINT"):
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is marked ``sampled(n)``, all cases but ``n`` are slow."""
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for group in cases.values():
        (kept,) = group[0].get_closest_marker("sampled").args
        # In the order in which they are written, whatever the order in which they run.
        group.sort(key=lambda item: tuple(item.callspec.indices.values()))
        chosen = {i * len(group) // kept for i in range(kept)}
        for i, item in enumerate(group):
            if i not in chosen:
                item.add_marker("slow")
