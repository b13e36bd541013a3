"""Formulas against sympy, mpmath, exact rationals and a browser's JavaScript."""
