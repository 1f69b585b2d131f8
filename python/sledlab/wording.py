"""A result in words and tables: the same sentences and rows everywhere."""

from __future__ import annotations

import html
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from rich.table import Table

    from sledlab.result import Result

STATES = ("seek", "access", "idle", "inactive", "startup")
"""The five states of the energy ledger, as the summary names them."""

STATE_NAMES = {"startup": "start-up"}
"""Where a state is spelled differently for people."""


class Row(NamedTuple):
    """One line of a table: what, its unit, and a text per column."""

    name: str
    unit: str
    values: tuple[str, ...]


def figure(value: float | None, digits: int = 3) -> str:
    """`value` with `digits` significant digits, thousands separated; a dash when there is none.

    Example:
        >>> [figure(x) for x in (0.84231, 1234.56, 0.0, 43211.9, None)]
        ['0.842', '1,235', '0', '43,212', '–']
    """
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    if "e" in text:
        return text
    whole = f"{abs(value):.{digits - 1}e}"
    decimals = max(0, digits - 1 - int(whole.split("e")[1]))
    return f"{value:.{decimals}f}"


def percent(share: float) -> str:
    """A share of one as a percentage, never rounded to all or nothing.

    Example:
        >>> [percent(x) for x in (0.5, 0.0312, 0.9999, 0.0)]
        ['50 %', '3.1 %', '>99.9 %', '0 %']
    """
    if 0.999 < share < 1:
        return ">99.9 %"
    if 0 < share < 0.001:
        return "<0.1 %"
    if share in (0, 1) or 0.1 <= share < 0.99:
        return f"{share * 100:.0f} %"
    return f"{share * 100:.1f} %"


def joined(names: Sequence[str]) -> str:
    """Names in a sentence.

    Example:
        >>> joined(["a", "b", "c"])
        'a, b and c'
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def device_name(config: Mapping[str, Any]) -> str:
    """What the device is called in sentences; a hybrid by its kind and its devices."""
    name = _name(config.get("device", {}))
    hybrid = config.get("hybrid", {}).get("kind", "none")
    return name if hybrid == "none" else f"{name} with {_name(config.get('front', {}))} ({hybrid})"


def _name(device: Mapping[str, Any]) -> str:
    return str(device.get("name") or device.get("preset") or device.get("kind") or "the device")


def source_name(config: Mapping[str, Any]) -> str:
    """What the trace or workload is called in sentences."""
    trace = config.get("trace")
    if trace and trace.get("file"):
        return PurePath(str(trace["file"])).name.split(".")[0]
    workload = config.get("workload")
    if workload:
        return str(workload.get("kind", "workload"))
    return "requests from Python"


def scheduler_name(config: Mapping[str, Any]) -> str:
    """The scheduler as people write it."""
    return str(config.get("scheduler", {}).get("kind", "fcfs")).upper()


def power_name(config: Mapping[str, Any]) -> str:
    """When the device parks, with the parameters that decide it.

    Example:
        >>> power_name({"power": {"kind": "fixed", "timeout_ms": 10.0}}), power_name({})
        ('fixed, timeout_ms 10', '')
    """
    power = dict(config.get("power", {}))
    kind = str(power.pop("kind", ""))
    return ", ".join([kind, *(f"{key} {value:g}" for key, value in power.items())])


def speedup(config: Mapping[str, Any]) -> float:
    """How much faster than recorded the requests arrived."""
    return float(config.get("replay", {}).get("speedup", 1))


def title(result: Result) -> str:
    """A heading: what ran on what."""
    return f"{source_name(result.config)} on {device_name(result.config)}"


def warnings(result: Result) -> list[str]:
    """What a careful reader of the numbers should know."""
    operations = result.summary.get("operations", {})
    found = []
    if result.interrupted:
        found.append("The run was interrupted: the numbers cover what had been completed by then.")
    if result.saturated:
        found.append("The queue kept growing: response times depend on the length of the run.")
    if operations.get("rejected"):
        found.append(f"{operations['rejected']:,} requests past the end of the device were left out.")
    half = result.response_time.ci95_half_width
    if half is not None and not result.saturated and half > 0.1 * result.response_time.mean:
        spread = milliseconds(half)
        found.append(
            f"Bursts weigh much in a run this short: the mean is good to ± {spread} at 95 % confidence."
        )
    return found


def answer(result: Result) -> str:
    """The outcome in one sentence."""
    times = result.response_time
    who = f"{device_name(result.config)} under {scheduler_name(result.config)}"
    fast = speedup(result.config)
    load = f" at {fast:g} times the recorded speed" if fast != 1 else ""
    if result.saturated:
        longest, mean = f"{result.queue_length.max:,}", milliseconds(times.mean)
        return (
            f"{who} could not keep up{load}: the queue grew to {longest} requests, so response times (mean "
            f"{mean}) say more about the length of the run than about the device, which completed "
            f"{figure(result.throughput_iops)} requests per second."
        )
    return (
        f"{who} answered {result.count:,} requests{load} in {milliseconds(times.mean)} on average and 99 % "
        f"of them within {milliseconds(times.p99)}; it was busy {percent(result.utilization)} of the time "
        f"and used {energy(result.energy.total)}."
    )


def milliseconds(value: float) -> str:
    """A time in ms with the unit that reads best.

    Example:
        >>> [milliseconds(x) for x in (0.0042, 0.842, 12500.0)]
        ['4.20 µs', '0.842 ms', '12.5 s']
    """
    if 0 < value < 0.1:
        return f"{figure(value * 1000)} µs"
    if value >= 10_000:
        return f"{figure(value / 1000)} s"
    return f"{figure(value)} ms"


def energy(joules: float) -> str:
    """An energy with the unit that reads best.

    Example:
        >>> energy(0.00005), energy(0.0123), energy(61.2)
        ('50.0 µJ', '12.3 mJ', '61.2 J')
    """
    for unit, size in (("µJ", 1e-6), ("mJ", 1e-3)):
        if 0 < joules < 100 * size:
            return f"{figure(joules / size)} {unit}"
    return f"{figure(joules)} J"


def response_rows(result: Result) -> list[Row]:
    """Response times of all requests, reads and writes, in ms."""
    counts = (result.count, result.read.requests, result.write.requests)
    columns = (result.response_time, result.read.response_time, result.write.response_time)

    def row(name: str, key: str, unit: str = "ms") -> Row:
        values = zip(counts, columns, strict=True)
        return Row(
            name, unit, tuple(figure(getattr(times, key) if count else None) for count, times in values)
        )

    return [
        Row("requests", "", tuple(f"{count:,}" for count in counts)),
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


def device_rows(result: Result) -> list[Row]:
    """How the device was used."""

    def row(name: str, unit: str, value: str) -> Row:
        return Row(name, unit, (value,))

    queue = result.queue_length
    return [
        row("simulated time", "s", figure(result.elapsed_s, 4)),
        row("throughput", "requests/s", figure(result.throughput_iops)),
        row("throughput, data", "MB/s", figure(result.throughput_mb_s)),
        row("busy", "", percent(result.utilization)),
        row("waiting requests, mean", "", figure(queue.mean)),
        row("waiting requests, most", "", f"{queue.max:,}"),
        row("time in queue, mean", "ms", figure(result.queue_time_ms)),
        row("service time, mean", "ms", figure(result.service_time_ms)),
        row("positioning time, mean", "ms", figure(result.positioning_time_ms)),
        row("energy", "", energy(result.energy.total)),
        *(row(f"· {name}", "", energy(joules)) for name, joules in energy_parts(result)),
        row("energy of a request itself", "", energy(result.summary["energy_per_request_uj"] * 1e-6)),
        row("start-ups", "", f"{result.startups:,}"),
        *(row("merged requests", "", text) for text in _merged(result)),
        *(row(name, "", text) for name, text in _cache(result)),
        *(row(name, "", text) for name, text in _hybrid(result)),
    ]


def _cache(result: Result) -> Iterable[tuple[str, str]]:
    """What a cache did, where there is one."""
    counts = result.summary.get("cache")
    if counts is None:
        return
    reads = counts["read_hits"] + counts["read_misses"]
    writes = counts["write_hits"] + counts["write_waits"]
    yield "reads answered by the cache", f"{counts['read_hits']:,} of {reads:,}"
    yield "writes that waited for room in it", f"{counts['write_waits']:,} of {writes:,}"
    yield "blocks destaged", f"{counts['destaged_blocks']:,} in {counts['destages']:,} writes"
    yield "energy of its own accesses", energy(counts["background_j"])


def _hybrid(result: Result) -> Iterable[tuple[str, str]]:
    """What hybrids did, where there are any."""
    counts = result.summary.get("hybrid")
    if counts is None:
        return
    front, back = counts["front"], counts["back"]
    yield "reads found in front", f"{counts['read_hits']:,} of {counts['reads']:,}"
    yield "blocks written by the host", f"{counts['written_blocks']:,}"
    yield "· superseded in front", f"{counts['superseded_blocks']:,}"
    yield "· destaged", f"{counts['destaged_blocks']:,}"
    yield "· still to be destaged", f"{counts['dirty_blocks']:,}"
    yield "accesses in front", f"{front['reads']:,} reads, {front['writes']:,} writes"
    yield "accesses behind", f"{back['reads']:,} reads, {back['writes']:,} writes"


def _merged(result: Result) -> Iterable[str]:
    """How many requests were served as how many, where some were."""
    merged = result.summary["merged"]
    if merged["requests"]:
        yield f"{merged['requests']:,} as {merged['groups']:,}"


def energy_parts(result: Result) -> Iterable[tuple[str, float]]:
    """The states that took energy, with their J."""
    for state in STATES:
        joules = float(getattr(result.energy, state))
        if joules > 0:
            yield state_name(state, result.config), joules


def device_kind(config: Mapping[str, Any]) -> str:
    """What kind of device it is: `mems`, `disk` or `ram`."""
    return str(config["device"]["kind"])


def state_name(state: str, config: Mapping[str, Any]) -> str:
    """What people call a state of the device: a parked disk sleeps or is off.

    Example:
        >>> disk = {"device": {"kind": "disk", "rest_state": "sleep"}}
        >>> [state_name(state, disk) for state in ("idle", "inactive", "startup")]
        ['idle', 'sleep', 'start-up']
    """
    if state == "inactive" and device_kind(config) == "disk":
        return str(config["device"].get("rest_state", state))
    return STATE_NAMES.get(state, state)


def states_explained(config: Mapping[str, Any]) -> str:
    """What the device does in each state."""
    parked = state_name("inactive", config)
    rests = "the platters are at rest" if parked == "sleep" else "nothing is powered"
    return {
        "mems": "Seek: the sled moves, tips off. Access: tips read or write. Idle: keeps moving, ready at "
        "once. Inactive: parked; the next request pays a start-up.",
        "disk": "Seek: the arm moves, settles or waits for its sector. Access: sectors pass under the head. "
        f"Idle: the platters spin, ready at once. {parked.capitalize()}: {rests}; the next request pays a "
        "spin-up.",
        "ram": "Access: a request is served. Idle: contents are kept, ready at once. Inactive: the same, for "
        "nothing can be parked.",
    }[device_kind(config)]


def as_text(result: Result) -> str:
    """The title, the two tables and the answer, as plain text."""
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    console = Console(file=out, width=110, color_system=None, highlight=False)
    write(result, console.print)
    return out.getvalue().rstrip()


def write(result: Result, show: Any) -> None:
    """Hands the title, the two tables and the answer to `show`, a `rich` console's `print`."""
    show(f"[bold]{title(result)}[/bold]  {scheduler_name(result.config)}")
    show(_response_table(result))
    show(_device_table(result))
    show(answer(result))
    for warning in result.warnings:
        show(f"[yellow]note:[/yellow] {warning}")


def _response_table(result: Result) -> Table:
    from rich import box
    from rich.table import Table

    table = Table("response time", "unit", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("all", "reads", "writes"):
        table.add_column(name, justify="right")
    for row in response_rows(result):
        table.add_row(row.name, row.unit, *row.values)
    return table


def _device_table(result: Result) -> Table:
    from rich import box
    from rich.table import Table

    table = Table("device", "unit", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("value", justify="right")
    for row in device_rows(result):
        table.add_row(row.name, row.unit, *row.values)
    return table


def as_html(result: Result) -> str:
    """The response-time table and the answer, for notebooks."""
    head = "".join(f"<th>{name}</th>" for name in ("response time", "unit", "all", "reads", "writes"))
    lines = []
    for row in response_rows(result):
        cells = "".join(f'<td style="text-align:right">{value}</td>' for value in row.values)
        lines.append(f'<tr><th style="text-align:left">{row.name}</th><td>{row.unit}</td>{cells}</tr>')
    return (
        f"<h4>{html.escape(title(result))}</h4><p>{html.escape(answer(result))}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )
