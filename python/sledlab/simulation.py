"""Running experiments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sledlab import _native
from sledlab.errors import Error
from sledlab.interrupt import Interrupt
from sledlab.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sledlab.catalogue import Chosen
    from sledlab.recording import Recording
    from sledlab.traces import Trace

__all__ = ["Experiment", "run", "simulate"]

Experiment = _native.Experiment


def simulate(
    source: Trace | Chosen | str | Path | Any,
    device: Chosen | str | Path,
    *,
    scheduler: Chosen | str = "fcfs",
    power: Chosen | str | None = None,
    merge: Chosen | str | None = None,
    replay: str = "open",
    speedup: float | None = None,
    warmup: int = 0,
    limit: int | None = None,
    duration_s: float | None = None,
    outside: Literal["reject", "wrap", "clip", "scale"] = "reject",
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    requests: bool | str | Path | None = None,
    out: str | Path | None = None,
) -> Result:
    """Replays a trace or a workload against a device.

    Args:
        source: A trace (`read_trace`, `trace`, a path, a table) or a workload (`workload(...)`).
        device: A device (`device(...)`), or its name or file.
        scheduler: A scheduler, or its name.
        power: When the device parks and starts again: a power policy, or its name. Unless given, it
            parks after its own `idle_timeout_ms`.
        merge: Which queued requests are served as one: `merge(...)`, `pairs` or `chains`; none unless given.
        replay: `open` (requests arrive when recorded), `closed:8` (8 outstanding), or `closed:8:2ms`
            (and a think time).
        speedup: Divides the times between arrivals; open replay only.
        warmup: Requests at the start that do not count in the statistics.
        limit: Requests after which the replay ends.
        duration_s: Simulated time after which nothing more is issued, in s.
        outside: What a request past the end of the device gets.
        seed: Root of all random numbers.
        settings: Further settings by key, such as `{"device.active_tips": 3200}`.
        requests: `True` keeps every request, `False` none, a path (`.parquet`, `.csv`) writes them
            there; by default the first two million are kept.
        out: A directory for summary, tables and report.

    Returns:
        The result.

    Raises:
        Error: Something in the input or the options is wrong; the message says what, where and what to do.

    Example:
        >>> import sledlab as sl
        >>> busy = sl.workload("uniform", mean_interarrival_ms=0.7)
        >>> fcfs, sptf = (
        ...     sl.simulate(busy, "mems-g2", scheduler=name, limit=5000) for name in ("fcfs", "sptf")
        ... )
        >>> sptf.response_time.mean < fcfs.response_time.mean
        True
    """
    choices = replay_settings(
        replay, warmup, limit, duration_s, outside, seed, {"replay.speedup": speedup, **(settings or {})}
    )
    experiment, trace = composed(source, device, choices, scheduler, power, merge)
    return run(experiment, trace=trace, requests=requests, out=out)


def replay_settings(
    replay: str,
    warmup: int,
    limit: int | None,
    duration_s: float | None,
    outside: str,
    seed: int | None,
    settings: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """How something is replayed, as `simulate` takes it, as settings by key; `settings` win."""
    return {
        "replay.mode": replay,
        "replay.warmup": warmup,
        "replay.limit": limit,
        "replay.duration_s": duration_s,
        "replay.outside": outside,
        "seed": seed,
        **(settings or {}),
    }


def composed(
    source: Any,
    device: Chosen | str | Path,
    choices: Mapping[str, Any],
    scheduler: Chosen | str | None = None,
    power: Chosen | str | None = None,
    merge: Chosen | str | None = None,
) -> tuple[Experiment, Trace | None]:
    """The experiment that a source, a device and further settings make, and the trace where it is in memory.

    Raises:
        Error: One of them makes no sense.
    """
    from sledlab.catalogue import Chosen, apply, require
    from sledlab.settings import to_toml

    experiment = apply(Experiment(), require("device", device))
    for kind, chosen in (("scheduler", scheduler), ("power", power), ("merge", merge)):
        if chosen is not None:
            experiment = apply(experiment, require(kind, chosen))
    trace: Trace | None = None
    if isinstance(source, Chosen):
        experiment = apply(experiment, require("workload", source))
    else:
        experiment, trace = _with_trace(experiment, source)
    for key, value in choices.items():
        if value is not None:
            experiment = experiment.with_setting(key, to_toml(value))
    return experiment, trace


def _with_trace(experiment: Experiment, source: Any) -> tuple[Experiment, Trace | None]:
    """The experiment with a trace: named by its file, or to be handed over where it is in memory."""
    from sledlab.traces import File, ParquetFile, as_trace

    trace = as_trace(source)
    if not isinstance(trace.opener, (File, ParquetFile)):
        return experiment, trace
    experiment = experiment.with_trace(trace.name, trace.format or None)
    if trace.opener.sort_window:
        experiment = experiment.with_setting("trace.sort_window", str(trace.opener.sort_window))
    return experiment, None


def run(
    experiment: Experiment | str | Path,
    *,
    trace: Trace | None = None,
    requests: bool | str | Path | None = None,
    out: str | Path | None = None,
) -> Result:
    """Runs an experiment: a file such as `--out` leaves behind, or one built in Python.

    Args:
        experiment: The experiment, or the path of its TOML file.
        trace: Replayed instead of the trace or workload that the experiment names.
        requests: As in `simulate`.
        out: As in `simulate`.

    Raises:
        Error: As in `simulate`.

    Example:
        >>> import sledlab as sl, tempfile
        >>> r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=100, out=(out := tempfile.mkdtemp()))
        >>> sl.run(f"{out}/experiment.toml").to_json() == r.to_json()
        True
    """
    from sledlab.recording import Recording

    if not isinstance(experiment, Experiment):
        experiment = read(experiment)
    recording = Recording.planned(out=out, requests=requests, keep_some=True)
    result = execute(experiment, recording, trace=trace)
    if result.interrupted:
        raise KeyboardInterrupt
    return result


def read(path: str | Path) -> Experiment:
    """Reads an experiment file.

    Raises:
        Error: It cannot be read, or is not an experiment.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        remedy = f"to replay a trace, say --trace {path}"
        raise Error(f"`{path}` is no experiment: it is not text", remedy=remedy) from error
    except OSError as error:
        raise Error(f"cannot read the experiment `{path}`: {error}") from error
    return Experiment(text, str(path))


def execute(
    experiment: Experiment,
    recording: Recording,
    *,
    trace: Trace | None = None,
    progress: Callable[[int, float | None], None] | None = None,
    time_decisions: bool = False,
) -> Result:
    """Runs an experiment, records it as planned, and gives the result; an interrupt gives what there is.

    `time_decisions` puts the mean real time of a scheduling decision into the timing, as `decision_ns`.
    """
    from sledlab.given import open_given

    experiment, given = open_given(experiment, trace.opener if trace else None)
    with recording, Interrupt() as interrupt:

        def tell(operations: int, share: float | None) -> None:
            interrupt.check()
            if progress is not None:
                progress(operations, share)

        text = experiment.run(given.source, recording.sink, tell, given.highest_end, time_decisions)
    outcome = json.loads(text)
    result = Result(
        summary=outcome["summary"],
        series=_columns(outcome["timeline"]),
        cdf=dict(zip(("all", "read", "write"), outcome["cdf"], strict=True)),
        timing=_timing(outcome),
        experiment=experiment.to_toml(),
        table=recording.table,
    )
    recording.finish(result)
    return result


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _timing(outcome: Mapping[str, Any]) -> dict[str, float]:
    """Wall-clock figures, which are not part of the results."""
    wall_s = outcome["wall_s"]
    operations = outcome["summary"]["operations"]["issued"]
    timing = {"wall_s": wall_s, "operations_per_s": operations / wall_s if wall_s > 0 else 0.0}
    if outcome.get("decision_ns") is not None:
        timing["decision_ns"] = outcome["decision_ns"]
    return timing
