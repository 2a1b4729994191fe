"""The command line: a few lines each over the rooms."""

from regatta.commands.root import app, main

__all__ = [
    "app",
    "main",
]
