"""Additional delay that clients of emulated devices measure: fio on a socket, a file and a block device.

Compares fio's mean response time of single 4 KB random reads on a sled with that of the model. Clients and
nbdfuse have real-time priority, so that other programs do not affect the result; the kernel threads of a
loop device cannot have it. Medians of `RUNS` runs, which alternate. Writes ``client_delay.json``,
and every run to ``bench-out/client_delay.json``. With a number as argument, that many runs; five minutes
with five. Needs fio, nbdfuse, and root.
"""

import os
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import sledlab as sl
from emulation import RUNS, SPTF, fio, nbd_options
from result_files import write_rows, write_runs

SECONDS = 10

ATTACHMENTS = {
    "": "on the socket",
    "file:DIR": "through nbdfuse",
    "loop": "through nbdfuse and a loop device",
}

SCALES = (1, 10)


def target_percent(attach: str, scale: int) -> str:
    """Return the target in percent above the mean of the model, for a time scale."""
    return "4" if scale == 1 else "2" if attach else "1"


@contextmanager
def raised_priority() -> Iterator[None]:
    """Give programs started in this context priority over others, but not over the server."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def measure_delay(attach: str, scale: float, **options: float) -> dict[str, float]:
    """Return fio's mean response time on a sled relative to the model."""
    with tempfile.TemporaryDirectory() as directory, raised_priority():
        attach_options = {"attach": attach.replace("DIR", directory)} if attach else {}
        with sl.serve(**SPTF, time_scale=scale, **attach_options, **options) as server:
            block_device = {"ioengine": "psync", "filename": server.disk, "direct": 1}
            connection = block_device if attach else nbd_options(server)
            job = fio(connection, iodepth=1, runtime=SECONDS, time_based=1)
    assert server.result is not None
    assert server.emulation is not None
    response = server.result.response_time
    latency = job["read"]["lat_ns"]
    return {
        "mean": (latency["mean"] / 1e6 / scale / response.mean - 1) * 100,
        "reads": job["read"]["total_ios"],
        "host_us": server.emulation.server["host"]["read_us"],
        "late_p99_us": server.emulation.lateness_us["p99"],
    }


def main() -> None:
    """Measure, print and write the results."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    cases = [(attach, scale) for attach in ATTACHMENTS for scale in SCALES]
    results_by_case = defaultdict(list)
    load_before = os.getloadavg()
    for _ in range(runs):
        for attach, scale in cases:
            results_by_case[attach, scale, "auto"].append(measure_delay(attach, scale))
            if scale == 1:
                results_by_case[attach, scale, "0"].append(measure_delay(attach, scale, host_us=0))
    rows = []
    for attach, scale in cases:
        name = ATTACHMENTS[attach] + (f", {scale} times slower" if scale > 1 else "")
        auto_results = results_by_case[attach, scale, "auto"]
        for key, label, unit, target_text in (
            ("mean", "mean that fio sees, above the model's", "%", target_percent(attach, scale)),
            ("host_us", "host delay allowed for", "us", ""),
        ):
            value = statistics.median(each[key] for each in auto_results)
            rows.append({"what": f"{name}: {label}", "value": value, "unit": unit, "target": target_text})
        if scale == 1:
            value = statistics.median(each["mean"] for each in results_by_case[attach, scale, "0"])
            rows.append({"what": f"{name}: the same with --host-us 0", "value": value, "unit": "%"})
    write_rows("client_delay", rows)
    raw_results = {" ".join(map(str, key)): each for key, each in results_by_case.items()}
    write_runs("client_delay", {"load before": load_before, "load after": os.getloadavg(), **raw_results})


if __name__ == "__main__":
    main()
