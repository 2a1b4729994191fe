"""Verdicts: what the judges said. The historical study replays the released ones in the form live studies produce."""

import pandas as pd

from regatta_lib.contracts import VERDICTS


def replay(record: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The verdicts of the released record as one table with the columns of ``records.Verdict``.

    The release scanned each target until the first success, so there is one row per suite and target; ``scenario`` is
    the first that succeeded, where the release names it (it does for faults, not for coverage).
    """
    faults = record["faults"]
    parts = [
        record["coverage"].rename(columns={"requirement_id": "target", "covered": "value"}).assign(judge="coverage"),
        faults.rename(columns={"fault_id": "target", "stage": "judge", "detected": "value"}).assign(
            arm=faults["stage"].map({"design": "", "execution": "joint"})
        ),
        record["specificity"].rename(columns={"score": "value"}).assign(judge="specificity"),
        record["adversarial"].rename(columns={"category": "target", "covered": "value"}).assign(judge="adversarial"),
    ]
    verdicts = pd.concat(parts, ignore_index=True).assign(draw=1, state="answered")
    verdicts = verdicts.fillna({"target": "", "arm": ""})
    return verdicts[VERDICTS.columns].sort_values(list(VERDICTS.key), na_position="first", ignore_index=True)
