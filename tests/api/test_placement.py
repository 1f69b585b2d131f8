"""Placements of volumes on devices: every volume once, within the capacity."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sledlab.studies.fleet.placement import BUSY, LARGE, LIST, DeviceCapacity, Item, Layout, placement

ITEMS = st.lists(
    st.builds(
        Item,
        st.text(max_size=3),
        st.integers(1, 40_000),
        st.floats(0, 1.5, allow_nan=False).map(lambda load: round(load, 3)),
    ),
    max_size=40,
)
CAPACITIES = st.builds(
    DeviceCapacity, st.integers(1, 60_000), st.integers(0, 100).map(lambda n: n / 100), st.integers(1, 4)
)


@given(ITEMS, CAPACITIES, st.sampled_from(LIST))
@settings(deadline=None, max_examples=60)
def test_every_volume_lies_once_or_is_left(items: list[Item], capacity: DeviceCapacity, method: Any) -> None:
    layout = method.place(items, capacity)
    assert layout == method.place(items, capacity)
    placed_volumes = [volume for each in layout.devices for volume in each.volumes]
    assert sorted([*placed_volumes, *(each.volume for each in layout.unplaced)]) == list(range(len(items)))
    for each in layout.unplaced:
        is_too_large = items[each.volume].blocks > capacity.blocks
        assert each.why == (LARGE if is_too_large else BUSY)
        assert is_too_large or (method.shares_devices and items[each.volume].load > capacity.devices)
    for each in layout.devices:
        extents = sorted(
            (offset, offset + items[volume].blocks)
            for volume, offset in zip(each.volumes, each.offsets, strict=True)
        )
        assert extents[0][0] >= 0
        assert extents[-1][1] <= capacity.blocks
        assert all(end <= begin for (_, end), (begin, _) in pairwise(extents))
        if len(extents) > 1:
            assert extents[-1][1] <= capacity.fill * capacity.blocks
            assert (
                sum(items[volume].load for volume in each.volumes) <= capacity.fill * capacity.devices + 1e-9
            )


def test_volumes_above_the_bound_are_alone() -> None:
    items = [
        Item("a", 10, 0.9),
        Item("b", 10, 0.1),
        Item("c", 8000, 0.1),
        Item("d", 10, 1.1),
        Item("e", 10**5, 0),
    ]
    layout = placement("packed").place(items, DeviceCapacity(10_000, 0.5))
    assert sorted(each.volumes for each in layout.devices) == [(0,), (1,), (2,)]
    assert {items[each.volume].name: each.why for each in layout.unplaced} == {"d": BUSY, "e": LARGE}


def test_rounding_opens_no_device() -> None:
    items = [Item(name, 29, 0.1) for name in "abc"]
    assert len(placement("packed").place(items, DeviceCapacity(10**6, 0.3)).devices) == 1
    exact_items = [Item("a", 4096, 0.0), Item("b", 5700 - 4096, 0.0)]  # 0.57 of 10,000 blocks
    assert len(placement("packed").place(exact_items, DeviceCapacity(10_000, 0.57)).devices) == 1


def test_a_layout_is_a_value() -> None:
    items = [Item(str(n), 1000 + n, n / 20) for n in range(20)]
    layouts = {
        placement("packed").place(items, DeviceCapacity(10_000, fill / 100)) for fill in range(50, 101)
    }
    assert all(isinstance(each, Layout) for each in layouts)
    assert len(layouts) < 51
