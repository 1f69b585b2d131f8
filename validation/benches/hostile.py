"""The delay of a client's replies while another client sends garbage: lateness with and without it.

fio reads at random from a sled that runs ten times slower, once alone and once together with a hostile
client. That client connects, with or without the handshake of the protocol, and then sends noise,
impossible lengths, requests past the end, and halves of writes as fast as it can, over one connection after
the other. Medians of `ROUNDS` rounds, which alternate. Writes ``hostile.json``; with two numbers as
arguments, that many rounds of that many reads, without writing. About 4 minutes. Needs fio.
"""

import os
import random
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import sledlab as sl
from result_files import machine, write
from sledlab.emulation.client import READ, REQUEST, REQUEST_MAGIC, WRITE, Client, ConnectionLostError

ROUNDS = 5
READS = 1500
SCALE = 10
TRIM = 4
MAX_BYTES = 32 << 20


def noise(client: Client, rng: random.Random) -> None:
    """Send random bytes."""
    client.send(rng.randbytes(rng.randrange(1, 1 << 16)))


def impossible_lengths(client: Client, rng: random.Random) -> None:
    """Send requests longer than any device."""
    for kind in range(8):
        client.send(
            REQUEST.pack(REQUEST_MAGIC, rng.randrange(1 << 16), kind, 0, rng.getrandbits(64), 0xFFFF_FFFF)
        )


def requests_past_end(client: Client, rng: random.Random) -> None:
    """Send many requests past the end of the device, and read no replies."""
    for number in range(500):
        client.send(
            REQUEST.pack(REQUEST_MAGIC, 0, rng.choice((READ, TRIM)), number, client.size_bytes + 4096, 4096)
        )


def partial_write(client: Client, rng: random.Random) -> None:
    """Send the first half of the longest allowed write."""
    client.send(REQUEST.pack(REQUEST_MAGIC, 0, WRITE, 1, 0, MAX_BYTES) + rng.randbytes(1 << 16))


def sessions(path: Path) -> None:
    """Send garbage until killed, and print a line for every 100 sessions."""
    rng = random.Random(7)
    kinds = (noise, impossible_lengths, requests_past_end, partial_write)
    counts: Counter[str] = Counter()
    while True:
        kind = rng.choice(kinds)
        with suppress(ConnectionLostError), Client(path, greet=rng.random() < 0.8) as client:
            kind(client, rng)
        counts[kind.__name__] += 1
        if counts.total() % 100 == 0:
            print(counts.total(), flush=True)


@contextmanager
def hostile_client(path: str, session_counts: list[int]) -> Iterator[None]:
    """Run the hostile client; append its number of sessions to `session_counts`."""
    command = [sys.executable, __file__, "--against", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()  # its first sessions are done
        try:
            yield
            assert process.poll() is None, "the hostile client has ended"
        finally:
            process.kill()
            session_counts.append(int((process.stdout.read().split() or ["100"])[-1]))


def lateness_us(reads: int, *, with_hostile: bool, session_counts: list[int]) -> dict[str, float]:
    """Return percentiles of the lateness of fio's replies, in us of wall-clock time."""
    with sl.serve("mems-g2", scheduler="sptf", time_scale=SCALE) as server:
        fio_options = ["--name=reads", "--ioengine=nbd", f"--uri={server.uri}", "--rw=randread", "--bs=4k"]
        fio_options += ["--size=1G", f"--number_ios={reads}", "--output=/dev/null"]
        with hostile_client(server.socket, session_counts) if with_hostile else nullcontext():
            subprocess.run(["fio", *fio_options], check=True)
    assert server.emulation is not None
    closed_loop = server.emulation.closed_loop
    assert closed_loop is not None
    assert closed_loop.closed, closed_loop
    table = server.emulation.table.to_dict(as_series=False)
    connection, count = Counter(table["connection"]).most_common(1)[0]
    assert count == reads, "no other has as many replies"
    late_us = [
        late_us / 1e3
        for late_us, reply_connection in zip(table["lateness_ns"], table["connection"], strict=True)
        if reply_connection == connection
    ]
    return {name: float(np.percentile(late_us, share)) for name, share in SHARES.items()}


SHARES = {"median": 50, "90 %": 90, "99 %": 99}


def main() -> None:
    """Measure alternately, print, and write the medians."""
    rounds, reads = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (ROUNDS, READS)
    lateness_by_case: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    session_counts: list[int] = []
    load_before = os.getloadavg()
    for _ in range(rounds):
        for has_hostile, results in lateness_by_case.items():
            results.append(lateness_us(reads, with_hostile=has_hostile, session_counts=session_counts))
            print("hostile" if has_hostile else "alone  ", results[-1], flush=True)
    rows: list[dict[str, Any]] = []
    for name in SHARES:
        alone_us, hostile_us = (
            statistics.median(each[name] for each in lateness_by_case[has_hostile])
            for has_hostile in (False, True)
        )
        rows += [
            {"what": f"lateness, {name}: alone", "value": alone_us, "unit": "us"},
            {"what": f"lateness, {name}: with a hostile client", "value": hostile_us, "unit": "us"},
        ]
        if name == "90 %":
            rows += [
                {"what": "the same: later by", "value": hostile_us - alone_us, "unit": "us", "target": "50"}
            ]
    rows += [
        {"what": "sessions of the hostile client", "value": sum(session_counts) / 1000, "unit": "thousand"}
    ]
    for row in rows:
        print(row)
    if len(sys.argv) <= 2:
        write("hostile", {"machine": machine(), "load before": load_before, "rows": rows})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--against"]:
        sessions(Path(sys.argv[2]))
    else:
        main()
