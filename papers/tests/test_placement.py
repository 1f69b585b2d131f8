"""The job on a relation, stored by rows or by columns, and its placement on a sled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sledlab as sl
from sledlab.errors import Error

from sledlab_papers.simulator import parameters
from sledlab_papers.smart import relation
from sledlab_papers.smart.placement import DEVICE, JOB, TABULAR

RECORDS = 3000


def record_job(tmp_path: Path, store: str, needed: int) -> tuple[sl.Work, list[int]]:
    """Run the job; return its record and its answer."""
    answer_file = tmp_path / "sums.json"
    settings = {"store": store, "needed": needed, "records": RECORDS}
    work_record = sl.record(JOB, 2, answer=answer_file, again=True, **settings)
    return work_record, json.loads(answer_file.read_text(encoding="utf-8"))


def test_share_is_that_of_the_layout() -> None:
    device_parameters = parameters(DEVICE)
    assert device_parameters["attributes"] == relation.ATTRIBUTES
    assert 512 * device_parameters["capacity_blocks"] == relation.SHARE_BYTES * relation.ATTRIBUTES


@pytest.mark.parametrize("needed", [1, relation.ATTRIBUTES])
def test_stores_give_equal_sums(needed: int, tmp_path: Path) -> None:
    (row_work, row_sums), (column_work, column_sums) = (
        record_job(tmp_path, store, needed) for store in relation.STORES
    )
    assert row_sums == column_sums
    assert len(row_sums) == needed
    read_bytes = [work_record.phases["read_bytes"].sum() for work_record in (row_work, column_work)]
    tuple_bytes = relation.ATTRIBUTES * relation.ATTRIBUTE_BYTES
    assert read_bytes == [2 * RECORDS * tuple_bytes, 2 * RECORDS * needed * relation.ATTRIBUTE_BYTES]


def test_attributes_begin_at_their_regions(tmp_path: Path) -> None:
    work_record, _ = record_job(tmp_path, "columns", relation.ATTRIBUTES)
    trace = tmp_path / "node.csv"
    sl.replay(work_record, TABULAR, dump_trace=(0, trace))
    share_blocks = parameters(DEVICE)["capacity_blocks"] // relation.ATTRIBUTES
    read_lbns = sl.simulate(trace, TABULAR, replay="open", requests=True).requests["lbn"].to_list()
    first_lbns = {lbn // share_blocks: lbn for lbn in sorted(read_lbns, reverse=True)}
    assert first_lbns == {attribute: share_blocks * attribute for attribute in range(relation.ATTRIBUTES)}


def test_unknown_store_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Error, match="unknown store `heap`"):
        record_job(tmp_path, "heap", 1)
