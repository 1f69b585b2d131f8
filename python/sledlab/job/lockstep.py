"""Run a job on all nodes in one process, one after another from superstep to superstep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.job.running_job import JobRun, RunningJob, no_value
from sledlab.job.superstep import combine_values, complete_calls, is_row_exchange, row_count, snapshot
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledlab.job.node import Node
    from sledlab.job.running_job import Function, Tell
    from sledlab.job.superstep import Call, Superstep

    ResultFunction = Callable[[], Any]


def run(
    name: str, function: Function, nodes: Sequence[Node], parameters: Mapping[str, Any], tell: Tell
) -> JobRun:
    """Run a job on nodes.

    Raises:
        Error: The job failed, or is deadlocked.
    """
    running_jobs = [RunningJob(name, function, node, parameters) for node in nodes]
    result_functions_by_node: dict[int, ResultFunction] = dict.fromkeys(range(len(nodes)), no_value)
    supersteps: list[Superstep | None] = [None] * len(nodes)
    collectives = []
    while result_functions_by_node:
        for index, number in enumerate(sorted(result_functions_by_node)):
            supersteps[number] = running_jobs[number].advance(result_functions_by_node.pop(number))
            tell(nodes[number].current_phase, index + 1)
        if all(each.has_ended for each in running_jobs):
            break
        for call in complete_calls([each.request if each is not None else None for each in supersteps]):
            steps_by_member = {
                member: step for member in call.members if (step := supersteps[member]) is not None
            }
            result_functions_by_node.update(
                _exchange(steps_by_member, nodes)
                if call.kind == "exchange"
                else _collective_results(call, steps_by_member)
            )
            if collective := call.collective():
                collectives.append(collective)
    return JobRun([node.log for node in nodes], collectives, [each.answer for each in running_jobs])


def _collective_results(call: Call, steps: Mapping[int, Superstep]) -> dict[int, ResultFunction]:
    """The result of a collective for each member, computed when the member resumes."""
    root = call.members[call.request.root or 0]
    values = [step.contribution for step in steps.values()]
    result_function: ResultFunction = no_value
    match call.kind:
        case "broadcast":
            result_function = snapshot(steps[root].contribution)
        case "gather" | "all-gather":
            value_functions = [snapshot(value) for value in values]
            result_function = lambda: [value() for value in value_functions]  # noqa: E731
        case "reduce" | "all-reduce":
            result_function = snapshot(combine_values(steps[root], values))
    if call.kind in ("gather", "reduce"):
        return {member: result_function if member == root else no_value for member in call.members}
    return dict.fromkeys(call.members, result_function)


def _exchange(steps: Mapping[int, Superstep], nodes: Sequence[Node]) -> dict[int, ResultFunction]:
    """The parts that each member receives in an exchange, assembled when the member resumes."""
    if is_row_exchange([step.contribution for step in steps.values()]):
        return {member: _row_receiver(steps, nodes[member]) for member in steps}
    parts_by_route = {
        (sender, to): (snapshot(part), row_count(part))
        for sender, step in steps.items()
        for to, part in step.contribution.items()
    }

    def receiver(node: Node) -> ResultFunction:
        def assemble() -> dict[int, Any]:
            parts_by_sender = {
                sender: parts_by_route[sender, node.number]
                for sender in steps
                if (sender, node.number) in parts_by_route
            }
            node.count_received(
                sum(rows or 0 for sender, (_, rows) in parts_by_sender.items() if sender != node.number)
            )
            return {sender: part() for sender, (part, _) in parts_by_sender.items()}

        return assemble

    return {member: receiver(nodes[member]) for member in steps}


def _row_receiver(steps: Mapping[int, Superstep], node: Node) -> ResultFunction:
    """The rows that a node receives, concatenated when it resumes, to limit memory."""

    def assemble() -> Any:
        parts_by_sender = {sender: step.contribution[node.number] for sender, step in steps.items()}
        node.count_received(
            sum(len(part) for sender, part in parts_by_sender.items() if sender != node.number)
        )
        return np.concatenate(list(parts_by_sender.values()))

    return assemble
