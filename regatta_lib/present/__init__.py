"""What is drawn or printed: the figures, and the report with its numbers."""

from regatta_lib.present.audit_figure import figure_audit
from regatta_lib.present.diagnostic_figures import cost_by_quality, difficulty_curve, execution_profiles
from regatta_lib.present.figures import figure1, figure2, save
from regatta_lib.present.report import numbers, numbers_text, pdf

__all__ = [
    "cost_by_quality", "difficulty_curve", "execution_profiles", "figure1", "figure2", "figure_audit", "numbers",
    "numbers_text", "pdf", "save"
]  # fmt: skip
