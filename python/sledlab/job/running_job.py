"""A job on one node, from superstep to superstep; the same in lockstep and under MPI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.lines import current_line, failing_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType, GeneratorType

    from sledlab.job.log import Collective, Log
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep

    Function = Callable[..., GeneratorType[Superstep, Any, Any]]
    # Called with the phase, and how many nodes have reached the end of their superstep.
    Tell = Callable[[str, int], None]


@dataclass(frozen=True)
class JobRun:
    """The results of running a job: logs of nodes, their collectives, and their parts of the answer."""

    logs: Sequence[Log]
    collectives: Sequence[Collective]
    answers: Sequence[Any]


def no_value() -> None:
    """The value sent into a job first, after a barrier, and off the root after a gather or reduce."""


class RunningJob:
    """The generator of a job on one node, and its state."""

    def __init__(self, name: str, function: Function, node: Node, parameters: Mapping[str, Any]) -> None:
        self.name = name
        self.node = node
        self.has_ended = False
        self.answer: Any = None
        """The node's part of the answer, once the job has ended."""
        self._generator = function(node, **parameters)

    def advance(self, take_result: Callable[[], Any]) -> Superstep | None:
        """Send the result of the last superstep into the job; return the next superstep, None at the end.

        Raises:
            Error: The job failed; the message has the location.
        """
        node = self.node
        try:
            result = take_result()
            node.resume()
            superstep = self._generator.send(result)
            node.lap()
            if superstep is None or superstep is not node.pending:
                remedy = "yield the result of node.exchange, node.all_gather or another collective"
                raise Error(f"the job yielded {type(superstep).__name__}", remedy=remedy)
        except StopIteration as end:
            node.lap()
            if node.pending is not None:
                raise job_error(self.name, node, node.unyielded_error()) from None
            self.has_ended, self.answer = True, end.value
            return None
        except Exception as error:
            raise job_error(self.name, node, error, self._generator.gi_frame) from error
        node.pending = None
        return superstep


def job_error(job: str, node: Node, error: Exception, frame: FrameType | None = None) -> Error:
    """The error with the job, node, phase and line that failed.

    Args:
        job: Name of the job.
        node: The node.
        error: The exception that was raised.
        frame: Frame of the job, where not the job itself failed but the superstep that it yielded.
    """
    if isinstance(error, Error):
        reason, remedy = error.message, error.remedy
    else:
        reason, remedy = f"{type(error).__name__}: {error}", None
    phase = f" in phase `{node.current_phase}`" if node.current_phase else ""
    message = f"job `{job}` failed on node {node.number}{phase}: {reason}"
    return Error(message, place=failing_line(error) or current_line(frame), remedy=remedy)
