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
from sledlab.show.wording import counted, figure, joined, listed, money
from sledlab.show.wording import saved as share
from sledlab.studies.size import figures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledlab.show.document import Grid, Part
    from sledlab.studies.size.result import Size, SmartSize

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
    """Return a sentence for each device, and one for the best of several."""
    said = [
        text
        for device, least in found.smallest.items()
        for text in (_verdict(found, device, least), _contradicting(found, device))
    ]
    return " ".join([*filter(None, said), *_best(found)])


def _verdict(found: SmartSize, device: str, least: int | None) -> str:
    """A sentence: the number of nodes that meets the goal, or the nearest result."""
    fewest = found.nodes[0]
    if device in found.buys and found.buys[device] < fewest:
        price = _price(found, found.at(device, fewest))
        return f"{_budget(found)} does not buy {_nodes(fewest)} with {device}, the fewest tried: {price}."
    if least is None:
        return _missed(found, device)
    row = found.at(device, least)
    if found.goal.is_fastest:
        return (
            f"{_job(found)} is fastest within {_budget(found)} on {_nodes(least)} with {device}: "
            f"{figure(row.run.elapsed_s)} s, {_price(found, row)}."
        )
    where = f"on {_nodes(least)}" if found.beyond(device) else f"from {_nodes(least)} on"
    where += ", the fewest tried" if least == fewest else ""
    if found.goal.until is not None:
        return f"The {PART_NAMES[found.goal.until]} holds {_job(found)} up on {device} {where}."
    price = f", {_price(found, row)}" if device in found.buys else ""
    return f"{_job(found)} meets {found.goal.deadline_s:g} s on {device} {where}: {_time(found, row)}{price}."


def _missed(found: SmartSize, device: str) -> str:
    """A sentence: no number of nodes meets the goal; the nearest result."""
    most = found.buys.get(device, found.nodes[1])
    bought = f", the most that {_budget(found)} buys" if device in found.buys else ""
    tried = f"with {found.nodes[0]:,} to {_nodes(most)}{bought}"
    if found.goal.until is not None:
        last = found.of(device)[-1]
        return (
            f"The {PART_NAMES[found.goal.until]} does not hold {_job(found)} up on {device} {tried}: on "
            f"{_nodes(last.nodes)} the {PART_NAMES[last.run.bottleneck]} does."
        )
    best = min(found.of(device), key=lambda each: each.run.elapsed_s)
    return (
        f"{_job(found)} does not meet {found.goal.deadline_s:g} s on {device} {tried}: the shortest is "
        f"{_time(found, best)}, on {_nodes(best.nodes)}, where the "
        f"{PART_NAMES[best.run.bottleneck]} is the bottleneck."
    )


def _contradicting(found: SmartSize, device: str) -> str:
    """A sentence: larger numbers of nodes that miss the goal."""
    numbers = [f"{each.nodes:,}" for each in found.beyond(device)]
    return f"Larger numbers of nodes that miss the goal: {listed(numbers, MOST_NAMED)}." if numbers else ""


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


def _job(found: SmartSize) -> str:
    host = found.config.get("cluster", {}).get("at") == "host"
    return f"`{found.job}` at a host" if host else f"`{found.job}`"


def _nodes(number: int) -> str:
    return counted(number, "node")


def _range(found: SmartSize) -> str:
    return f"{found.nodes[0]:,} to {found.nodes[1]:,}"


def _budget(found: SmartSize) -> str:
    return f"${found.goal.budget_usd:,.10g}"


def _price(found: SmartSize, row: Size) -> str:
    """The price of a cluster, with enough digits to show on which side of the budget it is."""
    return f"${_compared(row.cost.cluster_usd or 0.0, found.goal.budget_usd or 0.0)}"


def _time(found: SmartSize, row: Size) -> str:
    """The time of the job, with enough digits to show on which side of the deadline it is."""
    return f"{_compared(row.run.elapsed_s, found.goal.deadline_s or 0.0)} s"


def _compared(value: float, limit: float) -> str:
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
