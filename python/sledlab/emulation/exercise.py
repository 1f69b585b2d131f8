"""Random requests to a served device from a client of sledlab's own: latencies next to the simulated ones."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sledlab.emulation.client import BLOCK, READ, WRITE, Client, ConnectionLostError
from sledlab.errors import Error, unknown
from sledlab.lazy import numpy

if TYPE_CHECKING:
    from collections.abc import Callable

    from sledlab.runs.result import Result

READ_SHARES = {"randread": 1.0, "randwrite": 0.0, "randrw": 0.5}
"""Share of reads of each kind of exercise, with the names of fio."""

DEPTH = 4
"""Requests outstanding at a time."""

SECONDS = 5.0
"""Duration of an exercise, unless another is given."""

STATISTICS = ("mean", "p50", "p99")
"""Statistics of latencies that are shown."""


class Exercise:
    """Reads and writes of 4 KiB at random places, some outstanding at a time.

    Attributes:
        latencies_s: Time from sending each request to its reply, in wall-clock seconds.
    """

    def __init__(self, kind: str, seed: int = 1) -> None:
        """Prepare an exercise.

        Raises:
            Error: `kind` is no kind of exercise.
        """
        if kind not in READ_SHARES:
            raise unknown("exercise", kind, list(READ_SHARES))
        self._read_share = READ_SHARES[kind]
        self._rng = random.Random(seed)
        self.latencies_s: list[float] = []

    def run(self, socket: str, duration_s: float, is_running: Callable[[], bool]) -> None:
        """Send requests for some seconds, or until the server ends.

        Raises:
            Error: There is no socket.
        """
        if not socket:
            raise Error("--exercise needs the Unix socket of the server", remedy="omit --tcp")
        end_s = time.monotonic() + duration_s
        with suppress(ConnectionLostError), Client(socket) as client:
            requests_by_number: dict[int, tuple[float, int]] = {}
            number = 0
            while (is_sending := time.monotonic() < end_s and is_running()) or requests_by_number:
                while is_sending and len(requests_by_number) < DEPTH:
                    requests_by_number[number] = time.perf_counter(), self._send(client, number)
                    number += 1
                reply_number = client.read_reply()
                sent_s, kind = requests_by_number.pop(reply_number)
                if kind == READ:
                    client.receive(BLOCK)
                self.latencies_s.append(time.perf_counter() - sent_s)

    def _send(self, client: Client, number: int) -> int:
        """Send a request and return its kind."""
        kind = READ if self._rng.random() < self._read_share else WRITE
        offset = self._rng.randrange(client.size_bytes // BLOCK) * BLOCK
        client.send_request(kind, number, offset, b"" if kind == READ else bytes(BLOCK))
        return kind

    def to_dict(self, result: Result | None, scale: float) -> dict[str, Any]:
        """Return the number of requests, and latencies at the client and simulated, in ms of simulated time.

        Args:
            result: The result of the server.
            scale: How many times slower than the model the server ran.
        """
        report: dict[str, Any] = {"requests": len(self.latencies_s)}
        if self.latencies_s and result is not None:
            times_ms = numpy.array(self.latencies_s) * 1000 / scale
            p50, p99 = (float(numpy.percentile(times_ms, percent)) for percent in (50, 99))
            report["client_ms"] = {"mean": float(times_ms.mean()), "p50": p50, "p99": p99}
            simulated = result.response_time
            report["simulated_ms"] = {name: getattr(simulated, name) for name in STATISTICS}
        return report
