"""Made-up data that behave like real ones, each from a fixed seed."""

from assay.v02.learn.scenarios.arp import make_arp, stream_arp
from assay.v02.learn.scenarios.darknet import make_darknet, stream_darknet
from assay.v02.learn.scenarios.ddos import make_ddos, stream_ddos
from assay.v02.learn.scenarios.flows import Flows, make_flows
from assay.v02.learn.scenarios.week import Week, write_week

__all__ = [
    "Flows",
    "Week",
    "make_arp",
    "make_darknet",
    "make_ddos",
    "make_flows",
    "stream_arp",
    "stream_darknet",
    "stream_ddos",
    "write_week",
]
