"""What the documents say about the structure, made from the folders, the docstrings, the import contracts and dvc.yaml."""

import ast
import re
import tomllib
from pathlib import Path

from rooms import PACKAGES, ROOMS, ROOT
from ruamel.yaml import YAML


def contracts() -> list[dict]:
    """The import contracts of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]


def heights(contract: dict, container: str) -> dict[str, int]:
    """The rooms of a contract of layers, from the lowest up; rooms of one layer have the same height."""
    layers = reversed(contract["layers"])
    return {f"{container}.{room}": height for height, layer in enumerate(layers) for room in layer.split(" | ")}


def within(name: str, modules: list[str]) -> bool:
    return any(f"{name}.".startswith(f"{module}.") for module in modules)


def forbids(contract: dict, importer: str, imported: str) -> bool:
    """Whether a contract forbids that one room imports the other."""
    if contract["type"] == "layers":
        orders = [heights(contract, container) for container in contract["containers"]]
        return any({importer, imported} <= order.keys() and order[importer] <= order[imported] for order in orders)
    if contract["type"] == "forbidden":
        return within(importer, contract["source_modules"]) and within(imported, contract["forbidden_modules"])
    if contract["type"] == "independence":
        return {importer, imported} <= set(contract["modules"])
    if contract["type"] == "acyclic_siblings":
        return False
    raise ValueError(f"pyproject.toml: contract {contract['id']} has type {contract['type']}, which no map is made from")


def may_import(room: str, rules: list[dict]) -> list[str]:
    """The other rooms that a room may import, in the order of ``ordered``."""
    others = [other for other in ordered(rules) if other != room]
    return [other for other in others if not any(forbids(rule, room, other) for rule in rules)]


def ordered(rules: list[dict]) -> list[str]:
    """All rooms, the library's first and each package from its lowest layer up. ValueError where one is in no layer."""
    layered = [rule for rule in rules if rule["type"] == "layers"]
    found = {}
    for package in PACKAGES:
        for rule in layered:
            if package in rule["containers"]:
                found |= heights(rule, package)
    for room in sorted(found.keys() ^ set(ROOMS)):
        lack = "has no folder" if room in found else "is in no contract of layers"
        raise ValueError(f"pyproject.toml: {room} {lack}")
    return sorted(found, key=lambda room: (PACKAGES.index(room.split(".")[0]), found[room], room))


def docstring(package: str) -> str:
    """The docstring of a package or a room, without importing it."""
    return ast.get_docstring(ast.parse((ROOT / package.replace(".", "/") / "__init__.py").read_text("utf-8")))


def shown(room: str, others: list[str]) -> str:
    """Rooms as a cell of the map; the whole library in two words."""
    library = [other for other in ROOMS if other.startswith("regatta_lib.")]
    whole = set(library) <= set(others)
    named = [other for other in others if not (whole and other in library)]
    names = ["the library"] * whole + [f"`{other.split('.')[1]}`" for other in named]
    return ", ".join(names) or "no other room"


def room_table(rules: list[dict] | None = None) -> str:
    """room | what it holds | may import, for both packages, as Markdown."""
    rules = contracts() if rules is None else rules
    lines = ["| room | what it holds | may import |", "| --- | --- | --- |"]
    for room in ordered(rules):
        holds = " ".join(docstring(room).partition("\n\n")[0].split())
        lines.append(f"| `{room.replace('.', '/')}` | {holds} | {shown(room, may_import(room, rules))} |")
    return "\n".join(lines)


def contract_list() -> str:
    """The names of the contracts, as Markdown."""
    return "\n".join(f"- {contract['name']}." for contract in contracts())


def gathered(files: list[str]) -> str:
    """Paths in one cell: three or more of a folder are the folder and their number."""
    folders: dict[str, list[str]] = {}
    for file in files:
        folders.setdefault(str(Path(file).parent), []).append(file)
    cells = [
        [f"{folder} ({len(inside)} files)"] if len(inside) > 2 and folder != "data" else inside
        for folder, inside in folders.items()
    ]
    return ", ".join(name for group in cells for name in group)


def stage_table() -> str:
    """stage | reads | writes | rooms, from dvc.yaml, as Markdown."""
    stages = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    lines = ["| stage | reads | writes | rooms |", "| --- | --- | --- | --- |"]
    for name, stage in stages.items():
        rooms = [dep.partition("/")[2] for dep in stage["deps"] if dep.startswith("regatta_lib/")]
        code = ("notebooks", "regatta_lib", "requirements.lock")
        reads = [dep for dep in stage["deps"] if dep.partition("/")[0] not in code]
        entries = [*stage.get("outs", []), *stage.get("metrics", [])]
        files = [entry if isinstance(entry, str) else next(iter(entry)) for entry in entries]
        lines.append(f"| {name} | {gathered(reads)} | {gathered(files) or 'nothing'} | {', '.join(rooms)} |")
    return "\n".join(lines)


TABLES = {"rooms": room_table, "contracts": contract_list, "stages": stage_table}


def with_tables(text: str) -> str:
    """The architecture page with each part between markers as it should be."""
    for name, table in TABLES.items():
        body = f"<!-- {name}: begin -->\n\n{table()}\n\n<!-- {name}: end -->"
        text, count = re.subn(rf"<!-- {name}: begin -->.*?<!-- {name}: end -->", lambda _, body=body: body, text, flags=re.S)
        assert count == 1, name
    return text


def described(package: str) -> dict[str, str]:
    """What the docstring of a package says of each of its rooms."""
    return dict(re.findall(r"^ {4}(\w+) +(\S.*)$", docstring(package), re.M))


def with_tree(text: str) -> str:
    """README.md with the rooms of both packages in its tree, as the packages' docstrings describe them."""
    for package in PACKAGES:
        lines = "".join(f"  {room + '/':18}{what}\n" for room, what in described(package).items())
        put = rf"^({package}/ .*\n)(?: {{2}}\S.*\n)*"
        text, count = re.subn(put, lambda head, lines=lines: head[1] + lines, text, flags=re.M)
        assert count == 1, package
    return text


def tree(text: str) -> dict[str, str]:
    """The entries of README.md's tree with what is said of them: {path: text}."""
    (block,) = re.findall(r"^## What is here\n+```\n(.*?)^```", text, re.M | re.S)
    entries, folder = {}, ""
    for line in block.splitlines():
        name, _, what = line.strip().partition(" ")
        folder = folder if line.startswith(" ") else name
        entries[folder + name if line.startswith(" ") else name] = what.strip()
    return entries
