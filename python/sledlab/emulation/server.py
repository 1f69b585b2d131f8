"""A server that real programs use as a block device, from its start to its result."""

from __future__ import annotations

import json
import tomllib
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

from sledlab import _native
from sledlab._native import Experiment
from sledlab.emulation.attached import Attached, attached
from sledlab.emulation.options import Emulated, host_of, scale_of
from sledlab.emulation.recorded import Recorded, write
from sledlab.errors import Error
from sledlab.files import check_writable, drafted
from sledlab.lazy import numpy as np
from sledlab.results import leaves
from sledlab.runs.compose import compose, in_its_file, read
from sledlab.runs.emulation import ClosedLoop, Emulation
from sledlab.runs.execute import execute
from sledlab.runs.recording import KIND, Recording
from sledlab.runs.recording import LEFT as RUN_LEFT
from sledlab.traces.columns import PARQUET
from sledlab.traces.read import trace as trace_of

if TYPE_CHECKING:
    from types import TracebackType

    import numpy

    from sledlab.runs.compose import Device
    from sledlab.runs.requests import Column
    from sledlab.runs.result import Result

TRACE = "trace.parquet"
EMULATION = "emulation.json"
REPLIES = "emulation.parquet"

LEFT = (TRACE, EMULATION, REPLIES)
"""What a server leaves in a directory, besides what a run leaves."""

START = "system.start"


def serve(
    device: Device | None = None,
    *,
    experiment: Experiment | str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    **said: Unpack[Emulated],
) -> Server:
    """Starts a block device that answers when the model says, for real programs.

    What it speaks is NBD, as do fio (`--ioengine=nbd`), QEMU, nbdcopy, nbdfuse and the kernel. Devices are
    ready: they have started before the first request comes; `settings={"system.start": "parked"}` has them
    start with it.

    Args:
        device: A device (`device(...)`), or its name or file.
        experiment: An experiment, or its file, that all else is said over; it has no trace and no workload.
        out: A directory for what `simulate` leaves, the recording, and how true the run was.
        replace: Whether to remove first what sledlab left in that directory, even of another kind.
        **said: Everything else; see the table below.

    Returns:
        The server, to be used in a `with` statement, or ended by `stop`.

    Raises:
        Error: Something in the options is wrong; it cannot listen; a file for data cannot be used; a program
            that attaching needs is missing.

    Examples:
        >>> import socket, sledlab as sl
        >>> with sl.serve("mems-g2", scheduler="sptf") as server:
        ...     with socket.socket(socket.AF_UNIX) as client:  # fio, QEMU or another client of NBD
        ...         client.connect(server.socket)
        ...         client.recv(8)
        b'NBDMAGIC'
    """
    with in_its_file(experiment, device, said, Emulated):
        base = experiment if experiment is None or isinstance(experiment, Experiment) else read(experiment)
        composed = compose(None, device, said, base=base).experiment
        if composed.setting(START) is None:
            composed = composed.with_setting(START, "ready")
        if composed.setting("workload.kind") or composed.setting("trace.file"):
            raise Error(
                "the experiment says what is read and written, but that is up to programs",
                remedy="leave out [workload] and [trace]; `sledlab simulate` runs it as it is",
            )
        composed.with_trace(TRACE).check()
    return Server(composed, said, out=out, over=replace)


class Server:
    """A running server; see `serve`.

    Attributes:
        name: What it is, in short: the device and its scheduler.
        uri: Where it listens, as clients of NBD want to be told: `nbd+unix:///?socket=...` or `nbd://...`.
        socket: The Unix socket; empty where it listens on an address.
        disk: What `attach` made: a file, a block device, or the directory of a file system; empty without.
        result: What `simulate` says of all that was asked; there once it has stopped, if anything was.
        emulation: How true the run was; there once it has stopped.

    Examples:
        >>> import sledlab as sl
        >>> with sl.serve("ram", time_scale=2) as server:
        ...     server.uri.startswith("nbd+unix:"), server.status()["connected"]
        (True, 0)
    """

    def __init__(
        self, experiment: Experiment, said: Emulated, *, out: str | Path | None = None, over: bool = False
    ) -> None:
        self.result: Result | None = None
        self.emulation: Emulation | None = None
        self.disk = ""
        self._last: dict[str, Any] = {}
        self._said = said
        self._scale = scale_of(said.get("time_scale"))
        if said.get("scratch") and said.get("data") is None:
            raise Error(
                "--scratch says what becomes of --data, but there is none", remedy="name a file with --data"
            )
        if said.get("record") is not None:
            check_writable(Path(said["record"]))
        self._stack = ExitStack()
        if not hasattr(_native, "Server"):
            raise Error("a device for other programs needs Linux", remedy="simulate it with a trace")
        with ExitStack() as stack:
            self._recording = Recording.planned(out=out, requests=None, keep_some=True, replace=over)
            held = stack.enter_context(TemporaryDirectory(prefix="sledlab-serve-"))
            self._directory = self._recording.directory or Path(held)
            self._records = Path(held) / "records"
            self._experiment = experiment.with_trace(str(self._directory / TRACE), PARQUET)
            config = tomllib.loads(experiment.to_toml())
            self.name = f"{config['device'].get('name', '')} {config['scheduler']['kind']}".strip()
            self._native = _native.Server(
                self._experiment,
                socket=_text(said.get("socket")),
                tcp=said.get("tcp"),
                data=_text(said.get("data")),
                scratch=bool(said.get("scratch")),
                untimed=bool(said.get("untimed")),
                scale=self._scale,
                host_us=host_of(said.get("host_us")),
                priority=said.get("priority") or "auto",
                recording=str(self._records),
                rotational=config["device"]["kind"] == "disk",
            )
            stack.callback(self._abandon)
            self.uri: str = self._native.uri
            self.socket: str = self._native.socket or ""
            self._attached: Attached | None = None
            if said.get("attach"):
                self._attached = stack.enter_context(attached(said["attach"], self.uri))
                self.disk = str(self._attached.path)
            self._stack = stack.pop_all()

    def __enter__(self) -> Server:
        """Nothing to begin with: it runs already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops, even after an error."""
        self.stop()

    @property
    def environment(self) -> dict[str, str]:
        """What commands are told in their environment."""
        scale = self._scale[0] / self._scale[1]
        return {
            "SLEDLAB_URI": self.uri,
            "SLEDLAB_SOCKET": self.socket,
            "SLEDLAB_DISK": self.disk,
            "SLEDLAB_TIME_SCALE": f"{scale:g}",
        }

    def status(self) -> dict[str, Any]:
        """What goes on: operations, queue, clients, replies on time, stalls; cheap enough to ask often."""
        status: dict[str, Any] = json.loads(self._native.status() or "null") or self._last
        self._last = status
        return status

    def stop(self) -> Emulation:
        """Ends it: detaches, waits for what is under way, replays what was asked, and leaves the results.

        A server that has stopped stays so, and says the same again.

        Raises:
            Error: The run ended with an error, such as of a scheduler; or a result cannot be written.
        """
        if self.emulation is None:
            with self._stack:
                if self._attached is not None:
                    self._attached.detach()
                report = json.loads(self._native.stop(drain=True))
                self._conclude(Recorded.read(self._records), report)
        if self.emulation is None:
            raise Error("the server has ended with an error", remedy="start another one")
        return self.emulation

    def _conclude(self, recorded: Recorded, report: dict[str, Any]) -> None:
        """Replays what was asked, and leaves the results."""
        trace, outcome = recorded.trace(), report.pop("outcome")
        if self._said.get("record") is not None:
            trace_of(trace).write(self._said["record"])
        loop = None
        if outcome is not None:
            write(trace, self._directory / TRACE)
            comparing = Comparing(recorded.planned)
            sinks = Recording(None, [*self._recording.sinks, comparing])
            result = execute(self._experiment, sinks)
            same = (
                comparing.digest.value() == report["digest_of_rows"] and outcome["summary"] == result.summary
            )
            loop = ClosedLoop(comparing.rows, comparing.different, same_results=same)
        sent, scale = recorded.replies, self._scale[0] / self._scale[1]
        self.emulation = emulation = Emulation(
            scale=scale,
            untimed=bool(self._said.get("untimed")),
            closed_loop=loop,
            server=report,
            response_ns=(sent["planned_ns"] - sent["stamp_ns"]) * scale,
            lateness_ns=sent["lateness_ns"],
            cause=sent["cause"],
            table=recorded.table(),
        )
        directory = self._recording.directory
        if outcome is not None:
            self.result = replace(result, emulation=emulation)
        if directory is None:
            return
        leaves(directory, KIND, (*(RUN_LEFT if self.result else ()), *LEFT))
        write(emulation.table, directory / REPLIES)
        with drafted(directory / EMULATION) as place:
            place.write_text(emulation.to_json() + "\n", encoding="utf-8")
        if self.result is not None:
            self._recording.finish(self.result)

    def _abandon(self) -> None:
        """Ends the thread and its sockets, where that has not been done."""
        self._native.stop(drain=False)


class Comparing:
    """Compares, of a replay, completions with those that were planned, and adds up all columns."""

    def __init__(self, planned: numpy.ndarray) -> None:
        self.digest = _native.RowsDigest()
        self.rows = self.different = 0
        self._planned = planned

    def write(self, columns: list[Column]) -> None:
        """Takes one chunk of the per-request table."""
        self.digest.update(columns)
        data = dict(columns)
        ids, completed = (np.frombuffer(data[name], dtype="<u8") for name in ("id", "completion_ns"))
        self.rows += len(ids)
        self.different += int(np.count_nonzero(self._planned[ids] != completed))

    def close(self, *, keep: bool = True) -> None:
        """Nothing to complete."""


def _text(said: str | Path | None) -> str | None:
    return None if said is None else str(said)
