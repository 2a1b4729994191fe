"""A team's own suite: read it in the formats people keep, and hold it against the instruments of a cell."""

from regatta.own_suite.evaluation import Evaluation, Measured, deal_suite, measure_suite, prepare, replay, shown_vector
from regatta.own_suite.importers import mapping_of, read_suite

__all__ = [
    "Evaluation", "Measured", "deal_suite", "mapping_of", "measure_suite", "prepare", "read_suite", "replay", "shown_vector"
]  # fmt: skip
