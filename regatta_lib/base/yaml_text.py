"""YAML within bounds, and YAML with its scalars kept as written, for files of unknown origin.

Kept as written, ``no``, ``010``, ``1e-5`` and ``12:30`` stay texts, and only mappings, lists and texts are built, whatever
tags a file names. Depth, aliases, and what grows large through aliases are bounded before anything is built.
"""

import re
from dataclasses import dataclass

import yaml
from yaml.constructor import SafeConstructor

DEPTH = 40
NODES = 500_000
MOST_ALIASES = 1_000


class _AsWritten(yaml.CSafeLoader):
    """Builds mappings, lists and texts, nothing else: a scalar is the text that stands there. Merge keys work."""


_AsWritten.yaml_implicit_resolvers = {"<": [("tag:yaml.org,2002:merge", re.compile(r"^<<$"))]}
_AsWritten.yaml_constructors = {
    tag: build
    for tag, build in SafeConstructor.yaml_constructors.items()
    if tag is None or tag.rpartition(":")[2] in ("str", "map", "seq")
}


def as_written(text: str) -> tuple[object, yaml.Node | None]:
    """The value of a YAML text, and the node it was built from, which knows the lines. Raises yaml.YAMLError."""
    check_events(text)
    loader = _AsWritten(text)
    node = loader.get_single_node()
    return (loader.construct_document(node) if node else None), node


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end is still to come: its anchor, its nodes so far, and, in a mapping, the keys so far."""

    anchor: str | None
    keys: set[str] | None
    nodes: int = 1
    at_key: bool = True


def check_events(text: str) -> None:
    """Refuse deep nesting, many aliases, what grows large through them, and keys given twice. Raises yaml.YAMLError."""
    opened: list[_Open] = []
    sizes: dict[str, int] = {}
    scalars: dict[str, str] = {}
    aliases = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        nodes, key = 1, None
        if isinstance(event, yaml.ScalarEvent):
            key = event.value
            if event.anchor:
                sizes[event.anchor], scalars[event.anchor] = 1, key
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            opened.append(_Open(event.anchor, set() if isinstance(event, yaml.MappingStartEvent) else None))
            if len(opened) > DEPTH:
                raise yaml.YAMLError(f"nested more than {DEPTH} deep")
            continue
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
            if aliases > MOST_ALIASES or event.anchor not in sizes:
                raise yaml.YAMLError(f"more than {MOST_ALIASES:,} aliases, or one to something unfinished: *{event.anchor}")
            nodes, key = sizes[event.anchor], scalars.get(event.anchor)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            ended = opened.pop()
            nodes = ended.nodes
            if ended.anchor:
                sizes[ended.anchor] = nodes
        else:
            continue
        if opened:
            around = opened[-1]
            around.nodes += nodes
            if around.nodes > NODES:
                raise yaml.YAMLError(f"more than {NODES:,} values")
            if around.keys is not None:
                if around.at_key and key is not None:
                    if key in around.keys:
                        line = event.start_mark.line + 1 if event.start_mark else "unknown"
                        raise yaml.YAMLError(f"line {line}: key {key!r} occurs twice")
                    around.keys.add(key)
                around.at_key = not around.at_key
