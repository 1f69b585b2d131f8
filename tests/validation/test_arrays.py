"""Arrays of four disks compared with a recorded run of the reference simulator.

Its disks share a bus. With a bus each, requests agree that have their array to themselves, but for RAID 5:
where that starts two accesses at once, the bus can delay one of them, and some writes are a turn late there.
"""

import numpy as np
import pytest

from lab.validation import arrays
from lab.validation.arrays import ARRAYS, TURN_MS, replay_array

pytestmark = pytest.mark.skipif(not arrays.is_present(), reason=arrays.MISSING_MESSAGE)


@pytest.mark.parametrize("kind", ["stripe", "concatenation"])
def test_requests_alone_on_their_array_take_as_long(kind: str) -> None:
    pair = replay_array(kind, "own")
    for reads in (True, False):
        apart_ms = pair.alone_differences_ms(reads=reads)
        assert len(apart_ms) > 50
        assert np.mean(np.abs(apart_ms) < 0.1) > 0.97
    # With others, they also wait for the bus there.
    assert -0.05 < pair.ours_ms.mean() / pair.recorded_ms.mean() - 1 < 0


def test_raid_5_differs_by_turns_of_the_bus() -> None:
    pair = replay_array("raid5", "own")
    writes, reads = pair.alone_differences_ms(reads=False), pair.alone_differences_ms(reads=True)
    same, earlier = np.abs(writes) < 0.1, np.abs(writes + TURN_MS) < 0.1
    assert np.all(same | earlier)
    assert same.sum() > earlier.sum()
    assert np.mean(np.abs(reads) < 0.1) > 0.9
    assert pair.ours_ms.mean() < pair.recorded_ms.mean()


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_on_a_shared_bus_agree(kind: str) -> None:
    pair = replay_array(kind, "shared")
    apart_ms = np.concatenate([pair.alone_differences_ms(reads=reads) for reads in (True, False)])
    assert np.mean(np.abs(apart_ms) < 0.1) > 0.97
    assert abs(pair.ours_ms.mean() / pair.recorded_ms.mean() - 1) < 0.01
