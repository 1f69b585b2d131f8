"""A job on one node, from superstep to superstep; the same under every driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.lines import failing, standing

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
    """What running a job left: what nodes did, each and together, and their parts of the answer."""

    logs: Sequence[Log]
    collectives: Sequence[Collective]
    answers: Sequence[Any]


def nothing() -> None:
    """What comes at the beginning, of a barrier, and of a root's collective to the others."""


class Running:
    """The job of one node."""

    def __init__(self, name: str, function: Function, node: Node, parameters: Mapping[str, Any]) -> None:
        self.name = name
        self.node = node
        self.ended = False
        self.answer: Any = None
        """The node's part of the answer, when the job has ended."""
        self._generator = function(node, **parameters)

    def advance(self, coming: Callable[[], Any]) -> Superstep | None:
        """Runs on with what comes of the superstep; gives the next one, None at the end.

        Raises:
            Error: Something went wrong in the job; the message says where.
        """
        node = self.node
        try:
            came = coming()
            node.resume()
            superstep = self._generator.send(came)
            node.lap()
            if superstep is None or superstep is not node.asked:
                remedy = (
                    "yield what exchange, all_gather, gather, broadcast, reduce, all_reduce or barrier give"
                )
                raise Error(f"the job yielded {type(superstep).__name__}", remedy=remedy)
        except StopIteration as end:
            node.lap()
            if node.asked is not None:
                raise job_error(self.name, node, node.unyielded()) from None
            self.ended, self.answer = True, end.value
            return None
        except Exception as error:
            raise job_error(self.name, node, error, self._generator.gi_frame) from error
        node.asked = None
        return superstep


def job_error(job: str, node: Node, error: Exception, at: FrameType | None = None) -> Error:
    """The error that says in which job, node, phase and line something went wrong.

    Args:
        job: Name of the job.
        node: The node.
        error: What went wrong.
        at: Where the job stands, if it is not the job that failed but what it yielded.
    """
    if isinstance(error, Error):
        what, remedy = error.message, error.remedy
    else:
        what, remedy = f"{type(error).__name__}: {error}", None
    phase = f" in phase `{node.begun}`" if node.begun else ""
    message = f"job `{job}` failed on node {node.number}{phase}: {what}"
    return Error(message, place=failing(error) or standing(at), remedy=remedy)
