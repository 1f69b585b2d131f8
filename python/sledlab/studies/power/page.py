"""A power study on the terminal, in notebooks and on its page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sledlab.show.device_states import STATES
from sledlab.show.document import Document, Facts, Heading, SideBySideParts, Text, grid
from sledlab.show.facts import common_facts, setting_facts
from sledlab.show.model_names import label, model_label
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.sections import Section, draw_section
from sledlab.show.wording import (
    energy,
    figure,
    hours,
    interval,
    mark_overloaded,
    percent,
    saved_percent,
    seconds,
    signed_change,
)
from sledlab.studies.power import figures, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledlab.show.document import Grid, Part
    from sledlab.studies.power.energy import Policy
    from sledlab.studies.power.tables import PowerStudy

    Cells = Mapping[str, Callable[[Any], str]]

ENERGY: Cells = {"energy": lambda row: energy(row.run.energy_j, row.run.half_j)}
REQUEST_CELLS: Cells = {"each request": lambda row: energy(row.run.total_energy_per_request_mj * 1e-3)}
MEAN: Cells = {"mean (ms)": lambda row: interval(row.run.mean_ms, row.run.half_ms)}
STARTUPS: Cells = {"start-ups": lambda row: f"{row.run.startups:,.0f}"}
RESPONSE_CELLS: Cells = {**MEAN, "95 % (ms)": lambda row: figure(row.run.p95_ms), **STARTUPS}
LOAD: Cells = {"load": lambda row: f"×{row.load:g}"}
POLICY_CELLS: Cells = {
    "policy": lambda row: mark_overloaded(model_label(row.policy), saturated=row.run.saturated)
}


def _state_cells(unit: str, format_value: Callable[[float], str]) -> Cells:
    """A column for each state, with the cell that `format_value` makes of its value."""

    def cell(state: str) -> Callable[[Any], str]:
        return lambda row: format_value(row.run.state_values(unit)[state])

    return {state: cell(state) for state in STATES}


def _microjoules(value_uj: float | None) -> str:
    """Return an energy in uJ as text; a dash for `None`."""
    return "–" if value_uj is None else energy(value_uj * 1e-6)


TABLES: Mapping[str, Cells] = {
    "request_energy": {
        "policy": lambda row: model_label(row.policy),
        **REQUEST_CELLS,
        **_state_cells("energy_per_request_mj", lambda value: energy(value * 1e-3)),
        "serving a read": lambda row: _microjoules(row.run.read_energy_uj),
        "serving a write": lambda row: _microjoules(row.run.write_energy_uj),
    },
    "timeouts": {
        "timeout": lambda row: seconds(row.timeout_ms),
        **ENERGY,
        **_state_cells("j", energy),
        **RESPONSE_CELLS,
    },
    "startup": {"start-up takes": lambda row: seconds(row.time_per_startup_ms), **ENERGY, **RESPONSE_CELLS},
    "loads": {
        **LOAD,
        **POLICY_CELLS,
        "requests/s": lambda row: figure(row.run.arrival_rate_iops),
        **ENERGY,
        **REQUEST_CELLS,
        **_state_cells("share", percent),
        **MEAN,
        **STARTUPS,
    },
    "strategies": {
        **LOAD,
        "strategy": lambda row: mark_overloaded(row.strategy, saturated=row.run.saturated),
        **ENERGY,
        "saved": lambda row: saved_percent(row.energy_saved),
        "seek + access": lambda row: energy(row.run.service_j),
        "of these saved": lambda row: saved_percent(row.service_saved),
        **MEAN,
        "change": lambda row: signed_change(row.response_change),
        "merged": lambda row: f"{row.run.merged_requests:,.0f}",
    },
    "battery": {
        "policy": lambda row: mark_overloaded(model_label(row.policy), saturated=row.saturated),
        "mean power": lambda row: f"{figure(row.power_w * 1e3)} mW",
        "lasts": lambda row: hours(row.battery_life_h),
        "per gigabyte": lambda row: f"{figure(row.mw_per_gb)} mW/GB",
    },
}
"""Tables of the page: the cell of each column; states have the names that the summary uses."""


def table(name: str, study: PowerStudy, device: str) -> Grid:
    """A section's table for one device; rows of the same load belong together."""
    names, has_loads = study.state_names(device), "load" in TABLES[name]
    cells = {names.get(head, head): cell for head, cell in TABLES[name].items()}
    return grid(study.device_rows(name, device), cells, "left" if has_loads else "", has_groups=has_loads)


def policies(study: PowerStudy, device: str) -> Grid:
    """The policies of a device, the least energy on top; times in ms."""
    battery = {row.policy: row for row in study.device_rows("battery", device)}
    cells: Cells = {
        device: POLICY_CELLS["policy"],
        **ENERGY,
        "above oracle": _above_oracle,
        "mean": RESPONSE_CELLS["mean (ms)"],
        "95 %": RESPONSE_CELLS["95 % (ms)"],
        "start-ups": RESPONSE_CELLS["start-ups"],
        "on battery": lambda row: hours(battery[row.policy].battery_life_h),
    }
    return grid(study.policies_by_energy(device), cells)


def _above_oracle(row: Policy) -> str:
    """Return the energy above that of the oracle as a percentage with its sign; a dash without an oracle."""
    return "–" if row.above_oracle is None else signed_change(row.above_oracle, 2)


BELOW_ORACLE = (
    "Below the oracle: a policy that delays requests, or a start-up that shortens the next idle period, can "
    "take a little less energy than an oracle that judges idle periods one by one."
)
"""Why a policy may take less energy than the oracle."""


def _notes(study: PowerStudy) -> str:
    """Notes on the columns of the policies."""
    rows = [row for device in study.devices for row in study.device_rows("policies", device)]
    is_below_oracle = any(_above_oracle(row).startswith("−") for row in rows)
    notes = [summary.noise(study), "Times in ms; * the queue kept growing."]
    return " ".join([*notes, *([BELOW_ORACLE] if is_below_oracle else [])])


def _all_policies(study: PowerStudy) -> Sequence[Part]:
    """The tables of the policies of all devices, and notes on their columns."""
    tables = SideBySideParts([policies(study, device) for device in study.devices], "stack")
    return tables, Text(_notes(study), "quiet")


SECTIONS: Mapping[str, Section] = {
    "states": Section(
        "Energy and time by state",
        "Seek: the mechanism moves to the data. Access: it reads or writes. Idle: nothing to do, but ready "
        "at once. Inactive: parked; a disk sleeps or is off. Start-up: getting ready again, which the next "
        "request waits for.",
        figures.states,
        summary.states,
        partial(table, "request_energy"),
        "Fixed: parks after its own timeout. Each request: all energy over the number of requests. Serving a "
        "read, serving a write: seek, access and the start-up it waited for, without idling and parking, "
        "which belong to no request.",
    ),
    "timeouts": Section(
        "Idle timeouts",
        "The idle timeout is how long the device stays ready after its last request. Beyond the longest idle "
        "period it makes no difference: the next request always comes first.",
        figures.timeouts,
        table=partial(table, "timeouts"),
        panels=figures.timeout_panels,
    ),
    "policies": Section(
        "Power policies",
        "A policy decides when to park. The oracle knows the length of each idle period, so it cannot be "
        "built; it decides for each idle period separately. In brackets: energy above the oracle's.",
        figures.policies,
        summary.best,
        closing_parts=_all_policies,
    ),
    "startup": Section(
        "Start-up times",
        "The start-up time changed, with the power it draws unchanged, for a device that parks at once.",
        figures.startup,
        summary.startup,
        partial(table, "startup"),
        panels=figures.startup_panels,
    ),
    "loads": Section(
        "Loads",
        "Load: the times between arrivals divided by this factor.",
        figures.loads,
        summary.loads,
        partial(table, "loads"),
    ),
    "strategies": Section(
        "Other ways to save, alone and together",
        "Base: the device's own timeout and nothing else. Immediate: park as soon as the queue is empty. "
        "Merging: serve queued reads of successive blocks as one. Subsector: turn on only the tips with "
        "requested data. All: all of these.",
        figures.strategies,
        summary.strategies,
        partial(table, "strategies"),
    ),
    "battery": Section(
        "Battery life",
        "A charge of {battery_wh:g} Wh over the mean power of the device alone, if the workload repeats.",
        figures.battery,
        table=partial(table, "battery"),
    ),
}
"""Every section that can be drawn, in the order of the page."""


def brief(study: PowerStudy) -> Sequence[Part]:
    """The parts for a terminal and a notebook: the answer, and a table of the policies for each device."""
    parts: list[Part] = [Heading(summary.title(study), 1)]
    for device in study.devices:
        parts.append(Text(f"{summary.verdict(study, device)} {summary.break_even(study, device)}"))
        parts.append(policies(study, device))
    return [*parts, Text(_notes(study), "quiet")]


def page(study: PowerStudy) -> Document:
    """The page about a study."""
    parts: list[Part] = []
    for device in study.devices:
        parts += [Text(summary.verdict(study, device), "answer"), Text(summary.break_even(study, device))]
    for section in SECTIONS.values():
        parts += section.parts(study, study.devices)
    _, *shared_facts, version_fact = common_facts(study.config)
    facts = (
        ("policies", ", ".join(model_label(word) for word in study.axes["power"])),
        ("pace", f"{study.axes['pace']:g} times its own"),
        ("scheduler", label(str(study.axes["scheduler"]))),
        ("seeds", ", ".join(map(str, study.axes["seed"]))),
        ("battery", f"{study.axes['battery_wh']:g} Wh"),
    )
    setting_pairs = (pair for pair in setting_facts(study.config, study.toml) if pair[0] != "speed-up")
    return Document(
        kind="power study",
        title=summary.title(study),
        heading=f"{summary.title(study)}: energy",
        footer="All energies and times are simulated. The same study and version give the same numbers.",
        parts=[
            *parts,
            Heading("Configuration"),
            Facts([*shared_facts, *facts, *setting_pairs, version_fact]),
        ],
    )


PRESENTATION = DocumentPresentation(
    answer=summary.answer, brief=brief, whole=page, figure=partial(draw_section, SECTIONS)
)
