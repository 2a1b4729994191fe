"""The archive: one zip with its metadata, the same bytes on every run."""

from regatta.archive.bundle import citation, metadata_texts, zipped
from regatta.archive.pins import MANIFEST, check_pins, pinned_manifest, tracked_files

__all__ = ["MANIFEST", "check_pins", "citation", "metadata_texts", "pinned_manifest", "tracked_files", "zipped"]
