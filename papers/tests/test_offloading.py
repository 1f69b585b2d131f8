"""Nodes, hosts, clusters of plain computers, and distributions of candidates."""

from __future__ import annotations

from pathlib import Path

import polars

from sledlab_papers.simulator import experiment
from sledlab_papers.smart.distributions import TENTH_PLACE, rule_times, section_places
from sledlab_papers.smart.future_work_plan import (
    COMPUTERS,
    HOST,
    PLAIN_CLUSTERS,
    STORES_PER_COMPUTER,
)
from sledlab_papers.smart.plan import SmartRuns, sections_place
from sledlab_papers.smart.published_times import DISK


def test_cluster_has_data_and_stores_of_the_nodes() -> None:
    study = experiment(HOST)["study"]
    (node_count,) = study["node_count"]
    assert node_count == COMPUTERS * STORES_PER_COMPUTER
    job_settings = dict(each.split("=") for each in study["job_settings"])
    for planned in PLAIN_CLUSTERS:
        pairs = list(zip(planned.options[::2], planned.options[1::2], strict=True))
        changed_settings = dict(value.split("=") for option, value in pairs if option == "--job-set")
        assert changed_settings["scale_factor"] == job_settings["scale_factor"]
        assert (
            int(changed_settings["transactions_per_node"]) * COMPUTERS
            == int(job_settings["transactions_per_node"]) * node_count
        )


def test_distributions_are_judged_with_real_sections(tmp_path: Path) -> None:
    for place, job, seconds in (
        (TENTH_PLACE, "apriori-cd", 1.0),
        (sections_place(2), "apriori-hd", 2.0),
        (sections_place(4), "apriori-hd", 4.0),
    ):
        (tmp_path / place).mkdir()
        row = {"job": job, "nodes": 4, "device": DISK, "page_kb": None, "at": "nodes", "elapsed_s": seconds}
        row |= {"requests": 1, "sent_bytes": 1, "energy_j": 1.0}
        polars.DataFrame([row]).write_csv(tmp_path / place / "runs.csv")
    runs = SmartRuns(tmp_path)
    assert rule_times(runs, DISK) == {"CD": {4: 1.0}, "HD, 2": {4: 2.0}, "HD, 4": {4: 4.0}}
    assert section_places(SmartRuns(tmp_path, ("sections 4",))) == {4: sections_place(4)}
