"""Claims that define something: tests hold them, and the page names the tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..claims import Verdict
from ..held import Held
from .runs import Runs

MODELS = "crates/sledlab-models"
TRACE = "crates/sledlab-trace/src/synthetic/tests.rs"
SIM = "crates/sledlab-sim/tests/conservation.rs"
ORACLES = "tests/validation/test_scheduler_definitions.py"


HELD = {
    "H-31": Held(
        "A zone is a cell and the parity of the column: two zones a cell.",
        (
            (
                f"{MODELS}/src/scheduler/zsptf.rs",
                "zones_are_served_up_the_even_columns_and_down_the_odd_ones",
            ),
            (f"{MODELS}/src/scheduler/grid.rs", "cells_have_equal_shares_of_the_medium"),
        ),
    ),
    "H-32": Held(
        "Every choice over long random queues is that of the rule written down plainly.",
        (
            (f"{MODELS}/tests/zones.rs", "follow_their_rules"),
            (f"{MODELS}/src/scheduler/zsptf.rs", "arrivals_join_the_visit_and_the_tour_starts_over"),
        ),
    ),
    "H-33": Held(
        "32x4, 16x2 and 8x1 cells, each a refinement of the next; the queue decides how far zones are "
        "merged.",
        (
            (f"{MODELS}/src/scheduler/zsptf_pyramid.rs", "every_level_refines_the_next"),
            (
                f"{MODELS}/src/scheduler/zsptf_pyramid.rs",
                "sparse_zones_are_merged_up_to_the_row_of_largest_cells",
            ),
        ),
    ),
    "H-53": Held(
        "With weight 0 every request starts when it does under SPTF, with a very large one when it does "
        "under FCFS.",
        ((ORACLES, "test_ageing_ranges_from_sptf_to_fcfs"),),
    ),
    "L-01": Held(
        "Of every request, to the nanosecond.",
        ((ORACLES, "test_positioning_is_the_larger_of_both_axes"),),
    ),
    "L-03": Held(
        "FCFS, SSTF (tracks between blocks) and SPTF (positioning time) written in a few lines choose alike.",
        (
            (ORACLES, "test_chooses_as_defined"),
            (
                "tests/api/test_python_scheduler.py",
                "test_the_sstf_of_the_examples_chooses_as_the_built_in_one",
            ),
        ),
    ),
    "L-04": Held(
        "Equation 2 written in a few lines chooses alike, request by request: number at the position over "
        "positioning time, where a time of zero counts as 1 us.",
        ((ORACLES, "test_chooses_as_defined"),),
    ),
    "L-05": Held(
        "Equation 3 written in a few lines chooses alike, request by request: sum of waiting times over "
        "positioning time.",
        ((ORACLES, "test_chooses_as_defined"),),
    ),
    "L-07": Held(
        "Zones are visited along a snake and back; one is left when it is empty; inside P-SPTF.",
        (
            (f"{MODELS}/src/scheduler/zscan_psptf.rs", "zones_are_served_along_a_snake"),
            (
                f"{MODELS}/src/scheduler/zscan_psptf.rs",
                "the_sweep_goes_back_from_the_last_zone_with_requests",
            ),
            (f"{MODELS}/tests/zones.rs", "follow_their_rules"),
        ),
    ),
    "L-08": Held(
        "The zone with the most requests for the shortest way to one of them; it is emptied; inside P-SPTF.",
        (
            (f"{MODELS}/src/scheduler/zpsptf.rs", "many_requests_outweigh_a_longer_way"),
            (f"{MODELS}/src/scheduler/zpsptf.rs", "a_zone_is_emptied_before_the_next_is_chosen"),
            (f"{MODELS}/src/scheduler/zpsptf.rs", "a_single_zone_is_p_sptf"),
        ),
    ),
    "L-09": Held(
        "The layout `y-sequential`: one group of 64 tips a block, the next block one row further in y.",
        (
            (f"{MODELS}/tests/layouts.rs", "y_sequential_fills_one_group_after_the_other"),
            (f"{MODELS}/tests/layouts.rs", "one_to_one_over_the_whole_device"),
        ),
    ),
    "L-10": Held(
        "The workload `exponential` has these moments within 1 %.",
        ((TRACE, "exponential_has_its_moments"), (TRACE, "exponential_has_the_defaults_of_the_paper")),
    ),
    "L-11": Held(
        "`replay.speedup` divides every arrival time.",
        ((SIM, "speedup_divides_arrival_times"),),
    ),
    "L-12": Held(
        "Sleds that move together share a position and a pass.",
        (
            (SIM, "sleds_that_move_together_share_a_pass"),
            (f"{MODELS}/src/device/mems/joint.rs", "requests_at_one_place_share_their_passes"),
        ),
    ),
    "L-13": Held(
        "25x3 is what `zscan-psptf`, `zpsptf` and `pzsptf` take unless told otherwise.",
        ((ORACLES, "test_zones_of_the_parallel_schedulers"),),
    ),
}


def _held(held: Held, _: Runs) -> Verdict:
    return held.verdict()


CLAIMS: dict[str, Callable[[Runs], Verdict]] = {name: partial(_held, held) for name, held in HELD.items()}
