"""Reading what people have: tables, reports and matrices as claims."""

from assay.decisions.audit.reading.documents import KINDS, Document, Others, read_document
from assay.decisions.audit.reading.drafts import Totals
from assay.decisions.audit.reading.rows import ROWS

__all__ = ["KINDS", "ROWS", "Document", "Others", "Totals", "read_document"]
