"""Why a reported number may be wrong: mistakes that give its printed digits."""

from assay.decisions.audit.mistakes.explaining import explain

__all__ = ["explain"]
