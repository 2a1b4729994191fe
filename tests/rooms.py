"""What a source file reaches: the rooms it imports, and the rooms those import in turn. Needs nothing of the library."""

import ast
import json
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("regatta_lib", "regatta")
ROOMS = [f"{package}.{path.parent.name}" for package in PACKAGES for path in sorted((ROOT / package).glob("*/__init__.py"))]


def imports(source: str) -> set[str]:
    """The modules and names that a source imports from our packages, as dotted names; those inside functions too."""
    tree = compile(source, "source", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] in PACKAGES}
    return found


def rooms_in(source: str) -> set[str]:
    """The rooms that a source imports itself."""
    return {".".join(name.split(".")[:2]) for name in imports(source)} & set(ROOMS)


@cache
def rooms_of(room: str) -> frozenset[str]:
    """The rooms that the modules of a room import themselves."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / room.replace(".", "/")).glob("*.py")]
    return frozenset(set().union(*map(rooms_in, sources)) - {room})


def reached(source: str) -> set[str]:
    """The rooms that a source reaches: those it imports, and whatever these import."""
    found: set[str] = set()
    waiting = rooms_in(source)
    while waiting:
        room = waiting.pop()
        found.add(room)
        waiting |= rooms_of(room) - found
    return found


def code_of(notebook: Path) -> str:
    """The code of a notebook, all cells below each other."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
