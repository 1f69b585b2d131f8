"""The outcome of a fleet's study in sentences, tables and a page, for capacity planning."""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from sledlab._native import __version__
from sledlab.legible import visible
from sledlab.show.document import Document, Drawing, Facts, Folded, Grid, Heading, Source, Text, grid
from sledlab.show.face import DocumentFace
from sledlab.show.money import assumed
from sledlab.show.wording import counted, figure, joined, label, listed, milliseconds, money, percent, share
from sledlab.studies.fleet import figures
from sledlab.studies.fleet.rows import MIX
from sledlab.studies.fleet.search import is_monotone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledlab.show.document import Part
    from sledlab.studies.fleet.rows import FleetRow, TriedRow, VolumeRow
    from sledlab.studies.fleet.tables import Fleet

FEW = 5
"""Most names in a list."""

MOST_ROWS = 30
"""Most rows of volumes on the page; the files have all rows."""

NOTE = (
    "Percentiles are over all requests of all volumes, counted together, not means of percentiles. Energy "
    "and money are over the time of the fleet, repeated for the years of the prices."
)


def title(found: Fleet) -> str:
    """Title: the volumes and the kinds of devices."""
    volumes = len({row.volume for row in found.of("volumes")})
    return f"{counted(volumes, 'volume')} on {joined(found.devices)}"


def answer(found: Fleet) -> str:
    """Return the fleet to buy, or without a goal the fastest one."""
    return " ".join(_recommended(found) if found.goal else [_fastest(found)])


def _fleets(found: Fleet) -> list[FleetRow]:
    """The fleets of one kind of device, without the mix."""
    return [found.fleet(name) for name in found.devices]


def _fastest(found: Fleet) -> str:
    """A sentence: the kind that is fastest over all requests."""
    first = min(_fleets(found), key=lambda row: (row.left, row.p99_ms))
    best = "Fastest: " if len(found.devices) > 1 else ""
    return f"{best}{_devices(first)} answer 99 % of all requests within {milliseconds(first.p99_ms)}."


def _recommended(found: Fleet) -> Iterator[str]:
    """Sentences: the recommended fleet, or the nearest if none meets the goal; and the devices of a mix."""
    first, goal, mix = found.recommended, _goal(found), found.mix
    assert first is not None
    if first.meets:
        yield f"To keep {goal} over all requests takes {_bought(found, first)}."
    else:
        missed = "; ".join(_missed_bounds(found, first))
        yield f"No fleet keeps {goal} over all requests. Nearest: {_bought(found, first)}; {missed}."
    if mix is not None and mix is not first and len(_parts(found)) > 1:
        yield f"The mix, each volume on its own best kind, has {_made_of(found, mix)}."


def _bought(found: Fleet, row: FleetRow) -> str:
    """The devices of a fleet, its price, and its volumes within the goal."""
    price = [] if row.total_usd is None else [f"{money(row.total_usd)} with energy"]
    return f"{_made_of(found, row)} ({', '.join([*price, _within(found, row)])})"


def _within(found: Fleet, row: FleetRow) -> str:
    return f"{row.volumes_meet:,} of {counted(row.volumes + row.left, 'volume')} within the goal"


def _missed_bounds(found: Fleet, row: FleetRow) -> Iterator[str]:
    """The bounds that a fleet misses: the response time of the goal, a device for every volume."""
    assert found.goal is not None
    value = getattr(row, f"{found.goal.measure}_ms")
    if value > found.goal.limit_ms:
        limit = milliseconds(found.goal.limit_ms)
        yield f"{found.goal.measure} over all requests is {milliseconds(value)} instead of {limit}"
    if row.left:
        exceed = "exceeds" if row.left == 1 else "exceed"
        yield f"{counted(row.left, 'volume')} {exceed} a device in size or load"


def _goal(found: Fleet) -> str:
    assert found.goal is not None
    return f"{found.goal.measure} at {milliseconds(found.goal.limit_ms)}"


def _devices(row: FleetRow) -> str:
    return f"{row.devices:,} {row.fleet}"


def _served(found: Fleet) -> dict[str, list[VolumeRow]]:
    """The volumes that each kind serves best; the kind with most volumes first."""
    rows: list[Any] = [row for row in found.of("volumes") if row.best]
    by_kind = {name: [row for row in rows if row.device == name] for name in found.devices}
    return dict(sorted(by_kind.items(), key=lambda pair: -len(pair[1])))


def _parts(found: Fleet) -> Mapping[str, int]:
    """The number of devices of each kind in the mix."""
    group = int(found.axes.get("group") or 1)
    kinds = [row.device for row in found.of("devices") if row.fleet == MIX]
    return {name: kinds.count(name) * group for name in found.devices if name in kinds}


def _made_of(found: Fleet, row: FleetRow) -> str:
    """The devices of a fleet, by kind."""
    if row.fleet != MIX:
        return _devices(row)
    return joined([f"{count:,} {name}" for name, count in _parts(found).items()])


def warnings(found: Fleet) -> Iterator[Text]:
    """Warnings: volumes with defects, volumes on no device, overloaded devices, an unsteady search."""
    failed: list[Any] = list(found.of("failed"))
    if failed:
        what = (
            "volume cannot be replayed and is left out"
            if len(failed) == 1
            else "volumes cannot be replayed and are left out"
        )
        names = listed([f"{visible(row.volume)} ({visible(_short(row.why))})" for row in failed], FEW)
        yield Text(f"{len(failed):,} {what}: {names}.", "warning")
    for fleet in dict.fromkeys(row.fleet for row in found.of("placement")):
        for why in ("too large", "too hot"):
            rows: list[Any] = [row for row in found.of("placement") if row.fleet == fleet and row.why == why]
            if rows:
                names = listed([visible(row.volume) for row in rows], FEW)
                yield Text(
                    f"{why.capitalize()} for a device of {fleet}, and left out there: {names}.", "warning"
                )
    for row in found.of("fleet"):
        if row.overloaded:
            yield Text(_overloaded(row), "warning")
    yield from _unsteady(found)


def _short(why: str) -> str:
    """The first line of an error text."""
    return why.splitlines()[0]


def _overloaded(row: Any) -> str:
    return (
        f"{row.fleet}: {counted(row.overloaded, 'device')} could not keep up, so that response times there "
        "say how long the trace is."
    )


def _unsteady(found: Fleet) -> Iterator[Text]:
    """A warning where a number of devices misses the goal that a smaller one meets."""
    for name in found.devices:
        tried: list[TriedRow] = [row for row in found.of("tried") if row.device == name]
        if tried and not is_monotone([(row.devices, row.meets) for row in tried]):
            both = dict.fromkeys(f"{row.devices:,} {'do' if row.meets else 'do not'}" for row in tried)
            said = list(both)
            text = f"{name}: more devices are not always better, and other numbers may do it: {joined(said)}."
            yield Text(text, "warning")


def table(found: Fleet) -> Grid:
    """A row for all devices of a kind, and for the mix."""
    rows: Sequence[FleetRow] = found.of("fleet")
    columns: dict[str, Any] = {
        "": lambda row: row.fleet,
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
    if found.goal:
        columns["volumes in goal"] = lambda row: f"{row.volumes_meet:,}"
        columns["goal"] = lambda row: "yes" if row.meets else "no"
    return grid(rows, columns)


def kinds_of_volumes(found: Fleet) -> Grid:
    """The volumes that each kind serves best: medians of their rates and sizes."""
    what: Mapping[str, Any] = {
        "requests/s": lambda row: row.rate_iops,
        "busiest minute": lambda row: row.busiest_minute_iops,
        "KB": lambda row: row.mean_kb,
        "reach GB": lambda row: row.reach_gb,
        "busy alone": lambda row: row.load,
    }
    lines = []
    for name, rows in _served(found).items():
        if rows:
            cells = [figure(median(value(row) or 0.0 for row in rows)) for value in what.values()]
            reads = share(median(row.read_share for row in rows))
            lines.append((name, f"{len(rows):,}", reads, *cells, listed([row.volume for row in rows], FEW)))
    return Grid(("served best by", "volumes", "reads", *what, "such as"), lines, "words")


def _best_note(found: Fleet) -> Text:
    """A note: the meaning of the best kind, and of the numbers."""
    best = "the cheapest kind within the goal, or else the fastest" if found.goal else "the fastest kind"
    return Text(f"Best: {best}. Numbers are medians of the volumes.", "quiet")


def volumes(found: Fleet) -> Grid:
    """The volumes with the highest rates, on each kind."""
    rows: list[Any] = sorted(found.of("volumes"), key=lambda row: (-row.rate_iops, row.volume))[
        : MOST_ROWS * len(found.devices)
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
    return grid(rows, columns, "left", group=True)


def brief(found: Fleet) -> Sequence[Part]:
    """The parts for a terminal and a notebook."""
    parts: list[Part] = [Heading(title(found), 1, _placed(found)), table(found), Text(NOTE, "quiet")]
    if len(found.devices) > 1:
        parts += [Heading("Which volumes are best on what"), kinds_of_volumes(found), _best_note(found)]
    return [*parts, Text(answer(found)), *warnings(found)]


def _placed(found: Fleet) -> str:
    way = str(found.axes["placement"])
    goal = f", {_goal(found)}" if found.goal else ""
    if way == "one-each":
        return f"a device each{goal}"
    return f"{way}, filled to {percent(found.axes['fill'])} at most{goal}"


def page(found: Fleet) -> Document:
    """The page: number of devices, the best kind for each volume, and prices."""
    parts: list[Part] = [Text(answer(found), "answer"), *warnings(found)]
    parts += [Heading("Device by device"), table(found), Text(NOTE, "quiet")]
    drawn = figures.KINDS["volumes"]
    parts += [
        Heading("Volume by volume"),
        Drawing(partial(drawn, found), figures.VOLUMES, "", figures.VOLUMES, "narrow"),
    ]
    if len(found.devices) > 1:
        parts += [
            kinds_of_volumes(found),
            _best_note(found),
        ]
    if found.of("tried"):
        drawn = figures.KINDS["goals"]
        parts += [
            Heading("Devices that goals need"),
            Drawing(partial(drawn, found), figures.GOALS, "", figures.GOALS, "narrow"),
        ]
    parts += [
        Folded("The volumes with most requests", [volumes(found)]),
        Heading("What ran"),
        Facts(_facts(found)),
        Folded("The whole study, to run it again", [Source(found.toml)]),
    ]
    return Document(
        kind="fleet",
        title=title(found),
        heading=f"{title(found)}: {_placed(found)}",
        parts=parts,
        footer="All times are simulated. The same volumes and version give the same numbers.",
    )


def _facts(found: Fleet) -> list[tuple[str, str]]:
    config = next(iter(found.config["devices"].values()))
    return [
        ("volumes", str(found.axes["place"])),
        ("time of the fleet", f"{figure(found.config['span_s'])} s"),
        ("devices", joined(found.devices)),
        ("placement", _placed(found)),
        ("scheduler", label(config["scheduler"]["kind"])),
        ("prices", assumed({"node": {}, "network": {}, **found.config["prices"]})),
        ("version", f"sledlab {__version__}"),
    ]


FACE = DocumentFace(answer=answer, brief=brief, whole=page, figure=figures.draw)
