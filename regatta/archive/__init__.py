"""The archive: one zip with its metadata, the same bytes on every run."""

from regatta.archive.bundle import citation, metadata_texts, zipped

__all__ = [
    "citation",
    "metadata_texts",
    "zipped",
]
