"""Events from the logs of sensors: Suricata, Zeek, Snort, CEF, ECS and JSON lines."""

from assay.sources.logs.moments import Clock, Moments
from assay.sources.logs.reading import Events, read_events

__all__ = ["Clock", "Events", "Moments", "read_events"]
