"""Can these numbers be true? Reported numbers against what the counts allow."""

from assay.decisions.audit.audit import audit, audit_files
from assay.decisions.audit.claim import Calculation, Claim
from assay.decisions.audit.claims_file import read_claims
from assay.decisions.audit.verdicts import (
    Audit,
    AuditedClaim,
    Conflict,
    Explanation,
    JudgedNumber,
    Printed,
)

__all__ = [
    "Audit",
    "AuditedClaim",
    "Calculation",
    "Claim",
    "Conflict",
    "Explanation",
    "JudgedNumber",
    "Printed",
    "audit",
    "audit_files",
    "read_claims",
]
