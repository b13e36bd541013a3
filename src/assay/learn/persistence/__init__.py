"""Model files: written and read with skops, never with pickle; needs the extra ``learn``."""

from assay.learn.persistence.header import model_header
from assay.learn.persistence.loading import MODEL, Loaded, load_model
from assay.learn.persistence.saving import model_bytes, save_model, types_to_trust
from assay.learn.persistence.trust import Untrusted

__all__ = [
    "MODEL",
    "Loaded",
    "Untrusted",
    "load_model",
    "model_bytes",
    "model_header",
    "save_model",
    "types_to_trust",
]
