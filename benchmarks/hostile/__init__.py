"""Damaged files, and the mutations that damage them."""
