"""A team's own suite: read it in the formats people keep, and hold it against the instruments of a cell."""

from regatta.own_suite.evaluation import NO_PASS_MARK, alarm_lines, case_lines, gap_lines, scenarios, shown_vector, vector
from regatta.own_suite.importers import mapping_of, read_suite

__all__ = [
    "NO_PASS_MARK", "alarm_lines", "case_lines", "gap_lines", "mapping_of", "read_suite", "scenarios", "shown_vector",
    "vector"
]  # fmt: skip
