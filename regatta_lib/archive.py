"""The archive: one zip with the same bytes on every run, and the metadata that describes it.

Croissant describes the pinned data files (from their manifest) and their columns (from the file contracts); RO-Crate
describes the parts of the whole. Title, version, date and licence come from CITATION.cff.
"""

import io
import json
import os
import re
import subprocess
import zipfile
from pathlib import Path
from types import ModuleType

from regatta_lib import contracts
from regatta_lib.contracts import Contract
from regatta_lib.digest import PINS, in_pinned_folders, manifest_text, read_manifest, sha256
from regatta_lib.files import ZIP_DATE, ContractError, yaml_value

MANIFEST = "MANIFEST.sha256"
CROISSANT = "http://mlcommons.org/croissant/1.1"
TABLES = {
    "data/instruments/agreement.csv": contracts.AUDIT_AGREEMENT,
    "data/instruments/audit.csv": contracts.AUDIT,
    "data/instruments/eu_banking/audit.csv": contracts.CELL_AUDIT,
    "data/instruments/index.csv": contracts.INDEX,
    "data/record/adversarial.csv": contracts.ADVERSARIAL,
    "data/record/coverage.csv": contracts.COVERAGE,
    "data/record/faults.csv": contracts.FAULTS,
    "data/record/specificity.csv": contracts.SPECIFICITY,
    "data/record/suites.csv": contracts.SUITES,
    "data/reference/published_values.csv": contracts.PUBLISHED_VALUES,
    "data/reference/reconstructed_tables.csv": contracts.RECONSTRUCTED_TABLES,
    "data/reference/reference_values.csv": contracts.REFERENCE_VALUES,
}
MEDIA = {
    ".csv": "text/csv",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".xz": "application/x-xz",
    ".yaml": "application/yaml",
    "": "text/plain",
}
PARTS = {
    "README.md": "What this is, and the commands",
    "CITATION.cff": "How to cite the artifact, and the study it reproduces",
    "croissant.json": "The pinned data files and their columns",
    "data/": "Instruments, record, reference values, and the results of every stage",
    "docs/": "Documents on parts of the artifact",
    "dvc.yaml": "The pipeline: every stage with its inputs, parameters and outputs",
    "figures/": "Figures as PDF, SVG and PNG, and the numbers behind them",
    "notebooks/": "One notebook per stage, with its outputs",
    "paper/report.pdf": "The reproduction report",
    "params.yaml": "The parameters of all stages",
    "regatta_lib/": "The library behind the notebooks and the command line",
    "requirements.lock": "The pinned packages with their hashes",
    "tests/": "The tests",
}


def citation(root: Path) -> dict:
    """CITATION.cff as a dictionary."""
    return yaml_value(root / "CITATION.cff")


def tracked_files(root: Path) -> list[str]:
    """The files that belong to the archive: those git tracks, or those listed in an unpacked archive's manifest, sorted.

    Raises ContractError for a tracked file that is missing, and outside of both.
    """
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout
        names = sorted(name for name in listed.decode("utf-8").split("\0") if name)
    else:
        names = sorted(read_manifest(root / MANIFEST))
    for name in names:
        if not (root / name).is_file():
            raise ContractError(f"{root / name}: missing, expected a file of the archive")
    return names


def pinned_manifest(root: Path) -> str:
    """The text of data/reference/SHA256SUMS: all data and figures but the manifest itself and the report of the checks.

    Those are the tracked files, and the instruments, record and reference that are not tracked yet.
    """
    tracked = [name for name in tracked_files(root) if name.startswith(("data/", "figures/"))]
    left_out = ("data/verification/", PINS)
    chosen = {name for name in tracked if not name.startswith(left_out) and Path(name).name[0] != "."}
    return manifest_text(root, [root / name for name in chosen | in_pinned_folders(root)])


def check_pins(root: Path) -> None:
    """Raise ContractError if a pinned file is missing or not the one that is pinned: it must not be archived as such."""
    for name, digest in read_manifest(root / PINS).items():
        if not (root / name).is_file() or sha256((root / name).read_bytes()) != digest:
            raise ContractError(f"{root / name}: not the file pinned in {PINS}; after a reviewed change run 'make pin'")


def zipped(root: Path, names: list[str], top: str) -> bytes:
    """A zip of the files, below the folder ``top``, with a manifest of their digests. The same files give the same bytes.

    Sorted names, one fixed date, permissions 644 or 755. Stored, not compressed: the bytes of compressed data depend on
    the version of zlib.
    """
    manifest = manifest_text(root, [root / name for name in names]).encode("utf-8")
    contents = {name: (root / name).read_bytes() for name in names} | {MANIFEST: manifest}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(f"{top}/{name}", ZIP_DATE)
            entry.create_system = 3
            executable = name != MANIFEST and os.access(root / name, os.X_OK)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(entry, contents[name])
    return buffer.getvalue()


def croissant(root: Path) -> str:
    """Croissant 1.1 metadata: every pinned file with its SHA-256, and a record set for every table with a contract."""
    import mlcroissant

    about = citation(root)
    context = mlcroissant.Context(conforms_to=CROISSANT)
    files = [
        mlcroissant.FileObject(
            ctx=context,
            id=name,
            name=name,
            content_url=name,
            encoding_formats=[MEDIA[Path(name).suffix]],
            sha256=digest,
        )
        for name, digest in sorted(read_manifest(root / PINS).items())
    ]
    tables = [record_set(mlcroissant, context, root, name, contract) for name, contract in TABLES.items()]
    metadata = mlcroissant.Metadata(
        ctx=context,
        name="regatta",
        description=about["abstract"],
        keywords=about["keywords"],
        version=about["version"],
        license=[f"https://spdx.org/licenses/{about['license']}"],
        creators=[mlcroissant.Organization(ctx=context, name=author["name"]) for author in about["authors"]],
        date_published=str(about["date-released"]),
        cite_as=f"{about['authors'][0]['name']}: {about['title']}, version {about['version']}",
        distribution=files,
        record_sets=tables,
    )
    return json.dumps(metadata.to_json(), ensure_ascii=False, indent=1, default=str) + "\n"


def record_set_id(name: str) -> str:
    """The name of a table's record set: ``suites`` for ``data/record/suites.csv``."""
    return "_".join(Path(name).with_suffix("").parts[2:])


def record_set(library: ModuleType, context: object, root: Path, name: str, contract: Contract) -> object:
    """The columns of one table as a Croissant record set, its types those of the file as read."""
    kinds = {"i": library.DataType.INTEGER, "f": library.DataType.FLOAT}
    title = record_set_id(name)
    return library.RecordSet(
        ctx=context,
        id=title,
        name=title,
        description=" ".join(contract.row.__doc__.split()),
        key=[f"{title}/{column}" for column in contract.key],
        fields=[
            library.Field(
                ctx=context,
                id=f"{title}/{column}",
                name=column,
                data_types=[kinds.get(dtype.kind, library.DataType.TEXT)],
                source=library.Source(file_object=name, extract=library.Extract(column=column)),
            )
            for column, dtype in contract.read(root / name).dtypes.items()
        ],
    )


def ro_crate(root: Path) -> str:
    """RO-Crate 1.2 metadata: the parts of the artifact, its licence and authors, and the works it builds on."""
    about = citation(root)
    licence = f"https://spdx.org/licenses/{about['license']}"
    organizations = [{"@id": "#" + slug(a["name"]), "@type": "Organization", "name": a["name"]} for a in about["authors"]]
    works = [
        {
            "@id": "#" + slug(reference["title"]),
            "@type": "Dataset" if reference["type"] == "data" else "ScholarlyArticle",
            "name": reference["title"],
            "identifier": [identifier["value"] for identifier in reference.get("identifiers", [])],
        }
        for reference in about["references"]
    ]
    parts = [
        {"@id": name, "@type": "Dataset" if name.endswith("/") else "File", "description": text}
        for name, text in sorted(PARTS.items())
    ]
    graph = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.2"},
            "about": {"@id": "./"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": about["title"],
            "description": about["abstract"],
            "version": about["version"],
            "datePublished": str(about["date-released"]),
            "keywords": ", ".join(about["keywords"]),
            "license": {"@id": licence},
            "author": [{"@id": entry["@id"]} for entry in organizations],
            "citation": [{"@id": entry["@id"]} for entry in works],
            "hasPart": [{"@id": entry["@id"]} for entry in parts],
        },
        {"@id": licence, "@type": "CreativeWork", "name": about["license"]},
        *organizations,
        *works,
        *parts,
    ]
    crate = {"@context": "https://w3id.org/ro/crate/1.2/context", "@graph": graph}
    return json.dumps(crate, ensure_ascii=False, indent=1) + "\n"


def slug(text: str) -> str:
    """A local identifier made of a title."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def metadata_texts(root: Path) -> dict[str, str]:
    """The generated metadata files, {path below the root: text}."""
    return {"croissant.json": croissant(root), "ro-crate-metadata.json": ro_crate(root)}
