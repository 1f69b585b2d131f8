"""Claims on the idle timeout and on parking at once (paper 000, section 5.3.1; paper 003, section 3)."""

from __future__ import annotations

from itertools import pairwise

from ...markdown import percent
from ..claims import Verdict, verdict
from ..points import Points
from .runs import Runs
from .singles import fit, pauses_on_seagate

FIGURE = "paper-000-figure-11"
LONG, MINUTE_MS = "40", "10000"
"""The timeout that figures end with, and the longest of paper 003."""

STARTUPS = "paper-003-figure-7"
NEARLY_ALL = 0.99
"""Share of requests that pay for a start-up where a workload counts as sparse."""


def _timeouts(points: Points) -> list[str]:
    return sorted(points.varied, key=float)


def _energies(runs: Runs) -> dict[float, float]:
    """Energy in J by timeout in ms, on the trace as recorded."""
    points = runs.on_seagate(FIGURE)
    return {float(timeout): points.at(timeout, 1.0, "energy_j") for timeout in _timeouts(points)}


def _saving(runs: Runs, timeout: str, speedup: float = 1.0) -> float:
    points = runs.on_seagate(FIGURE)
    return 1 - points.at(0, speedup, "energy_j") / points.at(timeout, speedup, "energy_j")


def _added_ms(runs: Runs, speedup: float = 1.0) -> float:
    points = runs.on_seagate(FIGURE)
    return points.at(0, speedup, "mean_ms") - points.at(LONG, speedup, "mean_ms")


def h_64(runs: Runs) -> Verdict:
    """From 40 ms to nothing."""
    found = _energies(runs)
    saved = _saving(runs, LONG)
    ours = f"{found[40.0]:.3f} J with 40 ms, {found[0.0]:.3f} J with 0: {percent(-saved, 1)} %."
    return verdict(ours, holds=0.50 <= saved <= 0.65)


def plateau(runs: Runs) -> Verdict:
    """Rises until no rest is longer than the timeout, and is flat from there on."""
    found, pauses = _energies(runs), pauses_on_seagate()
    rising = [found[a] < found[b] for a, b in pairwise(found) if a < pauses.rest_ms]
    level = found[max(found)]
    flat = [abs(found[timeout] / level - 1) < 1e-12 for timeout in found if timeout > pauses.rest_ms]
    last = max(timeout for timeout in found if timeout < pauses.rest_ms)
    ours = (
        f"{found[0.0]:.3f} J with 0 ms, more with each longer timeout of {len(rising) - 1} up to {last:g} "
        "ms; the "
        f"same {level:.3f} J with all {len(flat)} from {min(t for t in found if t > pauses.rest_ms):g} ms to "
        f"{max(found) / 1e3:g} s. Arrivals are at most {pauses.gap_ms:.2f} ms apart, and as serving takes "
        "its "
        f"time, rests last at most {pauses.rest_ms:.2f} ms."
    )
    return verdict(ours, holds=all(rising) and all(flat) and pauses.gap_ms < 36, partly=all(rising))


def h_66(runs: Runs) -> Verdict:
    """What parking at once costs, by load."""
    points = runs.on_seagate(FIGURE)
    added = {speedup: _added_ms(runs, speedup) for speedup in points.speedups}
    shares = {speedup: ms / points.at(LONG, speedup, "mean_ms") for speedup, ms in added.items()}
    heaviest = points.stable(0)[-1]
    ours = "Added to the mean response: " + ", ".join(
        f"{ms:.3f} ms ({percent(shares[speedup], 1)} %) at {speedup:g}" for speedup, ms in added.items()
    )
    ours += (
        f" times the speed. At {heaviest:g}, the last that the sled keeps up with, it is busy for "
        f"{100 * points.at(0, heaviest, 'utilization'):.1f} % of the time."
    )
    return verdict(
        ours, holds=max(added.values()) <= 0.5 and shares[heaviest] < 0.05, partly=max(added.values()) <= 0.5
    )


def y_01(runs: Runs) -> Verdict:
    """Savings on both workloads, against one second."""
    seagate = _saving(runs, "1000")
    points = runs.points("paper-003-policies")
    snake = {
        speedup: -points.change("immediate", "fixed:timeout_ms=1000", speedup, "energy_j")
        for speedup in points.speedups
    }
    ours = f"Seagate {percent(-seagate, 1)} %; Snake (stand-in) " + ", ".join(
        f"{percent(-saved, 1)} % at {speedup:g}" for speedup, saved in snake.items()
    )
    inside = [0.45 <= saved <= 0.65 for saved in (seagate, snake[10.0])]
    why = "Judged at 10 times the speed of Snake, which paper 000 states."
    return verdict(f"{ours} times its speed.", holds=all(inside), partly=any(inside), why=why)


def y_10(runs: Runs) -> Verdict:
    """By how much energy grows."""
    found = _energies(runs)
    ratio = found[40.0] / found[0.0]
    return verdict(f"{ratio:.2f} times as much.", holds=2.1 <= ratio <= 3.0)


def y_15(runs: Runs) -> Verdict:
    """By how much the response rises."""
    points = runs.on_seagate(FIGURE)
    none, long = (points.at(timeout, 1.0, "mean_ms") for timeout in (0, LONG))
    ours = (
        f"{long:.3f} ms with 40 ms, {none:.3f} ms with 0: {percent(none / long - 1, 1)} %. The difference is "
        "one start-up; +66 % would be that of a device that takes 0.76 ms. sledlab charges no overhead, as "
        "the papers state none."
    )
    return verdict(ours, holds=0.50 <= none / long - 1 <= 0.85)


def one_startup(runs: Runs) -> Verdict:
    """The difference, and how many pay it."""
    points = runs.on_seagate(FIGURE)
    added, startups = _added_ms(runs), points.at(0, 1.0, "startups")
    requests = points.at(0, 1.0, "requests")
    rate = points.at(0, 1.0, "throughput_iops") / points.at(LONG, 1.0, "throughput_iops") - 1
    ours = (
        f"{added:.4f} ms; {startups:,.0f} start-ups for {requests:,.0f} requests. Completed per second: "
        f"{percent(rate, 4)} %."
    )
    return verdict(ours, holds=0.45 <= added <= 0.50)


def y_17(runs: Runs) -> Verdict:
    """Throughput of an open trace."""
    points = runs.on_seagate(FIGURE)
    rates = [points.at(timeout, 1.0, "throughput_iops") for timeout in (MINUTE_MS, 0)]
    change = rates[1] / rates[0] - 1
    ours = (
        f"{rates[0]:.4f} and {rates[1]:.4f} requests completed per second: {percent(change, 4)} %. A trace "
        "that is replayed as it arrived fixes its throughput; how the paper came to a loss of 4 % it does "
        "not say."
    )
    return verdict(ours, holds=-0.06 < change <= 0)


def y_20(runs: Runs) -> Verdict:
    """Response over start-up time."""
    points = runs.on_seagate(STARTUPS)
    times = sorted(points.varied, key=float)
    requests = points.at(0, 1.0, "requests")
    sparse = [time for time in times if points.at(time, 1.0, "startups") > NEARLY_ALL * requests]
    lines = [
        fit([float(time) for time in some], [points.at(time, 1.0, "mean_ms") for time in some])
        for some in (sparse, times)
    ]
    said = [f"slope {slope:.3f} ms per ms, R2 {r2:.5f}" for slope, r2 in lines]
    rates = [points.at(time, 1.0, "throughput_iops") for time in (times[0], times[-1])]
    ours = (
        f"Up to {sparse[-1]} ms, where more than {100 * NEARLY_ALL:g} % of requests pay for a start-up: "
        f"{said[0]}. "
        f"Up to {times[-1]} ms, where {100 * points.at(times[-1], 1.0, 'startups') / requests:.0f} % do: "
        f"{said[1]}. "
        f"Throughput {rates[0]:.4f} to {rates[1]:.4f} requests/s: it is that of the trace."
    )
    slope, r2 = lines[0]
    return verdict(ours, holds=r2 > 0.99 and abs(slope - 1) <= 0.02, partly=r2 > 0.99)


CLAIMS = {
    "H-64": h_64,
    "H-65": plateau,
    "H-66": h_66,
    "Y-01": y_01,
    "Y-10": y_10,
    "Y-11": plateau,
    "Y-12": plateau,
    "Y-15": y_15,
    "Y-16": one_startup,
    "Y-17": y_17,
    "Y-20": y_20,
    "Y-21": one_startup,
}
