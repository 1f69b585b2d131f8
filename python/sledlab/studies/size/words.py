"""The search for the smallest cluster in sentences, a table and a page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sledlab._native import __version__
from sledlab.show.cluster_figures import PART_NAMES
from sledlab.show.document import Document, Drawing, Facts, Folded, Heading, Text, grid
from sledlab.show.face import DocumentFace
from sledlab.show.money import COLUMN, assumed, of_many
from sledlab.show.money import NOTE as MONEY
from sledlab.show.wording import figure, joined, money
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
"""Most numbers of nodes that a sentence names."""


def title(found: SmartSize) -> str:
    """Title: the goal, the job and the devices."""
    return f"{found.job} on {joined(list(found.smallest))}, {_asked(found)}"


def _asked(found: SmartSize) -> str:
    asked = found.goal
    if asked.until is not None:
        return f"until the {PART_NAMES[asked.until]} holds it up"
    limits = [f"{asked.deadline_s:g} s"] if asked.deadline_s is not None else []
    return f"within {joined([*limits, *([_budget(found)] if asked.budget_usd is not None else [])])}"


def answer(found: SmartSize) -> str:
    """For each device the number of nodes, and the results with it."""
    verdict = until if found.goal.until is not None else budget if found.goal.is_fastest else deadline
    said = [
        (_too_dear(found, device) or verdict(found, device, least), note(found, device), _paid(found, device))
        for device, least in found.smallest.items()
    ]
    return " ".join([*(sentence for both in said for sentence in both if sentence), *_best(found)])


def _paid(found: SmartSize, device: str) -> str:
    """A sentence: the price of the cluster that meets a deadline within a budget."""
    least = found.smallest[device]
    if found.goal.is_fastest or least is None or device not in found.buys:
        return ""
    return f"The price is {_price_against(found, found.at(device, least))}."


def _best(found: SmartSize) -> list[str]:
    """A sentence: the cheapest device, or with a budget alone the fastest, where several meet the goal."""
    rows = [found.at(device, least) for device, least in found.smallest.items() if least is not None]
    if found.goal.until is not None or len(rows) < 2 or any(each.cost.cluster_usd is None for each in rows):
        return []
    if found.goal.is_fastest:
        best = min(rows, key=lambda each: each.run.elapsed_s)
        return [f"The fastest for the money is {best.device} on {_nodes(best.nodes)}."]
    best = min(rows, key=lambda each: each.cost.cluster_usd or 0.0)
    return [f"The cheapest is {best.device} on {_nodes(best.nodes)}, {money(best.cost.cluster_usd)}."]


def _too_dear(found: SmartSize, device: str) -> str:
    """A sentence for a budget that does not buy the fewest nodes."""
    fewest = found.nodes[0]
    if device not in found.buys or found.buys[device] >= fewest:
        return ""
    price = _price_against(found, found.at(device, fewest))
    return (
        f"{_budget(found)} does not buy {_nodes(fewest)} with {device}, the fewest tried: they cost {price}."
    )


def budget(found: SmartSize, device: str, least: int | None) -> str:
    """A sentence: the number of nodes, within a budget, with which the job is fastest."""
    assert least is not None  # the budget buys some nodes
    row, most = found.at(device, least), found.buys[device]
    first = (
        f"{_job(found)} is fastest within {_budget(found)} on {_nodes(least)} with {device}, "
        f"{figure(row.run.elapsed_s)} s, for {_price_against(found, row)}"
    )
    if least < most:
        row = found.at(device, most)
        return f"{first}; on {_nodes(most)}, the most that it buys, it takes {figure(row.run.elapsed_s)} s."
    if most == found.nodes[1]:
        return f"{first}; more were not tried."
    return f"{first}; {_nodes(most + 1)} cost {_price_against(found, found.at(device, most + 1))}."


def _budget(found: SmartSize) -> str:
    return f"${found.goal.budget_usd:,.10g}"


def _price_against(found: SmartSize, row: Size) -> str:
    """The price of a cluster, with enough digits to show on which side of the budget it is."""
    return f"${_telling(row.cost.cluster_usd or 0.0, found.goal.budget_usd or 0.0)}"


def until(found: SmartSize, device: str, least: int | None) -> str:
    """A sentence: the number of nodes from which on a component is the bottleneck."""
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
    row = found.at(device, least)
    if least == found.nodes[0]:
        others = [
            f"the {PART_NAMES[other]} {share(value)}"
            for other, value in row.run.saved().items()
            if other != part
        ]
        return (
            f"The {name} holds {job} up on {device} already at {_nodes(least)}, the fewest tried: twice as "
            f"fast it saves {share(row.run.saved()[part])}, {joined(others)}."
        )
    before = found.at(device, least - 1)
    rival = before.run.bottleneck
    first = (
        f"At {_nodes(least)} the {name} comes to hold {job} up on {device}"
        if found.beyond(device)
        else f"From {_nodes(least)} on the {name} holds {job} up on {device}"
    )
    most, less = _shares(before.run.saved()[rival], before.run.saved()[part])
    more, rest = _shares(row.run.saved()[part], row.run.saved()[rival])
    return (
        f"{first}: at {before.nodes:,} the {PART_NAMES[rival]} twice as fast saves most, {most}, and the "
        f"{name} {less}; at {least:,} it is the {name}, {more} against {rest} for the {PART_NAMES[rival]}."
    )


def deadline(found: SmartSize, device: str, least: int | None) -> str:
    """A sentence: the number of nodes with which the job meets its deadline."""
    limit, job = found.goal.deadline_s or 0.0, _job(found)
    rows = found.of(device)
    if least is None:
        best = min(rows, key=lambda each: each.run.elapsed_s)
        return (
            f"{job} does not take {limit:g} s or less on {device} on any of the numbers of nodes "
            f"{_tried(found, device)}: the shortest is {_against(best, limit)}, on {_nodes(best.nodes)}, "
            f"where the {PART_NAMES[best.run.bottleneck]} holds it up."
        )
    row = found.at(device, least)
    if least == found.nodes[0]:
        return (
            f"{job} takes {_against(row, limit)} on {device} already at {_nodes(least)}, the fewest tried, "
            f"and may take {limit:g} s."
        )
    before = found.at(device, least - 1)
    where = f"on {_nodes(least)}" if found.beyond(device) else f"from {_nodes(least)} on"
    return (
        f"{job} takes {limit:g} s or less on {device} {where}: {_against(row, limit)}, and "
        f"{_against(before, limit)} on {before.nodes:,}."
    )


def note(found: SmartSize, device: str) -> str:
    """A sentence: larger numbers of nodes that were tried and miss the goal."""
    beyond = found.beyond(device)
    return f"But not on all larger numbers: {_seen(found, beyond)}." if beyond else ""


def _seen(found: SmartSize, rows: Sequence[Size]) -> str:
    """Results with numbers of nodes that miss the goal, in words."""
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


def _tried(found: SmartSize, device: str) -> str:
    """The numbers of nodes that were tried, in words: with a budget, those that it buys."""
    if device not in found.buys:
        return f"tried, {_range(found)}"
    return f"that {_budget(found)} buys, {found.nodes[0]:,} to {found.buys[device]:,}"


def _shares(more: float, less: float) -> tuple[str, str]:
    """Two shares, with enough digits to differ from each other.

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
    """The time of the job, with enough digits to show on which side of the deadline it is."""
    return f"{_telling(row.run.elapsed_s, limit)} s"


def _telling(value: float, limit: float) -> str:
    """A number with enough digits to show on which side of a limit it is."""
    text = ""
    for digits in range(3, 16):
        text = figure(value, digits)
        if (float(text.replace(",", "")) <= limit) == (value <= limit):
            break
    return text


def table(found: SmartSize) -> Grid:
    """A row for every replay."""

    def saved_by(part: str) -> Callable[[Size], str]:
        return lambda each: share(each.run.saved()[part])

    def marked(each: Size) -> str:
        if each.nodes == found.smallest[each.device]:
            return "fastest" if found.goal.is_fastest else "smallest"
        return "yes" if each.meets else "no"

    columns: Mapping[str, Callable[[Size], str]] = {
        "": lambda each: each.device,
        "nodes": lambda each: f"{each.nodes:,}",
        "s": lambda each: figure(each.run.elapsed_s),
        "held up by": lambda each: PART_NAMES[each.run.bottleneck],
        **{f"{name} × 2": saved_by(part) for part, name in PART_NAMES.items()},
        **_money_columns(found),
        "does it": marked,
    }
    return grid(found.rows, columns, group=True)


def _money_columns(found: SmartSize) -> Mapping[str, Callable[[Size], str]]:
    """Columns with the price of the cluster and the cost of the job; none where no cluster has a price."""
    if not _is_priced(found):
        return {}
    return {
        "cluster": lambda each: money(each.cost.cluster_usd),
        COLUMN: lambda each: of_many(each.cost.job_usd),
    }


def _is_priced(found: SmartSize) -> bool:
    return any(each.cost.cluster_usd is not None for each in found.rows)


def notes(found: SmartSize) -> str:
    """Notes on the columns of the table."""
    return f"{NOTE} {MONEY}" if _is_priced(found) else NOTE


def brief(found: SmartSize) -> Sequence[Part]:
    """The parts for a terminal and a notebook."""
    return [Heading(title(found), 1), Text(answer(found)), table(found), Text(notes(found), "quiet")]


def page(found: SmartSize) -> Document:
    """The page about the search."""

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
        Folded("The numbers", [table(found), Text(notes(found), "quiet")]),
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
        ("prices", assumed(found.prices).removeprefix("Prices: ") if _is_priced(found) else ""),
        ("work done at", "a host" if config["cluster"]["at"] == "host" else "the nodes"),
        ("seed", str(config["seed"])),
        ("version", f"sledlab {__version__}"),
    ]


FACE = DocumentFace(answer=answer, brief=brief, whole=page, figure=figures.draw)
