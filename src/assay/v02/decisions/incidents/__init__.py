"""Incidents: how many attacks were detected, how late, and at how many false alarms a day."""

from assay.v02.decisions.incidents.detecting import incidents
from assay.v02.decisions.incidents.detections import Detection, Incidents
from assay.v02.decisions.incidents.schedule import Incident, read_schedule

__all__ = ["Detection", "Incident", "Incidents", "incidents", "read_schedule"]
