"""Figures of a power study: energy by state, and the response time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sledlab.show import plots
from sledlab.show import states as by_state
from sledlab.show.model_names import model_label
from sledlab.show.palette import BLUE, GREEN, INK, PURPLE, QUIET, SKY, VERMILION
from sledlab.show.ranking import Ranking
from sledlab.show.series import Panel, Series
from sledlab.show.wording import (
    figure,
    hours,
    mark_overloaded,
    milliseconds,
    quantity,
    seconds,
    signed_change,
)
from sledlab.studies.power.options import OWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from sledlab.studies.power.energy import EnergyMeans, Policy
    from sledlab.studies.power.tables import PowerStudy

STRATEGY_COLORS = {"base": QUIET, "immediate": GREEN, "merging": SKY, "subsector": VERMILION, "all": BLUE}
"""One color for each strategy."""


def _add_legend(
    fig: Figure, study: PowerStudy, device: str, runs: Sequence[EnergyMeans], lines: Sequence[Line2D] = ()
) -> Figure:
    """The figure, with a legend of the colors of states, and of lines."""
    by_state.state_legend(fig, [run.state_values("j") for run in runs], study.state_names(device), lines)
    return fig


def states(study: PowerStudy, device: str) -> Figure:
    """Energy and time of each state under two policies, and the energy of a request."""
    rows = study.device_rows("request_energy", device)
    runs = [row.run for row in rows]
    names = [
        mark_overloaded(
            f"after {study.own_timeout(device)}" if row.policy == OWN else "at once",
            saturated=row.run.saturated,
        )
        for row in rows
    ]
    time_shares = [_time_percentages(run) for run in runs]
    request_energies = [run.state_values("energy_per_request_mj") for run in runs]
    fig, (upper, middle, lower) = plots.panels(3, 5.2, (2, 2, 3))
    by_state.rows(
        upper,
        names,
        [run.state_values("j") for run in runs],
        [quantity(run.energy_j, "J") for run in runs],
        "energy (J)",
    )
    by_state.rows(middle, names, time_shares, ["" for _ in runs], "time (%)")
    by_state.rows(
        lower, names, request_energies, [_request_text(run) for run in runs], "energy for each request (mJ)"
    )
    upper.set_title("Energy of the device, if it parks\u00a0...")
    middle.set_title("Time, if it parks\u00a0...")
    lower.set_title("Energy for each request, if it parks\u00a0...")
    return _add_legend(fig, study, device, runs)


def _time_percentages(run: EnergyMeans) -> dict[str, float]:
    """Return the shares of the states in the time of all devices, in percent."""
    times_s = run.state_values("time_s")
    return {state: part_s / math.fsum(times_s.values()) * 100 for state, part_s in times_s.items()}


def _request_text(run: EnergyMeans) -> str:
    """The energy of a request, and of reads and writes without idle and parked time, in words."""
    total_text = quantity(run.total_energy_per_request_mj, "mJ")
    kinds = {"read": run.read_energy_uj, "write": run.write_energy_uj}
    kind_texts = [
        f"serving a {kind} {quantity(uj * 1e-3, 'mJ')}" for kind, uj in kinds.items() if uj is not None
    ]
    return "\n".join([total_text, *kind_texts])


def timeout_panels(study: PowerStudy, device: str) -> Sequence[Panel]:
    """Energy by state and response against the idle timeout."""
    rows, facts = study.device_rows("timeouts", device), study.device_rows("break_even", device)[0]
    marks = {"break-even": facts.break_even_ms, "longest idle period": facts.longest_idle_ms}
    parts = [row.run.state_values("j") for row in rows]
    steps = [seconds(row.timeout_ms) if row.timeout_ms else "0" for row in rows]
    overloaded = [row.run.saturated for row in rows]
    response_series = [
        Series("mean", BLUE, [row.run.mean_ms for row in rows], overloaded=overloaded),
        Series("95 % within", VERMILION, [row.run.p95_ms for row in rows], overloaded=overloaded),
    ]
    sync_group = f"timeouts of {device}"
    return [
        Panel(
            "idle timeout",
            "energy (J)",
            by_state.bars(parts, study.state_names(device)),
            steps=steps,
            sync_group=sync_group,
            marks=by_state.label_positions(marks, [row.timeout_ms for row in rows], _timeout),
        ),
        Panel("idle timeout", "response (ms)", response_series, steps=steps, sync_group=sync_group),
    ]


def timeouts(study: PowerStudy, device: str) -> Figure:
    """Energy by state and response against the idle timeout."""
    rows = study.device_rows("timeouts", device)
    runs = [row.run for row in rows]
    fig, (upper, lower) = plots.panels(2, 5.2, (1.5, 1))
    by_state.columns(upper, [run.state_values("j") for run in runs])
    energy_panel, response_panel = timeout_panels(study, device)
    upper.set_ylabel(energy_panel.y_name)
    lines = {
        line.name: (line.color, [value or 0.0 for value in line.values]) for line in response_panel.series
    }
    by_state.lines(lower, lines, milliseconds)
    highest = max(value for _, values in lines.values() for value in values)
    plots.scale(lower, highest * 1.25, response_panel.y_name, response_panel.x_name)
    for axes in (upper, lower):
        by_state.steps(axes, response_panel.steps)
        by_state.mark_overload(axes, [[run.saturated] for run in runs])
        axes.set_xlim(right=len(rows) - 0.4)
    by_state.marks(upper, energy_panel.marks, len(rows))
    return _add_legend(fig, study, device, runs)


def _timeout(value_ms: float) -> str:
    return milliseconds(value_ms) if value_ms < 1000 else seconds(value_ms)


def startup_panels(study: PowerStudy, device: str) -> Sequence[Panel]:
    """Response and energy against the start-up time."""
    rows = study.device_rows("startup", device)
    overloaded = [row.run.saturated for row in rows]
    mean_series = Series("mean response", BLUE, [row.run.mean_ms for row in rows], overloaded=overloaded)
    energy_series = Series("energy", PURPLE, [row.run.energy_j for row in rows], overloaded=overloaded)
    axis, x, sync_group = (
        "start-up time (ms)",
        [row.time_per_startup_ms for row in rows],
        f"start-ups of {device}",
    )
    return [
        Panel(axis, "mean response (ms)", [mean_series], x, sync_group=sync_group),
        Panel(axis, "energy (J)", [energy_series], x, sync_group=sync_group),
    ]


def startup(study: PowerStudy, device: str) -> Figure:
    """Response and energy against the start-up time, when the device parks at once."""
    fit = study.fit(device)
    response_panel, energy_panel = startup_panels(study, device)
    x = response_panel.x
    fig, (upper, lower) = plots.panels(2, 4.6)
    if fit:
        upper.plot(x, [fit["intercept_ms"] + fit["slope"] * value for value in x], color=SKY, linewidth=1.2)
        r2 = f", R² = {fit['r2']:.4f}" if fit["r2"] is not None else ""
        upper.set_title(f"{figure(fit['slope'])} ms of response per ms of start-up{r2}")
    means, joules = (
        [value or 0.0 for value in each.series[0].values] for each in (response_panel, energy_panel)
    )
    lower.plot(x, joules, color=PURPLE)
    for axes, series, values, size in ((upper, response_panel, means, 6), (lower, energy_panel, joules, 4)):
        line = series.series[0]
        for place, value, is_overloaded in zip(x, values, line.overloaded, strict=True):
            plots.draw_point(axes, (place, value), line.color, size, hollow=is_overloaded)
    plots.scale(upper, max(means) * 1.12, response_panel.y_name)
    plots.scale(lower, max(joules) * 1.12, energy_panel.y_name, energy_panel.x_name)
    return fig


def loads(study: PowerStudy, device: str) -> Figure:
    """Shares of the states, energy of a request and response against the load, under two policies."""
    rows, speedups = study.device_rows("loads", device), study.axes["load"]
    steady_rows = [row for row in rows if not row.run.saturated]
    fig = plots.empty_figure(4.9)
    # Without a load that a policy sustains, no response time means anything, and energy has the whole row.
    layout: Any = [["fixed", "immediate"], ["energy", "response" if steady_rows else "energy"]]
    axes_by_name = fig.subplot_mosaic(layout)
    energy_axes = axes_by_name["energy"]
    styles_by_policy = {
        "fixed": (f"parks after {study.own_timeout(device)}", (GREEN, (0, (5, 1.5)), "s")),
        "immediate": ("parks at once", (BLUE, "-", "o")),
    }
    for policy, (name, style) in styles_by_policy.items():
        axes, runs = axes_by_name[policy], [row.run for row in rows if row.policy == policy]
        shares = [{state: share * 100 for state, share in run.state_values("share").items()} for run in runs]
        by_state.columns(axes, shares)
        by_state.mark_overload(axes, [[run.saturated] for run in runs])
        axes.set_title(name)
        plots.scale(axes, 100, "energy (%)")
        energies = [(place, run.total_energy_per_request_mj, run.saturated) for place, run in enumerate(runs)]
        plots.draw_line(energy_axes, energies, style, name)
        if steady_rows:
            steady_places = [place for place, run in enumerate(runs) if not run.saturated]
            steady_ms = [runs[place].mean_ms for place in steady_places]
            plots.plot_line(axes_by_name["response"], steady_places, steady_ms, style, name)
    highest_mj = max(row.run.total_energy_per_request_mj for row in rows)
    plots.scale(energy_axes, highest_mj * 1.15, "energy of a request (mJ)", "load")
    if steady_rows:
        highest_ms = max(row.run.mean_ms for row in steady_rows)
        plots.scale(axes_by_name["response"], highest_ms * 1.15, "mean response (ms)", "load")
        overloaded = [[row.run.saturated for row in rows if row.load == load] for load in speedups]
        by_state.mark_overload(axes_by_name["response"], overloaded)
    for axes in axes_by_name.values():
        by_state.steps(axes, [f"×{load:g}" for load in speedups])
    return _add_legend(fig, study, device, [row.run for row in rows], energy_axes.lines[::2])


def policies(study: PowerStudy, device: str) -> Figure:
    """Energy by state and response of every policy, the least energy on top."""
    rows = study.policies_by_energy(device)
    runs = [row.run for row in rows]
    names = [mark_overloaded(model_label(row.policy), saturated=row.run.saturated) for row in rows]
    fig, (upper, lower) = plots.panels(2, 1.6 + 0.52 * len(rows), rows=2 * len(rows) + 4)
    ends = [_energy_text(row) for row in rows]
    by_state.rows(upper, names, [run.state_values("j") for run in runs], ends, "energy (J)")
    bars = [
        plots.response_bar(name, run.mean_ms, is_overloaded=run.saturated)
        for name, run in zip(names, runs, strict=True)
    ]
    plots.bar_rows(lower, bars, "mean response (ms)", INK)
    return _add_legend(fig, study, device, runs)


def _energy_text(row: Policy) -> str:
    """The energy, and its excess over the oracle's, in words."""
    text = quantity(row.run.energy_j, "J")
    if row.above_oracle is None or row.policy == "oracle":
        return text
    return f"{text} ({signed_change(row.above_oracle)})"


def strategies(study: PowerStudy, device: str) -> Figure:
    """Energy and response of every strategy at every load."""
    rows, speedups = study.device_rows("strategies", device), study.axes["load"]
    colors = {strategy: STRATEGY_COLORS[strategy] for strategy in study.axes["strategy"][device]}
    panels = [
        ("total_energy_per_request_mj", "energy (mJ)", "All energy, for each request"),
        (
            "service_energy_per_request_mj",
            "energy (mJ)",
            "Energy of seeks and accesses alone, for each request",
        ),
        ("mean_ms", "response (ms)", "Mean response"),
    ]
    if all(row.run.saturated for row in rows):
        del panels[-1]
    fig, all_axes = plots.panels(len(panels), 0.4 + 2.0 * len(panels))
    for axes, (column, label, heading) in zip(all_axes, panels, strict=True):
        shown_rows = [row for row in rows if column != "mean_ms" or not row.run.saturated]
        bars = [(speedups.index(row.load), row.strategy, getattr(row.run, column)) for row in shown_rows]
        by_state.grouped_bars(axes, bars, colors)
        axes.set(title=heading, ylabel=label)
        by_state.steps(axes, [f"×{load:g}" for load in speedups])
        axes.grid(visible=True, axis="y")
    overloaded = [[row.run.saturated for row in rows if row.load == load] for load in speedups]
    for axes in all_axes:
        by_state.mark_overload(axes, overloaded, 0.8)
    all_axes[-1].set_xlabel("load")
    plots.legend(fig, colors)
    return fig


def battery(study: PowerStudy, device: str) -> Figure:
    """Battery life under each policy."""
    rows = Ranking.of(
        study.device_rows("battery", device), lambda row: row.power_w, lambda row: row.saturated
    )
    bars = [
        (
            mark_overloaded(model_label(row.policy), saturated=row.saturated),
            row.battery_life_h,
            f"{hours(row.battery_life_h)} at {figure(row.power_w * 1e3)} mW, {figure(row.mw_per_gb)} mW/GB",
            row.saturated,
        )
        for row in rows
    ]
    return plots.bars(bars, f"hours on {study.axes['battery_wh']:g} Wh")
