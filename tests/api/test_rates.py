"""Rates and means over time: their numerators and denominators cover the same interval."""

import numpy as np
import pytest
import sledlab as sl

REPLAYS = ["open", "gaps", "closed:1", "closed:64", "closed:16:2ms"]
DEVICES = ["ram", "mems-g2", "atlas-10k"]
WORKLOAD = sl.workload("uniform", requests=1500, mean_interarrival_ms=1.0)


def overlaps_ns(starts, ends, begin, end):
    """How long each of some periods overlaps with the time from `begin` to `end`."""
    return np.maximum(np.minimum(ends, end) - np.maximum(starts, begin), 0)


@pytest.fixture(scope="module")
def all_rows():
    """All requests of a run without a warm-up, which has the same schedule as one with a warm-up."""
    runs = {}

    def rows(device, replay):
        if (device, replay) not in runs:
            result = sl.simulate(WORKLOAD, device, scheduler="sptf", replay=replay, requests=True)
            frame = result.requests.sort("arrival_ns", "id")
            names = ("id", "arrival_ns", "start_ns", "completion_ns", "blocks")
            runs[device, replay] = {name: frame[name].to_numpy().astype(np.int64) for name in names}
        return runs[device, replay]

    return rows


@pytest.mark.parametrize("warmup", [0, 1, 700, 1490])
@pytest.mark.parametrize("replay", REPLAYS)
@pytest.mark.parametrize("device", DEVICES)
def test_rates_count_all_work_of_the_counted_time(device, replay, warmup, all_rows):
    rows = all_rows(device, replay)
    result = sl.simulate(WORKLOAD, device, scheduler="sptf", replay=replay, warmup=warmup)
    begin = int(rows["arrival_ns"][rows["id"] == warmup][0]) if warmup else 0
    end = int(rows["completion_ns"].max())
    seconds = (end - begin) / 1e9
    assert result.elapsed_s == pytest.approx(seconds, rel=1e-12)

    is_completed = rows["completion_ns"] > begin
    assert result.summary["completed"] == is_completed.sum() >= result.count
    assert result.throughput_iops == pytest.approx(is_completed.sum() / seconds)
    assert result.throughput_mb_s == pytest.approx(rows["blocks"][is_completed].sum() * 512e-6 / seconds)
    waited_ns = overlaps_ns(rows["arrival_ns"], rows["start_ns"], begin, end)
    assert result.queue_length.mean == pytest.approx(waited_ns.sum() / 1e9 / seconds)

    series = result.series
    known = [each is not None for each in series["throughput_iops"]]
    assert all(time + width > begin / 1e9 for time, width, is_known in
               zip(series["time_s"], series["width_s"], known, strict=True) if is_known)  # fmt: skip
    assert sum(series["requests"]) == result.count


@pytest.mark.parametrize("warmup", [0, 500])
@pytest.mark.parametrize("outstanding", [1, 8, 64])
def test_saturated_memory_completes_one_request_per_service_time(outstanding, warmup):
    result = sl.simulate(WORKLOAD, "ram", replay=f"closed:{outstanding}", warmup=warmup)
    assert result.utilization == pytest.approx(1)
    assert result.throughput_iops * result.service_time_ms / 1000 == pytest.approx(1)


@pytest.mark.parametrize("speedup", [2, 4])
def test_queue_of_a_stopped_run_includes_requests_that_wait_at_its_end(speedup):
    load = {"scheduler": ["fcfs"], "speedup": [speedup], "parallel": 1}
    busy = sl.workload("uniform", requests=4000, mean_interarrival_ms=1.0)
    stopped = sl.compare(busy, "mems-g2", overload="stop", **load).runs.row(0, named=True)
    drained = sl.simulate(busy, "mems-g2", speedup=speedup, requests=True).requests
    assert stopped["saturated"]
    end = int(drained["arrival_ns"].max())
    arrivals, starts = (drained[name].to_numpy().astype(np.int64) for name in ("arrival_ns", "start_ns"))
    mean = overlaps_ns(arrivals, starts, 0, end).sum() / end
    assert stopped["queue_mean"] == pytest.approx(mean, rel=2e-3)
