"""Shared runs of words between two texts: a test of independence, and of not having copied."""

import re
from collections.abc import Iterable

LENGTH = 8
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def runs(text: str, length: int = LENGTH) -> set[tuple[str, ...]]:
    """All runs of ``length`` words in a text, in lower case and without punctuation."""
    words = [word.lower().replace("’", "'") for word in WORD.findall(text)]
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


def shared_runs(text: str, others: Iterable[str], length: int = LENGTH) -> list[str]:
    """The runs of ``length`` words that a text shares with any other, sorted."""
    own = runs(text, length)
    return sorted({" ".join(run) for other in others for run in own & runs(other, length)})
