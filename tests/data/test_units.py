"""Units of columns and keys: each is a suffix of the name, and equal names are equal quantities."""

from __future__ import annotations

import math
import pkgutil
import pydoc
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import pytest
import sledlab as sl
from sledlab import studies, study
from sledlab.runs.request_columns import REQUEST_COLUMNS
from sledlab.study.columns import Column, columns
from sledlab.study.measure import RunFigures, result_row


class Unit(NamedTuple):
    """A unit: its name in `Column.unit`, its dimension, and its factor to the base unit of the dimension."""

    name: str
    dimension: str
    factor: float


UNITS = {
    "ns": Unit("ns", "time", 1e-9),
    "us": Unit("us", "time", 1e-6),
    "ms": Unit("ms", "time", 1e-3),
    "s": Unit("s", "time", 1),
    "h": Unit("h", "time", 3600),
    "years": Unit("years", "time", 365.25 * 86_400),
    "uj": Unit("uJ", "energy", 1e-6),
    "mj": Unit("mJ", "energy", 1e-3),
    "j": Unit("J", "energy", 1),
    "wh": Unit("Wh", "energy", 3600),
    "mw": Unit("mW", "power", 1e-3),
    "w": Unit("W", "power", 1),
    "iops": Unit("1/s", "rate", 1),
    "mb_s": Unit("10^6 bytes/s", "data rate", 1e6),
    "bytes": Unit("bytes", "size", 1),
    "blocks": Unit("blocks", "size", 512),
    "kb": Unit("1024 bytes", "size", 1024),
    "mb": Unit("2^20 bytes", "size", 2**20),
    "gb": Unit("10^9 bytes", "size", 1e9),
    "mw_per_gb": Unit("mW/GB", "power density", 1),
    "usd": Unit("USD", "money", 1),
}
"""Units by the suffix of a name."""

INPUTS = ("config", "study", "experiment", "prices")
"""Keys of summaries whose values repeat the user's options."""

Quantity = tuple[str, str]
"""A name without the suffix of its unit, and the dimension of the unit."""


def split_unit(name: str) -> tuple[Quantity, Unit] | None:
    """The quantity and unit of a name; None for a name without a unit."""
    for suffix in sorted(UNITS, key=len, reverse=True):
        if name == suffix or name.endswith(f"_{suffix}"):
            unit = UNITS[suffix]
            return (name.removesuffix(suffix).rstrip("_"), unit.dimension), unit
    return None


@cache
def row_classes() -> tuple[type, ...]:
    """Every class of rows in the packages of the studies."""
    classes: dict[type, None] = {}
    for package in (study, studies):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for each in vars(import_module(module.name)).values():
                if isinstance(each, type) and hasattr(each, "__dataclass_fields__") and _has_columns(each):
                    classes[each] = None
    return tuple(classes)


def _has_columns(kind: type) -> bool:
    try:
        return bool(columns(kind))
    except (NameError, TypeError):
        return False  # annotations of other dataclasses need not exist at run time


@cache
def plain_run() -> sl.Result:
    """A run on one device in which requests wait for start-ups."""
    source = sl.workload("uniform", mean_interarrival_ms=3, blocks=64)
    return sl.simulate(source, "mems-g2", power="immediate", limit=300)


@cache
def layered_run() -> sl.Result:
    """A run with the counts of a cache, a hybrid and merged requests."""
    layers = {"hybrid": sl.hybrid("caching-disk", front_mb=64), "cache": "write-back", "merge": "chains"}
    return sl.simulate(sl.workload("cello"), "atlas-10k", limit=300, **layers)


@cache
def cluster_result() -> sl.ClusterResult:
    """A replay of a work record."""
    return sl.replay("sample/work/scan.work", "mems-g2")


def tables() -> Iterator[tuple[str, Iterable[str]]]:
    """Every table by name, with its columns."""
    yield from ((kind.__name__, columns(kind)) for kind in row_classes())
    for run in (plain_run(), layered_run()):
        yield "requests", run.requests.columns
    yield "counts", result_row(layered_run(), 1.0, None).counts
    yield from ((name, getattr(cluster_result(), name).columns) for name in ("phases", "by_phase", "what_if"))


def keys(document: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The names of all values of a JSON document that are results, as columns would have them.

    Names of values in an object begin with the name of the object, up to one that ends in a unit; rows of a
    list have names of their own.
    """
    for key, value in document.items():
        name = f"{prefix}_{key}" if prefix else key
        if key in INPUTS:
            continue
        if isinstance(value, Mapping) and not split_unit(key):
            yield from keys(value, name)
            continue
        yield name
        for row in value if isinstance(value, list) else []:
            if isinstance(row, Mapping):
                yield from keys(row)


def names() -> set[str]:
    """Names of all columns of tables and of all keys of summaries."""
    documents = [run.to_dict() for run in (plain_run(), layered_run(), cluster_result())]
    return {name for _, table in tables() for name in table} | {
        name for document in documents for name in keys(document)
    }


def units_of_quantities() -> dict[Quantity, set[Unit]]:
    units: dict[Quantity, set[Unit]] = {}
    for name in names():
        if parts := split_unit(name):
            units.setdefault(parts[0], set()).add(parts[1])
    return units


def test_all_studies_have_row_classes() -> None:
    listed = {each.folder for each in studies.LIST}
    modules = {kind.__module__ for kind in row_classes()}
    assert listed - {"compare", "side_by_side", "power"} <= {name.split(".")[2] for name in modules}
    assert {"sledlab.studies.races.rows", "sledlab.studies.power.energy"} <= modules


@pytest.mark.parametrize("kind", row_classes(), ids=lambda kind: kind.__name__)
def test_columns_end_in_their_units(kind: type) -> None:
    wrong_units = {}
    for name, column in columns(kind).items():
        parts = split_unit(name)
        if column.unit != (parts[1].name if parts else ""):
            wrong_units[name] = column.unit
    assert wrong_units == {}


@pytest.mark.parametrize("kind", row_classes(), ids=lambda kind: kind.__name__)
def test_subclasses_keep_meanings_of_columns(kind: type) -> None:
    for base in kind.__mro__[1:]:
        inherited: Mapping[str, Column] = columns(base) if base in row_classes() else {}
        changed = {name for name, column in inherited.items() if columns(kind)[name] != column}
        assert changed == set()


def quantity_pairs(run: sl.Result) -> dict[Quantity, tuple[float, float]]:
    """Quantities of requests and of their run, in base units: sums of energies and means of times."""
    row, pairs = result_row(run, 1.0, None), {}
    run_columns = {parts[0]: (name, parts[1]) for name in columns(RunFigures) if (parts := split_unit(name))}
    for name in run.requests.columns:
        parts = split_unit(name)
        if parts and parts[0] in run_columns:
            (_, dimension), unit = parts
            column, run_unit = run_columns[parts[0]]
            values = run.requests[name]
            request_value = values.sum() if dimension == "energy" else values.mean()
            pairs[parts[0]] = request_value * unit.factor, getattr(row, column) * run_unit.factor
    return pairs


def test_equal_names_are_equal_quantities() -> None:
    pairs = quantity_pairs(plain_run())
    for quantity, (request_value, run_value) in pairs.items():
        assert math.isclose(request_value, run_value, rel_tol=1e-9, abs_tol=1e-15), quantity
    several = {quantity: units for quantity, units in units_of_quantities().items() if len(units) > 1}
    assert {quantity: units for quantity, units in several.items() if quantity not in pairs} == {}


def test_row_contains_each_quantity_once() -> None:
    for table, names in tables():
        quantities = [parts[0] for name in names if (parts := split_unit(name))]
        assert len(quantities) == len(set(quantities)), table


def test_energies_of_requests_and_of_devices_differ() -> None:
    row = result_row(plain_run(), 1.0, None)
    charged_j = sum(run_j for run_j in (row.seek_j, row.access_j, row.startup_j))
    assert row.request_energy_uj * row.requests == pytest.approx(charged_j * 1e6)
    power = sl.power_study(
        sl.workload("uniform", mean_interarrival_ms=3), "mems-g2", limit=300, load=[1], parallel=1
    )
    device_run = power.rows["request_energy"][0].run
    assert device_run.total_energy_per_request_mj * device_run.requests == pytest.approx(
        device_run.energy_j * 1e3
    )
    race = sl.compare(
        sl.workload("uniform", mean_interarrival_ms=3), "mems-g2", scheduler="fcfs", speedup=[1],
        limit=300, parallel=1,
    )  # fmt: skip
    curve = race.rows["curves"][0]
    assert curve.total_energy_per_request_mj == pytest.approx(device_run.total_energy_per_request_mj)
    assert curve.run.request_energy_uj * 1e-3 < curve.total_energy_per_request_mj


def test_request_columns_are_those_of_runs_with_units_by_suffix() -> None:
    run = sl.simulate(sl.workload("uniform"), "mems-g2", limit=50, system="mirror")
    assert list(REQUEST_COLUMNS) == run.requests.columns
    for name, (unit, meaning) in REQUEST_COLUMNS.items():
        suffix = name.rpartition("_")[2] if "_" in name else ""
        assert unit == (UNITS[suffix].name if suffix in UNITS else unit)
        assert meaning
        assert f"{name:<{len('positioning_ns')}}  {unit:<6}  {meaning}" in pydoc.render_doc(run.requests)


def test_help_on_a_table_of_a_study_has_units() -> None:
    race = sl.compare(sl.workload("uniform"), "mems-g2", scheduler="fcfs", speedup=1, limit=50, parallel=1)
    assert re.search(r"^ *mean_ms +ms +mean response time", pydoc.render_doc(race.curves), re.MULTILINE)
