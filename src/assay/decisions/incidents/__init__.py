"""Incidents: which attacks were detected, how late, and at what cost in false alarms."""
