"""From points to curves: means and intervals over seeds, and load at equal response (MT-03)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Row = dict[str, Any]

AVERAGED = (
    "arrival_rate",
    "throughput_iops",
    "mean_ms",
    "scv",
    "p50_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "p999_ms",
    "max_ms",
    "queue_mean",
    "utilization",
    "energy_per_request_mj",
    "queue_time_ms",
    "service_time_ms",
    "served_at_once",
    "positioning_ms",
    "transfer_ms",
)
"""Columns of which a curve has the mean over seeds."""

LEVELS_MS = (2.0, 5.0, 10.0, 20.0)
"""Mean response times at which loads are compared in any case (MT-03)."""


def t_975(freedom: int) -> float:
    """Student's t that 97.5 % stay below, for so many degrees of freedom, 1 or more.

    Example:
        >>> [round(t_975(n), 3) for n in (1, 9, 30)]
        [12.706, 2.262, 2.042]
    """
    low, high = 0.0, 13.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if _t_within(middle, freedom) < 0.95 else (low, middle)
    return (low + high) / 2


def _t_within(t: float, freedom: int) -> float:
    """Probability of lying between -t and t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = (cosine, cosine) if odd else (1.0, 1.0)
    if freedom == 1:
        total = 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def half_width(values: Sequence[float]) -> float | None:
    """Half the 95 % confidence interval of a mean of independent values; none for fewer than two.

    Example:
        >>> round(half_width([1.0, 2.0, 3.0]), 3)
        2.484
    """
    count = len(values)
    if count < 2:
        return None
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return t_975(count - 1) * math.sqrt(variance / count)


def curves(points: Iterable[Mapping[str, Any]], vary: str | None) -> list[Row]:
    """One row per scheduler and speed-up: means over the seeds with half widths of their intervals.

    With one seed the interval of the mean response is that of the run by batch means.
    """
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for point in points:
        groups.setdefault(_place(point, vary), []).append(point)
    return [_averaged(group, vary) for group in groups.values()]


def _place(point: Mapping[str, Any], vary: str | None) -> tuple[Any, ...]:
    return (point["scheduler"], point[vary] if vary else None, point["speedup"])


def _averaged(group: list[Mapping[str, Any]], vary: str | None) -> Row:
    first = group[0]
    values = {
        name: [
            point["energy_j"] / point["requests"] * 1000 if name == "energy_per_request_mj" else point[name]
            for point in group
        ]
        for name in AVERAGED
    }
    row: Row = {"scheduler": first["scheduler"], "speedup": first["speedup"]}
    if vary:
        row[vary] = first[vary]
    row |= {"seeds": len(group), "requests": sum(point["requests"] for point in group)}
    row |= {name: math.fsum(found) / len(found) for name, found in values.items()}
    row["mean_ci95_ms"] = first["mean_ci95_ms"] if len(group) == 1 else half_width(values["mean_ms"])
    row["scv_ci95"] = half_width(values["scv"])
    row["saturated"] = any(point["saturated"] for point in group)
    return row


def throughput(points: Sequence[Mapping[str, Any]], vary: str | None) -> list[Row]:
    """MT-03: the arrival rate at which the mean response of each scheduler reaches each level.

    Read off the curve through the loads that were measured: straight lines of the logarithm of the
    response over the arrival rate. With several seeds, the mean over them with its interval.

    Returns:
        One row per scheduler and level, `arrival_rate` empty where it is not reached; `reached` says
        why: `yes`, `in overload` (the load above was overloaded, where the response has no value of its
        own), `below` (even the lightest load takes longer), `above` (even the heaviest takes less).
    """
    rows = []
    groups: dict[tuple[Any, ...], dict[int, list[Mapping[str, Any]]]] = {}
    for point in points:
        group = groups.setdefault(_place(point, vary)[:2], {})
        group.setdefault(point["seed"], []).append(point)
    for level in levels(curves(points, vary)):
        for (scheduler, varied), seeds in groups.items():
            found = [crossing(curve, level) for curve in seeds.values()]
            row: Row = {"scheduler": scheduler, **({vary: varied} if vary else {}), "level_ms": level}
            rows.append(row | _together(found))
    return rows


def _together(found: Sequence[tuple[float | None, str]]) -> Row:
    """What the seeds say together: a rate where all reach the level, otherwise why not."""
    rates = [rate for rate, _ in found if rate is not None]
    words = [word for _, word in found]
    if len(rates) < len(found):
        missed = [word for word in words if word in ("below", "above")]
        return {"arrival_rate": None, "arrival_rate_ci95": None, "reached": max(missed, key=missed.count)}
    return {
        "arrival_rate": math.fsum(rates) / len(rates),
        "arrival_rate_ci95": half_width(rates),
        "reached": "in overload" if "in overload" in words else "yes",
    }


def crossing(curve: Iterable[Mapping[str, Any]], level_ms: float) -> tuple[float | None, str]:
    """The arrival rate at which a curve first reaches a response time, and how sure that is.

    Example:
        >>> rows = [{"arrival_rate": r, "mean_ms": m, "saturated": False} for r, m in ((100, 1), (200, 4))]
        >>> crossing(rows, 2)
        (150.0, 'yes')
    """
    ordered = sorted(curve, key=lambda point: float(point["arrival_rate"]))
    if ordered[0]["mean_ms"] >= level_ms:
        return (ordered[0]["arrival_rate"], "yes") if ordered[0]["mean_ms"] == level_ms else (None, "below")
    for left, right in pairwise(ordered):
        if left["mean_ms"] < level_ms <= right["mean_ms"]:
            share = math.log(level_ms / left["mean_ms"]) / math.log(right["mean_ms"] / left["mean_ms"])
            rate = left["arrival_rate"] + share * (right["arrival_rate"] - left["arrival_rate"])
            return rate, "in overload" if right["saturated"] else "yes"
    return None, "above"


def levels(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Levels of mean response to compare at, in ms: 2, 5, 10, 20 and what fits the data besides."""
    steady = [row["mean_ms"] for row in rows if not row["saturated"]] or [row["mean_ms"] for row in rows]
    low, high = min(steady), max(steady)
    fits = [
        float(f"{digit}e{power}")
        for power in range(-3, 7)
        for digit in (1, 2, 5)
        if low < float(f"{digit}e{power}") <= high
    ]
    return sorted({*LEVELS_MS, *fits})
