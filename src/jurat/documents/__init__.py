"""Documents as text: what a file is by its content, and what it says, within bounds of size, time and memory."""

from jurat.documents.extract import MAX_DOCUMENT_BYTES, Extracted, extract
from jurat.documents.pictures import picture_type

__all__ = ["MAX_DOCUMENT_BYTES", "Extracted", "extract", "picture_type"]
