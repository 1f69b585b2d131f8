"""Run a job on ranks of MPI, one node each."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.running_job import JobRun, RunningJob, no_value
from sledlab.job.superstep import (
    combine_values,
    complete_calls,
    freeze,
    is_row_exchange,
    mixed_exchange_error,
    row_count,
)
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sledlab.job.node import Node
    from sledlab.job.running_job import Function, Tell
    from sledlab.job.superstep import Call, Superstep, SuperstepRequest


class Ranks:
    """The ranks of a run: this rank is a node of the job, every other rank is another node."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self._communicators_by_members: dict[tuple[int, ...], Any] = {}

    def run(
        self, name: str, function: Function, node: Node, parameters: Mapping[str, Any], tell: Tell
    ) -> JobRun:
        """Run a job, with this rank as one of its nodes.

        Returns:
            On rank 0 the logs of all nodes; on every rank the collectives and the rank's part of the answer.

        Raises:
            Error: The job failed on any rank, or is deadlocked.
        """
        running = RunningJob(name, function, node, parameters)
        step: Superstep | None = None
        take_result: Callable[[], Any] | None = no_value
        collectives = []
        while True:
            job_error = None
            if take_result is not None and not running.has_ended:
                try:
                    step = running.advance(take_result)
                except Error as error:
                    job_error = error
            requests_or_errors = self._world.allgather(job_error or (None if step is None else step.request))
            requests = _raise_errors(requests_or_errors)
            tell(node.current_phase, sum(request is not None for request in requests))
            if all(request is None for request in requests):
                break
            take_result = None
            for call in complete_calls(requests):
                if collective := call.collective():
                    collectives.append(collective)
                if step is not None and node.number in call.members:
                    take_result = partial(self._deliver, call, step, node)
        return JobRun(self._world.gather(node.log) or [], collectives, [running.answer])

    def _deliver(self, call: Call, step: Superstep, node: Node) -> Any:
        """The result of a superstep on this rank."""
        ranks = self._ranks(call)
        root = call.request.root or 0
        match call.kind:
            case "exchange":
                return _exchange(ranks, call, step, node)
            case "broadcast":
                return freeze(ranks.bcast(step.contribution, root=root))
            case "gather":
                return _freeze_all(ranks.gather(step.contribution, root=root))
            case "all-gather":
                return _freeze_all(ranks.allgather(step.contribution))
            case "reduce" | "all-reduce":
                return _combine(ranks, call, step, root)
        return None

    def _ranks(self, call: Call) -> Any:
        """The communicator of a superstep's members."""
        if len(call.members) == self._world.size:
            return self._world
        if call.members not in self._communicators_by_members:
            group = self._world.Get_group().Incl(list(call.members))
            self._communicators_by_members[call.members] = self._world.Create_group(group)
        return self._communicators_by_members[call.members]


def _raise_errors(requests_or_errors: list[SuperstepRequest | Error | None]) -> list[SuperstepRequest | None]:
    """The supersteps that ranks ask for.

    Raises:
        Error: The error of the first rank whose job failed.
    """
    for request_or_error in requests_or_errors:
        if isinstance(request_or_error, Error):
            raise request_or_error
    return [
        request_or_error for request_or_error in requests_or_errors if not isinstance(request_or_error, Error)
    ]


def _combine(ranks: Any, call: Call, step: Superstep, root: int) -> Any:
    """Values of members, combined in members' order, not the library's, so that float sums are reproducible.

    Raises:
        Error: The values cannot be combined.
    """
    values = ranks.gather(step.contribution, root=root)
    combined: Any = None
    if values is not None:
        try:
            combined = combine_values(step, values)
        except Error as error:
            combined = error  # broadcast below: the other members wait for a result too
    if call.kind == "all-reduce":
        combined = ranks.bcast(combined, root=root)
    if isinstance(combined, Error):
        raise combined
    return freeze(combined)


def _freeze_all(values: list[Any] | None) -> list[Any] | None:
    """Values of members, read-only."""
    return None if values is None else [freeze(value) for value in values]


def _exchange(ranks: Any, call: Call, step: Superstep, node: Node) -> Any:
    """The parts that this rank receives in an exchange."""
    is_rows = is_row_exchange([step.contribution])
    outgoing = [step.contribution[to] if is_rows else step.contribution.get(to) for to in call.members]
    received_by_sender = dict(
        zip(call.members, ranks.alltoall([(is_rows, part) for part in outgoing]), strict=True)
    )
    if any(sender_has_rows is not is_rows for sender_has_rows, _ in received_by_sender.values()):
        raise mixed_exchange_error()
    parts_by_sender = {sender: part for sender, (_, part) in received_by_sender.items() if part is not None}
    node.count_received(
        sum(row_count(part) or 0 for sender, part in parts_by_sender.items() if sender != node.number)
    )
    return (
        np.concatenate(list(parts_by_sender.values()))
        if is_rows
        else {sender: freeze(part) for sender, part in parts_by_sender.items()}
    )
