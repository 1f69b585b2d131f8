"""Display of a run: its numbers as sentences, tables and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sledlab.show import emulation, faults, flash, model_names, run_figures, text_plot
from sledlab.show.device_states import STATES, state_descriptions, state_name
from sledlab.show.document import (
    Collapsible,
    Document,
    Drawing,
    Facts,
    Grid,
    Heading,
    Numbers,
    SideBySideParts,
    Source,
    Text,
)
from sledlab.show.facts import common_facts
from sledlab.show.model_names import device_name, scheduler_name, title
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.wording import energy, figure, milliseconds, percent, pluralize, speedup

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sledlab.runs.result import Result
    from sledlab.show.document import Part


class TableRow(NamedTuple):
    """One line of a table: name of the value, its unit, and a text per column."""

    name: str
    unit: str
    values: tuple[str, ...]


def warnings(result: Result) -> list[str]:
    """Warnings about the run (interrupted, overloaded, short), its requests, and unused tips."""
    operations = result.summary.get("operations", {})
    notes = []
    if result.interrupted:
        notes.append("The run was interrupted: the numbers cover requests completed until then.")
    if result.saturated:
        notes.append("The queue kept growing: response times depend on the length of the run.")
    if operations.get("rejected"):
        notes.append(f"Rejected past the end of the device: {pluralize(operations['rejected'], 'request')}.")
    lost = (result.summary.get("faults") or {}).get("lost_requests")
    if lost:
        notes.append(f"For lost blocks: {pluralize(lost, 'request')}, which count in all means.")
    if early_end := _early_end(result.config, operations):
        notes.append(early_end)
    if text := flash.warning(result):
        notes.append(text)
    notes += [f"Trace: {note}." for note in result.summary.get("trace_notes", ())]
    notes += [text for name in ("device", "front") if (text := unused_tips(result.config.get(name, {})))]
    half = result.response_time.ci95_half_width
    if half is not None and not result.saturated and half > 0.1 * result.response_time.mean:
        spread = milliseconds(half)
        notes.append(
            f"The run is short for such bursts: the 95 % confidence interval of the mean is ± {spread}."
        )
    return notes


def _early_end(config: Mapping[str, Any], operations: Mapping[str, int]) -> str:
    """A warning if a generator ended before the duration of the run, otherwise an empty text."""
    replay, requests = config.get("replay", {}), config.get("workload", {}).get("requests")
    duration_s = replay.get("duration_s")
    is_limited = requests in (replay.get("limit"), replay.get("operations"))
    if not (duration_s and requests) or is_limited or operations["offered"] < requests:
        return ""
    return (
        f"The workload ended with its {requests:,} requests, before the duration of {duration_s:,g} s: "
        "`workload.requests` sets their number."
    )


def unused_tips(device: Mapping[str, Any]) -> str:
    """A warning if some tips of a sled hold no data, otherwise an empty text.

    Groups of `active_tips` are active together, and in a group, as many tips as a block needs.

    Examples:
        >>> sled = {"kind": "mems", "usable_tips": 6400, "tips_per_block": 64, "redundant_tips": 0}
        >>> unused_tips({**sled, "active_tips": 2560})
        '1,280 of 6,400 tips of a sled belong to no group and hold no data: a group has 2,560 tips.'
        >>> unused_tips({**sled, "active_tips": 1280})
        ''
    """
    if device.get("kind") != "mems":
        return ""
    usable, active = device["usable_tips"], device["active_tips"]
    tips_of_block = device["tips_per_block"] + device["redundant_tips"]
    ungrouped, leftover = usable % active, active % tips_of_block
    if ungrouped:
        return (
            f"{ungrouped:,} of {usable:,} tips of a sled belong to no group and hold no data: "
            f"a group has {active:,} tips."
        )
    if leftover:
        return (
            f"{leftover:,} of every {active:,} active tips of a sled hold no data: "
            f"a block needs {tips_of_block:,} tips."
        )
    return ""


def answer(result: Result) -> str:
    """The outcome in one sentence."""
    times = result.response_time
    subject = f"{device_name(result.config)} under {scheduler_name(result.config)}"
    speed = speedup(result.config)
    load = f" at {speed:g} times the original rate" if speed != 1 else ""
    if result.saturated:
        longest, mean = f"{result.queue_length.max:,}", milliseconds(times.mean)
        return (
            f"{subject} could not keep up{load}: the queue grew to {longest} requests, so response times "
            f"(mean {mean}) depend more on the length of the run than on the device, which completed "
            f"{figure(result.throughput_iops)} requests per second."
        )
    return (
        f"{subject} answered {pluralize(result.count, 'request')}{load} in {milliseconds(times.mean)} on "
        f"average and 99 % of them within {milliseconds(times.p99)}; "
        f"it was busy {percent(result.utilization)} of the time and used {energy(result.energy.total)}."
    )


def response_rows(result: Result) -> list[TableRow]:
    """Response times of all requests, reads and writes, in ms."""
    counts = (result.count, result.read.requests, result.write.requests)
    columns = (result.response_time, result.read.response_time, result.write.response_time)

    def row(name: str, key: str, unit: str = "ms") -> TableRow:
        return TableRow(name, unit, tuple(figure(getattr(times, key)) for times in columns))

    return [
        TableRow("requests", "", tuple(f"{count:,}" for count in counts)),
        row("mean", "mean"),
        row("standard deviation", "std"),
        row("median", "p50"),
        row("90 % within", "p90"),
        row("95 % within", "p95"),
        row("99 % within", "p99"),
        row("99.9 % within", "p999"),
        row("slowest", "max"),
        row("SCV (variance / mean²)", "scv", ""),
    ]


def device_rows(result: Result) -> list[TableRow]:
    """Throughput, queue, energy, cache, hybrid, flash and faults of the device or system."""

    def row(name: str, unit: str, value: str) -> TableRow:
        return TableRow(name, unit, (value,))

    queue = result.queue_length
    return [
        row("simulated time", "s", figure(result.elapsed_s, 4)),
        row("throughput", "requests/s", figure(result.throughput_iops)),
        row("throughput, data", "MB/s", figure(result.throughput_mb_s)),
        row("busy", "", percent(result.utilization)),
        row("waiting requests, mean", "", figure(queue.mean)),
        row("waiting requests, maximum", "", f"{queue.max:,}"),
        row("time in queue, mean", "ms", figure(result.queue_time_ms)),
        row("service time, mean", "ms", figure(result.service_time_ms)),
        row("positioning time, mean", "ms", figure(result.positioning_time_ms)),
        row("energy", "", energy(result.energy.total)),
        *(row(f"· {name}", "", energy(joules)) for name, joules in energy_parts(result)),
        row("seek and access, per request", "", energy(result.summary["request_energy_uj"] * 1e-6)),
        row("start-ups", "", f"{result.startups:,}"),
        *(row("merged requests", "", text) for text in _merge_counts(result)),
        *(row(name, "", text) for name, text in _cache(result)),
        *(row(name, "", text) for name, text in _hybrid(result)),
        *(row(name, "", text) for name, text in flash.rows(result)),
        *(row(name, "", text) for name, text in faults.rows(result)),
    ]


def _cache(result: Result) -> Iterable[tuple[str, str]]:
    """Hits, waits and destages of the cache, if there is one."""
    counts = result.summary.get("cache")
    if counts is None:
        return
    reads = counts["read_hits"] + counts["read_misses"]
    writes = counts["write_hits"] + counts["write_waits"]
    yield "reads answered by the cache", f"{counts['read_hits']:,} of {reads:,}"
    yield "writes that waited for room in the cache", f"{counts['write_waits']:,} of {writes:,}"
    yield "blocks destaged", f"{counts['destaged_blocks']:,} in {counts['destages']:,} writes"
    yield "energy of accesses of the cache", energy(counts["background_j"])


def _hybrid(result: Result) -> Iterable[tuple[str, str]]:
    """Hits, blocks and accesses of hybrids, if there are any."""
    counts = result.summary.get("hybrid")
    if counts is None:
        return
    front, back = counts["front"], counts["back"]
    yield "reads answered by the front device", f"{counts['read_hits']:,} of {counts['reads']:,}"
    yield "blocks written by the host", f"{counts['written_blocks']:,}"
    yield "· superseded on the front device", f"{counts['superseded_blocks']:,}"
    yield "· destaged", f"{counts['destaged_blocks']:,}"
    yield "· still to be destaged", f"{counts['dirty_blocks']:,}"
    yield "accesses of the front device", f"{front['reads']:,} reads, {front['writes']:,} writes"
    yield "accesses of the device behind", f"{back['reads']:,} reads, {back['writes']:,} writes"


def _merge_counts(result: Result) -> Iterable[str]:
    """The number of requests that were merged, and of the requests they became, if any were merged."""
    merged = result.summary["merged"]
    if merged["requests"]:
        yield f"{merged['requests']:,} as {merged['groups']:,}"


def energy_parts(result: Result) -> Iterable[tuple[str, float]]:
    """The names of states that took energy, with the energy in J."""
    for state in STATES:
        joules = float(getattr(result.energy, state))
        if joules > 0:
            yield state_name(state, result.config), joules


def brief(result: Result) -> Sequence[Part]:
    """The parts that a terminal and a notebook show of a run."""
    scheduler = scheduler_name(result.config)
    return [
        Heading(heading(result), 1, scheduler),
        *([Text(emulation.verdict(result.emulation))] if result.emulation else []),
        *_tables(result),
        *([emulation.table(result.emulation)] if result.emulation else []),
        Text(answer(result)),
        *_faults(result),
        *(Text(text) for text in _emulation_sentences(result)),
        *(Text(warning, "warning") for warning in warnings(result)),
    ]


def heading(result: Result) -> str:
    """Return the heading of a run: its source and device; the device alone if programs sent the requests."""
    return f"{device_name(result.config)} served over NBD" if result.emulation else title(result.config)


def _emulation_sentences(result: Result) -> list[str]:
    """Return sentences on time scale, replay and power of an emulation; none for runs without programs."""
    served = result.emulation
    if served is None:
        return []
    sentences = [
        emulation.time_scale_note(served),
        emulation.loop(served),
        emulation.power(served),
    ]
    return [text for text in sentences if text]


def _faults(result: Result) -> list[Text]:
    """A paragraph about faults, for runs in which tips or devices can fail."""
    sentences = faults.sentences(result)
    return [Text(sentences)] if sentences else []


def _tables(result: Result) -> list[Grid]:
    """The table of response times, and that of the device or system."""
    response_lines, device_lines = (
        [(row.name, row.unit, *row.values) for row in rows]
        for rows in (response_rows(result), device_rows(result))
    )
    return [
        Grid(("response time", "unit", "all", "reads", "writes"), response_lines, "left"),
        Grid(("device", "unit", "value"), device_lines, "left"),
    ]


def page(result: Result) -> Document:
    """The page about a run."""

    def drawing(kind: str, heading: str, caption: str) -> Drawing:
        figure_title = run_figures.KINDS[kind].__doc__ or kind
        panels = (lambda: [run_figures.PANELS[kind](result)]) if kind in run_figures.PANELS else tuple
        return Drawing(lambda: run_figures.draw(result, kind), figure_title, heading, caption, panels=panels)

    response_caption = (
        "Arrival to acknowledgement. Further left is faster; a long right end means that a few requests "
        "waited long."
    )
    queue_caption = "Requests waiting when another arrives. A line that keeps climbing means overload."
    parts_caption = "Response = in queue + overhead + positioning + transfer, on average."
    experiment_file = Collapsible("Complete experiment file", [Source(result.experiment)])
    return Document(
        kind="replay",
        title=heading(result),
        footer="All times are simulated. The same experiment, seed and version give the same numbers.",
        parts=[
            Text(answer(result), "answer"),
            *_faults(result),
            *(Text(warning, "warning") for warning in warnings(result)),
            Numbers(_key_figures(result)),
            Heading("Response time"),
            SideBySideParts(
                [
                    drawing("cdf", "Response times", response_caption),
                    drawing(
                        "response",
                        "Response over time",
                        "Mean and slowest request of each interval of the run.",
                    ),
                ]
            ),
            Heading("Throughput and queue"),
            SideBySideParts(
                [
                    drawing("throughput", "Throughput", "Requests completed in each interval."),
                    drawing("queue", "Queue length", queue_caption),
                ]
            ),
            Heading("Time and energy by component"),
            SideBySideParts(
                [
                    drawing("parts", "Time of a request", parts_caption),
                    drawing("energy", "Energy of the device", state_descriptions(result.config)),
                ]
            ),
            *(emulation.section(result.emulation) if result.emulation else []),
            Heading("Results"),
            SideBySideParts(_tables(result), "tables"),
            Heading("Configuration"),
            Facts(_facts(result)),
            *([experiment_file] if result.experiment else []),
        ],
    )


def _key_figures(result: Result) -> list[tuple[str, str, str]]:
    """The five numbers at the top: name, value, remark."""
    times = result.response_time
    half = times.ci95_half_width
    # In the unit of the mean.
    spread = f"± {milliseconds(times.mean, half).partition(' ± ')[2]} at 95 %"
    spread = spread if half else f"median {milliseconds(times.p50)}"
    per_request = energy(result.energy.total / result.summary["completed"])
    return [
        ("mean response", milliseconds(times.mean), spread),
        ("99 % within", milliseconds(times.p99), f"slowest {milliseconds(times.max)}"),
        ("throughput", f"{figure(result.throughput_iops)} /s", f"{figure(result.throughput_mb_s)} MB/s"),
        ("busy", percent(result.utilization), f"queue {figure(result.queue_length.mean)} on average"),
        ("energy", energy(result.energy.total), f"{per_request} per request"),
    ]


def _facts(result: Result) -> list[tuple[str, str]]:
    """Facts about the experiment, as pairs of a name and a text."""
    operations = result.summary.get("operations", {})
    facts = common_facts(result.config)
    replay_index = next(index for index, (name, _) in enumerate(facts) if name == "replay")
    facts[replay_index:replay_index] = [
        ("scheduler", scheduler_name(result.config)),
        ("power policy", model_names.power_name(result.config)),
        ("merging", str(result.config.get("merge", {}).get("kind", "none"))),
        ("speed-up", f"{speedup(result.config):g} times"),
    ]
    counts = ", ".join(f"{count:,} {name}" for name, count in operations.items() if count)
    return [*facts[:-1], ("operations", counts), ("seed", str(result.seed)), facts[-1]]


def sketch(result: Result, width: int) -> list[str]:
    """The distribution of response times in characters."""
    curve: Mapping[str, Sequence[float]] = result.cdf.get("all") or {}
    times, shares = curve.get("response_ms") or (), curve.get("share") or ()
    return text_plot.distribution(times, shares, width)


PRESENTATION = DocumentPresentation(
    answer=answer, brief=brief, whole=page, figure=run_figures.draw, sketch=sketch
)
