"""What is drawn: the figures of the paper, of the diagnostics and of the audit."""

from regatta_lib.present.audit_figure import figure_audit
from regatta_lib.present.diagnostic_figures import cost_by_quality, difficulty_curve, execution_profiles
from regatta_lib.present.figures import figure1, figure2, save

__all__ = ["cost_by_quality", "difficulty_curve", "execution_profiles", "figure1", "figure2", "figure_audit", "save"]
