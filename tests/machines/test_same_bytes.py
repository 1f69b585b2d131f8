"""Wherever runs are executed, a study leaves the same bytes."""

import json
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import sledlab as sl

from tests.cached_runs import cached_lines
from tests.machines.cluster import Cluster

UNIFORM = sl.workload("uniform")
SCAN = str(Path(__file__).parents[2] / "sample" / "work" / "scan.work")

STUDIES: dict[str, Callable[..., object]] = {
    "compare": lambda **options: sl.compare(
        UNIFORM, "mems-g2", scheduler=["fcfs", "sptf"], speedup=[1, 1.4], seed="1..2", limit=300, **options
    ),
    "power": lambda **options: sl.power_study(
        UNIFORM, "mems-g2", load=[1], timeout_ms=[0, 10], limit=100, **options
    ),
    "hybrid": lambda **options: sl.hybrid_study(
        sl.workload("cello"), mems_mb=[64], segment_kb=[8], price_ratio=[4], limit=300, **options
    ),
    "smart": lambda **options: sl.smart_study(SCAN, ["mems-g1", "mems-g3"], network=["hub"], **options),
}

TIMED_FILES = ("decision_cost.csv", "decision_cost.parquet", "timing.json", "sledlab.json")
"""Files with wall-clock times, and the manifest, which has digests of them."""


class PolledExecutor:
    """An executor whose futures have no callbacks, like those of submitit."""

    class Job:
        def __init__(self, future: Any) -> None:
            self.done, self.result, self.cancel = future.done, future.result, future.cancel

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, *arguments: Any) -> Job:
        return self.Job(self._executor.submit(*arguments))


def hashes(out: Path) -> dict[str, str]:
    """Hashes of every file of a study, and of its cached rows."""
    paths = [path for path in sorted(out.iterdir()) if path.is_file() and path.name not in TIMED_FILES]
    file_hashes = {path.name: sha256(path.read_bytes()).hexdigest() for path in paths}
    lines = map(json.loads, cached_lines(out))
    rows = sorted((line["key"], json.dumps(line["row"], sort_keys=True)) for line in lines)
    return file_hashes | {"rows": sha256(repr(rows).encode()).hexdigest()}


@pytest.mark.slow("runs a study in six places")
@pytest.mark.parametrize("name", STUDIES)
def test_every_place_gives_the_same_bytes(
    name: str, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sledlab.display.DisplayedResult.report", lambda *_: None
    )  # drawing takes most of the time
    run = STUDIES[name]

    def file_hashes(directory: str, **options: object) -> dict[str, str]:
        run(out=tmp_path / directory, **options)
        return hashes(tmp_path / directory)

    one_process = file_hashes("one", parallel=1)
    assert file_hashes("loky", parallel=2) == one_process
    assert file_hashes("dask", cluster=cluster.file) == one_process
    with ThreadPoolExecutor(2) as executor:
        assert file_hashes("executor", executor=executor) == one_process
        assert file_hashes("polled", executor=PolledExecutor(executor)) == one_process
    with pytest.raises(sl.IncompleteStudy) as caught:
        file_hashes("share", share="1/2", parallel=1)
    assert caught.value.done + caught.value.missing == caught.value.total
    assert file_hashes("share", share="2/2", parallel=1) == one_process
