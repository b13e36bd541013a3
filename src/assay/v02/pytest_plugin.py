"""Gates in tests: ``assert_gate`` fails with each rule, its value, and why.

pytest loads this with every run, so all that judges is imported when a gate is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.v02.decisions.gate_rules import Gate, JudgedRule
    from assay.v02.decisions.rule_grammar import Rules
    from assay.v02.evaluation import Evaluation

__all__ = ["assert_gate"]


def assert_gate(
    rules: Rules | Gate,
    evaluation: Evaluation | None = None,
    *,
    baseline: Evaluation | None = None,
    allow_undecided: bool = False,
) -> Gate:
    """Fail the test unless an evaluation keeps every rule, with confidence.

    ``rules`` are those of ``assay gate``: texts such as ``new(precision) >= 0.9``, the path of a
    TOML file, or a mapping as such a file holds it. ``baseline`` is the evaluation of the old
    model, for rules about ``old`` and ``new-old``. In place of both, ``rules`` may be a gate that
    ``assay.gate`` or ``assay.gate_files`` has judged, which match rows. A rule that these rows
    can't decide fails too, unless ``allow_undecided``. Gives the gate back.
    """
    __tracebackhide__ = True
    gate = _judged_gate(rules, evaluation, baseline)
    _must_pass(gate, evaluation, allow_undecided=allow_undecided)
    return gate


@pytest.fixture(name="assert_gate")
def _assert_gate(record_property: Callable[[str, object], None]) -> Callable[..., Gate]:
    """``assert_gate``, which also leaves each value in the JUnit report of the test."""

    def asserted(
        rules: Rules | Gate,
        evaluation: Evaluation | None = None,
        *,
        baseline: Evaluation | None = None,
        allow_undecided: bool = False,
    ) -> Gate:
        __tracebackhide__ = True
        gate = _judged_gate(rules, evaluation, baseline)
        for judged in gate.rules:
            record_property(f"assay: {judged.rule.text}", " ".join(_outcome(judged)))
        _must_pass(gate, evaluation, allow_undecided=allow_undecided)
        return gate

    return asserted


def _judged_gate(rules: Any, evaluation: Any, baseline: Any) -> Gate:
    """The gate; of what is refused the test's own line is shown, and not ours."""
    __tracebackhide__ = True
    from assay.v02.decisions.gate_inputs import gate_evaluation
    from assay.v02.decisions.gate_rules import Gate
    from assay.errors import AssayError, InputError

    if isinstance(rules, Gate):
        if evaluation is not None or baseline is not None:
            raise InputError("assert_gate() takes a gate that was judged, or rules and evaluations")
        return rules
    if evaluation is None:
        raise InputError(
            "assert_gate() needs what to judge: assert_gate(rules, evaluation), or a gate that "
            "assay.gate has judged"
        )
    try:
        return gate_evaluation(evaluation, rules=rules, baseline=baseline)
    except AssayError as error:
        raise error.with_traceback(None) from None


def _must_pass(gate: Gate, evaluation: Evaluation | None, *, allow_undecided: bool) -> None:
    __tracebackhide__ = True
    from assay.v02.inference.significance import check_flag

    check_flag("allow_undecided=", allow_undecided)
    if gate.passed or (allow_undecided and gate.outcome.value == "undecided"):
        return
    known = () if evaluation is None else evaluation.notes
    raise AssertionError("\n".join((*_lines(gate), *_notes(gate, known))))


def _notes(gate: Gate, known: Sequence[str]) -> Iterator[str]:
    """What should be known of the gate, and is not said of the evaluation already."""
    return (f"note: {note}" for note in gate.notes if note not in known)


def _lines(gate: Gate) -> Iterator[str]:
    """What failed first, with why; then what was kept."""
    from assay.v02.report.gate import report_of

    told = report_of(gate)
    yield f"the gate says {' '.join(told.headline)}"
    order = ("fail", "undecided", "pass")
    for judged in sorted(gate.rules, key=lambda judged: order.index(judged.outcome.value)):
        outcome, value = _outcome(judged)
        yield f"{outcome:<10}{judged.rule.text}"
        yield f"{'':<10}{value}: {judged.reason}"
        rule, note = judged.rule, judged.estimate.note
        about = ": ".join(text for text in (rule.name, rule.why) if text)
        yield from (f"{'':<10}({text})" for text in (about, note) if text and text != judged.reason)


def _outcome(judged: JudgedRule) -> tuple[str, str]:
    from assay.v02.report.gate import CALLED, shown

    return CALLED[judged.outcome], shown(judged) or "undefined"
