"""Runs a job on ranks of MPI, one node each."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.running_job import JobRun, RunningJob, no_value
from sledlab.job.superstep import (
    combine_values,
    freeze,
    is_row_exchange,
    mixed_exchange_error,
    ready,
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
        self._some: dict[tuple[int, ...], Any] = {}

    def run(
        self, name: str, function: Function, node: Node, parameters: Mapping[str, Any], tell: Tell
    ) -> JobRun:
        """Runs a job, with this rank as one of its nodes.

        Returns:
            On rank 0 the logs of all nodes; on every rank the collectives and the rank's part of the answer.

        Raises:
            Error: The job failed on any rank, or is deadlocked.
        """
        running = RunningJob(name, function, node, parameters)
        step: Superstep | None = None
        coming: Callable[[], Any] | None = no_value
        collectives = []
        while True:
            failed = None
            if coming is not None and not running.ended:
                try:
                    step = running.advance(coming)
                except Error as error:
                    failed = error
            request_or_error = self._world.allgather(failed or (None if step is None else step.request))
            requested = _raise_errors(request_or_error)
            tell(node.begun, sum(each is not None for each in requested))
            if all(each is None for each in requested):
                break
            coming = None
            for call in ready(requested):
                if collective := call.collective():
                    collectives.append(collective)
                if step is not None and node.number in call.members:
                    coming = partial(self._deliver, call, step, node)
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
        if call.members not in self._some:
            group = self._world.Get_group().Incl(list(call.members))
            self._some[call.members] = self._world.Create_group(group)
        return self._some[call.members]


def _raise_errors(requested: list[SuperstepRequest | Error | None]) -> list[SuperstepRequest | None]:
    """The supersteps that ranks ask for.

    Raises:
        Error: The error of the first rank whose job failed.
    """
    for each in requested:
        if isinstance(each, Error):
            raise each
    return [each for each in requested if not isinstance(each, Error)]


def _combine(ranks: Any, call: Call, step: Superstep, root: int) -> Any:
    """Values of members, combined in members' order, not the library's, so that float sums are reproducible.

    Raises:
        Error: The values cannot be combined.
    """
    values = ranks.gather(step.contribution, root=root)
    result: Any = None
    if values is not None:
        try:
            result = combine_values(step, values)
        except Error as error:
            result = error  # broadcast below: the other members wait for a result too
    if call.kind == "all-reduce":
        result = ranks.bcast(result, root=root)
    if isinstance(result, Error):
        raise result
    return freeze(result)


def _freeze_all(values: list[Any] | None) -> list[Any] | None:
    """Values of members, read-only."""
    return None if values is None else [freeze(value) for value in values]


def _exchange(ranks: Any, call: Call, step: Superstep, node: Node) -> Any:
    """The parts that this rank receives in an exchange."""
    rows = is_row_exchange([step.contribution])
    parts = [step.contribution[to] if rows else step.contribution.get(to) for to in call.members]
    came = dict(zip(call.members, ranks.alltoall([(rows, part) for part in parts]), strict=True))
    if any(kind is not rows for kind, _ in came.values()):
        raise mixed_exchange_error()
    result = {sender: part for sender, (_, part) in came.items() if part is not None}
    node.count_received(sum(row_count(part) or 0 for sender, part in result.items() if sender != node.number))
    return (
        np.concatenate(list(result.values()))
        if rows
        else {sender: freeze(part) for sender, part in result.items()}
    )
