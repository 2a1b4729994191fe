"""The static site: notebooks, documents, data and cases as pages that open offline."""

from regatta.site.pages import build

__all__ = ["build"]
