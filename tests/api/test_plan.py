"""Plans of studies: texts of experiments as plain data, and runs that are resolved once."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import sledlab as sl
from sledlab._native import toml_tables
from sledlab.studies.compare.plan import plan_runs
from sledlab.study.plan import Question

PRESETS = sorted((Path(__file__).parents[2] / "presets").rglob("*.toml"))


def typed_items(value: Any) -> Any:
    """A value with the types and the order of all that it contains."""
    if isinstance(value, dict):
        return [(key, typed_items(each)) for key, each in value.items()]
    return [typed_items(each) for each in value] if isinstance(value, list) else (type(value), repr(value))


@pytest.mark.parametrize("file", PRESETS, ids=lambda file: file.stem)
def test_tables_equal_those_of_tomllib(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert typed_items(toml_tables(text)) == typed_items(tomllib.loads(text))


def test_values_of_all_types_equal_those_of_tomllib() -> None:
    text = "a = [1, -2.5, true, 'x', [inf, nan], {b = 1e300}]\n[c.d]\n\"e f\" = '€'\n[[g]]\nh = 0x10\n[[g]]\n"
    assert typed_items(toml_tables(text)) == typed_items(tomllib.loads(text))


def test_invalid_text_is_an_error() -> None:
    with pytest.raises(sl.Error, match="not valid TOML"):
        toml_tables("a = ")


def test_annotated_plan_keeps_resolved_runs() -> None:
    experiment = sl.Experiment().with_device("mems-g2").with_workload("uniform")
    plan = plan_runs(Question(experiment, None, {"scheduler": ("fcfs", "sptf"), "speedup": (1.0,)}))
    annotated = plan.annotate(toml="seed = 1", plugins=("mine:Mine",))
    assert (annotated.toml, annotated.plugins) == ("seed = 1", ("mine:Mine",))
    assert annotated.texts is plan.texts
