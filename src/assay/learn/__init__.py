"""Data to learn from, and later what learns from them."""
