"""Generated cloud volumes compared with published numbers, and speeds of generating and splitting.

Prints two tables and writes ``volumes.json``. Speeds are per processor time of one process. The lower
bound of the time for splitting is that of reading and parsing the same file.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import sledlab as sl
from result_files import machine, write
from sledlab import _native
from sledlab.traces.cloud import Cloud

PUBLISHED_STATISTICS = {
    "volumes with a mean above 100 requests/s (%)": 1.90,
    "volumes with a mean below 10 requests/s (%)": 81.6,
    "volumes whose busiest minute is above 100 times the mean (%)": 20,
    "three quarters of reads are up to (KB)": 32,
    "three quarters of writes are up to (KB)": 16,
    "volumes more than half of whose requests are random (%)": 20,
}
"""Findings 1, 2 and 8 and sizes of 1,000 volumes of Alibaba (Li, Wang, Lee and Shi, IISWC 2020)."""

RANDOM_BYTES = 128 * 1024
PREVIOUS_REQUESTS = 32
ROWS = 20_000
SPLIT_REQUESTS = 2_000_000


def percent(flags: list[bool]) -> float:
    """Return the percentage of true flags."""
    return round(100 * float(np.mean(flags)), 2)


def random_share(offsets: np.ndarray) -> float:
    """Return the share of requests that start more than 128 KiB from each of the previous 32."""
    nearest = np.full(len(offsets) - PREVIOUS_REQUESTS, np.iinfo(np.int64).max)
    for lag in range(1, PREVIOUS_REQUESTS + 1):
        nearest = np.minimum(
            nearest, np.abs(offsets[PREVIOUS_REQUESTS:] - offsets[PREVIOUS_REQUESTS - lag : -lag])
        )
    return float(np.mean(nearest > RANDOM_BYTES))


def statistics() -> dict[str, float]:
    """Return the statistics of `PUBLISHED_STATISTICS` for generated volumes."""
    hour_volumes = sl.read_volumes("cloud:volumes=1000,hours=1")
    rates = np.array(Cloud.parse("cloud:volumes=1000,hours=1").counts) / 3600
    sources = [_native.limit(each.trace.open(), ROWS) for each in hour_volumes[::4]]
    sizes: dict[bytes, list[np.ndarray]] = {b"R": [], b"W": []}
    shares = []
    for source in sources:
        offsets = []
        while (chunk := source.next_chunk()) is not None:
            ops, lengths = np.frombuffer(chunk[1], "S1"), np.frombuffer(chunk[3], "<u8")
            offsets.append(np.frombuffer(chunk[2], "<u8").astype(np.int64) * 512)
            for op, length_arrays in sizes.items():
                length_arrays.append(lengths[ops == op])
        shares.append(random_share(np.concatenate(offsets)))
    day_volumes = [sl.survey(each) for each in sl.read_volumes("cloud:volumes=500,hours=24,requests=1e7")]
    bursts = [each.busiest_minute_iops * (each.last_s or 1) / each.requests for each in day_volumes]
    quarters = [float(np.percentile(np.concatenate(sizes[op]), 75)) / 1024 for op in (b"R", b"W")]
    values = [
        percent(list(rates > 100)),
        percent(list(rates < 10)),
        percent([each > 100 for each in bursts]),
        *quarters,
        percent([each > 0.5 for each in shares]),
    ]
    return dict(zip(PUBLISHED_STATISTICS, values, strict=True))


def generated_per_s() -> float:
    """Return requests per second of the generator alone."""
    cloud = Cloud.parse("cloud:volumes=10,requests=1e7")
    start_s = time.process_time()
    request_count = sum(_native.survey(cloud.volume(number).open())[0] for number in range(cloud.volumes))
    return request_count / (time.process_time() - start_s)


def splitting_speeds(volumes: int) -> dict[str, float]:
    """Return the speeds of splitting a trace of `volumes` volumes, and of reading it."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "day.csv"
        rng = np.random.default_rng(1)
        columns = (
            rng.integers(0, volumes, SPLIT_REQUESTS),
            np.where(rng.random(SPLIT_REQUESTS) < 0.25, "R", "W"),
            rng.integers(0, 10**7, SPLIT_REQUESTS) * 4096,
            rng.integers(1, 17, SPLIT_REQUESTS) * 4096,
            1_577_808_000_000_000 + np.cumsum(rng.integers(0, 200, SPLIT_REQUESTS)),
        )
        rows = zip(*(column.tolist() for column in columns), strict=True)
        file.write_text("".join(map("%d,%s,%d,%d,%d\n".__mod__, rows)))
        megabytes = file.stat().st_size / 1e6
        start_s = time.process_time()
        _native.survey(_native.Source.open(str(file)))
        reading_s = time.process_time() - start_s
        start_s = time.process_time()
        sl.split_volumes(file, Path(directory) / "fleet")
        split_s = time.process_time() - start_s
    return {
        "volumes": volumes,
        "requests": SPLIT_REQUESTS,
        "reading_mb_per_s": round(megabytes / reading_s, 1),
        "splitting_mb_per_s": round(megabytes / split_s, 1),
        "splitting_requests_per_s": round(SPLIT_REQUESTS / split_s),
        "over_floor": round(split_s / reading_s, 2),
    }


def main() -> None:
    """Measure, print and write the results."""
    values_by_statistic = statistics()
    print(f"{'statistic':<62}{'published':>10}{'ours':>8}")
    for name, value in values_by_statistic.items():
        print(f"{name:<62}{PUBLISHED_STATISTICS[name]:>10g}{value:>8g}")
    speed = generated_per_s()
    print(f"generated: {speed / 1e6:.1f} million requests/s")
    splitting = [splitting_speeds(volumes) for volumes in (10, 1000, 20_000)]
    for each in splitting:
        print(
            f"split, {each['volumes']:>6,} volumes: {each['splitting_mb_per_s']:>6} MB/s, "
            f"{each['over_floor']} times as long as reading"
        )
    results = {
        "machine": machine(),
        "statistics": {
            name: {"published": PUBLISHED_STATISTICS[name], "ours": value}
            for name, value in values_by_statistic.items()
        },
        "generated_per_s": round(speed),
        "splitting": splitting,
    }
    write("volumes", results)


if __name__ == "__main__":
    main()
