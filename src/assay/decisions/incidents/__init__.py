"""Incidents: how many attacks were detected, how late, and at how many false alarms a day."""

from assay.decisions.incidents.detecting import incidents
from assay.decisions.incidents.detections import Detection, Incidents
from assay.decisions.incidents.schedule import Incident, read_schedule

__all__ = ["Detection", "Incident", "Incidents", "incidents", "read_schedule"]
