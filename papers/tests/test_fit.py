"""Fits to the published times of Chiu 2004."""

from __future__ import annotations

import pytest

from sledlab_papers.smart.fit import FittedRatio, StoreTime
from sledlab_papers.smart.published_times import DISK, G3, MERGE, published_time


def test_requests_and_software_give_both_published_times() -> None:
    times = (StoreTime(160.0, 10_000), StoreTime(7.0, 10_000))
    request_ratio, software_us = FittedRatio(MERGE, (DISK, G3), times).requests_and_software()
    for device, time in zip((DISK, G3), times, strict=True):
        assert request_ratio * time.seconds(software_us) == pytest.approx(
            published_time(MERGE, device, "store").seconds
        )
