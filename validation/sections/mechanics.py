"""Sections on mechanics and on the optimum, from results that tests of the Rust crates write."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any

import sledlab as sl
from sledlab_papers.markdown import table
from sledlab_papers.wording import cells, format_small

from .. import reference
from ..results import PROJECT, RESULTS, from_plain
from ..simulator import random_pairs
from .section import ValidationSection

TESTS = {
    "kinematics": (
        "closed_form_agrees_with_integration",
        "closed_form_agrees_with_published_form",
        "g2_seek_times_match_published",
        "piecewise_converges_to_the_closed_form",
        "reference_simulator_deviates_as_documented",
    ),
    "reference_tables": (
        "seeks_in_x_are_equal",
        "seeks_in_y_are_equal",
        "turnarounds_are_equal",
        "pass_times_equal_reference",
    ),
    "layouts": (),
    "optimality": ("position_aware_schedulers_are_nearer_to_optimum",),
}
"""Test files of sledlab-models, and the tests in them that write results."""


@cache
def _run_tests(test: str) -> None:
    """Run the tests of a file.

    Raises:
        RuntimeError: A test failed.
    """
    package_options = ["--package", "sledlab-models", "--test", "integration"]
    command = ["cargo", "test", "--quiet", *package_options, f"{test}::"]
    environment = {**os.environ, "SLEDLAB_RESULTS": str(RESULTS), "SLEDLAB_REFERENCE": str(reference.ROOT)}
    completed = subprocess.run(
        command,
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if completed.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{completed.stdout}{completed.stderr}")


def _read_result(test: str, kind: Any) -> Any:
    """Return the result that a test has written."""
    return from_plain(kind, json.loads((RESULTS / "rust" / f"{test}.json").read_text(encoding="utf-8")))


@dataclass(frozen=True)
class ConvergenceErrors:
    """Largest relative errors of the piecewise form, by its number of chunks."""

    speed_m_s: float
    chunks: tuple[int, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class Deviation:
    """Deviation of a seek function of the reference simulator from the closed form."""

    kinematics: str
    speed_m_s: float
    least: float
    most: float
    mean: float


@dataclass(frozen=True)
class Kinematics:
    """Errors of the closed form, compared with all other sources."""

    errors: dict[str, float]
    """Largest relative errors, compared with integration: `seek`, `turnaround`."""
    published: dict[str, float]
    """`worst`: largest relative difference from the printed form."""
    seeks: dict[str, float]
    """Seeks in x of a G2: `mean_ms`, `longest_ms`."""
    convergence: tuple[ConvergenceErrors, ...]
    deviations: tuple[Deviation, ...]


SHORT = 300
"""Requests of a short run, for the fingerprint."""
SHORT_SCHEDULERS = ("fcfs", "c-scan", "sstf", "sptf", "zsptf", "gsptf")


def _short_moves() -> list[tuple[float, float]]:
    """Return mean response times and energies of random reads with every seek function and layout."""
    cases = [
        (f"mems-{generation}", {"kinematics": kinematics, "layout": layout})
        for generation in ("g1", "g2", "g3")
        for kinematics in ("exact", "piecewise", *reference.KINEMATICS)
        for layout in reference.LAYOUTS.values()
    ]
    runs = [random_pairs(device, SHORT, **overrides) for device, overrides in cases]
    return [(run.response_time.mean, run.energy.total) for run in runs]


def _kinematics() -> Kinematics:
    _run_tests("kinematics")
    kinds = (*[dict[str, float]] * 3, tuple[ConvergenceErrors, ...], tuple[Deviation, ...])
    return Kinematics(
        *(_read_result(test, kind) for test, kind in zip(TESTS["kinematics"], kinds, strict=True))
    )


def _kinematics_values(kinematics: Kinematics) -> dict[str, object]:
    errors = [
        ["integration, seeks", format_small(kinematics.errors["seek"]), "1e-9"],
        ["integration, turnarounds", format_small(kinematics.errors["turnaround"]), "1e-9"],
        ["the published `acos` form, G2", format_small(kinematics.published["worst"]), "1e-10"],
    ]
    at_rest = next(row for row in kinematics.convergence if row.speed_m_s == 0)
    deviations = [
        [
            "`disksim-piecewise`" if row.kinematics == "DisksimPiecewise" else "`disksim-closed`",
            f"{1e3 * row.speed_m_s:g} mm/s (y)" if row.speed_m_s else "at rest (x)",
            *(f"{100 * share:+.2f} %" for share in (row.least, row.most, row.mean)),
        ]
        for row in kinematics.deviations
    ]
    return {
        "errors": table(["`exact` against", "largest relative error", "tolerance"], errors),
        "mean": f"{kinematics.seeks['mean_ms']:.3f}",
        "longest": f"{kinematics.seeks['longest_ms']:.3f}",
        "converging": table(
            ["chunks per phase", *map(str, at_rest.chunks)],
            [["largest relative error", *map(format_small, at_rest.errors)]],
        ),
        "deviations": table(
            ["kinematics", "both ends", "least", "greatest", "mean"], deviations, word_columns=2
        ),
    }


KINEMATICS = ValidationSection("kinematics", Kinematics, _kinematics, _kinematics_values, _short_moves)


@dataclass(frozen=True)
class ComparedValues:
    """Number of values compared with a table or a recorded run, and the largest difference."""

    what: str
    kinematics: str
    values: int
    largest_difference_ms: float


@dataclass(frozen=True)
class LayoutTables:
    """Blocks of the layout tables, and values compared, by name of the test."""

    blocks: int
    compared: dict[str, tuple[ComparedValues, ...]]


def _tables() -> LayoutTables:
    for test in ("reference_tables", "layouts"):
        _run_tests(test)
    layouts = sorted((reference.MEMS / "layout").glob("*.csv.gz"))
    return LayoutTables(
        sum(len(reference.table(path)["lbn"]) for path in layouts),
        {test: _read_result(test, tuple[ComparedValues, ...]) for test in TESTS["reference_tables"]},
    )


def _tables_values(layout_tables: LayoutTables) -> dict[str, object]:
    names = {"piecewise": "disksim-piecewise", "hong": "disksim-closed", "exact": "exact"}
    rows_by_title = {
        f"{axis} seeks, `{name}`": [
            row for row in layout_tables.compared[f"seeks_in_{axis}_are_equal"] if row.kinematics == kind
        ]
        for axis in "xy"
        for kind, name in names.items()
    }
    rows_by_title["turnarounds"] = list(layout_tables.compared["turnarounds_are_equal"])
    rows_by_title["recorded passes of the sled"] = list(layout_tables.compared["pass_times_equal_reference"])
    rows = [
        cells(
            "{} | {:,} | {:tiny} | 1e-6",
            title,
            *(sum(row.values for row in group), max(row.largest_difference_ms for row in group)),
        )
        for title, group in rows_by_title.items()
    ]
    head = "compared | values | largest difference, ms | tolerance, ms"
    return {"blocks": f"{layout_tables.blocks:,}", "compared": table(head, rows)}


TABLES = ValidationSection("tables", LayoutTables, _tables, _tables_values, _short_moves)


@dataclass(frozen=True)
class Gap:
    """Excess time of a scheduler over the optimal order."""

    scheduler: str
    mean_gap_percent: float


def _gaps() -> tuple[Gap, ...]:
    _run_tests("optimality")
    gaps: tuple[Gap, ...] = _read_result(TESTS["optimality"][0], tuple[Gap, ...])
    return gaps


def _gaps_values(gaps: tuple[Gap, ...]) -> dict[str, object]:
    rows = [
        [f"`{gap.scheduler}`", f"{gap.mean_gap_percent:.1f} %"]
        for gap in sorted(gaps, key=lambda gap: round(gap.mean_gap_percent, 1))
    ]
    return {"gaps": table(["scheduler", "mean gap"], rows)}


def _short_queues() -> list[float]:
    """Return mean response times under the schedulers of the section, a few hundred requests each."""
    load = sl.workload("uniform", blocks=1, mean_interarrival_ms=0.5)
    return [
        sl.simulate(load, "mems-g2", scheduler=name, limit=SHORT, seed=1).response_time.mean
        for name in SHORT_SCHEDULERS
    ]


OPTIMALITY = ValidationSection("optimality", tuple[Gap, ...], _gaps, _gaps_values, _short_queues)
