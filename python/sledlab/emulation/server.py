"""A server that real programs use as a block device, from its start to its end and its result."""

from __future__ import annotations

import json
import tomllib
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock, Timer
from typing import TYPE_CHECKING, Any, Unpack

from sledlab import _native
from sledlab._native import Experiment
from sledlab.emulation.attachment import AttachedDevice, attach_device
from sledlab.emulation.options import ServeOptions, parse_failure_delay, parse_host_time, parse_time_scale
from sledlab.emulation.recording import RecordedOperations, join_replies, join_spans, table, write
from sledlab.emulation.replay_check import TRACE, close, span_reports, trace_name
from sledlab.errors import Error
from sledlab.files import atomic_write, check_writable
from sledlab.results import list_in_manifest, record_digests, refuse_links
from sledlab.runs.compose import compose, error_location, read
from sledlab.runs.emulation import EMULATION, REPLIES, Emulation, PowerFailure
from sledlab.runs.keywords import accept_options
from sledlab.runs.recording import KIND, Recording
from sledlab.runs.recording import RESULT_FILES as RUN_FILES
from sledlab.traces.columns import PARQUET
from sledlab.traces.read import trace as make_trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from sledlab.runs.compose import Device
    from sledlab.runs.result import Result

OUTPUT_FILES = (EMULATION, REPLIES)
"""Files that a server writes to a directory, besides those of a run and the traces of its requests."""


@accept_options(ServeOptions)
def serve(
    device: Device | None = None,
    *,
    experiment: Experiment | str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    **options: Unpack[ServeOptions],
) -> Server:
    """Start a block device for real programs that replies when the model completes a request.

    The server speaks NBD, as do fio (`--ioengine=nbd`), QEMU, nbdcopy, nbdfuse and the kernel.

    Args:
        device: A device (`device(...)`), or its name or file.
        experiment: An experiment, or its file, that all other arguments override; it has no trace and no
            workload.
        out: A directory for the files that `simulate` writes, the recording, and the lateness of replies.
        replace: Whether to remove first the results that sledlab left in that directory, of any kind.
        **options: Further options; see the table below.

    Returns:
        The server, to be used in a `with` statement, or ended by `stop`.

    Raises:
        Error: An option is wrong; the server cannot listen; the file for data cannot be used; a program that
            attaching needs is missing.

    Examples:
        >>> import socket, sledlab as sl
        >>> with sl.serve("mems-g2", scheduler="sptf") as server:
        ...     with socket.socket(socket.AF_UNIX) as client:  # fio, QEMU or another client of NBD
        ...         client.connect(server.socket)
        ...         client.recv(8)
        b'NBDMAGIC'
    """
    with error_location(experiment, device, options, ServeOptions):
        base = experiment if experiment is None or isinstance(experiment, Experiment) else read(experiment)
        server_experiment = compose(None, device, options, base=base).experiment
        if server_experiment.setting("workload.kind") or server_experiment.setting("trace.file"):
            raise Error(
                "the experiment defines requests, but `serve` accepts them from programs",
                remedy="omit [workload] and [trace], or use `sledlab simulate`",
            )
        server_experiment.with_trace(TRACE).check()
    return Server(server_experiment, options, out=out, replaces_results=replace)


class Server:
    """A running server; see `serve`.

    Attributes:
        name: The device and its scheduler, in short.
        uri: Address of the server for clients of NBD: `nbd+unix:///?socket=...` or `nbd://...`.
        socket: The Unix socket; empty for a server on a TCP address.
        disk: The file, block device, or directory of a file system that `attach` made; empty without it.
        result: The result of `simulate` for all requests up to the first power failure; `None` until the
            server has stopped, and where nothing was read or written up to that failure.
        emulation: How close to the model's times the replies left; `None` until the server has stopped.

    Examples:
        >>> import sledlab as sl
        >>> with sl.serve("ram", time_scale=2) as server:
        ...     server.uri.startswith("nbd+unix:"), server.status()["connected"]
        (True, 0)
    """

    def __init__(
        self,
        experiment: Experiment,
        options: ServeOptions,
        *,
        out: str | Path | None = None,
        replaces_results: bool = False,
    ) -> None:
        self._lock = RLock()
        self._deferred_error: Error | None = None
        self._has_ended = False
        failure_delay_s = parse_failure_delay(options.get("power_fail_after_s"))
        self._timer = Timer(failure_delay_s or 0, self._capture_error, [self.power_fail])
        self._timer.daemon = True
        self.result: Result | None = None
        self.emulation: Emulation | None = None
        self.disk = ""
        self._last_status: dict[str, Any] = {}
        self._options = options
        self._scale = parse_time_scale(options.get("time_scale"))
        if options.get("scratch") and options.get("data") is None:
            raise Error("--scratch requires --data", remedy="name a file with --data")
        if options.get("record") is not None:
            check_writable(Path(options["record"]))
        self._stack = ExitStack()
        if not hasattr(_native, "Server"):
            raise Error("`serve` requires Linux", remedy="simulate it with a trace")
        with ExitStack() as stack:
            self._recording = Recording.plan(out=out, requests=None, keep_some=True, replace=replaces_results)
            if (directory := self._recording.directory) is not None:
                refuse_links(directory, [*OUTPUT_FILES, *(path.name for path in directory.glob("*.parquet"))])
            temporary_directory = stack.enter_context(TemporaryDirectory(prefix="sledlab-serve-"))
            self._directory = self._recording.directory or Path(temporary_directory)
            self._recording_file = Path(temporary_directory) / "records"
            self._experiment = experiment.with_trace(str(self._directory / TRACE), PARQUET)
            config = tomllib.loads(experiment.to_toml())
            self.name = f"{config['device'].get('name', '')} {config['scheduler']['kind']}".strip()
            self._native = _native.Server(
                self._experiment,
                socket=_to_text(options.get("socket")),
                tcp=options.get("tcp"),
                data=_to_text(options.get("data")),
                scratch=bool(options.get("scratch")),
                untimed=bool(options.get("untimed")),
                power_failures=bool(options.get("power_failures")) or failure_delay_s is not None,
                scale=self._scale,
                host_us=parse_host_time(options.get("host_us")),
                priority=options.get("priority") or "auto",
                recording=str(self._recording_file),
                attached=bool(options.get("attach")),
                rotational=config["device"]["kind"] == "disk",
            )
            stack.callback(self._abandon)
            self.uri: str = self._native.uri
            self.socket: str = self._native.socket or ""
            self._attached: AttachedDevice | None = None
            if options.get("attach"):
                is_probed = parse_host_time(options.get("host_us")) is None and not options.get("untimed")
                probe = self._native.measure if is_probed else None
                self._attached = stack.enter_context(attach_device(options["attach"], self.uri, probe))
                self.disk = str(self._attached.path)
                self._native.begin()
            self._stack = stack.pop_all()
        if failure_delay_s is not None:
            self._timer.start()

    def __enter__(self) -> Server:
        """The server, which runs already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server, even after an error; after an error of `stop`, it has stopped."""
        if error is None or not self._has_ended:
            self.stop()

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables by which commands find the device: address, socket, disk, time scale."""
        scale = self._scale[0] / self._scale[1]
        return {
            "SLEDLAB_URI": self.uri,
            "SLEDLAB_SOCKET": self.socket,
            "SLEDLAB_DISK": self.disk,
            "SLEDLAB_TIME_SCALE": f"{scale:g}",
        }

    def status(self) -> dict[str, Any]:
        """Operations, queue, clients, replies on time and stalls at this moment; cheap enough to poll."""
        status: dict[str, Any] = json.loads(self._native.status() or "null") or self._last_status
        self._last_status = status
        return status

    def stop(self, *, report: bool = True) -> Emulation:
        """Stop the server: detach, complete pending requests, replay all requests, write the results.

        Stopping a server again changes nothing and returns the same.

        Args:
            report: Whether to write the page `report.html` into `out`; drawing its figures takes seconds.

        Raises:
            Error: The run ended with an error, such as of a scheduler: `emulation` covers the requests
                served until then. A result cannot be written.
        """
        with self._lock:
            self._timer.cancel()
            if not self._has_ended:
                self._has_ended = True
                with self._stack:
                    if self._attached is not None:
                        self._capture_error(self._attached.detach)
                    self._conclude(json.loads(self._native.stop(drain=True)), writes_page=report)
        if self.emulation is None:
            raise Error("the server ended with an error", remedy="start a new server")
        self._native.check()
        if self._deferred_error is not None:
            raise self._deferred_error
        return self.emulation

    def power_fail(self, seed: int | None = None) -> PowerFailure:
        """Simulate a power failure of the device now, and switch the device on again.

        Random numbers decide which of the blocks being written reach a medium. A volatile cache loses blocks
        that were not flushed. Connections break; the server then serves the data that is on the media. A
        device made by `attach` is attached again, as after a restart of the host: processes with open files
        get errors.

        Args:
            seed: Seed of these random numbers; default: the seed of the experiment.

        Returns:
            What the power failure lost, and what survived it.

        Raises:
            Error: The server was started without `power_failures`; it has ended; nothing can be attached any
                more.

        Examples:
            >>> import sledlab as sl
            >>> with sl.serve("ram", power_failures=True) as server:
            ...     server.power_fail().lost
            0
        """
        with self._lock:
            failure = PowerFailure.read(json.loads(self._native.power_fail(seed)))
            if self._attached is not None:
                self._attached.force_detach()
                attachment = attach_device(self._options["attach"], self.uri, has_file_system=True)
                self._attached = self._stack.enter_context(attachment)
                self.disk = str(self._attached.path)
            return failure

    def _capture_error(self, action: Callable[[], object]) -> None:
        """Call `action`; its error is raised by `stop`, after the results are written."""
        try:
            action()
        except Error as error:
            self._deferred_error = error

    def _conclude(self, report: dict[str, Any], *, writes_page: bool) -> None:
        """Replay the recorded requests, and write the results, with a page where `writes_page`."""
        reported_failures = report.pop("power_failures")
        failures = tuple(map(PowerFailure.read, reported_failures))
        spans = RecordedOperations.read(self._recording_file, len(failures))
        scale = self._scale[0] / self._scale[1]
        reports = span_reports(report, reported_failures)
        del report["outcome"]
        report["host"]["through"] = self._probed_path()
        if self._options.get("record") is not None:
            make_trace(join_spans(spans, failures, scale)).write(self._options["record"])
        result, closed_loop = close(self._experiment, spans, reports, self._directory, self._recording)
        replies = join_replies(spans)
        self.emulation = emulation = Emulation(
            scale=scale,
            untimed=bool(self._options.get("untimed")),
            closed_loop=closed_loop,
            server=report,
            response_ns=(replies["planned_ns"] - replies["stamp_ns"]) * scale,
            lateness_ns=replies["lateness_ns"],
            cause=replies["cause"],
            table=table(replies),
            power_failures=failures,
        )
        directory = self._recording.directory
        if result is not None:
            self.result = replace(result, emulation=emulation)
        if directory is None:
            return
        traces = [trace_name(start) for start, span in enumerate(spans) if len(span)]
        list_in_manifest(directory, KIND, (*(RUN_FILES if self.result else ()), *OUTPUT_FILES, *traces))
        write(emulation.table, directory / REPLIES)
        with atomic_write(directory / EMULATION) as draft:
            draft.write_text(emulation.to_json() + "\n", encoding="utf-8")
        if self.result is not None:
            self._recording.finish(self.result, report=writes_page)
        record_digests(directory)

    def _probed_path(self) -> str:
        """How the time to applications was measured: `socket`, `file`, `loop`; `declared` if given."""
        if self._options.get("untimed") or parse_host_time(self._options.get("host_us")) is not None:
            return "declared"
        kind = (self._options.get("attach") or "socket").partition(":")[0]
        return "loop" if kind == "ext4" else kind

    def _abandon(self) -> None:
        """End the server's thread and close its sockets, unless `stop` has done so."""
        self._native.stop(drain=False)


def _to_text(path: str | Path | None) -> str | None:
    return None if path is None else str(path)
