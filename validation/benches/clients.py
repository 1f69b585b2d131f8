"""Clients of served devices (fio, qemu-io, nbdcopy), and programs that disturb a server."""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

HOGS = 4
BLOCK = 4096
SPAN = 256 << 20
"""Bytes of the device that clients use."""


def random_reads_and_writes(directory: Path, requests: int) -> str:
    """fio: random reads and writes 32 deep, others one at a time, and trims, on three connections."""
    job = f"""[global]
ioengine=nbd
uri=${{SLEDLAB_URI}}
bs=4k
size={SPAN}
randseed=7
[deep]
rw=randrw
iodepth=32
fsync=64
number_ios={requests}
io_size={max(requests * BLOCK, SPAN)}
[single]
rw=randrw
rwmixread=30
fsync=8
number_ios={requests // 20}
[trims]
rw=randtrim
iodepth=4
number_ios={requests // 20}
"""
    return fio(directory, job)


def streams(directory: Path, requests: int) -> str:
    """fio: one sequential reader 16 deep, and one sequential writer 8 deep that flushes."""
    job = f"""[global]
ioengine=nbd
uri=${{SLEDLAB_URI}}
bsrange=4k-16k
size={SPAN}
number_ios={(requests + 1) // 2}
[reads]
rw=read
iodepth=16
[writes]
rw=write
iodepth=8
fsync=32
offset={SPAN}
"""
    return fio(directory, job)


def fio(directory: Path, job: str) -> str:
    """Return the command that runs jobs of fio."""
    (directory / "job.fio").write_text(job)
    return f"cd {directory} && fio job.fio --output=output"


def patterns(directory: Path, requests: int) -> str:
    """qemu-io: patterns written at depths up to 32, durably or not, read back, zeroed and trimmed."""
    rng = random.Random(requests)
    lines, request_count = [], 0
    while request_count < requests:
        batch = rng.choice((1, 4, 32))
        slots = rng.sample(range(4096), batch)
        fill_bytes = [rng.randrange(1, 256) for _ in slots]
        ranges = [f"{slot * 4 * BLOCK} {rng.choice((512, BLOCK, 3 * BLOCK))}" for slot in slots]
        lines += [
            f"aio_write -P {fill_byte} {range_text}"
            for fill_byte, range_text in zip(fill_bytes, ranges, strict=True)
        ]
        lines += ["aio_flush"]
        lines += [
            f"aio_read -P {fill_byte} {range_text}"
            for fill_byte, range_text in zip(fill_bytes, ranges, strict=True)
        ]
        lines += ["aio_flush", rng.choice(("flush", f"discard {ranges[0]}", f"write -z {ranges[0]}"))]
        lines += [f"write -f -P 9 {ranges[0]}", f"read -P 9 {ranges[0]}"]
        request_count += 2 * batch + 2
    (directory / "script").write_text("\n".join(lines) + "\n")
    run = 'qemu-io -f raw "$SLEDLAB_URI" < script > output'
    return f'cd {directory} && {run} && ! grep -i "fail\\|error" output'


def copies(directory: Path, requests: int) -> str:
    """nbdcopy: a file to the device and back, in requests of 4 KB, on four connections."""
    data = random.Random(requests).randbytes((requests + 1) // 2 * BLOCK)
    (directory / "there").write_bytes(data)
    copy = f"nbdcopy --requests=16 --request-size={BLOCK}"
    there_and_back = f'{copy} there "$SLEDLAB_URI" && {copy} "$SLEDLAB_URI" back'
    return f"cd {directory} && {there_and_back} && cmp --bytes={len(data)} there back && rm back"


CLIENTS: dict[str, Callable[[Path, int], str]] = {
    "fio, random": random_reads_and_writes,
    "fio, sequential": streams,
    "qemu-io": patterns,
    "nbdcopy": copies,
}
"""Functions that write a client's script for some number of requests, and return its command."""

MAX_REQUESTS = {"qemu-io": 5_000, "nbdcopy": 10_000}
"""Maximum requests of a client that prints a line per request, or whose file is stored."""


@contextmanager
def hogs() -> Iterator[None]:
    """Run programs that keep all processors busy."""
    with ExitStack() as stack:
        for _ in range(HOGS):
            hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(hog.wait)
            stack.callback(hog.kill)
        yield


@contextmanager
def repeated_stops() -> Iterator[None]:
    """Stop this process for 50 ms every 0.3 s, by a shell; the process resumes when the shell ends."""
    resume = f"kill -CONT {os.getpid()}"
    stop_loop = f"while sleep 0.3; do kill -STOP {os.getpid()}; sleep 0.05; {resume}; done"
    with subprocess.Popen(["sh", "-c", f"trap '{resume}; exit' TERM; {stop_loop}"]) as shell:
        try:
            yield
        finally:
            shell.terminate()
