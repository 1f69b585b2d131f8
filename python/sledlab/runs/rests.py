"""When devices rested, were parked and started up, told from the requests of a run.

Between two requests a device idles, then parks when its policy says so, and a request that finds it parked
waits for its start-up. What is told here is held against what the run accounts for, and left out unless both
agree: a disk that writes on behind its cache, for instance, rests less than its requests say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.runs.packets import Numbers

    Spans = Sequence[tuple[str, Numbers, Numbers]]

PRECISION_S = 1e-6
"""What times of states may differ by in all: those of a run are rounded."""

NEVER = 2**62
"""A timeout beyond every rest, in ns."""


def spans(data: Mapping[str, Numbers], devices: Any, summary: Mapping[str, Any]) -> dict[int, Spans]:
    """For each device from 0 the times when it was in a state: the state, beginnings and ends in ns.

    States are `idle`, `parked`, `startup`, and `rested` where nothing says when an idle device was parked.
    Empty where they are not what the run accounts for.
    """
    power = summary["config"].get("power", {})
    timeout = _timeout_ns(power)
    end = int(data["completion_ns"].max(initial=0))
    begin = int(data["arrival_ns"].min(initial=0)) if summary["config"].get("replay", {}).get("warmup") else 0
    names = [int(each) for each in np.unique(devices) if each >= 0]
    found: dict[int, Spans] = {name: _of(data, devices == name, timeout, (begin, end)) for name in names}
    if power.get("kind") == "oracle":  # which parks at once where it parks at all
        parked = {"rested": "parked"}
        found = {
            name: [(parked.get(state, state), begins, ends) for state, begins, ends in told]
            for name, told in found.items()
        }
    return found if _agree(found, summary["state_time_s"]) else {}


def _timeout_ns(power: Mapping[str, Any]) -> int | None:
    """After which rest a device is parked, if that is always the same."""
    match power.get("kind"):
        case "never":
            return NEVER
        case "immediate":
            return 0
        case "fixed" if "timeout_ms" in power:
            return round(float(power["timeout_ms"]) * 1e6)
        case _:
            return None


def _of(
    data: Mapping[str, Numbers], mine: Any, timeout: int | None, whole: tuple[int, int]
) -> list[tuple[str, Numbers, Numbers]]:
    """The states of a device."""
    order = np.argsort(data["start_ns"][mine], kind="stable")
    start, end, startup = (
        data[name][mine][order].astype(np.int64) for name in ("start_ns", "completion_ns", "startup_ns")
    )
    if not len(start):
        return []
    # What is served together starts at once; the start-up is said with the first of these.
    busy = np.concatenate(([whole[0]], np.maximum.accumulate(end)))
    until = np.concatenate((start - startup, [whole[1]]))
    started = np.concatenate((startup > 0, [False]))
    rests = until > busy
    since, until, started = busy[rests], until[rests], started[rests]
    parked_first = bool(rests[0]) and bool(startup[0] > 0)
    woken = np.flatnonzero(startup > 0)
    found = [("startup", start[woken] - startup[woken], start[woken])]
    if timeout is None:
        found += [("idle", since[~started], until[~started])]
        if parked_first:
            found += [("parked", since[:1], until[:1])]
        later = started.copy()
        later[:1] &= not parked_first
        found += [("rested", since[later], until[later])]
    else:
        parks = np.minimum(since + timeout, until)
        if parked_first:
            parks[0] = since[0]
        found += [("idle", since, parks), ("parked", parks, until)]
    return [
        (name, begins[ends > begins].astype(np.uint64), ends[ends > begins].astype(np.uint64))
        for name, begins, ends in found
    ]


def _agree(found: Mapping[int, Spans], real: Mapping[str, float]) -> bool:
    """Whether all devices together were in these states as long as the run says."""
    told = dict.fromkeys(("idle", "parked", "rested", "startup"), 0.0)
    for each in found.values():
        for name, begins, ends in each:
            told[name] += float((ends - begins).sum()) * 1e-9
    pairs = [(told["startup"], real["startup"])]
    if told["rested"]:
        pairs += [(sum(told.values()) - told["startup"], real["idle"] + real["inactive"])]
    else:
        pairs += [(told["idle"], real["idle"]), (told["parked"], real["inactive"])]
    return all(abs(mine - theirs) <= PRECISION_S + 1e-9 * theirs for mine, theirs in pairs)
