"""The historical study and constructed verdicts, for tests. Frames are made once and copied on every call."""

from functools import cache

import pandas as pd

from regatta_lib.base import paths
from regatta_lib.instruments import INDEX_TABLE
from regatta_lib.measures import read_record, resampled_counts, scores, tables, verdicts

RESAMPLES = 2_000
COLUMNS = ["suite_id", "judge", "target", "arm", "draw", "scenario", "state", "value"]


@cache
def _verdicts() -> pd.DataFrame:
    return verdicts.replay_record(read_record(paths.RECORD))


@cache
def _pairs() -> pd.DataFrame:
    return scores.stage_pairs(_verdicts(), the_index())


@cache
def _scores() -> pd.DataFrame:
    return scores.suite_scores(_verdicts())


@cache
def the_index() -> pd.DataFrame:
    return INDEX_TABLE.read(paths.INSTRUMENTS / "index.csv")


def the_verdicts() -> pd.DataFrame:
    return _verdicts().copy()


def the_pairs() -> pd.DataFrame:
    return _pairs().copy()


def the_scores() -> pd.DataFrame:
    return _scores().copy()


def suite(number: int, generator: str = "sonnet4", cell: str = "us_insurance") -> str:
    return f"{generator}.S1.{cell}.r{number}"


def verdict(suite_id, judge, target, arm, value, draw=1, scenario=1, state="answered") -> dict:
    row = (suite_id, judge, target, arm, draw, scenario, state, value)
    return dict(zip(COLUMNS, row, strict=True))


def table(rows: list[dict]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS).astype({"scenario": "Int64", "value": "Int64"})


def the_table3(bootstrap):
    """Table III of the historical study, by generator."""
    pairs = the_pairs()
    return tables.table3(pairs, resampled_counts(pairs, bootstrap), bootstrap.level).set_index("generator")
