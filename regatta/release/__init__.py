"""The public release of the historical study: import its figures into the record."""

from regatta.release.importer import record_tables

__all__ = ["record_tables"]
