"""The outcome of a fleet's study in sentences, tables and a page, for capacity planning."""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from sledlab._native import __version__
from sledlab.show.document import Collapsible, Document, Drawing, Facts, Grid, Heading, Source, Text, grid
from sledlab.show.model_names import label
from sledlab.show.money import money, price_assumptions
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.ranking import Ranking
from sledlab.show.wording import figure, join_names, list_names, milliseconds, percent, pluralize, share
from sledlab.studies.fleet import figures
from sledlab.studies.fleet.rows import MIX
from sledlab.studies.fleet.search import is_monotone
from sledlab.terminal_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sledlab.show.document import Part
    from sledlab.studies.fleet.rows import FleetRow, TriedRow, VolumeRow
    from sledlab.studies.fleet.tables import Fleet

MAX_NAMES = 5
"""Most names in a list."""

MAX_ROWS = 30
"""Most rows of volumes on the page; the files have all rows."""

NOTE = (
    "Percentiles are over all requests of all volumes, counted together, not means of percentiles. Energy "
    "and money are over the time of the fleet, repeated for the years of the prices."
)


ENERGY_NOTE = (
    "J: mean power of a device of its own times the time of the fleet. `compare` has the energy up to the "
    "last completion of one volume instead."
)

MIX_NOTE = f"{MIX.capitalize()}: each volume on the kind of device that serves it best."


def _note(result: Fleet) -> Text:
    """A note on the columns and rows of the fleets."""
    has_mix = any(row.fleet == MIX for row in result.table_rows("fleet"))
    return Text(f"{MIX_NOTE} {NOTE}" if has_mix else NOTE, "quiet")


def title(result: Fleet) -> str:
    """Title: the volumes and the kinds of devices."""
    volumes = len({row.volume for row in result.table_rows("volumes")})
    return f"{pluralize(volumes, 'volume')} on {join_names(result.devices)}"


def answer(result: Fleet) -> str:
    """Return the fleet to buy, or without a goal the fastest one."""
    return " ".join(_recommendation(result) if result.goal else [_fastest(result)])


def _fleets(result: Fleet) -> list[FleetRow]:
    """The fleets of one kind of device, without the mix."""
    return [result.fleet(name) for name in result.devices]


def _fastest(result: Fleet) -> str:
    """A sentence: the kind that is fastest over all requests, of those with a device for the most volumes."""
    rows = [row for row in _fleets(result) if row.p99_ms is not None]
    if not rows:
        return "No device can hold a volume."
    fewest_unplaced = min(row.left for row in rows)
    ranking = Ranking.of(
        (row for row in rows if row.left == fewest_unplaced),
        lambda row: row.p99_ms,
        lambda row: row.overloaded > 0,
    )
    first = ranking.first
    qualification = "Fastest: " if len(ranking) > 1 else ""
    if len(ranking) < len(result.devices):
        qualifier = "Fastest" if len(ranking) > 1 else "The only fleet"
        qualification = f"{qualifier} with a device for {pluralize(first.volumes, 'volume')}: "
    verb = "answers" if first.devices == 1 else "answer"
    time = milliseconds(ranking.values[0])
    return f"{qualification}{_devices(first)} {verb} 99 % of all requests within {time}."


def _recommendation(result: Fleet) -> Iterator[str]:
    """Sentences: the recommended fleet, or the nearest if none meets the goal; and the devices of a mix."""
    first, goal, mix = result.recommendation, _goal(result), result.mix
    assert first is not None
    if first.meets:
        yield f"With {_fleet_text(result, first)}, the placement keeps {goal} over all requests."
    else:
        bounds_text = "; ".join(_missed_bounds(result, first))
        yield f"No fleet that was tried keeps {goal} over all requests."
        yield f"Nearest: {_fleet_text(result, first)}; {bounds_text}."
    if mix is not None and mix is not first and len(_parts(result)) > 1:
        yield f"The mix, each volume on its own best kind, has {_device_counts(result, mix)}."


def _fleet_text(result: Fleet, row: FleetRow) -> str:
    """The devices of a fleet, its price, and its volumes within the goal."""
    price = [] if row.total_usd is None else [f"{money(row.total_usd)} with energy"]
    return f"{_device_counts(result, row)} ({', '.join([*price, _goal_text(result, row)])})"


def _goal_text(result: Fleet, row: FleetRow) -> str:
    return f"{row.volumes_meet:,} of {pluralize(row.volumes + row.left, 'volume')} within the goal"


def _missed_bounds(result: Fleet, row: FleetRow) -> Iterator[str]:
    """The bounds that a fleet misses: the response time of the goal, a device for every volume."""
    assert result.goal is not None
    value = getattr(row, f"{result.goal.measure}_ms")
    if value is not None and value > result.goal.limit_ms:
        limit = milliseconds(result.goal.limit_ms)
        yield f"{result.goal.measure} over all requests is {milliseconds(value)} instead of {limit}"
    if row.left:
        exceed = "exceeds" if row.left == 1 else "exceed"
        yield f"{pluralize(row.left, 'volume')} {exceed} a device in size or load"


def _goal(result: Fleet) -> str:
    assert result.goal is not None
    return f"{result.goal.measure} at {milliseconds(result.goal.limit_ms)}"


def _devices(row: FleetRow) -> str:
    return f"{row.devices:,} {row.fleet}"


def _volumes_by_kind(result: Fleet) -> dict[str, list[VolumeRow]]:
    """The volumes that each kind serves best; the kind with most volumes first."""
    rows: list[Any] = [row for row in result.table_rows("volumes") if row.best]
    by_kind = {name: [row for row in rows if row.device == name] for name in result.devices}
    return dict(sorted(by_kind.items(), key=lambda pair: -len(pair[1])))


def _parts(result: Fleet) -> Mapping[str, int]:
    """The number of devices of each kind in the mix."""
    group = int(result.axes.get("group") or 1)
    kinds = [row.device for row in result.table_rows("devices") if row.fleet == MIX]
    return {name: kinds.count(name) * group for name in result.devices if name in kinds}


def _device_counts(result: Fleet, row: FleetRow) -> str:
    """The devices of a fleet, by kind."""
    if row.fleet != MIX:
        return _devices(row)
    return join_names([f"{count:,} {name}" for name, count in _parts(result).items()])


def warnings(result: Fleet) -> Iterator[Text]:
    """Warnings: volumes with defects, volumes on no device, overloaded devices, an unsteady search."""
    failed: list[Any] = list(result.table_rows("failed"))
    if failed:
        phrase = (
            "volume cannot be replayed and is omitted"
            if len(failed) == 1
            else "volumes cannot be replayed and are omitted"
        )
        names = list_names(
            [f"{visible(row.volume)} ({visible(_first_line(row.why))})" for row in failed], MAX_NAMES
        )
        yield Text(f"{len(failed):,} {phrase}: {names}.", "warning")
    for fleet in dict.fromkeys(row.fleet for row in result.table_rows("placement")):
        for reason in ("too large", "too busy"):
            rows: list[Any] = [
                row for row in result.table_rows("placement") if row.fleet == fleet and row.why == reason
            ]
            if rows:
                names = list_names([visible(row.volume) for row in rows], MAX_NAMES)
                yield Text(
                    f"{reason.capitalize()} for a device of {fleet}, and omitted there: {names}.", "warning"
                )
    for row in result.table_rows("fleet"):
        if row.overloaded:
            yield Text(_overload_warning(row), "warning")
    yield from _monotonicity_warnings(result)


def _first_line(reason: str) -> str:
    """The first line of an error text."""
    return reason.splitlines()[0]


def _overload_warning(row: Any) -> str:
    return (
        f"{row.fleet}: {pluralize(row.overloaded, 'device')} could not keep up, so response times there "
        "depend on the length of the trace."
    )


def _monotonicity_warnings(result: Fleet) -> Iterator[Text]:
    """A warning where a number of devices misses the goal that a smaller one meets."""
    for name in result.devices:
        tried: list[TriedRow] = [row for row in result.table_rows("tried") if row.device == name]
        if tried and not is_monotone([(row.devices, row.meets) for row in tried]):
            outcomes = dict.fromkeys(f"{row.devices:,} {'do' if row.meets else 'do not'}" for row in tried)
            numbers = join_names(list(outcomes))
            text = f"{name}: more devices are not always better; other numbers may suffice: {numbers}."
            yield Text(text, "warning")


VERDICT_COLUMNS: Mapping[str, Callable[[FleetRow], str]] = {
    "goal": lambda row: "yes" if row.meets else "no",
    "volumes in goal": lambda row: f"{row.volumes_meet:,} of {row.volumes + row.left:,}",
}
"""Columns of fleets with a goal, before all others."""

FLEET_COLUMNS: Mapping[str, Callable[[FleetRow], str]] = {
    "devices": lambda row: f"{row.devices:,}",
    "volumes": lambda row: f"{row.volumes:,}",
    "mean ms": lambda row: figure(row.mean_ms),
    "50 % ms": lambda row: figure(row.p50_ms),
    "99 % ms": lambda row: figure(row.p99_ms),
    "99.9 % ms": lambda row: figure(row.p999_ms),
    "slowest volume ms": lambda row: figure(row.volume_p99_max_ms),
    "W": lambda row: figure(row.power_w),
    "devices $": lambda row: money(row.devices_usd),
    "energy $": lambda row: money(row.energy_usd),
    "total $": lambda row: money(row.total_usd),
}
"""Columns of all fleets."""

TERMINAL_COLUMNS = ("devices", "mean ms", "99 % ms", "slowest volume ms", "W", "total $")
"""Columns for 80 characters; the page and `fleet.csv` have all."""


def table(result: Fleet, columns: Sequence[str] = tuple(FLEET_COLUMNS)) -> Grid:
    """A row for all devices of a kind, and for the mix; a goal comes first."""
    rows: Sequence[FleetRow] = result.table_rows("fleet")
    verdicts = VERDICT_COLUMNS if result.goal else {}
    cells = {"": lambda row: row.fleet, **verdicts, **{name: FLEET_COLUMNS[name] for name in columns}}
    return grid(rows, cells)


VOLUME_VALUES: Mapping[str, Callable[[VolumeRow], float | None]] = {
    "requests/s": lambda row: row.rate_iops,
    "busiest minute": lambda row: row.busiest_minute_iops,
    "KB each": lambda row: row.mean_kb,
    "size GB": lambda row: row.reach_gb,
    "busy": lambda row: row.load,
}
"""Columns of the medians of volumes; those of rates and sizes have no unit in a cell."""

BEST_NOTE = (
    "Best: {best}. Numbers are medians of the volumes. Busiest minute: requests/s in that minute; size: up "
    "to the last block that is used; busy: share of the time in which the volume keeps a device of its own "
    "busy."
)


def kinds_of_volumes(result: Fleet, *, has_examples: bool = True) -> Grid:
    """The volumes that each kind serves best: medians of their rates and sizes."""
    lines = []
    for name, rows in _volumes_by_kind(result).items():
        if rows:
            cells = {
                column: median(value(row) or 0.0 for row in rows) for column, value in VOLUME_VALUES.items()
            }
            texts = [share(value) if column == "busy" else figure(value) for column, value in cells.items()]
            reads = share(median(row.read_share for row in rows))
            examples = [list_names([row.volume for row in rows], MAX_NAMES)] if has_examples else []
            lines.append((name, f"{len(rows):,}", reads, *texts, *examples))
    examples_head = ("examples",) if has_examples else ()
    head = ("served best by", "volumes", "reads", *VOLUME_VALUES, *examples_head)
    return Grid(head, lines, "words" if has_examples else "")


def _best_note(result: Fleet) -> Text:
    """A note: the meaning of the best kind, and of the numbers."""
    best = "the cheapest kind within the goal, or else the fastest" if result.goal else "the fastest kind"
    return Text(BEST_NOTE.format(best=best), "quiet")


def volumes(result: Fleet) -> Grid:
    """The volumes with the highest rates, on each kind."""
    rows: list[Any] = sorted(result.table_rows("volumes"), key=lambda row: (-row.rate_iops, row.volume))[
        : MAX_ROWS * len(result.devices)
    ]
    columns: dict[str, Any] = {
        "volume": lambda row: row.volume,
        "on": lambda row: row.device,
        "requests/s": lambda row: figure(row.rate_iops),
        "reads": lambda row: share(row.read_share),
        "KB": lambda row: figure(row.mean_kb),
        "busy": lambda row: share(row.load),
        "mean ms": lambda row: figure(row.mean_ms),
        "99 % ms": lambda row: figure(row.p99_ms),
        "99 % placed ms": lambda row: figure(row.placed_p99_ms),
        "J": lambda row: figure(row.energy_j),
        "$": lambda row: money(row.usd),
        "best": lambda row: "best" if row.best else "",
    }
    return grid(rows, columns, "left", has_groups=True)


def brief(result: Fleet) -> Sequence[Part]:
    """The parts for a terminal and a notebook."""
    parts: list[Part] = [
        Heading(title(result), 1, _placement_text(result)),
        table(result, TERMINAL_COLUMNS if result.goal else (*TERMINAL_COLUMNS, "volumes")),
        _note(result),
    ]
    if len(result.devices) > 1:
        parts += [
            Heading("Best kind of device for each volume"),
            kinds_of_volumes(result, has_examples=False),
            _best_note(result),
        ]
    return [*parts, Text(answer(result)), *warnings(result)]


def _placement_text(result: Fleet) -> str:
    method = str(result.axes["placement"])
    goal = f", {_goal(result)}" if result.goal else ""
    if method == "one-each":
        return f"a device each{goal}"
    return f"{method}, filled to {percent(result.axes['fill'])} at most{goal}"


def page(result: Fleet) -> Document:
    """The page: number of devices, the best kind for each volume, and prices."""
    parts: list[Part] = [Text(answer(result), "answer"), *warnings(result)]
    parts += [Heading("Fleets"), table(result), _note(result)]
    draw_figure = figures.KINDS["volumes"]
    parts += [
        Heading("Volumes"),
        Drawing(partial(draw_figure, result), figures.VOLUMES, "", figures.VOLUMES, "narrow"),
    ]
    if len(result.devices) > 1:
        parts += [
            kinds_of_volumes(result),
            _best_note(result),
        ]
    if result.table_rows("tried"):
        draw_figure = figures.KINDS["goals"]
        parts += [
            Heading("Devices required for each goal"),
            Drawing(partial(draw_figure, result), figures.GOALS, "", figures.GOALS, "narrow"),
        ]
    parts += [
        Collapsible("Volumes with the most requests", [volumes(result), Text(ENERGY_NOTE, "quiet")]),
        Heading("Configuration"),
        Facts(_facts(result)),
        Collapsible("Complete study file", [Source(result.toml)]),
    ]
    return Document(
        kind="fleet",
        title=title(result),
        heading=f"{title(result)}: {_placement_text(result)}",
        parts=parts,
        footer="All times are simulated. The same volumes and version give the same numbers.",
    )


def _facts(result: Fleet) -> list[tuple[str, str]]:
    config = next(iter(result.config["devices"].values()))
    return [
        ("volumes", str(result.axes["place"])),
        ("time of the fleet", f"{figure(result.config['span_s'])} s"),
        ("devices", join_names(result.devices)),
        ("placement", _placement_text(result)),
        ("scheduler", label(config["scheduler"]["kind"])),
        ("prices", price_assumptions({"node": {}, "network": {}, **result.config["prices"]})),
        ("version", f"sledlab {__version__}"),
    ]


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=figures.draw)
