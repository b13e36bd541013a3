"""Every measure of the catalogue under every law."""

from __future__ import annotations

import pytest
from hypothesis import settings

from assay.measures import catalogue

from .faces import all_faces, faces
from .statements import STATEMENTS, Statement, cases

# So many faces of a law are always looked at.
_FEW = 6


@pytest.mark.hypothesis
@pytest.mark.parametrize("law", STATEMENTS, ids=lambda law: law.name)
def test_law(law: Statement) -> None:
    """Each law takes a fifth of the faces here, another one than its neighbours; all in slow."""
    held = [face for each, face in cases() if each is law]
    quick = settings().derandomize and len(held) > _FEW
    for face in held[STATEMENTS.index(law) % 5 :: 5] if quick else held:
        try:
            law.check(face)
        except Exception as error:
            error.add_note(f"{law.name} does not hold for {face.name}")
            raise


def test_every_law_is_run_or_left_out_with_a_reason_for_every_measure() -> None:
    run = {(law.name, face.measure.name) for law, face in cases()}
    for law in STATEMENTS:
        for measure in catalogue.CATALOGUE:
            reasons = {law.reason(face) for face in faces(measure)}
            assert reasons, f"{measure.name} can't be read in any way"
            assert ((law.name, measure.name) in run) is (None in reasons)
            assert all(reason is None or reason.strip() for reason in reasons)


def test_every_exception_of_a_law_is_needed() -> None:
    for law in STATEMENTS:
        for case in law.unless:
            assert any(case.matches(face) for face in all_faces()), (law.name, case.reason)


def test_laws_have_names_of_their_own() -> None:
    assert len({law.name for law in STATEMENTS}) == len(STATEMENTS)
    assert len({face.name for face in all_faces()}) == len(all_faces())


def test_every_face_is_under_a_law_that_looks_at_its_value() -> None:
    looked_at = {
        face.name for law, face in cases() if law.name == "undefined_where_a_denominator_is_zero"
    }
    assert looked_at == {face.name for face in all_faces()}
