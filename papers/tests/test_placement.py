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


def record(tmp_path: Path, store: str, needed: int) -> tuple[sl.Work, list[int]]:
    """Run the job; return its record and its answer."""
    answer = tmp_path / "sums.json"
    settings = {"store": store, "needed": needed, "records": RECORDS}
    work = sl.record(JOB, 2, answer=answer, again=True, **settings)
    return work, json.loads(answer.read_text(encoding="utf-8"))


def test_share_is_that_of_the_layout() -> None:
    described = parameters(DEVICE)
    assert described["attributes"] == relation.ATTRIBUTES
    assert 512 * described["capacity_blocks"] == relation.SHARE_BYTES * relation.ATTRIBUTES


@pytest.mark.parametrize("needed", [1, relation.ATTRIBUTES])
def test_stores_give_equal_sums(needed: int, tmp_path: Path) -> None:
    (rows, by_rows), (columns, by_columns) = (record(tmp_path, store, needed) for store in relation.STORES)
    assert by_rows == by_columns
    assert len(by_rows) == needed
    read = [work.phases["read_bytes"].sum() for work in (rows, columns)]
    tuple_bytes = relation.ATTRIBUTES * relation.ATTRIBUTE_BYTES
    assert read == [2 * RECORDS * tuple_bytes, 2 * RECORDS * needed * relation.ATTRIBUTE_BYTES]


def test_attributes_begin_at_their_regions(tmp_path: Path) -> None:
    work, _ = record(tmp_path, "columns", relation.ATTRIBUTES)
    trace = tmp_path / "node.csv"
    sl.replay(work, TABULAR, dump_trace=(0, trace))
    share = parameters(DEVICE)["capacity_blocks"] // relation.ATTRIBUTES
    read = sl.simulate(trace, TABULAR, replay="open", requests=True).requests["lbn"].to_list()
    first = {lbn // share: lbn for lbn in sorted(read, reverse=True)}
    assert first == {attribute: share * attribute for attribute in range(relation.ATTRIBUTES)}


def test_unknown_store_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Error, match="unknown store `heap`"):
        record(tmp_path, "heap", 1)
