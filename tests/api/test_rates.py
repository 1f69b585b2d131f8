"""Rates and means over time: their numerators and denominators cover the same interval."""

import numpy as np
import pytest
import sledlab as sl

REPLAYS = ["open", "gaps", "closed:1", "closed:64", "closed:16:2ms"]
DEVICES = ["ram", "mems-g2", "atlas-10k"]
WORKLOAD = sl.workload("uniform", requests=1500, mean_interarrival_ms=1.0)


def overlaps_ns(starts, ends, begin_ns, end_ns):
    """How long each of some periods overlaps with the time from `begin` to `end`."""
    return np.maximum(np.minimum(ends, end_ns) - np.maximum(starts, begin_ns), 0)


@pytest.fixture(scope="module")
def all_rows():
    """All requests of a run without a warm-up, which has the same schedule as one with a warm-up."""
    columns_by_run = {}

    def request_columns(device, replay):
        if (device, replay) not in columns_by_run:
            result = sl.simulate(WORKLOAD, device, scheduler="sptf", replay=replay, requests=True)
            frame = result.requests.sort("arrival_ns", "id")
            names = ("id", "arrival_ns", "start_ns", "completion_ns", "blocks")
            columns_by_run[device, replay] = {name: frame[name].to_numpy().astype(np.int64) for name in names}
        return columns_by_run[device, replay]

    return request_columns


@pytest.mark.parametrize("warmup", [0, 1, 700, 1490])
@pytest.mark.parametrize("replay", REPLAYS)
@pytest.mark.parametrize("device", DEVICES)
def test_rates_count_all_work_of_the_counted_time(device, replay, warmup, all_rows):
    columns = all_rows(device, replay)
    result = sl.simulate(WORKLOAD, device, scheduler="sptf", replay=replay, warmup=warmup)
    begin_ns = int(columns["arrival_ns"][columns["id"] == warmup][0]) if warmup else 0
    end_ns = int(columns["completion_ns"].max())
    elapsed_s = (end_ns - begin_ns) / 1e9
    assert result.elapsed_s == pytest.approx(elapsed_s, rel=1e-12)

    is_completed = columns["completion_ns"] > begin_ns
    assert result.summary["completed"] == is_completed.sum() >= result.count
    assert result.throughput_iops == pytest.approx(is_completed.sum() / elapsed_s)
    assert result.throughput_mb_s == pytest.approx(columns["blocks"][is_completed].sum() * 512e-6 / elapsed_s)
    waited_ns = overlaps_ns(columns["arrival_ns"], columns["start_ns"], begin_ns, end_ns)
    assert result.queue_length.mean == pytest.approx(waited_ns.sum() / 1e9 / elapsed_s)

    intervals = result.series
    are_known = [each is not None for each in intervals["throughput_iops"]]
    rows = zip(intervals["time_s"], intervals["width_s"], are_known, strict=True)
    assert all(time_s + width_s > begin_ns / 1e9 for time_s, width_s, is_known in rows if is_known)
    assert sum(intervals["requests"]) == result.count


@pytest.mark.parametrize("warmup", [0, 500])
@pytest.mark.parametrize("outstanding", [1, 8, 64])
def test_saturated_memory_completes_one_request_per_service_time(outstanding, warmup):
    result = sl.simulate(WORKLOAD, "ram", replay=f"closed:{outstanding}", warmup=warmup)
    assert result.utilization == pytest.approx(1)
    assert result.throughput_iops * result.service_time_ms / 1000 == pytest.approx(1)


@pytest.mark.parametrize("speedup", [2, 4])
def test_stopped_run_counts_requests_still_queued(speedup):
    options = {"scheduler": ["fcfs"], "speedup": [speedup], "parallel": 1}
    workload = sl.workload("uniform", requests=4000, mean_interarrival_ms=1.0)
    stopped = sl.compare(workload, "mems-g2", overload="stop", **options).runs.row(0, named=True)
    drained = sl.simulate(workload, "mems-g2", speedup=speedup, requests=True).requests
    assert stopped["saturated"]
    end_ns = int(drained["arrival_ns"].max())
    arrivals_ns, starts_ns = (
        drained[name].to_numpy().astype(np.int64) for name in ("arrival_ns", "start_ns")
    )
    queue_mean = overlaps_ns(arrivals_ns, starts_ns, 0, end_ns).sum() / end_ns
    assert stopped["queue_mean"] == pytest.approx(queue_mean, rel=2e-3)
