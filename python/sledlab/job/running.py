"""A job on one node, from superstep to superstep; the same under every driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.guard import told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import GeneratorType

    from sledlab.job.log import Collective, Log
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep

    Function = Callable[..., GeneratorType[Superstep, Any, Any]]
    # Called with the phase, and how many nodes have reached the end of their superstep.
    Tell = Callable[[str, int], None]


@dataclass(frozen=True)
class Ran:
    """What running a job left: what nodes did, each and together, and their parts of the answer."""

    logs: Sequence[Log]
    collectives: Sequence[Collective]
    answers: Sequence[Any]


class Running:
    """The job of one node."""

    def __init__(self, name: str, function: Function, node: Node, parameters: Mapping[str, Any]) -> None:
        self.name = name
        self.node = node
        self.ended = False
        self.answer: Any = None
        """The node's part of the answer, when the job has ended."""
        self._generator = function(node, **parameters)

    def advance(self, came: Any = None) -> Superstep | None:
        """Runs on with what came of the superstep; gives the next one, None at the end.

        Raises:
            Error: Something went wrong in the job; the message says where.
        """
        node = self.node
        node.resume()
        try:
            superstep = self._generator.send(came)
            node.lap()
            if superstep is not node.asked:
                remedy = (
                    "yield what exchange, all_gather, gather, broadcast, reduce, all_reduce or barrier give"
                )
                raise Error(f"the job yielded {type(superstep).__name__}", remedy=remedy)
        except StopIteration as end:
            node.lap()
            if node.asked is not None:
                raise told(self.name, node, node.unyielded()) from None
            self.ended, self.answer = True, end.value
            return None
        except Exception as error:
            raise told(self.name, node, error, self._generator.gi_frame) from error
        node.asked = None
        return superstep
