"""Claims that define something: tests hold them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..claims import Verdict
from ..held import Held
from .runs import Runs

CRASHES = "crates/sledlab-models/tests/crashes.rs"
IN_MEMORY = (CRASHES, "nothing_acknowledged_is_lost_in_memory")
ON_DEVICES = (CRASHES, "nothing_acknowledged_is_lost_on_a_sled_and_a_disk")
SMALLEST = (CRASHES, "no_request_waits_for_ever")

HELD = {
    "W-11": Held(
        "Requests at random, power that fails at any moment, and a host that remembers what it was told: "
        "no write that was acknowledged is lost, no read gets anything but the newest version, before or "
        "after. After a crash records count only as far as their numbers follow each other around the "
        "ring, so that "
        "logs reused in another order would be found.",
        (IN_MEMORY, ON_DEVICES, SMALLEST),
    ),
    "W-13": Held(
        "After each crash the contents are put together again from nothing but what is on the media, the "
        "headers and the non-volatile buffer, and agree with what the host was promised. That the tests "
        "would notice is tested, too: headers that are left out are found.",
        (IN_MEMORY, ON_DEVICES, (CRASHES, "a_header_that_is_not_written_is_found")),
    ),
    "W-14": Held(
        "With all techniques and with each alone, what was dirty in a segment is on the disk or in the "
        "non-volatile buffer before its slot is used again, and a segment never comes back before its "
        "former stay has ended: no sequence of requests reads anything stale, even where there is room "
        "for "
        "a single segment.",
        (IN_MEMORY, ON_DEVICES, SMALLEST),
    ),
}


def _held(held: Held, _: Runs) -> Verdict:
    return held.verdict()


CLAIMS: dict[str, Callable[[Runs], Verdict]] = {name: partial(_held, held) for name, held in HELD.items()}
