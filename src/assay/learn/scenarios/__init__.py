"""Made-up data that behave like real ones, each from a fixed seed."""

from assay.learn.scenarios.arp import make_arp, stream_arp
from assay.learn.scenarios.flows import Flows, make_flows

__all__ = ["Flows", "make_arp", "make_flows", "stream_arp"]
