"""Programs that record block traces hand them to sledlab, and both count the same."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest

from tests.require import need

FILE_MB, BLOCK = 16, 4096
JOBS = {
    "random": {"rw": "randrw", "rwmixread": 70, "bs": "4k", "number_ios": 1000},
    "sizes": {"rw": "randrw", "rwmixread": 30, "bsrange": "4k-64k", "number_ios": 400},
    "sequential": {"rw": "write", "bs": "64k", "fsync": 16},
}
"""Options of fio jobs by name."""


@pytest.fixture(params=JOBS)
def job(request, run, tmp_path):
    """Report and log of an fio job on a file of zeros."""
    program = need("fio")
    (tmp_path / "file").write_bytes(bytes(FILE_MB << 20))
    options = [f"--{name}={value}" for name, value in JOBS[request.param].items()]
    target = ("--filename=file", f"--size={FILE_MB}M", "--ioengine=psync", "--randseed=7")
    printed = run(program, "--name=job", *target, *options, "--write_iolog=log", "--output-format=json")
    return json.loads(printed)["jobs"][0], tmp_path / "log"


def test_fio_and_sledlab_count_the_same(job, run, sledlab_program):
    fio_job, log = job
    info = json.loads(run(*sledlab_program, "trace", "info", log, "--json"))
    assert info["format"] == "fio-iolog"
    assert (info["reads"], info["bytes_read"]) == (fio_job["read"]["total_ios"], fio_job["read"]["io_bytes"])
    assert (info["writes"], info["bytes_written"]) == (
        fio_job["write"]["total_ios"],
        fio_job["write"]["io_bytes"],
    )
    assert info["flushes"] == fio_job["sync"]["total_ios"]
    assert info["highest_start_block"] < (FILE_MB << 20) // 512


def test_fio_log_is_simulated(job, run, sledlab_program):
    fio_job, log = job
    summary = json.loads(run(*sledlab_program, "simulate", "--device", "mems-g2", "--trace", log, "--json"))
    for direction in ("read", "write"):
        if fio_job[direction]["total_ios"]:
            assert summary[direction]["requests"] == fio_job[direction]["total_ios"]
            assert summary[direction]["bytes"] == fio_job[direction]["io_bytes"]
    assert summary["requests"] == fio_job["read"]["total_ios"] + fio_job["write"]["total_ios"]


READ, WRITE, QUEUE, ISSUE, COMPLETE = 1 << 16, 1 << 17, 1 << 20, 1 << 22, 1 << 23
"""Kinds of events of the kernel (linux/blktrace_api.h)."""
EVENTS = ((1 | QUEUE, 0), (7 | ISSUE, 1_000), (8 | COMPLETE, 200_000))
"""Events of a request, and their delays after its arrival in ns."""


def write_blktrace(path: Path, requests: int) -> None:
    """Write a recording as the kernel does; every fourth request is a write."""
    events = [
        (number * 1_000_000 + delay_ns, number, action | (READ if number % 4 else WRITE))
        for number in range(requests)
        for action, delay_ns in EVENTS
    ]
    with path.open("wb") as file:
        for sequence, (time_ns, number, action) in enumerate(sorted(events)):
            fields = (number * 8191 % 65536, BLOCK, action, 1234, 8 << 20, 0, 0, 0)
            file.write(struct.pack("=IIQQIIIIIHH", 0x65617407, sequence, time_ns, *fields))


def test_blkparse_and_sledlab_count_the_same(run, sledlab_program, tmp_path):
    program = need("blkparse")
    write_blktrace(tmp_path / "disk.blktrace.0", 100)
    printed = run(program, "-i", "disk")
    (tmp_path / "disk.txt").write_text(printed)
    info = json.loads(run(*sledlab_program, "trace", "info", "disk.txt", "--json"))
    assert info["format"] == "blkparse"
    counts = re.search(r"Reads Queued:\s+(\d+),\s+(\d+)KiB\s+Writes Queued:\s+(\d+),\s+(\d+)KiB", printed)
    assert counts
    reads, read_kb, writes, written_kb = (int(number) for number in counts.groups())
    assert (reads, writes) == (75, 25)
    assert (info["reads"], info["bytes_read"]) == (reads, read_kb << 10)
    assert (info["writes"], info["bytes_written"]) == (writes, written_kb << 10)
    assert info["span_s"] == pytest.approx(0.099)
