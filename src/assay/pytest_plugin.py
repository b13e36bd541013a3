"""Gates in tests, still those of 0.2: the entry point and users name this module."""

from __future__ import annotations

from assay.v02.pytest_plugin import _assert_gate, assert_gate

__all__ = ["_assert_gate", "assert_gate"]
