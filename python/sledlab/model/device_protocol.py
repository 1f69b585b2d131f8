"""The protocol of devices written in Python: the attributes and methods that a class must have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping


@runtime_checkable
class Device(Protocol):
    """A device: one method returns the service time of a request, three numbers are its capacity and power.

    Name a class that has them as `module:Class` wherever the name of a device may stand, or after `kind` in
    a device file; the module is looked for as `import` does, and last in the current directory. A class that
    only a file names runs where plug-ins are allowed. Every key of the table `[device]` (or `[front]`) but
    `preset`, `kind`, `name` and `description` becomes an argument of the constructor. Each device of an array
    is an object of its own.

    Further attributes count where the class has them: `inactive_mw`, power while parked (default `idle_mw`);
    `startup_ms`, time of a start-up (default 0); and `startup_mw`, power during it (default `active_mw`). The
    power policy decides when the device parks. A method `served(start_ns, lbn, blocks, is_write)` is called
    for every request after it has been served, in order: only that method may change the object.

    An exception ends the run with an [`Error`][sledlab.Error] that holds its traceback.

    Attributes:
        capacity_blocks: Number of blocks of 512 bytes.
        active_mw: Power while a request is served, in mW.
        idle_mw: Power while the device is idle, in mW.

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
        """The time that serving one request would take; it depends on its arguments alone.

        Schedulers call it for requests that they do not choose, too.

        Args:
            state: State of the mechanism, such as its position: 0 at the start of a run, then the `state`
                returned for the last request served.
            lbn: First block.
            blocks: Number of blocks, at least 1.
            is_write: Whether the blocks are written.

        Returns:
            The service time in ms; or a dict of `positioning_ms`, by which schedulers choose, `transfer_ms`,
            and `state`, the state after the request, a whole number of 64 bits. Omitted times are 0; without
            `state` it stays as it was.
        """
