"""The energies of requests, idle periods and the parked state add up."""

from __future__ import annotations

import pytest

from sledlab_papers.power.energy_sums import request_sums


@pytest.mark.parametrize(
    ("device", "settings"),
    [
        ("mems-g2", {"power.kind": "immediate"}),
        ("mems-g3", {"power.kind": "share", "merge.kind": "chains"}),
        ("mobile-disk", {"power.kind": "adaptive"}),
    ],
)
def test_request_and_state_energies_sum_to_total(device: str, settings: dict[str, str]) -> None:
    assert request_sums(device, *settings.items()) < 1e-9
