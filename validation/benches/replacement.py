"""Speed of replacement policies compared with libCacheSim: ten million requests for segments of 64 KB.

Prints processor time in ns for each request, the best of several runs, and writes ``replacement.json``.
Both programs read the same files: the binary format of libCacheSim, which costs little to parse, and CSV.
Parsing is listed apart where a program can read a trace without a cache. Both count the same hits.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import libcachesim
import numpy as np
import sledlab as sl
from plug_ins import rate
from result_files import write_rows
from sledlab import _native

REQUESTS = 10_000_000
ROOM = 20_000
SEGMENT_BYTES = 65_536
BLOCKS = SEGMENT_BYTES // 512
POLICIES = {
    "lru": libcachesim.LRU,
    "arc": libcachesim.ARC,
    "sieve": libcachesim.Sieve,
    "2q": libcachesim.TwoQ,
}


def write_traces(folder: Path) -> dict[str, Path]:
    """Write a trace of skewed addresses in both formats, and return the files by format."""
    segments = np.minimum(np.random.default_rng(1).zipf(1.2, REQUESTS), 200_000)
    columns = {
        "time_us": np.arange(REQUESTS, dtype=np.float64),
        "op": np.full(REQUESTS, "R"),
        "offset_bytes": segments * SEGMENT_BYTES,
        "length_bytes": np.full(REQUESTS, SEGMENT_BYTES),
    }
    files = {"binary": folder / "trace.oracleGeneral", "CSV": folder / "trace.csv"}
    for file in files.values():
        sl.trace(columns).write(file)
    return files


def sledlab_hit_ratio(file: Path, policy: str) -> float:
    """The hit ratio of a policy, reading the file included."""
    cache_mb = ROOM * SEGMENT_BYTES / 1e6
    ratio = sl.hit_ratios(open_trace(file), replacement=policy, cache_mb=cache_mb).rows[0].hit_ratio
    assert ratio is not None
    return ratio


def open_trace(file: Path) -> sl.Trace:
    """The trace in a file, by the format that its ending names."""
    return sl.read_trace(file, format="csv" if file.suffix == ".csv" else "oracle-general")


def libcachesim_hit_ratio(file: Path, policy: str) -> float:
    """The hit ratio of a policy, reading the file included."""
    is_csv = file.suffix == ".csv"
    parameters = libcachesim.ReaderInitParam(
        ignore_obj_size=True, has_header=is_csv, has_header_set=is_csv, obj_id_is_num_set=is_csv
    )
    if is_csv:
        parameters.time_field, parameters.obj_id_field, parameters.obj_size_field = 1, 3, 4
    kind = libcachesim.TraceType.CSV_TRACE if is_csv else libcachesim.TraceType.ORACLE_GENERAL_TRACE
    reader = libcachesim.TraceReader(str(file), kind, parameters)
    return 1 - POLICIES[policy](ROOM, hashpower=18).process_trace(reader)[0]


PROGRAMS = {"sledlab": sledlab_hit_ratio, "libCacheSim": libcachesim_hit_ratio}


def ns(function: Callable[[], object]) -> float:
    """Return the processor time of a function for each request."""
    return 1e9 / rate(REQUESTS, function)


def parse(file: Path) -> None:
    """Read a trace without a cache."""
    _native.SegmentUses(open_trace(file).open(), BLOCKS)


def main() -> None:
    """Measure, print and write the results."""
    ns_by_label = {}
    with tempfile.TemporaryDirectory() as directory:
        for format_name, file in write_traces(Path(directory)).items():
            ns_by_label[f"sledlab, {format_name}, parsing"] = ns(partial(parse, file))
            for policy in POLICIES if format_name == "binary" else ["lru"]:
                ratios = [hit_ratio(file, policy) for hit_ratio in PROGRAMS.values()]
                assert abs(ratios[0] - ratios[1]) < 0.5 / REQUESTS, (policy, ratios)
                for program, hit_ratio in PROGRAMS.items():
                    label = f"{program}, {format_name}, parsing and {policy}"
                    ns_by_label[label] = ns(partial(hit_ratio, file, policy))
    write_rows(
        "replacement", [{"what": what, "value": value, "unit": "ns"} for what, value in ns_by_label.items()]
    )


if __name__ == "__main__":
    main()
