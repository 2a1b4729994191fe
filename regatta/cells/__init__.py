"""Add a cell: scaffold its files, check them, freeze their hashes."""

from regatta.cells.check import FROZEN, freeze, scaffold, violations

__all__ = ["FROZEN", "freeze", "scaffold", "violations"]
