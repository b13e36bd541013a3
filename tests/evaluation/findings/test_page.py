"""The page of the findings in the documentation."""

import doctest
import importlib.util
from pathlib import Path

import pytest

from assay.evaluation.findings import CHECKS

GENERATOR = Path(__file__).parents[3] / "docs" / "generate_findings.py"


@pytest.fixture(scope="module")
def page() -> str:
    spec = importlib.util.spec_from_file_location("generate_findings", GENERATOR)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.page()


def test_every_check_has_its_section(page: str) -> None:
    for check in CHECKS:
        section = page.split(f".. _{check.code}:")[1].split(".. _E", maxsplit=1)[0]
        assert f"{check.code}: {check.title}\n---" in section
        assert f"*{check.severity.capitalize()}.*" in section
        for said in ("**Why it matters.**", "**What to do.**", ">>> print(evaluation.findings["):
            assert said in section


def test_the_examples_run_and_show_their_own_finding(page: str) -> None:
    sections = page.split(".. _E")[1:]
    assert len(sections) == len(CHECKS)
    for check, section in zip(CHECKS, sections, strict=True):
        test = doctest.DocTestParser().get_doctest(section, {}, check.code, None, 0)
        runner = doctest.DocTestRunner()
        runner.run(test, clear_globs=False)
        assert runner.summarize(verbose=False).failed == 0
        shown = " ".join(test.examples[-1].want.split())
        codes = {f.message: f.code for f in test.globs["evaluation"].findings}
        assert codes[shown] == check.code
