"""Honest claims, made from random matrices by arithmetic of this package alone."""
