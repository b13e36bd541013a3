"""Tests of the readers of files, and the tables that they share."""
