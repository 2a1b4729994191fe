"""``regatta import``: the figures of the public release."""

from pathlib import Path

import typer

from regatta_lib.base import paths, write_atomic


def import_release(folder: Path) -> None:
    """Import the figures of the public release from FOLDER into data/record."""
    from regatta.release import record_tables

    for name, text in record_tables(folder).items():
        write_atomic(paths.RECORD / name, text)
        typer.echo(f"data/record/{name}: {text.count(chr(10)) - 1:,} rows")
