"""``regatta site``, ``archive`` and ``pin``: what is made for readers and for the shelf, and what is pinned."""

from pathlib import Path
from typing import Annotated

import typer

from regatta_lib.base import paths, write_atomic


def site(
    folder: Annotated[Path, typer.Argument(help="Where to write; files there are replaced.")] = paths.ROOT / "site",
) -> None:
    """Build the static site from the executed notebooks, the documents and the data. Opens offline: FOLDER/index.html."""
    from regatta.site import build

    files = build(paths.ROOT)
    for name, content in files.items():
        write_atomic(folder / name, content)
    typer.echo(f"{folder / 'index.html'}: {sum(name.endswith('.html') for name in files)} pages, {len(files)} files")


def archive() -> None:
    """Write the metadata of the archive, and the archive itself as dist/regatta-VERSION.zip: the same bytes on every run."""
    from regatta import archive
    from regatta_lib.base import sha256

    archive.check_pins(paths.ROOT)
    for name, text in archive.metadata_texts(paths.ROOT).items():
        write_atomic(paths.ROOT / name, text)
    top = f"regatta-{archive.citation(paths.ROOT)['version']}"
    names = archive.tracked_files(paths.ROOT)
    content = archive.zipped(paths.ROOT, names, top)
    write_atomic(paths.ROOT / "dist" / f"{top}.zip", content)
    typer.echo(f"dist/{top}.zip: {len(names) + 1:,} files, {len(content):,} bytes, SHA-256 {sha256(content)}")


def pin() -> None:
    """Write data/reference/SHA256SUMS anew, after a reviewed change of what it covers."""
    from regatta import archive
    from regatta_lib.reproduce import PINS

    text = archive.pinned_manifest(paths.ROOT)
    write_atomic(paths.ROOT / PINS, text)
    typer.echo(f"{PINS}: {len(text.splitlines())} files")
