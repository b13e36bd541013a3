"""A gate as JUnit XML, which build servers show: one test case a rule."""

from __future__ import annotations

from collections import Counter
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from assay.decisions.gate import Gate, Judged, Outcome
from assay.report.gate import shown
from assay.report.names import short, visible

SUITE = "assay gate"
BROKEN_OFF = "the run broke off before it came to a verdict: see what it printed"
_LONGEST = 500


def junit(gate: Gate, *, seconds: float = 0.0) -> str:
    """The rules as test cases: a broken one failed, and an undecided one too unless allowed.

    What can't stand in XML, such as a control character in the name of a family, is shown as an
    escape.
    """
    found = Counter(judged.outcome for judged in gate.rules)
    undecided = found[Outcome.UNDECIDED]
    failures = found[Outcome.FAIL] + (0 if gate.allow_undecided else undecided)
    skipped = undecided if gate.allow_undecided else 0
    root, suite = _suites(len(gate.rules), failures, 0, skipped, seconds)
    names: Counter[str] = Counter()
    for judged in gate.rules:
        case = _case(suite, _name(judged, names))
        said = f"{shown(judged)}: {judged.reason}"
        if judged.outcome is Outcome.FAIL:
            _told(case, "failure", said, "fail")
        elif judged.outcome is Outcome.UNDECIDED:
            tag = "skipped" if gate.allow_undecided else "failure"
            _told(case, tag, f"undecided: {said}", "undecided")
        SubElement(case, "system-out").text = visible(f"{judged.rule.text}: {said}")
    return _written(root)


def broken_off() -> str:
    """What stands there until there is a verdict: one test case with an error."""
    root, suite = _suites(1, 0, 1, 0, 0.0)
    _told(_case(suite, "the gate comes to a verdict"), "error", BROKEN_OFF, "error")
    return _written(root)


def _suites(
    tests: int, failures: int, errors: int, skipped: int, seconds: float
) -> tuple[Element, Element]:
    numbers = {
        "tests": str(tests),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": str(skipped),
        "time": f"{seconds:.3f}",
    }
    root = Element("testsuites", {"name": SUITE, **numbers})
    return root, SubElement(root, "testsuite", {"name": SUITE, **numbers})


def _case(suite: Element, name: str) -> Element:
    found = {"classname": "assay.gate", "name": name, "time": "0.000"}
    return SubElement(suite, "testcase", found)


def _name(judged: Judged, names: Counter[str]) -> str:
    """A name that no other case has, since viewers fold equal ones."""
    found = short(visible(judged.rule.name or judged.rule.text), _LONGEST)
    names[found] += 1
    return found if names[found] == 1 else f"{found} ({names[found]})"


def _told(case: Element, tag: str, message: str, kind: str) -> None:
    text = visible(message)
    attributes = {"message": short(text, _LONGEST)}
    if tag != "skipped":
        attributes["type"] = kind
    SubElement(case, tag, attributes).text = text


def _written(root: Element) -> str:
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'
