"""Prompt templates: what is sent to a model, with a version and a digest for each.

A template is a text file in ``templates/``: the system turn, a line ``=== user ===``, the user turn. Rules come first and
the item last, so that a server can cache what does not change. Judged text is untrusted: it travels as JSON between tags
whose random mark is derived from the study's seed and the content itself, so that it differs for every item, cannot be
known to the author of the text, and is the same in every run (a stored reply is found again).
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2.meta

from regatta_lib.base import canonical_json, sha256
from regatta_lib.models import Schema

VERSION = "1"
TEMPLATES = Path(__file__).with_name("templates")
USER = "\n=== user ===\n"
MARK_LENGTH = 16
SHORTEST = 20
CHARACTERS_PER_WORD = 10
SCHEMA_BOUNDS = ("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems")


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt: the template's name, the system and user turns, and the JSON schema of the reply (or none).

    The schema is stated with its bounds (lengths, numbers, items); a role that is not ``bounded`` sends it without.
    """

    name: str
    system: str
    user: str
    schema: Schema | None = None


def closed(properties: dict[str, Schema]) -> Schema:
    """The JSON schema of an object with exactly these properties."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def text(words: int) -> Schema:
    """The JSON schema of a text of at most so many words, counted in characters and generously; not empty either."""
    return {"type": "string", "minLength": SHORTEST, "maxLength": CHARACTERS_PER_WORD * words}


def without_bounds(schema: object) -> object:
    """A JSON schema without its bounds: what every provider's structured output takes, as some refuse any bound."""
    if isinstance(schema, dict):
        return {name: without_bounds(value) for name, value in schema.items() if name not in SCHEMA_BOUNDS}
    return [without_bounds(value) for value in schema] if isinstance(schema, list) else schema


def data_text(value: object) -> str:
    """JSON in which no tag can appear: ``<`` is written as an escape, so data cannot close its block."""
    return json.dumps(value, ensure_ascii=False, indent=1).replace("<", "\\u003c")


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(TEMPLATES, encoding="utf-8")
    environment = jinja2.Environment(
        loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["data"] = data_text
    return environment


def render(name: str, schema: Schema | None = None, /, **values: object) -> Prompt:
    """Fill in a template. Raises jinja2.UndefinedError for a value the template needs and does not get."""
    system, _, user = _environment().get_template(f"{name}.txt").render(**values).partition(USER)
    return Prompt(name, system.strip(), user.strip(), schema)


def mark(seed: int, *content: object) -> str:
    """The random mark around judged content: hexadecimal digits that depend on the seed and on all of the content."""
    return sha256(canonical_json([seed, *content]))[:MARK_LENGTH]


def digest(name: str) -> str:
    """SHA-256 over a template and the parts it includes, in the order in which they are included."""
    source = (TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")
    parts = jinja2.meta.find_referenced_templates(_environment().parse(source))
    return sha256("\0".join([source, *(TEMPLATES.joinpath(str(part)).read_text(encoding="utf-8") for part in parts)]))
