"""Values in files of studies and prices: a value that is wrong is an error with its line."""

import math
from functools import cache
from typing import get_type_hints

import pytest
import sledlab as sl
from sledlab.lazy import load_object
from sledlab.model.settings import to_toml
from sledlab.studies import LIST
from sledlab.studies.costs.prices import NUMBERS, TABLES, prices
from sledlab.study import frame
from sledlab.study.value_types import check_values

from tests.conftest import PROJECT

UNIFORM = "[device]\npreset = 'mems-g2'\n[workload]\nkind = 'uniform'\n[replay]\nlimit = 20\n"

BASES = {
    "compare": ({}, UNIFORM),
    "side-by-side": ({"device": ["mems-g2", "mems-g3"]}, UNIFORM),
    "hybrid": ({"segment_kb": 8, "mems_mb": 64}, UNIFORM.replace("mems-g2", "atlas-10k-50mb")),
    "tune": ({"budget": 64}, UNIFORM.replace("mems-g2", "atlas-10k-50mb")),
    "power": ({"timeout_ms": 1, "startup_ms": 1, "load": 1}, UNIFORM),
    "smart": ({"work": str(PROJECT / "sample" / "work" / "sort.work"), "device": "ram"}, ""),
    "fleet": ({"place": "VOLUMES", "device": "ram"}, ""),
}
"""For each study, some axes and the other tables of a file that it can plan."""

VALUES = (
    *(True, 0, 7, -1, 2**63 - 1, -(2**63), 0.5, -0.0, 1e308, math.nan, math.inf),
    *(
        "",
        "all",
        "none",
        "1..3",
        "1..9999999",
        "a=1",
        "=",
        ":",
        "a:b",
        "a\0b",
        "%s{}",
        "\u202e",
        "x" * 10_000,
        ".",
    ),
    *([], [0], [1.5], [math.nan], [True], ["all"], [""], ["a\0b"], [[1]], [{}], [1, "a"], ["ram", "ram"]),
    *(
        {},
        {"a": 1},
        {"a": []},
        {"device.sleds": [1, 2]},
        {"a": {"b": {}}},
        {"device.sleds": [[]]},
        {"a\0": [1]},
    ),
)


class PlannedError(Exception):
    """The study would measure its runs now."""


@cache
def study_of(folder):
    return load_object(f"sledlab.studies.{folder}:STUDY")


def write_study(tmp_path, study, changes):
    options, other_tables = BASES[study.name]
    volumes = tmp_path / "volumes"
    if not volumes.exists():
        volumes.mkdir()
        (volumes / "a.csv").write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,512\n")
    axes = {"kind": study.name, **options, **changes}
    if axes.get("place") == "VOLUMES":
        axes["place"] = str(volumes)
    file = tmp_path / "study.toml"
    lines = [f"{key} = {to_toml(value)}" for key, value in axes.items()]
    file.write_text("\n".join(["[study]", *lines, other_tables]))
    return file, 2 + list(axes).index(next(iter(changes)))


def is_of_declared_type(study, name, value):
    try:
        check_values(study.options, {name: value})
    except sl.Error:
        return False
    return True


@pytest.fixture
def stop_after_planning(monkeypatch):
    def refuse(*_arguments, **_options):
        raise PlannedError

    monkeypatch.setattr(frame, "Bench", refuse)
    # Recording a job takes longer than all plans.
    monkeypatch.setattr("sledlab.studies.smart.plan.NODES", (1,))


AXES = [(each.folder, axis) for each in LIST for axis in study_of(each.folder).axes]


@pytest.mark.parametrize(("folder", "axis"), AXES)
def test_value_of_wrong_type_is_refused_with_line(tmp_path, folder, axis):
    study = study_of(folder)
    assert axis in get_type_hints(study.options)
    wrong_values = [value for value in VALUES if not is_of_declared_type(study, axis, value)]
    assert len(wrong_values) > 10
    for value in wrong_values:
        file, line = write_study(tmp_path, study, {axis: value})
        with pytest.raises(sl.Error, match=rf"study\.{axis}: expected ") as caught:
            study.run(None, None, {}, study=file)
        assert (caught.value.place.file, caught.value.place.line) == (str(file), line), value


@pytest.mark.slow("plans some 1,500 studies")
@pytest.mark.usefixtures("stop_after_planning")
@pytest.mark.parametrize(("folder", "axis"), AXES)
def test_value_of_declared_type_is_planned_or_refused(tmp_path, folder, axis):
    study = study_of(folder)
    for value in VALUES:
        if is_of_declared_type(study, axis, value):
            file, _ = write_study(tmp_path, study, {axis: value})
            with pytest.raises((sl.Error, OSError, PlannedError)):  # a name may be too long
                study.run(None, None, {}, study=file)


def error_place(file):
    try:
        prices([file])
    except sl.Error as error:
        return error.place
    return None


@pytest.mark.parametrize("table", [*TABLES, *NUMBERS, "other"])
def test_price_file_value_is_read_or_refused(tmp_path, table):
    file = tmp_path / "prices.toml"
    for value in VALUES:
        for line in (f"{table} = {to_toml(value)}", f"{table}.ram = {to_toml(value)}"):
            file.write_text(f"\n{line}\n")
            place = error_place(file)
            assert place is None or (place.file, place.line) == (str(file), 2), line


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 200_000,
        "a = " + "{a=" * 200_000,
        ".".join(["a"] * 50_000) + " = 1",
        f"[{'a.' * 50_000}a]",
    ],
    ids=["lists", "tables", "key", "header"],
)
@pytest.mark.parametrize("name", ["study.toml", "prices.toml", "device.toml", "results"])
def test_deep_toml_is_refused(tmp_path, sledlab, name, text):
    file = tmp_path / name
    if name == "results":
        file.mkdir()
        (file / "study.toml").write_text(text)
        sledlab("plot", file).assert_refused("")
        return
    file.write_text(text)
    commands = {
        "study.toml": ["compare", file],
        "prices.toml": ["smart", "--work", "sample:sort", "--device", "ram", "--price", file],
        "device.toml": ["fleet", tmp_path, "--device", file],
    }
    answer = sledlab(*commands[name])
    answer.assert_refused("recurs" if "device" not in name else "")
    assert f"{file}:1:" in answer.err
