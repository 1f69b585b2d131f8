"""sledlab without optional packages: all that it does by default works."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from unittest import mock

import pytest
import sledlab as sl
from sledlab.lazy import later
from sledlab.traces import remote

PROJECT = Path(__file__).parents[2]

BLOCKED_IMPORT = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""

USES = """
import pathlib
import numpy as np, polars as pl
import sledlab as sl

times = {"time_us": np.arange(300_000), "op": ["R", "W"] * 150_000}
columns = {**times, "offset_bytes": np.arange(300_000) * 512, "length_bytes": [512] * 300_000}
trace = sl.trace(columns)
assert trace.write("t.parquet") == 300_000
assert sl.read_trace("t.parquet").frame().equals(trace.frame())
assert sl.hit_ratios(trace, replacement="lru", cache_mb=1).frame.height == 1
volumes = pl.DataFrame(columns).with_columns(volume=pl.lit("a"))
volumes.write_parquet("day.parquet")
(volume,) = sl.split_volumes("day.parquet", "fleet")
assert volume.trace.frame().height == 300_000

run = sl.simulate(sl.workload("uniform"), "mems-g2", limit=200_000, requests="r.parquet")
assert pl.read_parquet("r.parquet").equals(run.requests)
run = sl.simulate(sl.workload("uniform"), "mems-g2", limit=500, requests="r.csv", out="run")
assert run.requests.height == pl.read_parquet("run/requests.parquet").height == 500
assert pl.read_parquet("run/timeline.parquet").height > 0
load = {"scheduler": ["fcfs", "sptf"], "speedup": [1], "limit": 500}
study = sl.compare(sl.workload("uniform"), "mems-g2", **load, out="race", parallel=1)
assert study.tables["runs"].height == 2
assert pathlib.Path("race/report.html").exists()
sl.record("apriori-hd", 2, work="a.work", answer="a.json", transactions=500)
assert sl.replay("a.work", "mems-g2").elapsed_s > 0
"""


def optional_modules() -> set[str]:
    """Modules of the packages that extras and development install, and that the base packages do not need."""
    text = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)
    requirement_groups = [
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    names = (
        re.split("[<>=;\\[ ]", each)[0]
        for requirements in requirement_groups
        for each in requirements
        if isinstance(each, str)
    )
    return {name.replace("-", "_") for name in names}


def test_base_features_work_without_optional_packages(tmp_path: Path) -> None:
    modules = optional_modules()
    assert {"duckdb", "fsspec", "pandas", "pyarrow"} <= modules
    code = BLOCKED_IMPORT.format(modules=modules) + USES
    paths = {"PYTHONPATH": str(PROJECT / "python"), "SLEDLAB_DATA": str(tmp_path / "data")}
    environment = {**os.environ, **paths}
    completed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr


def test_missing_pyarrow_is_named(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    columns = {"time_us": [0], "op": ["R"], "offset_bytes": [0], "length_bytes": [512]}
    sl.trace(columns).write(tmp_path / "day.parquet")
    store = fsspec.filesystem("memory")
    store.pipe("/extras/volume=a/part-0.parquet", (tmp_path / "day.parquet").read_bytes())
    try:
        (volume,) = sl.read_volumes("memory://extras")
        missing = mock.patch.dict(sys.modules, {"pyarrow": None, "pyarrow.parquet": None})
        fresh = mock.patch.object(remote, "pyarrow_parquet", later("pyarrow.parquet"))
        with missing, fresh, pytest.raises(sl.Error, match=r"pip install 'sledlab\[object-stores\]'"):
            volume.trace.frame()
    finally:
        store.rm("/extras", recursive=True)
