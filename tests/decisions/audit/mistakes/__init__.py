"""Tests of the explanations; `claims` holds what they share."""
