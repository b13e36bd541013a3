"""What all tests share: how much of them is run, and what child processes inherit."""

import signal
from collections import defaultdict
from random import Random

import pytest
from hypothesis import settings

# Of the examples that a test asks for, `make test` tries some; `make slow` others, and more.
settings.register_profile("test", derandomize=True, deadline=None, database=None)
settings.register_profile("slow", deadline=None, database=None)
settings.load_profile("test")

# Signals that are ignored here, as nohup and background jobs have it, would be ignored by every
# child process too. A handler that does nothing is not inherited.
for name in ("SIGHUP", "SIGINT"):
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose among the cases of a test that is ``sampled``, and say how many examples are tried."""
    cases, searched = defaultdict(list), {}
    for item in items:
        if item.get_closest_marker("sampled"):
            cases[item.nodeid.partition("[")[0]].append(item)
        if hasattr(item.obj, "hypothesis"):
            searched[id(item.obj)] = item.obj
    for test, group in cases.items():
        (kept,) = group[0].get_closest_marker("sampled").args
        # The same choice in each run, whatever the order in which they run.
        group.sort(key=lambda item: item.nodeid)
        for item in Random(test).sample(group, max(0, len(group) - kept)):
            item.add_marker("slow")
    share = 0.3 if settings().derandomize else 2
    for test in searched.values():
        asked = test._hypothesis_internal_use_settings
        examples = max(round(asked.max_examples * share), min(asked.max_examples, 5))
        test._hypothesis_internal_use_settings = settings(asked, max_examples=examples)
