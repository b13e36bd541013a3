"""Evaluations in MLflow, still those of 0.2: the entry point and users name this module."""

from __future__ import annotations

from assay.v02.mlflow import Evaluator, Logged, log

__all__ = ["Evaluator", "Logged", "log"]
