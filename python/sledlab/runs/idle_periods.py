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


def spans(data: Mapping[str, Numbers], devices: Any, summary: Mapping[str, Any]) -> dict[int, Spans]:
    """For each device, numbered from 0, its states: the name of each, its beginnings and its ends in ns.

    States are `idle`, `parked`, `startup`, and `idle_or_parked`: idle and then parked, where the time of
    parking is unknown. Empty where they disagree with the state times in the summary.
    """
    power = summary["config"].get("power", {})
    timeout = _timeout_ns(power)
    end = int(data["completion_ns"].max(initial=0))
    begin = int(data["arrival_ns"].min(initial=0)) if summary["config"].get("replay", {}).get("warmup") else 0
    names = [int(each) for each in np.unique(devices) if each >= 0]
    result: dict[int, Spans] = {name: _states(data, devices == name, timeout, (begin, end)) for name in names}
    if power.get("kind") == "oracle":  # parks at the beginning of an idle period, or not at all
        parked = {"idle_or_parked": "parked"}
        result = {
            name: [(parked.get(state, state), begins, ends) for state, begins, ends in states]
            for name, states in result.items()
        }
    return result if _is_consistent(result, summary["state_time_s"]) else {}


def _timeout_ns(power: Mapping[str, Any]) -> int | None:
    """The idle timeout in ns, if it is the same for every rest; else `None`."""
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
    data: Mapping[str, Numbers], mine: Any, timeout: int | None, full: tuple[int, int]
) -> list[tuple[str, Numbers, Numbers]]:
    """The states of one device, whose requests `mine` selects."""
    order = np.argsort(data["start_ns"][mine], kind="stable")
    arrival, start, end, startup = (
        data[name][mine][order].astype(np.int64)
        for name in ("arrival_ns", "start_ns", "completion_ns", "startup_ns")
    )
    if not len(start):
        return []
    begun, woken = _startups(arrival, start, startup)
    busy = np.concatenate(([full[0]], np.maximum.accumulate(end)))
    until = np.concatenate((start, [full[1]]))
    until[woken] = begun
    may_park = np.zeros(len(until), bool)
    may_park[woken] = may_park[-1] = True
    idle_periods = until > busy
    parked_first = bool(idle_periods[0]) and 0 in woken
    since, until, may_park = busy[idle_periods], until[idle_periods], may_park[idle_periods]
    result = [("startup", begun, start[woken])]
    if timeout is None:
        result += [("idle", since[~may_park], until[~may_park])]
        if parked_first:
            result += [("parked", since[:1], until[:1])]
            may_park[0] = False
        result += [("idle_or_parked", since[may_park], until[may_park])]
    else:
        parks = np.minimum(since + timeout, until)
        if parked_first:
            parks[0] = since[0]
        result += [("idle", since, parks), ("parked", parks, until)]
    return [
        (name, begins[ends > begins].astype(np.uint64), ends[ends > begins].astype(np.uint64))
        for name, begins, ends in result
    ]


def _startups(arrival: Any, start: Any, startup: Any) -> tuple[Any, Any]:
    """The beginnings of start-ups, and for each the place of the first request selected after it.

    Several requests may wait for a start-up, each for a part of it. The start-up ends with the next
    selection.
    """
    waiters = np.flatnonzero(startup > 0)
    woken, which = np.unique(np.searchsorted(start, (arrival + startup)[waiters]), return_inverse=True)
    length = np.zeros(len(woken), np.int64)
    np.maximum.at(length, which, startup[waiters])
    return start[woken] - length, woken


def _is_consistent(result: Mapping[int, Spans], real: Mapping[str, float]) -> bool:
    """Whether the times of all devices in these states add up to the state times in the summary."""
    total_s = dict.fromkeys(("idle", "parked", "idle_or_parked", "startup"), 0.0)
    for each in result.values():
        for name, begins, ends in each:
            total_s[name] += float((ends - begins).sum()) * 1e-9
    pairs = [(total_s["startup"], real["startup"])]
    if total_s["idle_or_parked"]:
        pairs += [(sum(total_s.values()) - total_s["startup"], real["idle"] + real["inactive"])]
    else:
        pairs += [(total_s["idle"], real["idle"]), (total_s["parked"], real["inactive"])]
    return all(abs(mine - theirs) <= PRECISION_S + 1e-9 * theirs for mine, theirs in pairs)
