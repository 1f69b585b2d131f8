"""Idle, parked and start-up periods of devices, computed from the requests of a run.

Between two requests a device is idle until its power policy parks it; a request to a parked device waits for
its start-up. The computed periods are omitted unless they agree with the state times in the summary of the
run: a disk with write-behind, for instance, is idle for less time than its requests suggest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.runs.packets import Numbers

    Spans = Sequence[tuple[str, Numbers, Numbers]]

PRECISION_S = 1e-6
"""Most by which state times may differ from those of the summary, which are rounded, in s."""

INFINITE_TIMEOUT_NS = 2**62
"""A timeout longer than every idle period, in ns."""


def spans(columns: Mapping[str, Numbers], devices: Any, summary: Mapping[str, Any]) -> dict[int, Spans]:
    """For each device, numbered from 0, its states: the name of each, its beginnings and its ends in ns.

    States are `idle`, `parked`, `startup`, and `idle_or_parked`: idle and then parked, where the time of
    parking is unknown. Empty where they disagree with the state times in the summary.
    """
    power = summary["config"].get("power", {})
    timeout_ns = _timeout_ns(power)
    end = int(columns["completion_ns"].max(initial=0))
    begin = (
        int(columns["arrival_ns"].min(initial=0)) if summary["config"].get("replay", {}).get("warmup") else 0
    )
    device_numbers = [int(device) for device in np.unique(devices) if device >= 0]
    states_by_device: dict[int, Spans] = {
        number: _states(columns, devices == number, timeout_ns, (begin, end)) for number in device_numbers
    }
    if power.get("kind") == "oracle":  # parks at the beginning of an idle period, or not at all
        names_by_state = {"idle_or_parked": "parked"}
        states_by_device = {
            number: [(names_by_state.get(state, state), begins, ends) for state, begins, ends in states]
            for number, states in states_by_device.items()
        }
    return states_by_device if _is_consistent(states_by_device, summary["state_time_s"]) else {}


def _timeout_ns(power: Mapping[str, Any]) -> int | None:
    """The idle timeout in ns, if it is the same for every idle period; else `None`."""
    match power.get("kind"):
        case "never":
            return INFINITE_TIMEOUT_NS
        case "immediate":
            return 0
        case "fixed" if "timeout_ms" in power:
            return round(float(power["timeout_ms"]) * 1e6)
        case _:
            return None


def _states(
    columns: Mapping[str, Numbers], is_own: Any, timeout_ns: int | None, run_span: tuple[int, int]
) -> list[tuple[str, Numbers, Numbers]]:
    """The states of one device, whose requests `is_own` selects."""
    order = np.argsort(columns["start_ns"][is_own], kind="stable")
    arrival, start, end, startup = (
        columns[name][is_own][order].astype(np.int64)
        for name in ("arrival_ns", "start_ns", "completion_ns", "startup_ns")
    )
    if not len(start):
        return []
    startup_begins, woken_requests = _startups(arrival, start, startup)
    busy_ends = np.concatenate(([run_span[0]], np.maximum.accumulate(end)))
    idle_ends = np.concatenate((start, [run_span[1]]))
    idle_ends[woken_requests] = startup_begins
    may_park = np.zeros(len(idle_ends), bool)
    may_park[woken_requests] = may_park[-1] = True
    is_idle_period = idle_ends > busy_ends
    starts_parked = bool(is_idle_period[0]) and 0 in woken_requests
    idle_begins, idle_ends, may_park = (
        busy_ends[is_idle_period],
        idle_ends[is_idle_period],
        may_park[is_idle_period],
    )
    states = [("startup", startup_begins, start[woken_requests])]
    if timeout_ns is None:
        states += [("idle", idle_begins[~may_park], idle_ends[~may_park])]
        if starts_parked:
            states += [("parked", idle_begins[:1], idle_ends[:1])]
            may_park[0] = False
        states += [("idle_or_parked", idle_begins[may_park], idle_ends[may_park])]
    else:
        park_times = np.minimum(idle_begins + timeout_ns, idle_ends)
        if starts_parked:
            park_times[0] = idle_begins[0]
        states += [("idle", idle_begins, park_times), ("parked", park_times, idle_ends)]
    return [
        (name, begins[ends > begins].astype(np.uint64), ends[ends > begins].astype(np.uint64))
        for name, begins, ends in states
    ]


def _startups(arrival: Any, start: Any, startup: Any) -> tuple[Any, Any]:
    """The beginnings of start-ups, and for each the index of the first request selected after it.

    Several requests may wait for a start-up, each for a part of it. The start-up ends with the next
    selection.
    """
    waiting_requests = np.flatnonzero(startup > 0)
    woken_requests, startup_index = np.unique(
        np.searchsorted(start, (arrival + startup)[waiting_requests]), return_inverse=True
    )
    startup_ns = np.zeros(len(woken_requests), np.int64)
    np.maximum.at(startup_ns, startup_index, startup[waiting_requests])
    return start[woken_requests] - startup_ns, woken_requests


def _is_consistent(states_by_device: Mapping[int, Spans], state_times_s: Mapping[str, float]) -> bool:
    """Whether the times of all devices in these states add up to the state times in the summary."""
    total_s_by_state = dict.fromkeys(("idle", "parked", "idle_or_parked", "startup"), 0.0)
    for states in states_by_device.values():
        for name, begins, ends in states:
            total_s_by_state[name] += float((ends - begins).sum()) * 1e-9
    pairs = [(total_s_by_state["startup"], state_times_s["startup"])]
    if total_s_by_state["idle_or_parked"]:
        pairs += [
            (
                sum(total_s_by_state.values()) - total_s_by_state["startup"],
                state_times_s["idle"] + state_times_s["inactive"],
            )
        ]
    else:
        pairs += [
            (total_s_by_state["idle"], state_times_s["idle"]),
            (total_s_by_state["parked"], state_times_s["inactive"]),
        ]
    return all(
        abs(computed_s - reported_s) <= PRECISION_S + 1e-9 * reported_s for computed_s, reported_s in pairs
    )
