"""What a device written in Python must do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping


@runtime_checkable
class Device(Protocol):
    """Says what serving a request takes: one method and three numbers.

    Name a class that has them as `module:Class` wherever the name of a device may stand, or after `kind` in
    a device file; the module is looked for as `import` does, and last in the current directory. A class that
    only a file names runs where plug-ins are allowed. Every key of the table `[device]` (or `[front]`) but
    `preset`, `kind`, `name` and `description` becomes an argument of the constructor. Each device of an array
    is an object of its own.

    More attributes count if there are any: `inactive_mw` while parked (as idle), `startup_ms` after that (0)
    and `startup_mw` (as active). It parks where a power policy says so. A method
    `served(start_ns, lbn, blocks, is_write)` is told of every request that has been served, in order: only
    there may an object change.

    An exception ends the run with an [`Error`][sledlab.Error] that holds its traceback.

    Attributes:
        capacity_blocks: Number of blocks of 512 bytes.
        active_mw: Power while a request is served.
        idle_mw: Power while none is.

    Examples:
        >>> class Constant:
        ...     capacity_blocks, active_mw, idle_mw = 1_000_000, 100.0, 10.0
        ...     def serve(self, state, lbn, blocks, is_write):
        ...         return 0.2
        >>> isinstance(Constant(), Device)
        True
    """

    capacity_blocks: int
    active_mw: float
    idle_mw: float

    def serve(self, state: int, lbn: int, blocks: int, is_write: bool) -> float | Mapping[str, float | int]:
        """What serving a request alone would take; a function of what it is given, for schedulers ask often.

        Args:
            state: Where the mechanism is: 0 at the start, then what was returned for the last request served.
            lbn: First block.
            blocks: Number of blocks, at least 1.
            is_write: Whether the blocks are written.

        Returns:
            Milliseconds; or a dict of `positioning_ms`, by which schedulers choose, `transfer_ms`, and
            `state`, the state that it leaves, a whole number of 64 bits. What is left out is 0, and the state
            as it was.
        """
