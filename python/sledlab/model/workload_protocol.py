"""The protocol of workloads written in Python: the method that a class must have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy


@runtime_checkable
class Workload(Protocol):
    """A workload: generates requests by one method, usually a generator function.

    Name a class that has it as `module:Class` wherever the name of a workload may stand; the module is
    looked for as `import` does, and last in the current directory. A class that only a file names runs
    where plug-ins are allowed. Every key of the table `[workload]` but `kind` becomes an argument of the
    constructor. Each run gets an object of its own.

    An exception ends the run with an [`Error`][sledlab.Error] that holds its traceback.

    Examples:
        >>> class EveryMillisecond:
        ...     def requests(self, capacity_blocks, random):
        ...         for n in range(1000):
        ...             yield 1000 * n, random.integers(capacity_blocks - 8), 8, "R"
        >>> isinstance(EveryMillisecond(), Workload)
        True
    """

    def requests(self, capacity_blocks: int, random: numpy.random.Generator) -> Iterable[tuple[Any, ...]]:
        """The requests in order of arrival; they may be endless, as the replay has a limit of its own.

        Each is a tuple `(time_us, lbn, blocks, op)`: arrival in microseconds from the start, which may have a
        fraction; first block and number of blocks of 512 bytes; `R`, `W`, `T` (trim) or `F` (flush, whose
        blocks do not matter). Faster: tuples of four columns, as arrays of numpy, of some thousand requests;
        a column that is the same for all of its requests may be one value.

        Args:
            capacity_blocks: Capacity of the store that serves the requests, in blocks; `replay.outside` sets
                the handling of requests past its end.
            random: Random numbers that depend on the seed of the experiment alone: with no other source of
                randomness, an experiment gives the same requests with the same version of numpy.
        """
