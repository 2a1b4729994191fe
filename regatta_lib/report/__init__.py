"""The report: every number it quotes with the file it stands in, and its PDF."""

from regatta_lib.report.document import numbers, numbers_text, pdf

__all__ = ["numbers", "numbers_text", "pdf"]
