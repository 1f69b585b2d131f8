"""The protocol of power policies written in Python: the methods that a class must have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from sledlab._native import PowerCosts


@runtime_checkable
class PowerPolicy(Protocol):
    """A power policy: decides when an idle device parks, and may decide when a parked one starts up.

    Name a class that has the method `timeout_ms` as `module:Class` wherever the name of a power policy may
    stand; the module is looked for as `import` does, and last in the current directory. A class that only
    a file names runs where plug-ins are allowed. Every key of the table
    `[power]` but `kind` becomes an argument of the constructor. Each device gets a policy of its own.

    Two more methods are called if the class has them:

    - `learn(length_ms, timeout_ms, costs)`, when an idle period has ended: its length, and the idle timeout
      that applied to it.
    - `patience_ms(waiting)`, while requests wait at a parked device: the time that the first of them waits
      before the device starts up; 0 for a class without the method.

    An exception ends the run with an [`Error`][sledlab.Error] that holds its traceback.

    Examples:
        >>> class BreakEven:
        ...     def timeout_ms(self, costs):
        ...         return costs.break_even_ms
        >>> isinstance(BreakEven(), PowerPolicy)
        True
    """

    def timeout_ms(self, costs: PowerCosts) -> float:
        """The idle timeout: how long a device stays idle before it parks, in ms; `math.inf` for ever."""
