"""Add a cell: scaffold its files, check them, freeze their hashes."""

from regatta.cells.check import FROZEN, cell_violations, freeze, scaffold

__all__ = ["FROZEN", "cell_violations", "freeze", "scaffold"]
