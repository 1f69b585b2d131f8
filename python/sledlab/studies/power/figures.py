"""Figures of a power study: energy stacked by state, the response beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.lazy import mpl_figure
from sledlab.show import plots
from sledlab.show import states as by_state
from sledlab.show.plots import BLUE, GREEN, INK, ORANGE, PURPLE, QUIET, SKY
from sledlab.show.wording import STATES, energy, figure, hours, milliseconds, plus_minus, seconds, spaced
from sledlab.studies.power.plan import OWN
from sledlab.studies.power.words import own_timeout

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from sledlab.studies.power import tables
    from sledlab.study.energy import Battery, BreakEven, Spent

WAYS = {"base": QUIET, "immediate": GREEN, "merging": SKY, "subsector": ORANGE, "all": BLUE}
"""One colour for each strategy."""


def states(study: tables.PowerStudy, device: str) -> Figure:
    """Energy and time of each state under two policies, and the energy of a request."""
    rows: list[tables.Request] = study.of_device("request_energy", device)
    runs = [row.run for row in rows]
    names = [f"after {own_timeout(study, device)}" if row.policy == OWN else "at once" for row in rows]
    spent = [run.by_state("j") for run in runs]
    times = [{state: part / run.elapsed_s * 100 for state, part in run.by_state("s").items()} for run in runs]
    each = [run.by_state("uj") for run in runs]
    made, places = plots.panels(3, 5.2, (2, 2, 3))
    by_state.rows(places[0], names, spent, [energy(run.energy_j) for run in runs], "energy (J)")
    by_state.rows(places[1], names, times, ["" for _ in runs], "time (%)")
    by_state.rows(places[2], names, each, [_each(run) for run in runs], "energy for each request (µJ)")
    headings = ("Energy of the device", "Time", "Energy for each request")
    for axes, heading in zip(places, headings, strict=True):
        axes.set_title(f"{heading}, if it parks ...")
    by_state.legend_of(made, spent, study.state_names(device))
    return made


def _each(run: Spent) -> str:
    """The energy of a request, and of reads and writes themselves."""
    total, read, write = (
        energy(each * 1e-6) for each in (run.energy_per_request_uj, run.read_uj, run.write_uj)
    )
    return f"{total}\na read itself {read}\na write itself {write}"


def timeouts(study: tables.PowerStudy, device: str) -> Figure:
    """Energy by state and response against the idle timeout."""
    rows: list[tables.Timeout] = study.of_device("timeouts", device)
    runs = [row.run for row in rows]
    made, (upper, lower) = plots.panels(2, 5.2, (1.5, 1))
    by_state.columns(upper, [run.by_state("j") for run in runs])
    upper.set_ylabel("energy (J)")
    means, most = [run.mean_ms for run in runs], [run.p95_ms for run in runs]
    by_state.lines(lower, {"mean": (BLUE, means), "95 % within": (ORANGE, most)}, milliseconds)
    lower.set_ylim(0, max(*means, *most) * 1.25)
    lower.set_ylabel("response (ms)")
    lower.set_xlabel("idle timeout")
    lower.grid(visible=True, axis="y")
    for axes in (upper, lower):
        by_state.steps(axes, [seconds(row.timeout_ms) if row.timeout_ms else "0" for row in rows], 8)
        axes.set_xlim(right=len(rows) - 0.1)
    facts: BreakEven = study.of_device("break_even", device)[0]
    marks = {"break-even": facts.break_even_ms, "longest rest": facts.longest_rest_ms}
    by_state.marks(upper, marks, [row.timeout_ms for row in rows], _long)
    by_state.legend_of(made, [run.by_state("j") for run in runs], study.state_names(device))
    return made


def _long(value_ms: float) -> str:
    return milliseconds(value_ms) if value_ms < 1000 else seconds(value_ms)


def startup(study: tables.PowerStudy, device: str) -> Figure:
    """Response and energy against the start-up time, when the device parks at once."""
    rows: list[tables.Startup] = study.of_device("startup", device)
    made, (upper, lower) = plots.panels(2, 4.6)
    x, fit = [row.startup_ms for row in rows], study.fit(device)
    if fit:
        upper.plot(x, [fit["intercept_ms"] + fit["slope"] * value for value in x], color=SKY, linewidth=1.2)
        r2 = f", R² = {fit['r2']:.4f}" if fit["r2"] is not None else ""
        upper.set_title(f"{figure(fit['slope'])} ms of response per ms of start-up{r2}")
    means, joules = [row.run.mean_ms for row in rows], [row.run.energy_j for row in rows]
    upper.plot(x, means, linestyle="", marker="o", color=BLUE)
    upper.set_ylabel("mean response (ms)")
    lower.plot(x, joules, marker="o", markersize=4, color=PURPLE)
    lower.set_ylabel("energy (J)")
    lower.set_xlabel("a start-up takes (ms)")
    for axes, values in ((upper, means), (lower, joules)):
        axes.set_ylim(0, max(values) * 1.12)
        axes.grid(visible=True, axis="y")
    return made


def loads(study: tables.PowerStudy, device: str) -> Figure:
    """Shares of the states, energy of a request and response against the load, under two policies."""
    rows: list[tables.Load] = study.of_device("loads", device)
    made = mpl_figure.Figure(figsize=(plots.WIDTH, 4.9), layout="constrained")
    places = made.subplots(2, 2)
    swept = list(dict.fromkeys(row.load for row in rows))
    parks = {"fixed": f"parks after {own_timeout(study, device)}", "immediate": "parks at once"}
    left, right = places[1]
    for axes, (policy, name), look in zip(places[0], parks.items(), ((GREEN, "s"), (BLUE, "o")), strict=True):
        mine = [row.run for row in rows if row.policy == policy]
        by_state.columns(
            axes, [{state: getattr(run, f"{state}_share") * 100 for state in STATES} for run in mine]
        )
        axes.set_title(f"Energy if it {name}")
        axes.set_ylim(0, 100)
        axes.set_ylabel("energy (%)")
        line = {"color": look[0], "marker": look[1], "markersize": 4.5, "label": name}
        left.plot(range(len(swept)), [run.energy_per_request_uj for run in mine], **line)
        kept = [place for place, run in enumerate(mine) if not run.saturated]
        right.plot(kept, [mine[place].mean_ms for place in kept], **line)
    energies = [row.run.energy_per_request_uj for row in rows]
    means = [row.run.mean_ms for row in rows if not row.run.saturated]
    for axes, label, values in (
        (left, "energy of a request (µJ)", energies),
        (right, "mean response (ms)", means),
    ):
        axes.set_ylabel(label)
        axes.set_xlabel("load")
        axes.grid(visible=True, axis="y")
        axes.set_ylim(0, max(values, default=1.0) * 1.15)
    left.legend(frameon=False, fontsize=8.5)
    by_state.overloaded(right, [[row.run.saturated for row in rows if row.load == load] for load in swept])
    for axes in places.flat:
        by_state.steps(axes, [f"×{load:g}" for load in swept])
    by_state.legend_of(made, [row.run.by_state("j") for row in rows], study.state_names(device))
    return made


def policies(study: tables.PowerStudy, device: str) -> Figure:
    """Energy by state and response of every policy, the least energy on top."""
    rows: list[tables.Policy] = sorted(
        study.of_device("policies", device), key=lambda row: float(row.run.energy_j)
    )
    runs, names = [row.run for row in rows], [spaced(row.policy) for row in rows]
    made, (upper, lower) = plots.panels(2, 1.6 + 0.52 * len(rows))
    by_state.rows(
        upper, names, [run.by_state("j") for run in runs], [_distance(row) for row in rows], "energy (J)"
    )
    plots.bar_rows(
        lower,
        [
            (
                name,
                run.mean_ms,
                milliseconds(run.mean_ms) + (" overloaded" if run.saturated else ""),
                run.saturated,
            )
            for name, run in zip(names, runs, strict=True)
        ],
        "mean response (ms)",
        1.25,
        INK,
    )
    by_state.legend_of(made, [run.by_state("j") for run in runs], study.state_names(device))
    return made


def _distance(row: tables.Policy) -> str:
    """The energy, and how far it is from the oracle's."""
    text = energy(row.run.energy_j)
    if row.above_oracle is None or row.policy == "oracle":
        return text
    return f"{text} ({plus_minus(row.above_oracle)})"


def strategies(study: tables.PowerStudy, device: str) -> Figure:
    """Energy and response of every strategy at every load."""
    rows: list[tables.Strategy] = study.of_device("strategies", device)
    made, places = plots.panels(3, 6.4)
    ways, swept = dict.fromkeys(row.strategy for row in rows), list(dict.fromkeys(row.load for row in rows))
    panels: tuple[tuple[Callable[[Spent], float], str, str], ...] = (
        (lambda run: run.energy_per_request_uj, "energy (µJ)", "All energy, for each request"),
        (_service_uj, "energy (µJ)", "Energy of seeks and accesses alone, for each request"),
        (lambda run: run.mean_ms, "response (ms)", "Mean response"),
    )
    for axes, (value, label, heading) in zip(places, panels, strict=True):
        shown = [row for row in rows if axes is not places[-1] or not row.run.saturated]
        bars = [(swept.index(row.load), row.strategy, value(row.run)) for row in shown]
        by_state.grouped(axes, bars, {way: WAYS[way] for way in ways})
        axes.set_title(heading)
        axes.set_ylabel(label)
        by_state.steps(axes, [f"×{load:g}" for load in swept])
        axes.grid(visible=True, axis="y")
    late = [[row.run.saturated for row in rows if row.load == load] for load in swept]
    by_state.overloaded(places[-1], late, 0.8)
    places[-1].set_xlabel("load")
    plots.legend(made, {way: WAYS[way] for way in ways})
    return made


def _service_uj(run: Spent) -> float:
    return run.service_j / run.requests * 1e6


def battery(study: tables.PowerStudy, device: str) -> Figure:
    """How long a battery lasts under every policy."""
    rows: list[Battery] = sorted(study.of_device("battery", device), key=lambda row: -float(row.hours))
    texts = (
        f"{hours(row.hours)} at {figure(row.power_mw)} mW, {figure(row.mw_per_gb)} mW/GB" for row in rows
    )
    shown = [(spaced(row.policy), row.hours, text, False) for row, text in zip(rows, texts, strict=True)]
    return plots.bars(shown, f"hours on {study.axes['battery_wh']:g} Wh", 1.6)
