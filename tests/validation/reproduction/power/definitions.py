"""Claims that define something: tests hold them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..claims import Verdict
from ..held import Held
from .runs import Runs

SUMS = "crates/sledlab-sim/tests/power.rs"
LEDGER = "crates/sledlab-models/src/power/ledger.rs"
POLICIES = "crates/sledlab-models/src/power/mod.rs"
MERGING = "crates/sledlab-models/tests/merging.rs"

HELD = {
    "H-18": Held(
        "The ledger of a device refuses every transition but those of the figure, and in every run of random "
        "requests under every policy the states' energies sum to the total.",
        (
            (LEDGER, "a_parked_device_cannot_serve"),
            (SUMS, "energy_sums_to_the_total"),
            (SUMS, "parking_costs_and_saves_what_the_powers_say"),
            (POLICIES, "the_timeout_of_fixed_is_the_devices_own_unless_said"),
        ),
    ),
    "Y-22": Held(
        "Two reads that are neighbours in order of arrival, the second where the first ends, become one "
        "unless "
        "that takes more tips than may be on; with exactly as many it does.",
        ((MERGING, "neighbours_become_pairs"), (MERGING, "exactly_the_tips_there_are")),
    ),
}


def _held(held: Held, _: Runs) -> Verdict:
    return held.verdict()


CLAIMS: dict[str, Callable[[Runs], Verdict]] = {name: partial(_held, held) for name, held in HELD.items()}
