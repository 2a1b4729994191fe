"""The archive: one zip with the same bytes on every run, and the metadata that describes it.

Croissant describes the pinned data files (from their manifest) and their columns (from the file contracts); RO-Crate
describes the parts of the whole. Title, version, date and licence come from CITATION.cff.
"""

import io
import json
import os
import re
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

from regatta.archive.pins import MANIFEST
from regatta_lib import instruments, measures, reproduce
from regatta_lib.base import ZIP_DATE, Contract, ContractError, manifest_text, optional, read_manifest, yaml_value
from regatta_lib.reproduce import PINS

CROISSANT = "http://mlcommons.org/croissant/1.1"
DESCRIBED_TABLES = {
    "data/instruments/agreement.csv": instruments.AUDIT_AGREEMENT_TABLE,
    "data/instruments/audit.csv": instruments.AUDIT_TABLE,
    "data/instruments/eu_banking/audit.csv": instruments.CELL_AUDIT_TABLE,
    "data/instruments/index.csv": instruments.INDEX_TABLE,
    "data/record/adversarial.csv": measures.ADVERSARIAL_TABLE,
    "data/record/coverage.csv": measures.COVERAGE_TABLE,
    "data/record/faults.csv": measures.FAULT_TABLE,
    "data/record/specificity.csv": measures.SPECIFICITY_TABLE,
    "data/record/suites.csv": measures.SUITE_TABLE,
    "data/reference/published_values.csv": reproduce.PUBLISHED_TABLE,
    "data/reference/reconstructed_tables.csv": reproduce.RECONSTRUCTED_TABLE,
    "data/reference/reference_values.csv": reproduce.REFERENCE_TABLE,
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
    "regatta/": "The application: the command line, the site, own suites, the archive",
    "regatta_lib/": "The library behind the notebooks",
    "requirements.lock": "The pinned packages with their hashes",
    "tests/": "The tests",
}


def citation(root: Path) -> dict[str, Any]:
    """CITATION.cff as a dictionary. Raises ContractError if it is none."""
    found = yaml_value(root / "CITATION.cff")
    if not isinstance(found, dict):
        raise ContractError(f"{root / 'CITATION.cff'}: found {type(found).__name__}, expected a mapping")
    return found


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
    mlcroissant = optional("mlcroissant")

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
    tables = [record_set(mlcroissant, context, root, name, contract) for name, contract in DESCRIBED_TABLES.items()]
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
        description=" ".join((contract.row.__doc__ or "").split()),
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
    organizations = [
        {"@id": "#" + record_set_slug(a["name"]), "@type": "Organization", "name": a["name"]} for a in about["authors"]
    ]
    works = [
        {
            "@id": "#" + record_set_slug(reference["title"]),
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


def record_set_slug(text: str) -> str:
    """A local identifier made of a title."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def metadata_texts(root: Path) -> dict[str, str]:
    """The generated metadata files, {path below the root: text}."""
    return {"croissant.json": croissant(root), "ro-crate-metadata.json": ro_crate(root)}
