"""The command line: a few lines each over the rooms."""

from regatta.commands.root import app, main
from regatta.commands.terminal import table_text

__all__ = ["app", "main", "table_text"]
