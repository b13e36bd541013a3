"""Tallies: laws by hypothesis, bytes by fuzzing, score tables against a naive count."""
