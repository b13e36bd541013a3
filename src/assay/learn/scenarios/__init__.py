"""Made-up data that behave like real ones, each from a fixed seed."""

from assay.learn.scenarios.flows import Flows, make_flows

__all__ = ["Flows", "make_flows"]
