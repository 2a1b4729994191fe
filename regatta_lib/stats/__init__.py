"""Statistics that know no study: resampling, agreement of raters, and what a printed rate or kappa can come from."""

from regatta_lib.stats.agreement import cohen_kappa, compare_judges, percent_agreement, rater_agreement, stage_coefficients
from regatta_lib.stats.consistency import CLAIM_TABLE, OUTCOME_COLUMNS, check_claims, parse, readings, tables_with_kappa
from regatta_lib.stats.reconstruction import adjudication, probes
from regatta_lib.stats.resampling import (
    Bootstrap,
    Floats,
    Numbers,
    adjusted_p,
    basic_interval,
    bca_interval,
    exact_interval,
    exact_mcnemar,
    kendall_tau,
    monte_carlo_p,
    percentile_interval,
    resampled_sums,
    rescaled_weights,
    seeded,
    spearman,
    stratified_sums,
)

__all__ = [
    "CLAIM_TABLE", "OUTCOME_COLUMNS", "Bootstrap", "Floats", "Numbers", "adjudication", "adjusted_p", "basic_interval",
    "bca_interval", "check_claims", "cohen_kappa", "compare_judges", "exact_interval", "exact_mcnemar", "kendall_tau",
    "monte_carlo_p", "parse", "percent_agreement", "percentile_interval", "probes", "rater_agreement", "readings",
    "resampled_sums", "rescaled_weights", "seeded", "spearman", "stage_coefficients", "stratified_sums", "tables_with_kappa"
]  # fmt: skip
