"""Optional packages: which extra of ``pip install 'regatta[…]'`` brings a module that is missing."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, metadata
from types import ModuleType

IMPORTED = {"beautifulsoup4": "bs4"}
"""Packages imported by another name than their own, with _ for -: nothing tells the name while a package is missing."""


def module_of(package: str) -> str:
    """The top-level module of a package that an extra names."""
    return IMPORTED.get(package, package.lower().replace("-", "_"))


def extras_with(module: str) -> list[str]:
    """The extras of pyproject.toml that bring a top-level module, as declared there; empty for any other module.

    They are read from the metadata of the installation. The core belongs to no extra.
    """
    from packaging.requirements import Requirement  # verification runs without it

    try:
        about = metadata("regatta")
    except PackageNotFoundError:
        return []
    requirements = [Requirement(text) for text in about.get_all("Requires-Dist") or []]
    markers = [each.marker for each in requirements if each.marker and module_of(each.name) == module]
    declared = about.get_all("Provides-Extra") or []
    return [extra for extra in declared if any(marker.evaluate({"extra": extra}) for marker in markers)]


def hint(module: str) -> str | None:
    """One line that names a missing module and its extra; None where no extra brings it.

    A submodule has no extra: where it is missing, its package is there and broken.
    """
    extras = extras_with(module)
    if not extras:
        return None
    names = " or ".join(f"'{extra}'" for extra in extras)
    commands = " or ".join(f"pip install 'regatta[{extra}]'" for extra in extras)
    return f"{module} is not installed; it comes with the extra {names}: {commands}"


def optional(module: str) -> ModuleType:
    """Import a top-level module that an extra brings. Raises ModuleNotFoundError of one line that names the extra."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (text := hint(error.name or "")) is None:
            raise
        raise ModuleNotFoundError(text, name=error.name) from None
