"""Replay with recorded gaps: one request at a time, a gap of the trace after the completion of the last."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import sledlab as sl

WORKLOAD = sl.workload("uniform", requests=300, mean_interarrival_ms=2, blocks=8)
DEVICES = ["mems-g2", "atlas-10k", "mems-g2-disksim", "ssd-tlc"]


def requests(source, device, **options):
    return sl.simulate(source, device, requests=True, **options).requests


def arrivals_of_closed_form(recorded_ns: np.ndarray, responses_ns: np.ndarray, speedup: float) -> np.ndarray:
    """Return the sum of all earlier gaps and responses, for each request."""
    scaled = np.rint(recorded_ns / speedup).astype(np.int64)
    return scaled + np.concatenate(([0], np.cumsum(responses_ns)[:-1]))


@pytest.mark.parametrize("speedup", [1, 2.5])
@pytest.mark.parametrize("device", DEVICES)
def test_request_is_issued_a_gap_after_the_last_completion(device, speedup):
    recorded = requests(WORKLOAD, "ram")["arrival_ns"].to_numpy()
    measured = requests(WORKLOAD, device, replay="gaps", speedup=speedup)
    responses = (measured["completion_ns"] - measured["arrival_ns"]).to_numpy()
    expected = arrivals_of_closed_form(recorded, responses, speedup)
    assert measured["arrival_ns"].to_list() == expected.tolist()


@pytest.mark.parametrize("device", DEVICES)
def test_open_replay_of_the_same_arrivals_gives_the_same_responses(device):
    """The recipe of an iteration: arrivals are moved to completion + gap, and replayed open."""
    gaps = requests(WORKLOAD, device, replay="gaps")
    frame = gaps.select(
        time_us=pl.col("arrival_ns").cast(pl.Duration("ns")),
        op="op",
        offset_bytes=pl.col("lbn") * 512,
        length_bytes=pl.col("blocks") * 512,
    )
    again = requests(sl.trace(frame, start="zero"), device)
    assert again["completion_ns"].to_list() == gaps["completion_ns"].to_list()


def test_slower_device_lengthens_the_run():
    runs = {name: sl.simulate(WORKLOAD, name, replay="gaps") for name in ("mems-g2", "atlas-10k")}
    assert runs["mems-g2"].elapsed_s < runs["atlas-10k"].elapsed_s
    for run in runs.values():
        gaps_s = run.elapsed_s - run.count * run.response_time.mean / 1e3
        assert gaps_s == pytest.approx(
            runs["mems-g2"].elapsed_s - 0.3 * runs["mems-g2"].response_time.mean, rel=1e-9
        )
        assert run.throughput_iops == pytest.approx(run.count / run.elapsed_s, rel=1e-9)
        assert not run.saturated
