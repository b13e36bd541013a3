"""Hostile input of every kind, and what may become of it: used or refused, nothing else."""
