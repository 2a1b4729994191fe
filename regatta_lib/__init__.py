"""REGATTA: measure test suites for enterprise agents against source-cited requirements and seeded faults.

The library that the notebooks call. Each room is a package; import from the room, not from its modules:

    base         paths, files, digests, parameters, the mechanism of tables, shared nouns
    stats        resampling, agreement of raters, what a printed rate or kappa can come from
    instruments  requirements, faults, ontology and documents of a cell; source audit, holdout, witnesses
    measures     verdicts, scores, Tables I to IV, diagnostics V1 to V4, arms, cost
    present      the figures
    report       the numbers that the report quotes, and its PDF
    reproduce    reference values, verification, the stage runner
    models       one call to whoever answers it: live, exchange, replay; what it costs
    studies      suites, episodes, judges and rulings of a study, and its files

A room imports only rooms above it; ``models`` knows no instrument, measure or study. pyproject.toml holds the rule.
"""
