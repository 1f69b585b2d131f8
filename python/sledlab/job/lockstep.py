"""Runs a job on all nodes in one process, one after another from superstep to superstep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.job.running_job import JobRun, RunningJob, no_value
from sledlab.job.superstep import combine_values, is_row_exchange, ready, row_count, snapshot
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledlab.job.node import Node
    from sledlab.job.running_job import Function, Tell
    from sledlab.job.superstep import Call, Superstep

    Coming = Callable[[], Any]


def run(
    name: str, function: Function, nodes: Sequence[Node], parameters: Mapping[str, Any], tell: Tell
) -> JobRun:
    """Runs a job on nodes.

    Raises:
        Error: The job failed, or is deadlocked.
    """
    running = [RunningJob(name, function, node, parameters) for node in nodes]
    coming: dict[int, Coming] = dict.fromkeys(range(len(nodes)), no_value)
    requested: list[Superstep | None] = [None] * len(nodes)
    collectives = []
    while coming:
        for done, number in enumerate(sorted(coming)):
            requested[number] = running[number].advance(coming.pop(number))
            tell(nodes[number].begun, done + 1)
        if all(each.ended for each in running):
            break
        for call in ready([each.request if each is not None else None for each in requested]):
            steps = {member: step for member in call.members if (step := requested[member]) is not None}
            coming.update(
                _exchange(steps, nodes) if call.kind == "exchange" else _collective_results(call, steps)
            )
            if collective := call.collective():
                collectives.append(collective)
    return JobRun([node.log for node in nodes], collectives, [each.answer for each in running])


def _collective_results(call: Call, steps: Mapping[int, Superstep]) -> dict[int, Coming]:
    """The result of a collective for each member, computed when the member resumes."""
    root = call.members[call.request.root or 0]
    values = [step.contribution for step in steps.values()]
    coming: Coming = no_value
    match call.kind:
        case "broadcast":
            coming = snapshot(steps[root].contribution)
        case "gather" | "all-gather":
            each = [snapshot(value) for value in values]
            coming = lambda: [value() for value in each]  # noqa: E731
        case "reduce" | "all-reduce":
            coming = snapshot(combine_values(steps[root], values))
    if call.kind in ("gather", "reduce"):
        return {member: coming if member == root else no_value for member in call.members}
    return dict.fromkeys(call.members, coming)


def _exchange(steps: Mapping[int, Superstep], nodes: Sequence[Node]) -> dict[int, Coming]:
    """The parts that each member receives in an exchange, assembled when the member resumes."""
    if is_row_exchange([step.contribution for step in steps.values()]):
        return {member: _rows(steps, nodes[member]) for member in steps}
    sent = {
        (sender, to): (snapshot(part), row_count(part))
        for sender, step in steps.items()
        for to, part in step.contribution.items()
    }

    def receiver(node: Node) -> Coming:
        def take() -> dict[int, Any]:
            mine = {sender: sent[sender, node.number] for sender in steps if (sender, node.number) in sent}
            node.count_received(sum(rows or 0 for sender, (_, rows) in mine.items() if sender != node.number))
            return {sender: part() for sender, (part, _) in mine.items()}

        return take

    return {member: receiver(nodes[member]) for member in steps}


def _rows(steps: Mapping[int, Superstep], node: Node) -> Coming:
    """The rows that a node receives, concatenated when it resumes, to limit memory."""

    def take() -> Any:
        parts = {sender: step.contribution[node.number] for sender, step in steps.items()}
        node.count_received(sum(len(part) for sender, part in parts.items() if sender != node.number))
        return np.concatenate(list(parts.values()))

    return take
