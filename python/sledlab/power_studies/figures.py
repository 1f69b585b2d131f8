"""Figures of a power study: energy stacked by state, the response beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sledlab import plots
from sledlab.errors import Error
from sledlab.plots import BLUE, GREEN, INK, ORANGE, PURPLE, QUIET, SKY
from sledlab.power_studies.plan import OWN
from sledlab.power_studies.words import hours, policy_name, seconds
from sledlab.wording import STATES, energy, figure, milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.power_studies.outcome import PowerStudy
    from sledlab.power_studies.tables import Row

COLOURS: Mapping[str, str] = dict(zip(STATES, (BLUE, ORANGE, GREEN, "#c3cad1", PURPLE), strict=True))
"""One colour for each state: those of a single run, but parked is lighter, for it fills much."""

WAYS: Mapping[str, str] = {
    "base": QUIET,
    "immediate": GREEN,
    "merging": SKY,
    "subsector": ORANGE,
    "all": BLUE,
}
"""One colour for each strategy."""


def draw(study: PowerStudy, section: str, device: str | None = None) -> Figure:
    """One section for one device.

    Raises:
        Error: There is no such section or device.
    """
    if section not in SECTIONS:
        raise Error(f"unknown section `{section}`", remedy=f"known: {', '.join(SECTIONS)}")
    device = study.devices[0] if device is None else device
    if device not in study.devices:
        raise Error(f"`{device}` was not studied", remedy=f"studied: {', '.join(study.devices)}")
    with plots.style():
        return SECTIONS[section](study, device)


def _state_legend(made: Figure, rows: Sequence[Row], names: Mapping[str, str]) -> None:
    used = [state for state in STATES if any(row[f"{state}_j"] > 0 for row in rows)]
    plots.legend(made, {names[state]: COLOURS[state] for state in used})


def _stacked(
    axes: Axes, names: Sequence[str], parts: Sequence[Mapping[str, float]], ends: Sequence[str], what: str
) -> None:
    """Horizontal bars of states from the top down, each with a text at its end."""
    totals = [sum(part.values()) for part in parts]
    for state in STATES:
        left = [sum(part[before] for before in STATES[: STATES.index(state)]) for part in parts]
        axes.barh(
            range(len(names)), [part[state] for part in parts], left=left, color=COLOURS[state], height=0.66
        )
    for place, (total, text) in enumerate(zip(totals, ends, strict=True)):
        axes.annotate(
            text,
            (total, place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            linespacing=1.15,
        )
    axes.set_yticks(range(len(names)), list(names), color=INK)
    axes.invert_yaxis()
    longest = max((len(line) for text in ends for line in text.split("\n")), default=0)
    axes.set_xlim(0, (max(totals) or 1.0) * (1.02 + 0.0205 * longest))
    axes.set_xlabel(what)
    axes.spines["left"].set_visible(False)


def states(study: PowerStudy, device: str) -> Figure:
    """Energy and time of each state under two policies, and the energy of a request."""
    rows = study.of_device("request_energy", device)
    own = seconds(study.study["own_timeout_ms"][device])
    names = [f"after {own}" if row["policy"] == OWN else "at once" for row in rows]
    made, places = plots.panels(3, 5.2, (2, 2, 3))
    spent = [{state: row[f"{state}_j"] for state in STATES} for row in rows]
    times = [{state: row[f"{state}_s"] / row["elapsed_s"] * 100 for state in STATES} for row in rows]
    each = [{state: row[f"{state}_uj"] for state in STATES} for row in rows]
    _stacked(places[0], names, spent, [energy(row["energy_j"]) for row in rows], "energy (J)")
    _stacked(places[1], names, times, ["" for _ in rows], "time (%)")
    _stacked(places[2], names, each, [_each(row) for row in rows], "energy for each request (µJ)")
    headings = ("Energy of the device", "Time", "Energy for each request")
    for axes, heading in zip(places, headings, strict=True):
        axes.set_title(f"{heading}, if it parks ...")
    _state_legend(made, rows, study.state_names(device))
    return made


def _each(row: Row) -> str:
    """The energy of a request, and of reads and writes themselves."""
    total, read, write = (
        energy(row[f"{name}_uj"] * 1e-6) for name in ("energy_per_request", "read", "write")
    )
    return f"{total}\na read itself {read}\na write itself {write}"


def timeouts(study: PowerStudy, device: str) -> Figure:
    """Energy by state and response against the idle timeout."""
    rows = study.of_device("timeouts", device)
    made, (upper, lower) = plots.panels(2, 5.2, (1.5, 1))
    _columns(upper, rows)
    upper.set_ylabel("energy (J)")
    places = range(len(rows))
    for name, colour, column in (("mean", BLUE, "mean_ms"), ("95 % within", ORANGE, "p95_ms")):
        lower.plot(places, [row[column] for row in rows], marker="o", markersize=4, color=colour)
        ends = (
            (0, milliseconds(rows[0][column]), (0, 6), "center", 8),
            (len(rows) - 1, f"{name}\n{milliseconds(rows[-1][column])}", (8, 0), "left", 8.5),
        )
        for place, text, offset, side, size in ends:
            lower.annotate(
                text,
                (place, rows[place][column]),
                xytext=offset,
                textcoords="offset points",
                ha=side,
                va="center" if place else "bottom",
                fontsize=size,
                fontweight="bold" if place else "normal",
                color=colour,
                annotation_clip=False,
            )
    lower.set_ylim(0, max(max(row["mean_ms"], row["p95_ms"]) for row in rows) * 1.25)
    lower.set_ylabel("response (ms)")
    lower.set_xlabel("idle timeout")
    lower.grid(visible=True, axis="y")
    for axes in (upper, lower):
        axes.set_xlim(-0.6, len(rows) - 0.1)
        axes.set_xticks(places, [seconds(row["timeout_ms"]) if row["timeout_ms"] else "0" for row in rows])
        axes.tick_params(axis="x", labelsize=8)
    _marks(upper, study.of_device("break_even", device)[0], [row["timeout_ms"] for row in rows])
    _state_legend(made, rows, study.state_names(device))
    return made


def _columns(axes: Axes, rows: Sequence[Row]) -> None:
    """Upright bars of states."""
    for state in STATES:
        below = [sum(row[f"{before}_j"] for before in STATES[: STATES.index(state)]) for row in rows]
        values = [row[f"{state}_j"] for row in rows]
        axes.bar(range(len(rows)), values, bottom=below, color=COLOURS[state], width=0.66)
    axes.grid(visible=True, axis="y")


def _marks(axes: Axes, facts: Row, timeouts_ms: Sequence[float]) -> None:
    """The break-even time and the longest rest, between the timeouts they lie between."""
    top = axes.get_ylim()[1]
    axes.set_ylim(0, top * 1.3)
    marks = [("break-even", facts["break_even_ms"], 1.25), ("longest rest", facts["longest_rest_ms"], 1.13)]
    for name, value_ms, height in marks:
        place = between(value_ms, timeouts_ms) if value_ms else None
        if place is None:
            continue
        axes.plot(
            [place, place], [0, top * height], color=INK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=4
        )
        right = place < len(timeouts_ms) * 0.6
        axes.annotate(
            f"{name} {milliseconds(value_ms) if value_ms < 1000 else seconds(value_ms)}",
            (place, top * height),
            xytext=(4 if right else -4, 0),
            textcoords="offset points",
            ha="left" if right else "right",
            va="top",
            fontsize=8.5,
            fontweight="bold",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1},
            zorder=5,
        )


def between(value: float, values: Sequence[float]) -> float | None:
    """Where a value lies among rising ones that stand at 0, 1, 2 ...; none beyond them.

    Example:
        >>> between(0.5, [0, 1, 10]), round(between(3.1623, [0, 1, 10]), 2), between(20, [0, 1, 10])
        (0.5, 1.5, None)
    """
    for place in range(1, len(values)):
        low, high = values[place - 1], values[place]
        if low <= value <= high:
            if low == 0:
                return place - 1 + value / high
            return place - 1 + math.log(value / low) / math.log(high / low)
    return None


def startup(study: PowerStudy, device: str) -> Figure:
    """Response and energy against the start-up time, when the device parks at once."""
    rows = study.of_device("startup", device)
    made, (upper, lower) = plots.panels(2, 4.6)
    x = [row["startup_ms"] for row in rows]
    fit = next((each for each in study.fits if each["device"] == device), None)
    if fit:
        upper.plot(x, [fit["intercept_ms"] + fit["slope"] * value for value in x], color=SKY, linewidth=1.2)
        r2 = f", R² = {fit['r2']:.4f}" if fit["r2"] is not None else ""
        upper.set_title(f"{figure(fit['slope'])} ms of response per ms of start-up{r2}")
    upper.plot(x, [row["mean_ms"] for row in rows], linestyle="", marker="o", color=BLUE)
    upper.set_ylabel("mean response (ms)")
    lower.plot(x, [row["energy_j"] for row in rows], marker="o", markersize=4, color=PURPLE)
    lower.set_ylabel("energy (J)")
    lower.set_xlabel("a start-up takes (ms)")
    for axes, column in ((upper, "mean_ms"), (lower, "energy_j")):
        axes.set_ylim(0, max(row[column] for row in rows) * 1.12)
        axes.grid(visible=True, axis="y")
    return made


def loads(study: PowerStudy, device: str) -> Figure:
    """Shares of the states, energy of a request and response against the load, under two policies."""
    from matplotlib.figure import Figure

    rows = study.of_device("loads", device)
    made = Figure(figsize=(plots.WIDTH, 4.9), layout="constrained")
    places = made.subplots(2, 2)
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    swept = list(dict.fromkeys(row["load"] for row in rows))
    own = seconds(study.study["own_timeout_ms"][device])
    names = {"fixed": f"parks after {own}", "immediate": "parks at once"}
    for axes, policy in zip(places[0], policies, strict=True):
        mine = [row for row in rows if row["policy"] == policy]
        shares = [{f"{state}_j": row[f"{state}_share"] * 100 for state in STATES} for row in mine]
        _columns(axes, shares)
        axes.set_title(f"Energy if it {names[policy]}")
        axes.set_ylim(0, 100)
        axes.set_ylabel("energy (%)")
    panels = (("energy_per_request_uj", "energy of a request (µJ)"), ("mean_ms", "mean response (ms)"))
    for axes, (column, label) in zip(places[1], panels, strict=True):
        shown = [row for row in rows if column != "mean_ms" or not row["saturated"]]
        for policy, colour, marker in zip(policies, (GREEN, BLUE), ("s", "o"), strict=True):
            mine = [row for row in shown if row["policy"] == policy]
            where = [swept.index(row["load"]) for row in mine]
            values = [row[column] for row in mine]
            axes.plot(where, values, color=colour, marker=marker, markersize=4.5, label=names[policy])
        axes.set_ylabel(label)
        axes.set_xlabel("load")
        axes.grid(visible=True, axis="y")
        axes.set_ylim(0, max((row[column] for row in shown), default=1.0) * 1.15)
    places[1][0].legend(frameon=False, fontsize=8.5)
    _overloaded(places[1][1], rows, swept)
    for axes in places.flat:
        axes.set_xlim(-0.6, len(swept) - 0.4)
        axes.set_xticks(range(len(swept)), [f"×{load:g}" for load in swept])
    _state_legend(made, rows, study.state_names(device))
    return made


def _overloaded(axes: Axes, rows: Sequence[Row], swept: Sequence[float], spread: float = 0.0) -> None:
    """Says where there is no response time to show, because the queue kept growing.

    The rows of a load stand side by side over `spread`; where some kept up, the others are named apart.
    """
    for place, load in enumerate(swept):
        mine = [row["saturated"] for row in rows if row["load"] == load]
        width = spread / len(mine)
        late = [place - spread / 2 + width * (index + 0.5) for index, over in enumerate(mine) if over]
        for where in [place] if all(mine) else late:
            axes.annotate(
                "overloaded",
                (where, 0.04),
                xycoords=("data", "axes fraction"),
                ha="center",
                rotation=90,
                fontsize=8 if all(mine) else 7,
                color=QUIET,
            )


def policies(study: PowerStudy, device: str) -> Figure:
    """Energy by state and response of every policy, the least energy on top."""
    rows = sorted(study.of_device("policies", device), key=lambda row: float(row["energy_j"]))
    made, (upper, lower) = plots.panels(2, 1.6 + 0.52 * len(rows))
    names = [policy_name(row["policy"]) for row in rows]
    parts = [{state: row[f"{state}_j"] for state in STATES} for row in rows]
    _stacked(upper, names, parts, [_distance(row) for row in rows], "energy (J)")
    longest = max(row["mean_ms"] for row in rows)
    lower.barh(
        range(len(rows)),
        [row["mean_ms"] for row in rows],
        height=0.5,
        color=[("white" if row["saturated"] else INK) for row in rows],
        edgecolor=INK,
    )
    for place, row in enumerate(rows):
        text = milliseconds(row["mean_ms"]) + (" overloaded" if row["saturated"] else "")
        lower.annotate(
            text,
            (row["mean_ms"], place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    lower.set_yticks(range(len(rows)), names, color=INK)
    lower.invert_yaxis()
    lower.set_xlim(0, longest * 1.25)
    lower.set_xlabel("mean response (ms)")
    lower.spines["left"].set_visible(False)
    _state_legend(made, rows, study.state_names(device))
    return made


def _distance(row: Row) -> str:
    """The energy, and how far it is from the oracle's."""
    from sledlab.power_studies.rows import signed

    text = energy(row["energy_j"])
    if row["above_oracle"] is None or row["policy"] == "oracle":
        return text
    return f"{text} ({signed(row['above_oracle'])})"


def strategies(study: PowerStudy, device: str) -> Figure:
    """Energy and response of every strategy at every load."""
    rows = study.of_device("strategies", device)
    made, places = plots.panels(3, 6.4)
    panels = (
        ("energy_per_request_uj", "energy (µJ)", "All energy, for each request"),
        ("service_uj", "energy (µJ)", "Energy of seeks and accesses alone, for each request"),
        ("mean_ms", "response (ms)", "Mean response"),
    )
    ways = list(dict.fromkeys(row["strategy"] for row in rows))
    swept = list(dict.fromkeys(row["load"] for row in rows))
    width = 0.8 / len(ways)
    for axes, (column, label, heading) in zip(places, panels, strict=True):
        shown = [row for row in rows if column != "mean_ms" or not row["saturated"]]
        for index, way in enumerate(ways):
            mine = [row for row in shown if row["strategy"] == way]
            where = [swept.index(row["load"]) - 0.4 + width * (index + 0.5) for row in mine]
            axes.bar(where, [_value(row, column) for row in mine], width=width * 0.9, color=WAYS[way])
        axes.set_title(heading)
        axes.set_ylabel(label)
        axes.set_xlim(-0.6, len(swept) - 0.4)
        axes.set_xticks(range(len(swept)), [f"×{load:g}" for load in swept])
        axes.grid(visible=True, axis="y")
    _overloaded(places[-1], rows, swept, 0.8)
    places[-1].set_xlabel("load")
    plots.legend(made, {way: WAYS[way] for way in ways})
    return made


def _value(row: Row, column: str) -> float:
    if column == "service_uj":
        return float(row["service_j"] / row["requests"] * 1e6)
    return float(row[column])


def battery(study: PowerStudy, device: str) -> Figure:
    """How long a battery lasts under every policy."""
    rows = sorted(study.of_device("battery", device), key=lambda row: -float(row["hours"]))
    made, (axes,) = plots.panels(1, 0.9 + 0.27 * len(rows))
    axes.barh(range(len(rows)), [row["hours"] for row in rows], height=0.62, color=BLUE)
    for place, row in enumerate(rows):
        axes.annotate(
            f"{hours(row['hours'])} at {figure(row['power_mw'])} mW, {figure(row['mw_per_gb'])} mW/GB",
            (row["hours"], place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    axes.set_yticks(range(len(rows)), [policy_name(row["policy"]) for row in rows], color=INK)
    axes.invert_yaxis()
    axes.set_xlim(0, max(row["hours"] for row in rows) * 1.6)
    axes.set_xlabel(f"hours on {study.study['battery_wh']:g} Wh")
    axes.spines["left"].set_visible(False)
    return made


SECTIONS: dict[str, Callable[[PowerStudy, str], Figure]] = {
    "states": states,
    "timeouts": timeouts,
    "startup": startup,
    "loads": loads,
    "policies": policies,
    "strategies": strategies,
    "battery": battery,
}
"""Every section that can be drawn."""
