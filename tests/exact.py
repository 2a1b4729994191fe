"""The 2,835 reference values a second time: plain Python, exact fractions, nothing of the library.

Reads the five record tables and the index of instruments with ``csv`` alone. Run as a program it prints the reference
file: ``python tests/exact.py > data/reference/reference_values.csv`` is how the file was pinned, by hand, once.
"""

import csv
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAGES = {"design": "stage_a", "execution": "stage_b"}
SUFFIX = {"sonnet4": "", "qwen72b": "_qwen_2_5_72b", "gemma26b": "_gemma_4_26b_a4b_it"}
STRATEGY = {"S1": "G1_baseline", "S2": "G2_persona", "S3": "G3_rag", "S4": "G4_ontology"}
CELL = {
    "us_fintech": "fintech",
    "us_insurance": "insurance",
    "us_healthcare": "healthcare",
    "vn_banking": "banking_vn",
    "vn_insurance": "insurance_vn",
}
STORED = {
    "rc": "rc_score",
    "fdr_design": "fdr_design",
    "fdr_execution": "fdr_execution",
    "iss": "iss_mean",
    "ac": "ac.ac_score",
}


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def mean(values):
    values = list(values)
    return sum(map(Fraction, values)) / len(values)


def collect(record, index):
    """Per suite: its parts, and the lists of 0/1 verdicts and Likert scores, all as integers."""
    category = {row["item"]: row["category"] for row in rows(index) if row["role"] == "fault"}
    suites = {row["suite_id"]: row for row in rows(record / "suites.csv")}
    data = {suite: {"rc": [], "iss": [], "ac": [], "design": {}, "execution": {}} for suite in suites}
    for row in rows(record / "coverage.csv"):
        data[row["suite_id"]]["rc"].append(int(row["covered"]))
    for row in rows(record / "specificity.csv"):
        data[row["suite_id"]]["iss"].append(int(row["score"]))
    for row in rows(record / "adversarial.csv"):
        data[row["suite_id"]]["ac"].append(int(row["covered"]))
    for row in rows(record / "faults.csv"):
        data[row["suite_id"]][row["stage"]][category[row["fault_id"]]] = int(row["detected"])
    return suites, data, category


def exact_values(record, index):
    """{key: (exact value, where it comes from)} for all reference values."""
    suites, data, category = collect(record, index)
    fault_categories = sorted(set(category.values()))
    values = {}

    def release_place(suite, kind, field):
        part = suites[suite]
        name = f"{STRATEGY[part['strategy']]}_{CELL[part['cell']]}_rep{part['replication']}"
        return f"release results/{kind}_results{SUFFIX[part['generator']]}.json {name} {field}"

    measures = {
        "rc": lambda d: mean(d["rc"]),
        "fdr_design": lambda d: mean(d["design"].values()),
        "fdr_execution": lambda d: mean(d["execution"].values()),
        "iss": lambda d: mean(d["iss"]),
        "ac": lambda d: mean(d["ac"]),
    }
    score = {(suite, name): formula(data[suite]) for suite in suites for name, formula in measures.items()}
    for (suite, name), value in score.items():
        kind = "fdr" if name.startswith("fdr") else "coverage"
        values[f"suite/{suite}/{name}"] = value, release_place(suite, kind, STORED[name])
    for suite, stage in product(suites, STAGES):
        for name, detected in data[suite][stage].items():
            values[f"suite/{suite}/{stage}/{name}"] = (
                Fraction(detected),
                release_place(suite, "fdr", f"{STAGES[stage]} {name}"),
            )

    for generator in SUFFIX:
        own = [suite for suite in suites if suites[suite]["generator"] == generator]
        for name, stage in product(fault_categories, STAGES):
            rate = mean(data[suite][stage][name] for suite in own)
            values[f"table2/{generator}/{name}/{stage}"] = rate, "record faults.csv: detected / suites"

        pairs = [(data[s]["design"][c], data[s]["execution"][c]) for s in own for c in fault_categories]
        n = len(pairs)
        design, execution = mean(d for d, _ in pairs), mean(e for _, e in pairs)
        margins = []
        for cell, name in product(CELL, fault_categories):
            own_pairs = [(data[s]["design"][name], data[s]["execution"][name]) for s in own if suites[s]["cell"] == cell]
            d, e = mean(d for d, _ in own_pairs), mean(e for _, e in own_pairs)
            margins.append(mean(a == b for a, b in own_pairs) - (d * e + (1 - d) * (1 - e)))
        table3 = {
            "n11": (Fraction(pairs.count((1, 1))), "both stages detect"),
            "n10": (Fraction(pairs.count((1, 0))), "design stage alone detects"),
            "n01": (Fraction(pairs.count((0, 1))), "execution stage alone detects"),
            "n00": (Fraction(pairs.count((0, 0))), "neither stage detects"),
            "fdr_design": (design, "p_d = (n11 + n10) / n"),
            "fdr_execution": (execution, "p_e = (n11 + n01) / n"),
            "delta": (design - execution, "p_d - p_e"),
            "agreement": (Fraction(pairs.count((1, 1)) + pairs.count((0, 0)), n), "(n11 + n00) / n"),
            "pooled_chance": (design * execution + (1 - design) * (1 - execution), "p_d p_e + (1 - p_d)(1 - p_e)"),
            "per_fault_margin": (mean(margins), "mean over faults of agreement - chance"),
        }
        for name, (value, how) in table3.items():
            values[f"table3/{generator}/{name}"] = value, f"record faults.csv: {how}"

        for strategy, name in product(STRATEGY, measures):
            part = [score[s, name] for s in own if suites[s]["strategy"] == strategy]
            values[f"table4/{generator}/{strategy}/{name}"] = mean(part), "record: mean over the strategy's suites"
        for cell in CELL:
            part = [score[s, "rc"] for s in own if suites[s]["cell"] == cell]
            values[f"cells/{generator}/{cell}/rc"] = mean(part), "record coverage.csv: mean over the cell's suites"
    return values


if __name__ == "__main__":
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["key", "value", "source"])
    pinned = exact_values(ROOT / "data/record", ROOT / "data/instruments/index.csv")
    writer.writerows([key, float(value), source] for key, (value, source) in sorted(pinned.items()))
