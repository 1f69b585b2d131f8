"""All jobs in one process and under MPI: the same bytes of record and answer."""

from pathlib import Path
from typing import Any

import pytest
import sledlab as sl
from sledlab.job import LIST

LONG_TESTS = [pytest.mark.everything, pytest.mark.slow("many ranks on few processors")]
TABLES = {"scale_factor": 0.01, "memory_mb": 1}
BASKETS = {"transactions": 2000, "universe": 200, "min_support": 0.02, "memory_mb": 0.05}
SETTINGS: dict[str, dict[str, Any]] = {
    "scan": TABLES,
    "sort": TABLES,
    "join": TABLES,
    "q1": TABLES,
    "q3": TABLES,
    "q6": TABLES,
    "apriori-cd": BASKETS,
    "apriori-hd": BASKETS,
    "mafia": {"records": 20_000, "memory_mb": 1},
}


@pytest.mark.slow("starts a process for each rank")
@pytest.mark.parametrize(
    "ranks", [1, 2, 5, pytest.param(8, marks=LONG_TESTS), pytest.param(32, marks=LONG_TESTS)]
)
@pytest.mark.parametrize("job", [each.name for each in LIST])
def test_lockstep_and_mpi_leave_the_same_bytes(job: str, ranks: int, tmp_path: Path) -> None:
    settings = SETTINGS[job]
    if job == "apriori-hd":
        settings = {**settings, "sections": {2: 2, 5: 5, 8: 2, 32: 4}.get(ranks, 0)}
    suffix = "json" if job in ("apriori-cd", "apriori-hd", "mafia") else "parquet"
    contents = []
    for mpi in (False, True):
        work, answer = tmp_path / f"{mpi}.work", tmp_path / f"{mpi}.{suffix}"
        sl.record(job, ranks, mpi=mpi, again=True, work=work, answer=answer, **settings)
        contents.append((work.read_bytes(), answer.read_bytes()))
    assert contents[0] == contents[1]
