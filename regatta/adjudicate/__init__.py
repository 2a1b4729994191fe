"""Sheets for human adjudicators: draw a blinded sample of verdicts, and score what comes back."""

from regatta.adjudicate.workflow import draw, score

__all__ = ["draw", "score"]
