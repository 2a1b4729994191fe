"""Absolute paths of the repository. Constants only: importing this module creates nothing."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARAMS = ROOT / "params.yaml"
NOTEBOOKS = ROOT / "notebooks"
EXECUTED = NOTEBOOKS / "executed"
DATA = ROOT / "data"
INSTRUMENTS = DATA / "instruments"
RECORD = DATA / "record"
REFERENCE = DATA / "reference"
SUITES = DATA / "suites"
EPISODES = DATA / "episodes"
VERDICTS = DATA / "verdicts"
TRANSCRIPTS = DATA / "transcripts"
EXCHANGE = DATA / "exchange"
SCORES = DATA / "scores"
TABLES = DATA / "tables"
VERIFICATION = DATA / "verification"
FIGURES = ROOT / "figures"
PAPER = ROOT / "paper"
