"""From runs to tables: means over the seeds, break-even times, slopes, batteries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sledlab.comparison.statistics import half_width
from sledlab.devices import describe
from sledlab.power_studies.plan import IMMEDIATE
from sledlab.wording import STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sledlab.power_studies.plan import Case, Plan, Point

Row = dict[str, Any]

NAMES = (
    "states",
    "request_energy",
    "break_even",
    "timeouts",
    "startup",
    "loads",
    "policies",
    "strategies",
    "battery",
)
"""The tables of a study, in the order of the report."""

ENERGIES = ("energy_j", *(f"{state}_j" for state in STATES))
"""Columns of the energy and its parts."""

MEANS = (
    *ENERGIES,
    *(f"{state}_s" for state in STATES),
    "elapsed_s",
    "arrival_rate",
    "mean_ms",
    "p95_ms",
    "p99_ms",
    "startups",
    "merged_requests",
    "merged_groups",
    "tip_time_s",
    "dark_tip_time_s",
)
"""Columns of which a row has the mean over the seeds."""


def tables(plan: Plan, found: Mapping[Point, Row]) -> dict[str, list[Row]]:
    """All tables as plain rows."""
    sections: dict[str, list[Row]] = {}
    for case in plan.cases:
        runs = [found[point] for point in plan.points_of(case)]
        sections.setdefault(case.section, []).append(_averaged(case, runs))
    rests = {
        case.device: [found[point]["rests"] for point in plan.points_of(case)]
        for case in plan.cases
        if case.section == "rests"
    }
    gigabytes = {name: describe(base)["capacity_blocks"] * 512 / 1e9 for name, base in plan.bases.items()}
    policies = _against_oracle(sections["policies"], plan, found)
    return {
        "states": _states(sections["states"]),
        "request_energy": _request_energy(sections["states"]),
        "break_even": [_break_even(device, sections, rests[device]) for device in plan.bases],
        "timeouts": sections["timeouts"],
        "startup": sections["startup"],
        "loads": [_shared(row) for row in sections["loads"]],
        "policies": policies,
        "strategies": _against_base(sections["strategies"]),
        "battery": [_battery(row, plan.battery_wh, gigabytes[row["device"]]) for row in policies],
    }


def _averaged(case: Case, runs: Sequence[Row]) -> Row:
    """The means over the seeds of one row, with half widths of their 95 % intervals.

    With one seed the interval of the mean response is that of the run by batch means; energy has none.
    """
    count = len(runs)
    row: Row = {"device": case.device, **dict(case.labels), "seeds": count}
    row["requests"] = math.fsum(run["requests"] for run in runs) / count
    row |= {name: math.fsum(run[name] for run in runs) / count for name in MEANS}
    row["energy_ci95_j"] = half_width([run["energy_j"] for run in runs])
    row["mean_ci95_ms"] = (
        runs[0]["mean_ci95_ms"] if count == 1 else half_width([run["mean_ms"] for run in runs])
    )
    row["energy_per_request_uj"] = row["energy_j"] / row["requests"] * 1e6
    row["service_j"] = row["seek_j"] + row["access_j"]
    for name in ("read_uj", "write_uj"):
        row[name] = math.fsum(run[name] for run in runs) / count
    row["saturated"] = any(run["saturated"] for run in runs)
    return row


def _states(rows: Iterable[Row]) -> list[Row]:
    """Energy and time of each state, with their shares."""
    return [
        {
            "device": row["device"],
            "policy": row["policy"],
            "state": state,
            "energy_j": row[f"{state}_j"],
            "energy_share": row[f"{state}_j"] / row["energy_j"],
            "time_s": row[f"{state}_s"],
            "time_share": row[f"{state}_s"] / math.fsum(row[f"{each}_s"] for each in STATES),
        }
        for row in rows
        for state in STATES
    ]


def _request_energy(rows: Iterable[Row]) -> list[Row]:
    """Energy for each request served, by state; and what reads and writes took themselves."""
    return [
        row | {f"{state}_uj": row[f"{state}_j"] / row["requests"] * 1e6 for state in STATES} for row in rows
    ]


def _break_even(device: str, sections: Mapping[str, list[Row]], rests: Sequence[Row]) -> Row:
    """What parking costs and saves on a device, and how its rests lie around the break-even time."""
    awake = next(row for row in sections["rests"] if row["device"] == device)
    parked = next(row for row in sections["states"] if (row["device"], row["policy"]) == (device, IMMEDIATE))
    idle_mw = _ratio(awake["idle_j"], awake["idle_s"], 1e3)
    inactive_mw = _ratio(parked["inactive_j"], parked["inactive_s"], 1e3)
    startup_uj = _ratio(parked["startup_j"], parked["startups"], 1e6)
    startup_ms = _ratio(parked["startup_s"], parked["startups"], 1e3)
    known = None not in (idle_mw, inactive_mw, startup_uj)
    saved_mw = idle_mw - inactive_mw if known else 0.0  # type: ignore[operator]
    break_even_ms = startup_uj / saved_mw if saved_mw > 0 else None  # type: ignore[operator]
    counts, spans = _totals(rests)
    longer = [bin_ for each in rests for bin_ in each["bins"] if break_even_ms and bin_[0] > break_even_ms]
    return {
        "device": device,
        "idle_mw": idle_mw,
        "inactive_mw": inactive_mw,
        "startup_ms": startup_ms,
        "startup_uj": startup_uj,
        "break_even_ms": break_even_ms,
        "rests": counts / len(rests),
        "longest_rest_ms": max((each["longest_ms"] for each in rests), default=0.0),
        "median_rest_ms": _median_ms(rests),
        "longer_share": sum(bin_[1] for bin_ in longer) / counts if counts and break_even_ms else None,
        "longer_time_share": min(sum(bin_[2] for bin_ in longer) / spans, 1.0)
        if spans and break_even_ms
        else None,
    }


def _ratio(part: float, whole: float, scale: float) -> float | None:
    return part / whole * scale if whole > 0 else None


def _totals(rests: Sequence[Row]) -> tuple[int, float]:
    """Number of rests and their time in s."""
    bins = [bin_ for each in rests for bin_ in each["bins"]]
    return sum(bin_[1] for bin_ in bins), math.fsum(bin_[2] for bin_ in bins)


def _median_ms(rests: Sequence[Row]) -> float | None:
    """The rest in the middle, as exact as the bins are."""
    bins = sorted((bin_ for each in rests for bin_ in each["bins"]), key=lambda bin_: float(bin_[0]))
    left = sum(bin_[1] for bin_ in bins) / 2
    for middle_ms, count, _ in bins:
        left -= count
        if left <= 0:
            return float(middle_ms)
    return None


def _shared(row: Row) -> Row:
    """A row with the share of each state in the energy."""
    return row | {f"{state}_share": row[f"{state}_j"] / row["energy_j"] for state in STATES}


def _against_oracle(rows: Sequence[Row], plan: Plan, found: Mapping[Point, Row]) -> list[Row]:
    """Policies with their distances from the oracle and, seed by seed, from the best."""
    cases = {
        (case.device, dict(case.labels)["policy"]): case for case in plan.cases if case.section == "policies"
    }

    def energies(device: str, policy: str) -> list[float]:
        return [found[point]["energy_j"] for point in plan.points_of(cases[device, policy])]

    out = []
    for row in rows:
        device = row["device"]
        own = energies(device, row["policy"])
        oracle = energies(device, "oracle") if (device, "oracle") in cases else None
        rivals = [each for each in rows if each["device"] == device and can_be_built(each["policy"])]
        best = min(rivals or [row], key=lambda each: float(each["energy_j"]))
        beaten = [mine - theirs for mine, theirs in zip(own, energies(device, best["policy"]), strict=True)]
        out.append(
            row
            | {
                "above_oracle": row["energy_j"] / (math.fsum(oracle) / len(oracle)) - 1 if oracle else None,
                "above_best_j": math.fsum(beaten) / len(beaten),
                "above_best_ci95_j": half_width(beaten),
            }
        )
    return out


def can_be_built(policy: str) -> bool:
    """Whether a policy can be built: the oracle cannot, it knows the future."""
    return policy.partition(":")[0] != "oracle"


def _against_base(rows: Sequence[Row]) -> list[Row]:
    """Strategies with what they save against the base at the same load."""
    bases = {(row["device"], row["load"]): row for row in rows if row["strategy"] == "base"}
    out = []
    for row in rows:
        base = bases[row["device"], row["load"]]
        out.append(
            row
            | {
                "energy_saved": 1 - row["energy_j"] / base["energy_j"],
                "service_saved": 1 - row["service_j"] / base["service_j"],
                "access_saved": 1 - row["access_j"] / base["access_j"],
                "response_change": row["mean_ms"] / base["mean_ms"] - 1,
            }
        )
    return out


def _battery(row: Row, battery_wh: float, gigabytes: float) -> Row:
    """How long a charge lasts, and power over capacity (MT-09)."""
    power_w = row["energy_j"] / row["elapsed_s"]
    return {
        "device": row["device"],
        "policy": row["policy"],
        "power_mw": power_w * 1e3,
        "battery_wh": battery_wh,
        "hours": battery_wh / power_w,
        "capacity_gb": gigabytes,
        "mw_per_gb": power_w * 1e3 / gigabytes,
        "saturated": row["saturated"],
    }


def slope(rows: Sequence[Row], x: str, y: str) -> tuple[float, float, float | None] | None:
    """Slope, intercept and R² of a straight line through the rows; none through fewer than two places.

    Example:
        >>> slope([{"x": 0, "y": 1}, {"x": 1, "y": 3}, {"x": 2, "y": 5}], "x", "y")
        (2.0, 1.0, 1.0)
    """
    xs, ys = [row[x] for row in rows], [row[y] for row in rows]
    if len(set(xs)) < 2:
        return None
    middle_x, middle_y = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    wide = math.fsum((value - middle_x) ** 2 for value in xs)
    both = math.fsum((a - middle_x) * (b - middle_y) for a, b in zip(xs, ys, strict=True))
    found = both / wide
    left = math.fsum((b - middle_y - found * (a - middle_x)) ** 2 for a, b in zip(xs, ys, strict=True))
    high = math.fsum((value - middle_y) ** 2 for value in ys)
    return found, middle_y - found * middle_x, 1 - left / high if high > 0 else None


def fits(rows: Sequence[Row]) -> list[Row]:
    """For each device, the straight line of the mean response over the start-up time."""
    out = []
    for device in dict.fromkeys(row["device"] for row in rows):
        line = slope([row for row in rows if row["device"] == device], "startup_ms", "mean_ms")
        if line:
            out.append({"device": device, "slope": line[0], "intercept_ms": line[1], "r2": line[2]})
    return out
