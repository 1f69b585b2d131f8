"""Sweeps of `compare`: the best value of each setting, by how much, and settings without an effect."""

import dataclasses
import math
from itertools import product

import pytest
import sledlab as sl
from sledlab.display import find_presentation
from sledlab.show.document import Grid, Heading, Text
from sledlab.studies.compare import summary
from sledlab.studies.compare.sweep import sweeps
from sledlab.studies.compare.tables import Comparison
from sledlab.studies.races import rows as race_rows
from sledlab.study.measure import RunFigures, SystemRun

DEFAULT_RESULTS = {
    field.name: {"counts": {}, "idle_periods": None, "saturated": False}.get(field.name, 0.5)
    for field in dataclasses.fields(RunFigures)
}

NOISE = (0.0, 0.3, -0.3)
"""Relative differences between seeds, the same for all runs."""


def synthetic_comparison(
    vary, mean_ms, *, schedulers=("sptf",), speedups=(1.0,), seeds=3, is_overloaded=lambda **_: False
) -> Comparison:
    """A comparison whose runs have the mean response time that a function of their settings returns."""
    pairs = []
    for name, speedup, values in product(schedulers, speedups, product(*vary.values())):
        settings = dict(zip(vary, values, strict=True))
        for seed in range(seeds):
            options = {"scheduler": name, "speedup": speedup, "seed": seed, **settings}
            base_ms = mean_ms(**{key.rpartition(".")[2]: value for key, value in options.items()})
            is_saturated = is_overloaded(**{key.rpartition(".")[2]: value for key, value in options.items()})
            row = RunFigures(
                **{
                    **DEFAULT_RESULTS,
                    "mean_ms": base_ms * (1 + NOISE[seed]),
                    "requests": 100,
                    "saturated": is_saturated,
                }
            )
            competitor = race_rows.Competitor({"scheduler": name}, speedup, settings)
            pairs.append((race_rows.RaceRun(competitor, seed, row), SystemRun(row, {})))
    pairs.sort(key=lambda pair: (*pair[0].who.keys, pair[0].seed))
    config = {"workload": {"kind": "uniform"}, "device": {"name": "mems-g2"}, "replay": {}}
    axes = {"scheduler": schedulers, "speedup": speedups, "vary": vary}
    return Comparison(*race_rows.build_tables(pairs), config, axes, "seed = 1\n")


def answer_text(result: Comparison) -> str:
    """The answer with ordinary spaces."""
    return result.answer.replace("\xa0", " ")


TIPS = {"device.tips": [1, 2, 4]}
TWO_AXES = {"device.tips": [1, 2, 4], "device.spring": [0, 1]}


def test_best_value_is_compared_with_the_others():
    result = synthetic_comparison(TIPS, lambda tips, seed, **_: 4 / tips + 0.001 * seed)
    assert answer_text(result) == (
        "At the original rate, device.tips = 4 is best: 1.00 ± 0.75 ms on average, 50 % (±0.06) less than "
        "with 2 and 75 % (±0.05) less than with 1."
    )  # fmt: skip
    assert result.effects["value"].to_list() == ["2", "1"]
    assert result.effects["less"].to_list() == pytest.approx([0.5, 0.75], abs=1e-3)


def test_paired_seeds_detect_differences_that_separate_intervals_hide():
    result = synthetic_comparison(TIPS, lambda tips, **_: 1 + 0.01 * tips)
    assert "device.tips = 1 is best" in answer_text(result)
    half_width_ms = result.curves["mean_ci95_ms"].to_list()[0]
    assert half_width_ms > 0.5
    assert all(result.effects["differs"])


def test_intervals_that_include_zero_are_no_difference():
    result = synthetic_comparison(TIPS, lambda tips, seed, **_: 1 + 0.01 * ((tips + seed) % 3))
    assert result.answer.startswith("At the original rate, device.tips makes no difference: ")
    assert not any(result.effects["differs"])


def test_setting_without_effect_is_named():
    result = synthetic_comparison(TWO_AXES, lambda tips, **_: 1 / tips)
    assert "device.tips = 4 is best" in answer_text(result)
    assert answer_text(result).endswith("device.spring makes no difference.")


def test_setting_with_conditional_effect_has_an_effect():
    result = synthetic_comparison(TWO_AXES, lambda tips, spring, **_: 1 / tips if tips > 1 else 1 + spring)
    (sweep,) = sweeps(result)
    assert sweep.inert == []
    assert (
        "device.spring = 0: level with 1 here, but not with all values of the other settings."
        in answer_text(result)
    )


def test_several_settings_are_best_together():
    result = synthetic_comparison(TWO_AXES, lambda tips, spring, **_: 1 / tips + spring)
    assert "device.tips = 4 and device.spring = 0 are best together: 0.250 ± " in answer_text(result)
    assert "device.tips = 4: 50 % (±0) less than with 2 and 75 % (±0) less than with 1." in answer_text(
        result
    )


def test_one_seed_needs_two_percent():
    options = {"seeds": 1}
    assert "makes no difference" in answer_text(
        synthetic_comparison(TIPS, lambda tips, **_: 1 + 0.004 * tips, **options)
    )
    result = synthetic_comparison(TIPS, lambda tips, **_: 1 + 0.04 * tips, **options)
    assert "device.tips = 1 is best: 1.04 ms on average, 3.7 % less than with 2" in answer_text(result)
    assert answer_text(result).endswith("One seed: differences below 2 % count as none.")
    assert result.effects["less_ci95"].to_list() == [None, None]


def test_several_schedulers_are_an_axis():
    result = synthetic_comparison(
        TIPS, lambda tips, scheduler, **_: tips + (scheduler == "fcfs"), schedulers=("fcfs", "sptf")
    )
    assert "device.tips = 1 and scheduler = SPTF are best together" in answer_text(result)
    assert "scheduler = SPTF: 50 % (±0) less than with FCFS" in answer_text(result)


def test_page_says_that_capacity_changes_generated_addresses():
    sentence = "so a setting that changes it changes addresses."
    page_parts = summary.page(synthetic_comparison(TIPS, lambda tips, **_: 1 / tips)).parts
    assert any(isinstance(part, Text) and part.text.endswith(sentence) for part in page_parts)
    other_parts = summary.page(
        synthetic_comparison({"power.timeout_ms": [1, 2]}, lambda timeout_ms, **_: 1.0)
    ).parts
    assert not any(isinstance(part, Text) and part.text.endswith(sentence) for part in other_parts)


def test_overloaded_values_are_named_and_never_best():
    result = synthetic_comparison(TIPS, lambda tips, **_: 1 / tips, is_overloaded=lambda tips, **_: tips == 4)
    assert "device.tips = 2 is best" in answer_text(result)
    assert "overloaded with 4" in answer_text(result)
    all_overloaded = synthetic_comparison(TIPS, lambda tips, **_: 1 / tips, is_overloaded=lambda **_: True)
    assert all_overloaded.answer == "At the original rate, every combination is overloaded."


def test_loads_are_lightest_and_heaviest_sustained():
    result = synthetic_comparison(
        TIPS,
        lambda tips, speedup, **_: speedup / tips,
        speedups=(1.0, 2.0, 4.0),
        is_overloaded=lambda tips, speedup, **_: speedup == 4 and tips < 4,
    )
    assert [sweep.speedup for sweep in sweeps(result)] == [1.0, 2.0]
    assert "At 2 times the original rate, device.tips = 4 is best: 0.500 ± " in answer_text(result)


def test_requests_are_cases_and_not_choices():
    kinds = {"workload.kind": ["cello", "uniform"]}
    requests_only = synthetic_comparison(kinds, lambda kind, **_: len(kind))
    assert sweeps(requests_only) == []
    assert requests_only.answer.startswith("workload.kind = cello: At the original rate, SPTF answers in")
    result = synthetic_comparison({**kinds, **TIPS}, lambda kind, tips, **_: abs(len(kind) - 2 * tips) + 1)
    assert [sweep.case for sweep in sweeps(result)] == [
        (("workload.kind", kind),) for kind in kinds["workload.kind"]
    ]
    assert "workload.kind = cello: At the original rate, device.tips = 2 is best" in answer_text(result)


def test_many_values_are_not_all_listed():
    result = synthetic_comparison({"device.tips": list(range(1, 9))}, lambda tips, **_: tips)
    assert "50 % (±0) less than with 2, up to 88 % (±0) less than with 8." in answer_text(result)


def test_real_sweep_has_effects_everywhere():
    result = sl.compare(
        sl.workload("uniform"), "mems-g2", scheduler="sptf", speedup=[1], limit=300, seed="1..2", parallel=1,
        vary={"device.spring_factor": [0, 0.75], "device.active_tips": [640, 1280]},
    )  # fmt: skip
    assert result.effects.height == 2
    assert result.to_dict()["effects"] == result.effects.to_dicts()
    page = find_presentation(result).page(result)
    assert "Effect of each setting" in page
    labels = result.plot("effects").axes[0].get_yticklabels()
    names = [label.get_text().replace("\n", " ") for label in labels]
    assert names == [
        "best combination",
        "device.spring_factor = 0",
        f"device.active_tips = {result.effects['value'][1]}",
    ]
    assert len(result.plot(varied={"device.spring_factor": 0}).axes[0].get_yticklabels()) == 1
    assert result.plot("scv").axes
    assert result.answer.startswith("At the original rate, device.spring_factor = 0.75")
    assert math.isclose(result.effects["mean_ms"].min(), result.curves["mean_ms"].sort()[1])


def rows_of_terminal_table(result: Comparison) -> list[list[str]]:
    """The cells of the only table that a terminal shows, with its head."""
    (table,) = (part for part in find_presentation(result).brief(result) if isinstance(part, Grid))
    return [list(table.head), *map(list, table.rows)]


def test_grid_of_two_settings_is_one_table_with_the_best_cell_marked():
    result = synthetic_comparison(TWO_AXES, lambda tips, spring, **_: 8 / tips + spring, seeds=1)
    assert rows_of_terminal_table(result) == [
        ["device.tips", "0", "1"],
        ["1", "8.00", "9.00"],
        ["2", "4.00", "5.00"],
        ["4", "→ 2.00", "3.00"],
    ]


def test_grid_has_rows_for_each_load_and_marks_level_and_overloaded_cells():
    result = synthetic_comparison(
        TWO_AXES,
        lambda tips, spring, speedup, **_: (8 / tips + spring / 1000) * speedup,
        seeds=1,
        speedups=(1.0, 2.0),
        is_overloaded=lambda tips, speedup, **_: tips == 1 and speedup == 2,
    )
    assert rows_of_terminal_table(result) == [
        ["load", "device.tips", "0", "1"],
        ["×1", "1", "8.00", "8.00"],
        ["×1", "2", "4.00", "4.00"],
        ["×1", "4", "→ 2.00", "≈ 2.00"],
        ["×2", "1", "* 16.0", "* 16.0"],
        ["×2", "2", "8.00", "8.00"],
        ["×2", "4", "→ 4.00", "≈ 4.00"],
    ]


def test_grid_shows_other_settings_at_their_best_values():
    result = synthetic_comparison(
        TWO_AXES, lambda tips, scheduler, **_: 8 / tips + len(scheduler), schedulers=("fcfs", "s"), seeds=1
    )
    assert rows_of_terminal_table(result)[0] == ["device.tips", "FCFS", "S"]
    notes = [part.text for part in find_presentation(result).brief(result) if isinstance(part, Text)]
    assert "device.spring: as in the best combination at that load" in notes[0]


def test_values_of_one_setting_are_rows_and_loads_columns():
    result = synthetic_comparison(
        TIPS, lambda tips, speedup, **_: speedup / tips, speedups=(1.0, 2.0), seeds=1
    )
    assert rows_of_terminal_table(result) == [
        ["device.tips", "×1", "×2"],
        ["1", "1.00", "2.00"],
        ["2", "0.500", "1.00"],
        ["4", "→ 0.250", "→ 0.500"],
    ]


def test_page_of_a_setting_with_one_value_has_no_grid():
    result = synthetic_comparison({"device.tips": [2]}, lambda tips, **_: tips)
    headings = [part.text for part in summary.page(result).parts if isinstance(part, Heading)]
    assert headings
    assert not [text for text in headings if text.startswith("mean response time in ms, by")]


def test_setting_with_the_largest_effect_matters_most():
    result = synthetic_comparison(TWO_AXES, lambda tips, spring, **_: 1 / tips + spring / 8, seeds=1)
    assert "device.tips matters most (up to 75 %), then device.spring (up to 33 %)." in answer_text(result)
