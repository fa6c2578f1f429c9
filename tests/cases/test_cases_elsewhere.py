"""Where each case is tested that is not tested in this folder, and which are not in this release.

A case whose number is in the name of a test in this folder (``test_c05_…``) needs no entry; one that has both is tested
here through the programs and there in the small. What is named here must exist, and every case must be somewhere.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CASES = Path(os.environ.get("PENMARK_SHARED", Path(__file__).parents[3] / "shared")) / "research" / "cases.md"

ELSEWHERE = {
    # keys, money, transport
    "C01": ["stages/scan/test_vendors.py::test_a_key_that_is_missing_is_told_before_anything_is_sent_and_only_where_it_is_needed",
            "stages/generate/test_run.py::test_keys_of_models_that_are_not_asked_are_never_touched"],
    "C22": ["cards/test_bands.py::test_an_answer_that_says_so_holds_nothing",
            "shipped/detectors/test_vendor_http.py::test_what_an_answer_means"],
    "C26": ["stages/scan/test_vendors.py::test_prices_are_rounded_per_text_as_the_vendor_does_it",
            "stages/scan/test_vendors.py::test_a_budget_is_a_hard_stop_before_the_call_that_would_exceed_it"],
    "C27": ["testing/doubles/test_doubles.py::test_winston_counts_for_the_human_and_zerogpt_in_nine_steps"],
    "C28": ["cards/test_bands.py::test_an_asterisk_stands_for_numbers_and_is_none",
            "cards/test_bands.py::test_what_else_turnitin_shows"],
    "C30": ["stages/scan/test_crash.py::test_kill_9_at_any_moment",
            "stages/scan/test_crash_states.py::test_every_state_that_a_crash_can_leave_goes_on_to_the_same_end"],
    "C31": ["stages/scan/test_scan.py::test_only_failures_in_transport_are_tried_again"],
    "C33": ["stages/scan/test_vendors.py::test_an_outage_does_not_eat_the_corpus"],
    # models that write
    "C38": ["stages/generate/test_acceptance_rules.py::test_a_text_and_the_gates_that_it_does_not_pass",
            "stages/generate/test_run.py::test_the_wording_of_a_refusal_is_marked_and_a_person_decides"],
    "C40": ["stages/generate/test_acceptance_rules.py::test_a_finish_reason_that_says_cut_counts_whatever_the_end_looks_like"],
    "C41": ["shipped/generators/test_providers.py::test_a_model_that_takes_no_temperature",
            "stages/generate/test_run.py::test_a_promised_temperature_is_sent_to_all_and_a_default_to_none"],
    # texts
    "C43": ["shipped/sources/test_dataset.py::test_a_page_that_was_modified_later_is_no_proof",
            "shipped/sources/test_web_archive.py::test_a_date_in_the_address_or_the_text_is_no_evidence"],
    "C45": ["shipped/sources/test_unreadable.py::test_in_a_folder_and_a_table_everything_is_told"],
    "C47": ["text/test_words.py::test_dash_joins_near_the_limit",
            "stages/screen/test_screening.py::test_word_limits_and_their_margin"],
    "C48": ["text/test_words.py::test_distance_of_one_word_in_four_hundred",
            "corpus/test_provenance.py::test_the_budget_is_exact"],
    "C50": ["forgeries/test_hostile.py::test_sums_with_every_line_end_turned"],
    "C52": ["stages/screen/test_screening.py::test_nothing_of_a_withheld_text_is_public"],
    "C53": ["stages/withdraw/test_withdraw.py::test_after_publication"],
    # tables and pages
    "C12": ["stages/score/test_edition_warnings.py::test_one_score_for_all_is_uninformative_and_not_inverted"],
    "C20": ["stages/score/test_edition_warnings.py::test_a_direction_that_looks_inverted"],
    "C34": ["statistics/test_wilson.py::test_expected_bounds_stay_inside", "statistics/test_wilson.py::test_every_expected_row"],
    "C36": ["stages/verify/test_check8_page.py::test_every_digit_of_the_page_is_held_to_its_place"],
    "C56": ["format/test_show_figures.py::test_a_percentage_is_never_made_certain_by_rounding",
            "statistics/test_wilson.py::test_six_never_rounds_to_certainty"],
    "C57": ["cli/test_init.py::test_the_quarter_of_a_day", "protocol/test_protocol.py::test_quarters"],
    "C58": ["stages/record/test_record.py::test_a_second_final_reading_is_a_fault_even_if_equal"],
}  # fmt: skip
"""Case -> tests outside of this folder."""

LATER = {
    "C11": "no threshold is searched for: only the vendor's own boundary counts (RAID's evaluation is not in this release)",
    "C59": "paired tests belong to the seeded analysis, which is not in this release",
    "C61": "the checklist for audit articles is not in this release",
    "C62": "the checklist for audit articles is not in this release",
    "C63": "the checklist for audit articles is not in this release",
    "C64": "the checklist for audit articles is not in this release",
}
"""Case -> why it is not in this release."""

_INTERVALS = "statistics/test_wilson.py"
_HERE = "cases/test_expected_values.py"
_ANALYSIS = "not in this release: resampling, tests and metrics belong to the seeded analysis"
_AUDIT = "not in this release: the checklist for audit articles"
ROWS = {
    "wilson95": f"{_INTERVALS}::test_every_expected_row",
    "wilson95_bounds": f"{_INTERVALS}::test_expected_bounds_stay_inside",
    "wilson95_z1.96": f"{_INTERVALS}::test_a_rounded_z_agrees_to_two_decimals_of_a_percent",
    "NOT_wilson_lookalikes": f"{_INTERVALS}::test_it_is_none_of_the_intervals_that_look_like_it",
    "zero_events_upper": f"{_HERE}::test_no_flag_at_all_bounds_the_rate_from_above",
    "sample_size_zero_events": f"{_HERE}::test_how_many_texts_without_a_flag_a_bound_takes",
    "readme_rate_consistency": f"{_HERE}::test_what_a_claimed_accuracy_would_imply",
    "mean_of_detectors": f"{_HERE}::test_flags_of_seven_detectors_are_not_that_many_essays",
    "impossible_rate": f"{_HERE}::test_a_rate_that_no_whole_number_of_texts_gives",
    "three_way_verdict": "cases/test_reading_answers.py::test_three_way_verdicts_are_counted_by_both_rules",
    "no_pooling": "cases/test_tables_and_pages.py::test_groups_are_printed_apart_and_the_pool_never_alone",
    "boundary": f"{_HERE}::test_what_is_displayed_is_what_is_compared",
    "edit_share": "cases/test_corpus.py::test_c48_edits_are_counted_in_words_and_held_to_the_budget_exactly",
    "edit_share_zero": "cases/test_corpus.py::test_c48_edits_are_counted_in_words_and_held_to_the_budget_exactly",
    "difflib_autojunk": "text/test_words.py::test_distance_of_one_word_in_four_hundred",
    "word_count": "text/test_words.py::test_words",
    "fingerprint_bytes": "text/test_words.py::test_digests_are_of_the_raw_bytes",
    "cluster_bootstrap": "stages/score/test_clustered_units.py::test_it_is_the_cluster_robust_variance",
    "cluster_robust_se": "stages/score/test_clustered_units.py::test_it_is_the_cluster_robust_variance",
    "accuracy_mix": "cases/test_tables_and_pages.py::test_no_figure_depends_on_the_mix_of_human_and_ai_texts",
    **dict.fromkeys(
        ["newcombe_diff95", "mcnemar_exact", "mcnemar_chi2_cc", "cohen_kappa", "sample_size_halfwidth", "fpr_resolution",
         "tpr_at_fpr_ties", "auc_on_hard_labels", "auc_constant", "c_at_1", "f05u", "multiple_comparisons", "familywise",
         "wilson_bonferroni"],
        _ANALYSIS,
    ),
    **dict.fromkeys(["ppv", "ppv_units", "ppv_interval"], _AUDIT),
}  # fmt: skip
"""Rows of the table of expected values, by name -> the test that covers them, or why none does."""


def functions(path: Path) -> set[str]:
    """The names of the tests in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@pytest.fixture(scope="module")
def here() -> set[str]:
    """The cases that a test of this folder names."""
    names = set().union(*(functions(path) for path in Path(__file__).parent.glob("test_*.py")))
    return {f"C{match[1]}" for name in names if (match := re.match(r"test_c(\d\d)_", name))}


def test_what_is_said_to_be_elsewhere_is_there() -> None:
    told = [each for several in ELSEWHERE.values() for each in several]
    told += [where for where in ROWS.values() if "::" in where]
    missing = [each for each in told if each.split("::")[1] not in functions(TESTS / each.split("::")[0])]
    assert missing == []


def test_every_case_is_somewhere(here: set[str]) -> None:
    if not CASES.is_file():
        pytest.skip("the list of cases is not here (PENMARK_SHARED)")
    listed = set(re.findall(r"^\*\*(C\d\d)\*\*", CASES.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(listed) > 50
    assert listed - here - ELSEWHERE.keys() - LATER.keys() == set()
    assert here <= listed  # no test names a case that there is not
    assert not here & LATER.keys()
