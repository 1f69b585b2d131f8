"""The smallest cluster that does it, in sentences, a table and a page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sledlab._native import __version__
from sledlab.show.cluster_figures import PART_NAMES
from sledlab.show.document import Document, Drawing, Facts, Folded, Heading, Text, grid
from sledlab.show.wording import figure, joined
from sledlab.show.wording import saved as share
from sledlab.studies.size import figures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledlab.show.document import Grid, Part
    from sledlab.studies.size.found import Size, SmartSize

NOTE = (
    "× 2: the share of the time that a processor, store or network twice as fast saves. No other numbers of "
    "nodes were tried."
)

MOST_NAMED = 6
"""Numbers of nodes that a sentence names."""


def title(found: SmartSize) -> str:
    """What is asked of which job on what."""
    return f"{found.job} on {joined(list(found.smallest))}, {_asked(found)}"


def _asked(found: SmartSize) -> str:
    if found.goal.until is not None:
        return f"until the {PART_NAMES[found.goal.until]} holds it up"
    return f"within {found.goal.deadline_s:g} s"


def answer(found: SmartSize) -> str:
    """For each device the number of nodes, and what was seen there."""
    verdict = until if found.goal.until is not None else deadline
    said = [(verdict(found, device, least), note(found, device)) for device, least in found.smallest.items()]
    return " ".join(sentence for both in said for sentence in both if sentence)


def until(found: SmartSize, device: str, least: int | None) -> str:
    """From how many nodes on a component holds the job up."""
    part = str(found.goal.until)
    name, job = PART_NAMES[part], _job(found)
    if least is None:
        last = found.of(device)[-1]
        holds = last.run.bottleneck
        most, less = _shares(last.run.saved()[holds], last.run.saved()[part])
        return (
            f"The {name} does not hold {job} up on {device} on any of the numbers of nodes tried, "
            f"{_range(found)}: on {_nodes(last.nodes)} the {PART_NAMES[holds]} twice as fast saves most, "
            f"{most}, and the {name} {less}."
        )
    there = found.at(device, least)
    if least == found.nodes[0]:
        others = [
            f"the {PART_NAMES[other]} {share(value)}"
            for other, value in there.run.saved().items()
            if other != part
        ]
        return (
            f"The {name} holds {job} up on {device} already at {_nodes(least)}, the fewest tried: twice as "
            f"fast it saves {share(there.run.saved()[part])}, {joined(others)}."
        )
    before = found.at(device, least - 1)
    rival = before.run.bottleneck
    first = (
        f"At {_nodes(least)} the {name} comes to hold {job} up on {device}"
        if found.beyond(device)
        else f"From {_nodes(least)} on the {name} holds {job} up on {device}"
    )
    most, less = _shares(before.run.saved()[rival], before.run.saved()[part])
    more, rest = _shares(there.run.saved()[part], there.run.saved()[rival])
    return (
        f"{first}: at {before.nodes:,} the {PART_NAMES[rival]} twice as fast saves most, {most}, and the "
        f"{name} {less}; at {least:,} it is the {name}, {more} against {rest} for the {PART_NAMES[rival]}."
    )


def deadline(found: SmartSize, device: str, least: int | None) -> str:
    """On how many nodes the job meets its deadline."""
    limit, job = found.goal.deadline_s or 0.0, _job(found)
    rows = found.of(device)
    if least is None:
        best = min(rows, key=lambda each: each.run.elapsed_s)
        return (
            f"{job} does not take {limit:g} s or less on {device} on any of the numbers of nodes tried, "
            f"{_range(found)}: the shortest is {_against(best, limit)}, on {_nodes(best.nodes)}, where the "
            f"{PART_NAMES[best.run.bottleneck]} holds it up."
        )
    there = found.at(device, least)
    if least == found.nodes[0]:
        return (
            f"{job} takes {_against(there, limit)} on {device} already at {_nodes(least)}, the fewest tried, "
            f"and may take {limit:g} s."
        )
    before = found.at(device, least - 1)
    where = f"on {_nodes(least)}" if found.beyond(device) else f"from {_nodes(least)} on"
    return (
        f"{job} takes {limit:g} s or less on {device} {where}: {_against(there, limit)}, and "
        f"{_against(before, limit)} on {before.nodes:,}."
    )


def note(found: SmartSize, device: str) -> str:
    """Which larger numbers of nodes do not do it, where that was seen."""
    beyond = found.beyond(device)
    return f"But not on all larger numbers: {_seen(found, beyond)}." if beyond else ""


def _seen(found: SmartSize, rows: Sequence[Size]) -> str:
    """What was seen on numbers of nodes that do not do it."""
    shown = rows[:MOST_NAMED]
    more = f", and {len(rows) - len(shown)} others" if len(rows) > len(shown) else ""
    if found.goal.deadline_s is not None:
        limit = found.goal.deadline_s
        return joined([f"{_nodes(each.nodes)} take {_against(each, limit)}" for each in shown]) + more
    said = [f"at {_nodes(each.nodes)} it is the {PART_NAMES[each.run.bottleneck]}" for each in shown]
    return joined(said) + more


def _job(found: SmartSize) -> str:
    host = found.config.get("cluster", {}).get("at") == "host"
    return f"`{found.job}` at a host" if host else f"`{found.job}`"


def _nodes(number: int) -> str:
    return f"{number:,} node{'s' if number > 1 else ''}"


def _range(found: SmartSize) -> str:
    return f"{found.nodes[0]:,} to {found.nodes[1]:,}"


def _shares(more: float, less: float) -> tuple[str, str]:
    """Two shares, with as many digits as tell them from each other.

    Examples:
        >>> [text.split()[0] for text in (*_shares(0.24, 0.23), *_shares(0.2312, 0.2309))]
        ['24', '23', '23.12', '23.09']
    """
    texts = share(more), share(less)
    for digits in range(1, 6):
        if texts[0] != texts[1]:
            break
        texts = f"{100 * more:.{digits}f}\u00a0%", f"{100 * less:.{digits}f}\u00a0%"
    return texts


def _against(row: Size, limit: float) -> str:
    """The time of the job, with as many digits as tell it from the deadline."""
    value, text = row.run.elapsed_s, ""
    for digits in range(3, 16):
        text = figure(value, digits)
        if (float(text.replace(",", "")) <= limit) == (value <= limit):
            break
    return f"{text} s"


def table(found: SmartSize) -> Grid:
    """A row for every replay."""

    def saved_by(part: str) -> Callable[[Size], str]:
        return lambda each: share(each.run.saved()[part])

    def marked(each: Size) -> str:
        if each.nodes == found.smallest[each.device]:
            return "smallest"
        return "yes" if each.meets else "no"

    columns: Mapping[str, Callable[[Size], str]] = {
        "": lambda each: each.device,
        "nodes": lambda each: f"{each.nodes:,}",
        "s": lambda each: figure(each.run.elapsed_s),
        "held up by": lambda each: PART_NAMES[each.run.bottleneck],
        **{f"{name} × 2": saved_by(part) for part, name in PART_NAMES.items()},
        "does it": marked,
    }
    return grid(found.rows, columns, group=True)


def brief(found: SmartSize) -> Sequence[Part]:
    """What a terminal and a notebook show."""
    return [Heading(title(found), 1), Text(answer(found)), table(found), Text(NOTE, "quiet")]


def page(found: SmartSize) -> Document:
    """The page about it."""

    def drawn(kind: str) -> Drawing:
        return Drawing(
            partial(figures.KINDS[kind], found), figures.KINDS[kind].__doc__ or kind, width="narrow"
        )

    parts: list[Part] = [
        Text(answer(found), "answer"),
        Heading("How long the job takes"),
        Text("The large point is the answer.", "quiet"),
        drawn("times"),
        Heading("What holds it up"),
        Text("What a processor, store or network twice as fast saves. The line is at the answer.", "quiet"),
        drawn("saved"),
        Folded("The numbers", [table(found), Text(NOTE, "quiet")]),
        Heading("What ran"),
        Facts(_facts(found)),
    ]
    return Document(
        kind="size of a cluster",
        title=title(found),
        heading=f"{title(found)}: how many nodes",
        parts=parts,
        footer="All times are simulated. The same question and version give the same numbers.",
    )


def _facts(found: SmartSize) -> list[tuple[str, str]]:
    config = found.config
    return [
        ("job", ", ".join([found.job, *(f"{key} = {value}" for key, value in found.job_settings.items())])),
        ("nodes", f"{_range(found)}, {config['node']['description']}"),
        ("network", f"{config['network']['name']}: {config['network']['description']}"),
        ("devices", joined(list(found.smallest))),
        ("work done at", "a host" if config["cluster"]["at"] == "host" else "the nodes"),
        ("seed", str(config["seed"])),
        ("version", f"sledlab {__version__}"),
    ]
