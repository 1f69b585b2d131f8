"""Claims on subsector access (Hong 2006, section 5.3.3; Lin, section 5)."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ..claims import Judgment, judge_criterion, judge_printed
from ..markdown import table
from ..runs import ExperimentRuns
from ..simulator import parameters
from ..wording import format_rows, percent
from .plan import PowerRuns
from .singles import simulate_snake

METADATA, TABLE, SMALL = "hong2006-metadata", "lin-subsector", "lin-small-requests"
BYTES = (4, 8, 16, 32, 64, 128)
SCHEDULERS = ("fcfs", "sstf", "sptf")
WHOLE, PART = "false", "true"

ENTRIES = ("energy_j", "servicing_j", "startup_j", "inactive_j", "mean_ms")
NAMES = ("total, J", "servicing, J", "start-up, J", "inactive, J", "response, ms")
PUBLISHED_TABLE: Mapping[float, tuple[float, ...]] = {
    10.0: (224.232490, 10.817354, 1.882250, 211.532886, 1.524451),
    100.0: (29.991416, 9.880290, 0.247550, 19.863575, 129.842917),
}
"""The table of Lin without subsectors, by speed-up, in the order of `ENTRIES`."""

PUBLISHED_WITH_PARTS: Mapping[float, tuple[float, float]] = {
    10.0: (223.985658, 10.570522),
    100.0: (29.744633, 9.633507),
}
"""Total and servicing energy with subsector access, as printed, by speed-up."""

UNCHANGED_MEASURES = ("startup_j", "inactive_j", "mean_ms", "p99_ms", "max_ms")


def _metadata_saving(expected: int) -> float:
    """Saving of access energy over requests for metadata alone, computed request by request."""
    trimmed = (("workload.trim_metadata", True), ("workload.metadata_bytes", expected))
    energies = [
        float(
            simulate_snake("mems-g2", *trimmed, ("device.subsector_access", parts))
            .requests.filter(pl.col("metadata") == 1)["access_uj"]
            .sum()
        )
        for parts in (False, True)
    ]
    return 1 - energies[1] / energies[0]


def h_71(runs: PowerRuns) -> Judgment:
    """Savings of access energy by bytes requested: of requests for metadata, and of all."""
    points = runs.experiment(METADATA)
    alone = {expected: _metadata_saving(expected) for expected in (4, 8, 128)}
    saved = {expected: -points.change(f"{expected} bytes", "sectors", 10.0, "access_j") for expected in BYTES}
    rows = [
        [f"{expected}", f"{100 * share:.2f}", f"{100 * alone[expected]:.1f}" if expected in alone else ""]
        for expected, share in saved.items()
    ]
    p = parameters("mems-g2")
    maximum = p["tips_per_block"] - 1
    ceiling = maximum * p["tip_mw"] / (p["sled_mw"] + p["tips_per_block"] * p["tip_mw"])
    monotone = list(saved.values()) == sorted(saved.values(), reverse=True) and saved[4] > saved[128]
    return judge_printed([saved[128]], [saved[4]], direction=monotone, holds=monotone).with_numbers(
        alone=alone,
        saved_percent=100 * saved[128],
        saved=saved,
        table=table(
            ["bytes requested", "saved of all access energy, %", "saved of that of metadata, %"], rows
        ),
        ceiling=ceiling,
        p=p,
    )


def h_72(runs: PowerRuns) -> Judgment:
    """Changes of response time and of total energy."""
    points = runs.experiment(METADATA)
    same = all(
        points.seed_values(f"{expected} bytes", speedup, "mean_ms")
        == points.seed_values("sectors", speedup, "mean_ms")
        for expected in BYTES
        for speedup in points.speedups
    )
    saved = [
        points.change(f"{expected} bytes", "sectors", speedup, "energy_j")
        for expected in BYTES
        for speedup in points.speedups
    ]
    return judge_criterion(same and -0.03 < min(saved) <= 0, same).with_numbers(
        mean="the same to the last bit" if same else "differs",
        minimum=min(saved) * 100,
        maximum=max(saved) * 100,
    )


def y_03(runs: PowerRuns) -> Judgment:
    """Savings if half of each block were requested on average, and if every request were one block."""
    result = simulate_snake("mems-g3", ("power.kind", "immediate"))
    servicing = result.energy.seek + result.energy.access
    tips = result.summary["tip_time_s"] * 1e-3
    one = [
        simulate_snake(
            "mems-g3",
            ("power.kind", "immediate"),
            ("workload.trim_metadata", True),
            ("workload.metadata_share", 1.0),
            ("workload.metadata_bytes", 256),
            ("device.subsector_access", parts),
        ).energy
        for parts in (False, True)
    ]
    small = 1 - (one[1].seek + one[1].access) / (one[0].seek + one[0].access)
    return judge_printed([tips / 2 / servicing, small], direction=small > 0).with_numbers(
        half=100 * tips / 2 / servicing, share=100 * tips / servicing, small=small
    )


def _entries(points: ExperimentRuns, speedup: float) -> list[float]:
    return [points.mean(WHOLE, speedup, entry) for entry in ENTRIES]


def _compare_with_published(points: ExperimentRuns, speedup: float) -> tuple[str, list[float]]:
    """Our entries and the printed ones, and the relative differences."""
    ours = _entries(points, speedup)
    off = [mine / published - 1 for mine, published in zip(ours, PUBLISHED_TABLE[speedup], strict=True)]
    rows = [
        [name, f"{published:.6f}", f"{mine:.6f}", percent(share, 1)]
        for name, published, mine, share in zip(NAMES, PUBLISHED_TABLE[speedup], ours, off, strict=True)
    ]
    return table(["without parts", "printed", "stand-in", "off by, %"], rows), off


FIT_TEXT = (
    "The stand-in was fitted to this table: its span to the inactive energy, its number of requests to what "
    "parts of sectors save, its bursts to start-ups and response times. The total is mostly inactive energy. "
    "Servicing alone was not fitted; it follows from sizes and places, which are choices. FCFS; the paper "
    "does not name its scheduler."
)


def _changes_servicing_alone(points: ExperimentRuns, speedup: float) -> bool:
    """Whether subsector access lowers servicing energy and changes nothing else."""
    same = all(
        points.seed_values(PART, speedup, m) == points.seed_values(WHOLE, speedup, m)
        for m in UNCHANGED_MEASURES
    )
    return same and points.change(PART, WHOLE, speedup, "servicing_j") < 0


def y_26(runs: PowerRuns) -> Judgment:
    """The table at ten times the speed."""
    points = runs.experiment(TABLE)
    comparison, off = _compare_with_published(points, 10.0)
    checked = _changes_servicing_alone(points, 10.0)
    saved = points.mean(WHOLE, 10.0, "servicing_j") - points.mean(PART, 10.0, "servicing_j")
    near = [abs(share) <= 0.25 for share in off]
    judged = judge_criterion(all(near) and checked, any(near) and checked)
    return judged.with_values([points.mean(WHOLE, 10.0, "servicing_j")]).with_numbers(
        comparison=comparison,
        saved=saved,
        printed=PUBLISHED_TABLE[10.0][1] - PUBLISHED_WITH_PARTS[10.0][1],
        fitted=FIT_TEXT,
    )


def y_27(runs: PowerRuns) -> Judgment:
    """The table at a hundred times the speed."""
    points = runs.experiment(TABLE)
    comparison, off = _compare_with_published(points, 100.0)
    ratio = points.mean(WHOLE, 100.0, "mean_ms") / points.mean(WHOLE, 10.0, "mean_ms")
    near = [abs(share) <= 0.35 for share in off]
    judged = judge_criterion(all(near) and ratio >= 20, any(near))
    return judged.with_values([points.mean(WHOLE, 100.0, "servicing_j")]).with_numbers(
        comparison=comparison, ratio=ratio, fitted=FIT_TEXT
    )


def y_28(runs: PowerRuns) -> Judgment:
    """Savings of servicing energy."""
    points = runs.experiment(TABLE)
    saved = [-points.change(PART, WHOLE, speedup, "servicing_j") for speedup in (10.0, 100.0)]
    published = [
        1 - PUBLISHED_WITH_PARTS[speedup][1] / PUBLISHED_TABLE[speedup][1] for speedup in (10.0, 100.0)
    ]
    exact = [round(100 * share, 2) for share in published] == [2.28, 2.50]
    return judge_criterion(exact and all(0.015 <= share <= 0.04 for share in saved), exact).with_numbers(
        ten=100 * saved[0], saved=saved, printed_ten=100 * published[0], printed=published
    )


def y_29(runs: PowerRuns) -> Judgment:
    """Entries that subsector access does not change."""
    points = runs.experiment(TABLE)
    same = all(_changes_servicing_alone(points, speedup) for speedup in points.speedups)
    speeds = format_rows("{:g}", points.speedups)
    return judge_criterion(same).with_numbers(
        are="are the same to the last bit" if same else "differ", speeds=speeds
    )


def y_30(runs: PowerRuns) -> Judgment:
    """Joules saved, by speed."""
    points = runs.experiment(TABLE)
    saved = {
        speedup: points.mean(WHOLE, speedup, "servicing_j") - points.mean(PART, speedup, "servicing_j")
        for speedup in points.speedups
    }
    return judge_criterion(max(saved.values()) / min(saved.values()) - 1 < 0.01).with_numbers(
        saved=format_rows("{1:.6f} J at {0:g}", saved.items())
    )


def y_31(runs: PowerRuns) -> Judgment:
    """Servicing energy at a hundred against ten times the speed."""
    changes = {}
    for scheduler in SCHEDULERS:
        points = runs.experiment(TABLE, scheduler)
        changes[scheduler] = (
            points.mean(WHOLE, 100.0, "servicing_j") / points.mean(WHOLE, 10.0, "servicing_j") - 1
        )
    published = PUBLISHED_TABLE[100.0][1] / PUBLISHED_TABLE[10.0][1] - 1
    return judge_printed([-changes["fcfs"]], direction=round(changes["fcfs"], 4) < 0).with_numbers(
        changes=format_rows("{:upper} {:+2%}", changes.items()), printed=published
    )


def y_34(runs: PowerRuns) -> Judgment:
    """Requests of some 200 bytes."""
    points = runs.experiment(SMALL)
    p = parameters("mems-g3")
    sled_j_per_ms = p["sled_mw"] * 1e-6
    saved, tips, full = {}, {}, {}
    for sizes in ("exponential", "uniform"):
        blocks, parts = f"{sizes}, blocks", f"{sizes}, parts"
        saved[sizes] = -points.change(parts, blocks, 1.0, "access_j")
        full[sizes] = -points.change(parts, blocks, 1.0, "servicing_j")
        sled_j = (
            points.mean(blocks, 1.0, "requests") * points.mean(blocks, 1.0, "transfer_ms") * sled_j_per_ms
        )
        tips[sizes] = saved[sizes] / (1 - sled_j / points.mean(blocks, 1.0, "access_j"))
    share = p["tips_per_block"] * p["tip_mw"] / (p["sled_mw"] + p["tips_per_block"] * p["tip_mw"])
    return judge_criterion(min(saved.values()) > 0.5, min(saved.values()) > 0).with_numbers(
        exponential=-saved["exponential"],
        uniform=-saved["uniform"],
        whole_exponential=percent(-full["exponential"], 1),
        whole_uniform=-full["uniform"],
        share=share,
        tips_exponential=100 * tips["exponential"],
        tips=tips,
    )
