"""Running experiments in the simulator."""

from __future__ import annotations

import json
from signal import SIGINT
from typing import TYPE_CHECKING, Any, Unpack

from sledlab._native import Experiment
from sledlab.runs.compose import compose, error_location, read
from sledlab.runs.interrupt import Interrupted
from sledlab.runs.keywords import accept_options
from sledlab.runs.options import SimulateOptions
from sledlab.runs.recording import Recording
from sledlab.runs.result import Result
from sledlab.stop_signals import Interrupt
from sledlab.traces.stream import open_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sledlab.runs.compose import Device, Source
    from sledlab.traces.read import Trace

    Tell = Callable[[int, float | None], None]

__all__ = ["Experiment", "execute", "run", "simulate"]


@accept_options(SimulateOptions)
def simulate(
    source: Source | None = None,
    device: Device | None = None,
    *,
    experiment: Experiment | str | Path | None = None,
    requests: bool | str | Path | None = None,
    perfetto: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    progress: Tell | None = None,
    **options: Unpack[SimulateOptions],
) -> Result:
    """Replay a trace or a workload against a device.

    Args:
        source: A trace (`read_trace`, `trace`, a path, a table) or a workload (`workload(...)`).
        device: A device (`device(...)`), or its name or file.
        experiment: An experiment, or its file, that all other arguments override; it may have source and
            device.
        requests: `True` keeps every request, `False` none, a path (`.parquet`, `.csv`) writes them
            there; by default the first two million are kept.
        perfetto: A file (`.pftrace`) for all requests as a trace that https://ui.perfetto.dev shows, see
            `Result.perfetto`.
        out: A directory for summary, tables and report.
        replace: Whether to remove first the results that sledlab left in that directory, of any kind.
        progress: Called now and then with the completed operations, and the completed share where known.
        **options: Further options; see the table below.

    Returns:
        The result.

    Raises:
        Error: The input or an option is invalid.
        Interrupted: Ctrl-C; a `KeyboardInterrupt` with the result of the requests served until then.

    Examples:
        >>> import sledlab as sl
        >>> busy = sl.workload("uniform", mean_interarrival_ms=0.7)
        >>> fcfs, sptf = (
        ...     sl.simulate(busy, "mems-g2", scheduler=name, limit=5000) for name in ("fcfs", "sptf")
        ... )
        >>> sptf.response_time.mean < fcfs.response_time.mean
        True
        >>> hybrid = {"hybrid": sl.hybrid("caching-disk", front_mb=64), "front": "mems-g2"}
        >>> buffered = sl.simulate(sl.workload("cello"), "atlas-10k", limit=500, **hybrid)
        >>> buffered.response_time.mean < 3
        True
    """
    with error_location(experiment, device, options):
        base = experiment if experiment is None or isinstance(experiment, Experiment) else read(experiment)
        composed_experiment = compose(source, device, options, base=base)
        if composed_experiment.trace is None:
            composed_experiment.experiment.check()
        recording = Recording.plan(
            out=out, requests=requests, perfetto=perfetto, keep_some=True, replace=replace
        )
        return execute(
            composed_experiment.experiment, recording, trace=composed_experiment.trace, progress=progress
        )


def run(
    experiment: Experiment | str | Path,
    *,
    trace: Trace | None = None,
    requests: bool | str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    allow_plugins: bool = False,
) -> Result:
    """Run an experiment: a file from an `--out` directory, or one built in Python.

    Args:
        experiment: The experiment, or the path of its TOML file.
        trace: A trace to replay instead of the trace or workload that the experiment names.
        requests: As in `simulate`.
        out: As in `simulate`.
        replace: As in `simulate`.
        allow_plugins: Whether plug-ins that the file names may run. They run arbitrary code.

    Raises:
        Error: As in `simulate`.

    Examples:
        >>> import sledlab as sl, tempfile
        >>> r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=100, out=(out := tempfile.mkdtemp()))
        >>> sl.run(f"{out}/experiment.toml").to_json() == r.to_json()
        True
    """
    return simulate(
        trace, experiment=experiment, requests=requests, out=out, replace=replace, allow_plugins=allow_plugins
    )


def execute(
    experiment: Experiment,
    recording: Recording,
    *,
    trace: Trace | None = None,
    progress: Tell | None = None,
    time_decisions: bool = False,
    stop_overloaded: bool = False,
) -> Result:
    """Run an experiment, record it as planned, and return the result.

    `time_decisions` puts the mean wall-clock time of a scheduling decision into the timing, as `decision_ns`.
    `stop_overloaded` ends a run whose queue kept growing at its last arrival.

    Raises:
        Error: The run failed: the experiment, its trace or a plug-in is wrong.
        Interrupted: A signal such as Ctrl-C, with the result of the requests served until then: of
            the whole run if the signal came last.
    """
    experiment, stream = open_stream(experiment, trace.opener if trace else None)
    with recording, Interrupt(stops_reading=True) as interrupt:

        def tell(operations: int, share: float | None) -> None:
            interrupt.check()
            if progress is not None:
                progress(operations, share)

        outcome_json = experiment.run(
            stream.source, recording.sink, tell, stream.highest_end, time_decisions, stop_overloaded
        )
    outcome = json.loads(outcome_json)
    result = Result(
        summary=outcome["summary"],
        series=_to_columns(outcome["timeline"]),
        cdf=dict(zip(("all", "read", "write"), outcome["cdf"], strict=True)),
        timing=_timing(outcome),
        experiment=experiment.to_toml(),
        table=recording.table,
    )
    recording.finish(result)
    if interrupt.pending_signal or result.interrupted:
        raise Interrupted(result, interrupt.pending_signal or SIGINT)
    return result


def _to_columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _timing(outcome: Mapping[str, Any]) -> dict[str, float]:
    """Wall-clock figures, which are not part of the results."""
    wall_s = outcome["wall_s"]
    operations = outcome["summary"]["operations"]["issued"]
    timing = {"wall_s": wall_s, "operations_per_s": operations / wall_s if wall_s > 0 else 0.0}
    if outcome.get("decision_ns") is not None:
        timing["decision_ns"] = outcome["decision_ns"]
    return timing
