"""Files: read text strictly, write it atomically, and say in one line what is wrong with a file."""

import os
import unicodedata
from pathlib import Path

import yaml

from regatta_lib.base.errors import ContractError
from regatta_lib.base.yaml_text import check_events

ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest date an entry of a zip can have; all of ours have it


def file_text(path: Path) -> str:
    """Read a UTF-8 text file, refusing a BOM, CR line ends and text that is not in normal form C."""
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise ContractError(f"{path}: missing, expected a file") from None
    except OSError as error:
        raise ContractError(f"{path}: {error.strerror}, expected a file that can be read") from None
    except UnicodeDecodeError as error:
        raise ContractError(f"{path}: byte {error.start} is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise ContractError(f"{path}: starts with a byte order mark, expected plain UTF-8")
    if "\r" in text:
        line = text[: text.index("\r")].count("\n") + 1
        raise ContractError(f"{path}: row {line}: CRLF line end, expected LF (was the file converted on checkout?)")
    if not unicodedata.is_normalized("NFC", text):
        raise ContractError(f"{path}: text is not Unicode NFC")
    return text


def yaml_value(path: Path) -> object:
    """Read one YAML file as plain values.

    Raises ContractError with one line for text that is no valid YAML, gives a key twice, or exceeds a bound of yaml_text.
    """
    text = file_text(path)
    try:
        check_events(text)
        return yaml.load(text, yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:  # such as the date 2026-02-31
        raise ContractError(f"{path}: {' '.join(str(error).split())}") from None


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write to a temporary file beside ``path``, then rename: the file is either the old one or complete.

    Raises ContractError where something that is no regular file has that name: a device would be replaced.
    """
    if path.exists() and not path.is_file():
        raise ContractError(f"{path}: found no regular file, expected one or none")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
