"""Timing accuracy of an emulation as text, table and figures; and the live status of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np
from sledlab.runs.emulation import SHARES
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.document import Document, Drawing, Grid, Heading, SideBySideParts, Text
from sledlab.show.palette import BLUE, QUIET, VERMILION
from sledlab.show.plots import single_plot
from sledlab.show.ranking import Ranking
from sledlab.show.wording import energy, figure, join_names, percent, pluralize, share

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.runs.emulation import Emulation, PowerFailure
    from sledlab.runs.result import Result
    from sledlab.show.document import Part

REMEDIES = {
    "scheduling delay": "other programs used the processor; use --priority realtime or stop some of them",
    "model": "the scheduler or the policy takes long to decide",
    "data": "reading and writing the data takes long; keep it in memory or on a faster disk",
    "client": "the client did not read its replies",
    "minimum reply time": "the device responds faster than this machine can reply",
}
"""Causes of late replies, each with a hint to the user."""


def verdict(emulation: Emulation) -> str:
    """Return whether the run kept time, in one to three sentences."""
    if emulation.untimed:
        return "Untimed: the server replied immediately, so the numbers do not describe the device."
    on_time_share = emulation.on_time_share(0.02)
    if on_time_share is None:
        return "No reply took time on the device, so timing accuracy is unknown."
    replies = pluralize(emulation.replies, "reply", "replies")
    on_time = f"{_format_share(on_time_share)} of {replies} within 2 % of the simulated response time"
    if emulation.kept_time:
        return f"Kept time: yes. {on_time}."
    cause = emulation.chief_cause
    reason = f" Main cause: {REMEDIES[cause]}." if cause in REMEDIES else ""
    return (
        f"Kept time: no. {on_time}; 99 % are required.{reason} "
        f"This machine would keep time with --time-scale {emulation.sufficient_scale:g}."
    )


def _format_share(share: float) -> str:
    """Return a percentage rounded down, so that a share below 99 % never reads as 99 %.

    Examples:
        >>> _format_share(0.98733), _format_share(0.995)
        ('98.7 %', '99.5 %')
    """
    return f"{np.floor(share * 1000) / 10:g} %"


def time_scale_note(emulation: Emulation) -> str:
    """Sentences on the effect of the time scale on the numbers; empty at scale 1."""
    if emulation.scale == 1:
        return ""
    return (
        f"The device and its clock ran {emulation.scale:g} times slower than wall-clock time. "
        "Response times, rates, energies and think times of programs are in the device's time."
    )


def loop(emulation: Emulation) -> str:
    """A sentence on the closed loop: whether the replay has the same completions and results."""
    outcome = emulation.closed_loop
    if outcome is None:
        return ""
    if outcome.closed:
        return (
            f"A replay of the recording gives the same {outcome.operations:,} completions and bit-identical "
            "results."
        )
    return (
        f"A replay of the recording gives other results: {outcome.different:,} of {outcome.operations:,} "
        "completions differ. Either a scheduler or policy depends on something outside the model (a clock, "
        "random numbers), or sledlab has a defect."
    )


def power_failure(failure: PowerFailure) -> str:
    """A power failure and the blocks that were not durable, in a sentence or two."""
    when = f"The power failed after {figure(failure.real_s)} s"
    unanswered = pluralize(failure.in_flight, "request was", "requests were")
    if not failure.blocks_at_risk:
        return f"{when}: {unanswered} never answered, and all written data was durable."
    blocks = pluralize(failure.blocks_at_risk, "block")
    lost = f", {failure.lost:,} of them although a later write was acknowledged" if failure.lost else ""
    return (
        f"{when}: {unanswered} never answered. Of {blocks} whose last write was not durable, "
        f"{failure.newest:,} hold it, and {failure.older:,} an older version{lost}."
    )


def power(emulation: Emulation) -> str:
    """All power failures in sentences; empty without any."""
    failures = emulation.power_failures
    if not failures:
        return ""
    failure_text = " ".join(map(power_failure, failures[:MAX_FAILURES]))
    more_failures = len(failures) - MAX_FAILURES
    further = f" {pluralize(more_failures, 'more failure')} followed." if more_failures > 0 else ""
    return f"{failure_text}{further} Results cover the time up to the first failure; the replay covers all."


MAX_FAILURES = 5
"""Maximum number of power failures that are described one by one."""


def table(emulation: Emulation) -> Grid:
    """The table of lateness, its causes, stalls, and the time to applications."""
    lateness_us, server = emulation.lateness_us, emulation.server
    stalls = emulation.stalls
    rows: list[tuple[str, str, str]] = [
        *(
            (f"within {limit * 100:g} % of the response", "", share(emulation.on_time_share(limit)))
            for limit in SHARES
        ),
        *((f"lateness, {name}", "us", figure(lateness_us[key])) for name, key in _PERCENTILES),
        *((f"· {cause}", "", f"{count:,}") for cause, count in emulation.causes.items()),
        ("replies more than 5 ms late", "", f"{emulation.late_replies:,}"),
        ("stalls of more than 1 ms", "", f"{stalls['count']:,}, {stalls['sum_ns'] / 1e6:,.1f} ms in total"),
        (f"round trip to {_DESTINATIONS[server['host']['through']]}, compensated", "", ""),
        *((f"· {name}", "us", figure(us)) for name, us in _round_trips(server["host"])),
        ("real-time priority", "", "yes" if server["realtime"] else "no"),
        ("processor time of the server", "s", figure(server["cpu_s"])),
        ("wall-clock time", "s", figure(server["wall_s"])),
    ]
    return Grid(("timing accuracy", "unit", "value"), rows, "left")


_DESTINATIONS = {
    "socket": "the client",
    "file": "the file",
    "loop": "the block device",
    "declared": "the client",
}
"""Destination of the round trip whose time is compensated, by `host.through` of the report."""


def _round_trips(host: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The time to applications and back for reads and writes of two sizes, in us."""
    return [
        (f"{kind} of {kib} KB", host[f"{kind}_us"] + (kib - 4) * host[f"{kind}_us_per_kib"])
        for kind in ("read", "write")
        for kib in (4, 64)
    ]


_PERCENTILES = (("median", "p50"), ("90 %", "p90"), ("99 %", "p99"), ("99.9 %", "p999"), ("maximum", "max"))


def section(emulation: Emulation) -> list[Part]:
    """The section of a report about the emulation."""
    texts = (verdict(emulation), time_scale_note(emulation), loop(emulation), power(emulation))
    paragraphs = [text for text in texts if text]
    drawings = [
        Drawing(
            lambda: lateness(emulation),
            lateness.__doc__ or "",
            "Lateness of replies",
            "Absolute values. Further left is more accurate.",
        ),
        Drawing(
            lambda: lateness_over_time(emulation),
            lateness_over_time.__doc__ or "",
            "Lateness over time",
            "Maximum lateness in each interval. Orange: stalls of the server of more than 1 ms.",
        ),
    ]
    figures: list[Part] = [SideBySideParts(drawings)] if emulation.replies else []
    return [Heading("Timing accuracy"), *map(Text, paragraphs), *figures, table(emulation)]


def comparison(runs: Mapping[str, Result]) -> list[Part]:
    """Results of several devices that the same programs used in turn: a table, advice and verdicts."""
    rows = [
        ("requests", "", *(f"{run.count:,}" for run in runs.values())),
        ("mean response", "ms", *(figure(run.response_time.mean) for run in runs.values())),
        ("99 % within", "ms", *(figure(run.response_time.p99) for run in runs.values())),
        ("throughput", "requests/s", *(figure(run.throughput_iops) for run in runs.values())),
        ("busy", "", *(percent(run.utilization) for run in runs.values())),
        ("energy", "", *(energy(run.energy.total) for run in runs.values())),
        ("time of the device", "s", *(figure(run.elapsed_s) for run in runs.values())),
        ("kept time", "", *(_kept_time(run.emulation) for run in runs.values())),
    ]
    verdicts = [Text(f"{name}: {verdict(run.emulation)}") for name, run in runs.items() if run.emulation]
    return [Grid(("device", "unit", *runs), rows, "left"), Text(advice(runs)), *verdicts]


def _kept_time(emulation: Emulation | None) -> str:
    return "yes" if emulation is not None and emulation.kept_time else "no"


def advice(runs: Mapping[str, Result]) -> str:
    """The device that finished first, that with the shortest responses, and that with minimum energy."""
    measures: tuple[Callable[[str], float], ...] = (
        lambda name: runs[name].elapsed_s,
        lambda name: runs[name].response_time.mean,
        lambda name: runs[name].energy.total,
    )
    first, quickest, least = (join_names(Ranking.of(runs, value).within(0.0)) for value in measures)
    slow = [name for name, run in runs.items() if run.emulation and not run.emulation.kept_time]
    warning = f" {join_names(slow)} did not keep time: use a larger --time-scale." if slow else ""
    return (
        f"{first} finished first, {quickest} had the shortest mean response, and {least} used the least "
        f"energy.{warning}"
    )


def comparison_page(runs: Mapping[str, Result]) -> Document:
    """The page about several devices that the same programs used in turn."""
    return Document(
        kind="emulation",
        title=f"The same programs on {join_names(list(runs))}",
        parts=comparison(runs),
        footer="All times are in the device's time. Each device has a report in a directory with its name.",
    )


def lateness(emulation: Emulation) -> Figure:
    """Share of replies by absolute lateness."""
    fig, axes = single_plot()
    lateness_us = np.sort(np.abs(emulation.lateness_ns)) / 1e3
    axes.step(
        np.maximum(lateness_us, 0.1),
        np.arange(1, len(lateness_us) + 1) / len(lateness_us) * 100,
        where="post",
        color=BLUE,
    )
    axes.set_xscale("log")
    plain_ticks(axes.xaxis)
    axes.set_ylim(0, 101)
    axes.grid(visible=True, axis="both")
    axes.set(xlabel="absolute lateness (us)", ylabel="replies (%)")
    return fig


def lateness_over_time(emulation: Emulation, bins: int = 200) -> Figure:
    """Maximum lateness in each interval of the run."""
    fig, axes = single_plot()
    power_on_s = np.array([0.0, *(failure.on_s for failure in emulation.power_failures)])
    sent_s = np.asarray(emulation.table["sent_ns"]) * (emulation.scale / 1e9)
    sent_s += power_on_s[np.asarray(emulation.table["power_failures"])]
    bounds = np.linspace(sent_s.min(), max(sent_s.max(), sent_s.min() + 1e-9), bins + 1)
    bin_indices = np.clip(np.searchsorted(bounds, sent_s, side="right") - 1, 0, bins - 1)
    max_lateness_us = np.zeros(bins)
    np.maximum.at(max_lateness_us, bin_indices, np.maximum(emulation.lateness_ns, 0) / 1e3)
    axes.vlines(
        (bounds[:-1] + bounds[1:]) / 2, 0.1, np.maximum(max_lateness_us, 0.1), color=BLUE, linewidth=1
    )
    for stall in emulation.stalls["listed"]:
        axes.axvline(stall["at_ns"] / 1e9, color=VERMILION, linewidth=0.8)
    axes.axhline(1000, color=QUIET, linewidth=0.8, linestyle=":")
    axes.set_yscale("log")
    plain_ticks(axes.yaxis)
    axes.set(xlabel="wall-clock time (s)", ylabel="maximum lateness (us)")
    return fig


def status_text(status: Mapping[str, Any], name: str) -> Sequence[str]:
    """Two lines of live status: rates, queue and response time of the device, and lateness of replies."""
    counts, on_time, lateness_us = status["counts"], status["within"], status["lateness_us"]
    seconds = max(status["model_s"], 1e-9)
    rate = (counts["reads"] + counts["writes"]) / seconds
    mb_s = (counts["bytes_read"] + counts["bytes_written"]) / seconds / 1e6
    return (
        f"{name} | {figure(rate)} requests/s {figure(mb_s)} MB/s | "
        f"queue {status['queue_length']} (maximum {status['longest_queue']}) | "
        f"response {figure(status['response_mean_ms'])} ms | {pluralize(status['connected'], 'client')}",
        f"on time: {share(on_time['two'] / on_time['replies'] if on_time['replies'] else None)} within 2 % | "
        f"99 % of lateness within {figure(lateness_us['p99'])} us | "
        f"{pluralize(status['stalls']['count'], 'stall')} | "
        f"round trip to the client {figure(status['host']['read_us'])} us",
    )


def exercise(report: Mapping[str, Any]) -> tuple[Sequence[str], list[tuple[str, str, str]], Sequence[str]]:
    """Return head, rows and right-aligned columns of a table of latencies at a client and simulated."""
    head = ("response time (ms)", "at the client", "simulated")
    names = {"mean": "mean", "p50": "median", "p99": "99 % within"}
    rows = [
        (title, figure(report["client_ms"][name]), figure(report["simulated_ms"][name]))
        for name, title in names.items()
    ]
    return head, rows, head[1:]
