"""The search for the smallest cluster in sentences, a table and a page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sledlab._native import __version__
from sledlab.show.cluster_figures import PART_NAMES
from sledlab.show.document import Collapsible, Document, Drawing, Facts, Heading, Text, grid
from sledlab.show.model_names import network_description, node_description
from sledlab.show.money import COLUMN, jobs_cost, money, price_assumptions
from sledlab.show.money import NOTE as MONEY
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.ranking import LEVEL, Ranking
from sledlab.show.wording import figure, join_names, list_names, pluralize
from sledlab.show.wording import saved_percent as share
from sledlab.studies.size import figures, level
from sledlab.studies.size.level import MAX_NAMED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledlab.show.document import Grid, Part
    from sledlab.studies.size.result import Size, SmartSize

TWICE = " × 2"
"""End of the names of columns with the time that a component twice as fast saves."""

TWICE_NOTE = (
    "× 2: the share of the time that a processor, store or network twice as fast saves (− adds). Level: the "
    f"times with either of two twice as fast are within {LEVEL * 100:g} %."
)


def title(result: SmartSize) -> str:
    """Title: the goal, the job and the devices."""
    return f"{result.job} on {join_names(list(result.smallest))}, {_goal(result)}"


def _goal(result: SmartSize) -> str:
    goal = result.goal
    if goal.until is not None:
        return f"until the {PART_NAMES[goal.until]} is the bottleneck"
    limits = [f"{goal.deadline_s:g} s"] if goal.deadline_s is not None else []
    return f"within {join_names([*limits, *([_budget(result)] if goal.budget_usd is not None else [])])}"


def answer(result: SmartSize) -> str:
    """Return a sentence for each device, and one for the best of several."""
    sentences = [
        text
        for device, node_count in result.smallest.items()
        for text in (_verdict(result, device, node_count), _contradiction_sentence(result, device))
    ]
    return " ".join([*filter(None, sentences), *_best(result)])


def _verdict(result: SmartSize, device: str, node_count: int | None) -> str:
    """A sentence: the number of nodes that meets the goal, or the nearest result."""
    fewest = result.nodes[0]
    if device in result.buys and result.buys[device] < fewest:
        price = _price(result, result.find_row(device, fewest))
        return f"{_budget(result)} does not buy {_nodes(fewest)} with {device}, the fewest tried: {price}."
    if node_count is None:
        return _miss_sentence(result, device)
    row = result.find_row(device, node_count)
    if result.goal.is_fastest:
        return (
            f"{_job(result)} is fastest within {_budget(result)} on {_nodes(node_count)} with {device}, of "
            f"the numbers tried: {figure(row.run.elapsed_s)} s, {_price(result, row)}."
        )
    nodes_text = f"on {_nodes(node_count)}{_larger_numbers(result, device, node_count)}"
    nodes_text += ", the fewest tried" if node_count == fewest else ""
    if result.goal.until is not None:
        job = f"{_job(result)} on {device}"
        return level.sentence(result.device_rows(device), result.goal.until, job) or (
            f"The {PART_NAMES[result.goal.until]} is the bottleneck of {job} {nodes_text}."
        )
    price = f", {_price(result, row)}" if device in result.buys else ""
    deadline = f"{result.goal.deadline_s:g} s"
    return f"{_job(result)} meets {deadline} on {device} {nodes_text}: {_time(result, row)}{price}."


def _larger_numbers(result: SmartSize, device: str, node_count: int) -> str:
    """A clause: all larger numbers of nodes that were tried meet the goal; empty where that is not so."""
    larger = [f"{each.nodes:,}" for each in result.device_rows(device) if each.nodes > node_count]
    if not larger or result.larger_misses(device):
        return ""
    return f" and on all larger numbers tried ({list_names(larger, MAX_NAMED)})"


def _miss_sentence(result: SmartSize, device: str) -> str:
    """A sentence: no number of nodes meets the goal; the nearest result."""
    max_nodes = result.buys.get(device, result.nodes[1])
    budget_text = f", the maximum within {_budget(result)}" if device in result.buys else ""
    range_text = f"with {result.nodes[0]:,} to {_nodes(max_nodes)}{budget_text}"
    if result.goal.until is not None:
        last = result.device_rows(device)[-1]
        return (
            f"The {PART_NAMES[result.goal.until]} is not the bottleneck of {_job(result)} on {device} "
            f"{range_text}: on {_nodes(last.nodes)} it is the {PART_NAMES[last.run.bottleneck]}."
        )
    best = Ranking.of(result.device_rows(device), lambda each: each.run.elapsed_s).first
    return (
        f"{_job(result)} does not meet {result.goal.deadline_s:g} s on {device} {range_text}: the shortest "
        f"is {_time(result, best)}, on {_nodes(best.nodes)}, where the "
        f"{PART_NAMES[best.run.bottleneck]} is the bottleneck."
    )


def _contradiction_sentence(result: SmartSize, device: str) -> str:
    """A sentence: larger numbers of nodes that miss the goal."""
    numbers = [f"{each.nodes:,}" for each in result.larger_misses(device)]
    return f"Larger numbers of nodes that miss the goal: {list_names(numbers, MAX_NAMED)}." if numbers else ""


def _best(result: SmartSize) -> list[str]:
    """A sentence: the cheapest device, or with a budget alone the fastest, where several meet the goal."""
    rows = [
        result.find_row(device, node_count)
        for device, node_count in result.smallest.items()
        if node_count is not None
    ]
    if result.goal.until is not None or len(rows) < 2 or any(each.cost.cluster_usd is None for each in rows):
        return []
    if result.goal.is_fastest:
        best = Ranking.of(rows, lambda each: each.run.elapsed_s).first
        return [f"The fastest within the budget is {best.device} on {_nodes(best.nodes)}."]
    best = Ranking.of(rows, lambda each: each.cost.cluster_usd).first
    return [f"The cheapest is {best.device} on {_nodes(best.nodes)}, {money(best.cost.cluster_usd)}."]


def _job(result: SmartSize) -> str:
    is_at_host = result.config.get("cluster", {}).get("at") == "host"
    return f"`{result.job}` at a host" if is_at_host else f"`{result.job}`"


def _nodes(number: int) -> str:
    return pluralize(number, "node")


def _range(result: SmartSize) -> str:
    return f"{result.nodes[0]:,} to {result.nodes[1]:,}"


def _budget(result: SmartSize) -> str:
    return f"${result.goal.budget_usd:,.10g}"


def _price(result: SmartSize, row: Size) -> str:
    """The price of a cluster, with enough digits to show on which side of the budget it is."""
    return f"${_format_near_limit(row.cost.cluster_usd or 0.0, result.goal.budget_usd or 0.0)}"


def _time(result: SmartSize, row: Size) -> str:
    """The time of the job, with enough digits to show on which side of the deadline it is."""
    return f"{_format_near_limit(row.run.elapsed_s, result.goal.deadline_s or 0.0)} s"


def _format_near_limit(value: float, limit: float) -> str:
    """A number with enough digits to show on which side of a limit it is."""
    text = ""
    for digits in range(3, 16):
        text = figure(value, digits)
        if (float(text.replace(",", "")) <= limit) == (value <= limit):
            break
    return text


def table(result: SmartSize, omitted: Sequence[str] = ()) -> Grid:
    """A row for every replay, without some columns."""

    def savings_cell(part: str) -> Callable[[Size], str]:
        return lambda each: share(each.run.savings()[part])

    def mark(each: Size) -> str:
        if each.nodes == result.smallest[each.device]:
            return "fastest" if result.goal.is_fastest else "smallest"
        return "yes" if each.meets else "no"

    columns: Mapping[str, Callable[[Size], str]] = {
        "": lambda each: each.device,
        "nodes": lambda each: f"{each.nodes:,}",
        "goal": mark,
        "s": lambda each: figure(each.run.elapsed_s),
        "bottleneck": lambda each: PART_NAMES[each.run.bottleneck],
        **{f"{name}{TWICE}": savings_cell(part) for part, name in PART_NAMES.items()},
        **_money_columns(result),
    }
    cells = {name: cell for name, cell in columns.items() if name not in omitted}
    return grid(result.rows, cells, has_groups=True)


def _money_columns(result: SmartSize) -> Mapping[str, Callable[[Size], str]]:
    """Columns with the price of the cluster and the cost of the job; none where no cluster has a price."""
    if not _is_priced(result):
        return {}
    return {
        "cluster": lambda each: money(each.cost.cluster_usd),
        COLUMN: lambda each: jobs_cost(each.cost.job_usd),
    }


def _is_priced(result: SmartSize) -> bool:
    return any(each.cost.cluster_usd is not None for each in result.rows)


def _with_notes(results: Grid) -> list[Part]:
    """Return the table of results, and notes on its columns."""
    twice = [TWICE_NOTE] if any(name.endswith(TWICE) for name in results.head) else []
    money_note = [MONEY] if COLUMN in results.head else []
    return [results, Text(" ".join([*twice, "No other numbers of nodes were tried.", *money_note]), "quiet")]


def brief(result: SmartSize) -> Sequence[Part]:
    """The parts for a terminal and a notebook."""
    return [
        Heading(title(result), 1),
        Text(answer(result)),
        *_with_notes(table(result, _unasked_columns(result))),
    ]


def _unasked_columns(result: SmartSize) -> list[str]:
    """Return columns that the goal does not ask for, and terminals of 80 characters have no room for."""
    if result.goal.until is None:
        return [f"{name}{TWICE}" for name in PART_NAMES.values()]
    return list(_money_columns(result))


def page(result: SmartSize) -> Document:
    """The page about the search."""

    def drawing(kind: str) -> Drawing:
        return Drawing(
            partial(figures.KINDS[kind], result), figures.KINDS[kind].__doc__ or kind, width="narrow"
        )

    parts: list[Part] = [
        Text(answer(result), "answer"),
        Heading("Time of the job"),
        Text("The large point is the answer.", "quiet"),
        drawing("times"),
        Heading("Bottleneck"),
        Text(
            "Time saved by a processor, store or network twice as fast. The line is at the answer.", "quiet"
        ),
        drawing("saved"),
        Collapsible("Table of results", _with_notes(table(result))),
        Heading("Configuration"),
        Facts(_facts(result)),
    ]
    return Document(
        kind="size of a cluster",
        title=title(result),
        heading=f"{title(result)}: number of nodes",
        parts=parts,
        footer="All times are simulated. The same question and version give the same numbers.",
    )


def _facts(result: SmartSize) -> list[tuple[str, str]]:
    config = result.config
    return [
        ("job", ", ".join([result.job, *(f"{key} = {value}" for key, value in result.job_settings.items())])),
        ("nodes", f"{_range(result)}, {node_description(config['node'])}"),
        ("network", network_description(config)),
        ("devices", join_names(list(result.smallest))),
        ("prices", price_assumptions(result.prices).removeprefix("Prices: ") if _is_priced(result) else ""),
        ("work done at", "a host" if config["cluster"]["at"] == "host" else "the nodes"),
        ("seed", str(config["seed"])),
        ("version", f"sledlab {__version__}"),
    ]


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=figures.draw)
