"""Sentences about a replay in which nodes hold copies, or fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show.wording import data, figure, join_names, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.runs.cluster_result import ClusterResult

COPY_PLACES = {"mirror": "on its mirror", "chained": "on the next node"}
"""Where the copy of a node's files is, by the kind of redundancy."""


def sentences(result: ClusterResult) -> str:
    """Failed nodes, bytes of copies, and the rebuild; empty where nodes hold no copies."""
    failure = result.failure
    if failure is None:
        return ""
    return " ".join(
        filter(
            None,
            (_failure_sentence(result, failure), _copy_sentence(failure), _rebuild_sentence(result, failure)),
        )
    )


def _failure_sentence(result: ClusterResult, failure: Mapping[str, Any]) -> str:
    """The nodes that fail, and when, in a sentence."""
    config = result.config["cluster"]
    numbers = failure["failed"]
    if not numbers:
        if config["failed"] == "none":
            return ""
        return f"The job ends before the failure at {figure(config['failed_at_s'])} s."
    names = [str(number) for number in numbers]
    nodes = f"Node {names[0]}" if len(names) == 1 else f"Nodes {join_names(names)}"
    have = "has" if len(names) == 1 else "have"
    if not config["failed_at_s"]:
        return f"{nodes} {have} failed before the job begins; other nodes do the work, from copies."
    fails = "fails" if len(names) == 1 else "fail"
    return (
        f"{nodes} {fails} at {figure(config['failed_at_s'])} s, by phase `{failure['phase']}`; from "
        f"{figure(failure['detected_s'])} s on other nodes do the work, from copies."
    )


def _copy_sentence(failure: Mapping[str, Any]) -> str:
    """The bytes that were written again as copies, in a sentence."""
    copied = failure["copied_bytes"]
    if not copied:
        return ""
    return f"{data(copied)} were sent on and written again, as copies {COPY_PLACES[failure['redundancy']]}."


def _rebuild_sentence(result: ClusterResult, failure: Mapping[str, Any]) -> str:
    """The bytes that were rebuilt, and the end of the rebuild, in a sentence."""
    rebuild = failure["rebuild"]
    if not rebuild:
        return ""
    all_bytes, job_bytes = rebuild["bytes"], rebuild["job_bytes"]
    spare = "a spare" if failure["spares"] == 1 else f"{failure['spares']} spares"
    if job_bytes == all_bytes:
        end_text = figure(rebuild["finished_s"])
        return f"All {data(all_bytes)} that were lost are rebuilt on {spare} by {end_text} s."
    share = percent(job_bytes / all_bytes) if all_bytes else percent(0)
    rate = figure(result.config["cluster"]["rebuild_mb_s"])
    return (
        f"{share} of the {data(all_bytes)} that were lost are rebuilt on {spare} meanwhile, all by "
        f"{figure(rebuild['finished_s'])} s if the rebuild continues at {rate} MB/s."
    )
