"""The protocol of schedulers written in Python: the methods that a class must have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from sledlab._native import DeviceView, QueuedRequest


@runtime_checkable
class Scheduler(Protocol):
    """A scheduler: three methods keep the queue of a device and choose the order of service.

    Name a class that has them as `module:Class` wherever the name of a scheduler may stand; the module is
    looked for as `import` does, and last in the current directory. A class that only a file names runs
    where plug-ins are allowed. Every key of the table `[scheduler]` but
    `kind` becomes an argument of the constructor. Each device gets a queue of its own.

    Every request pushed must be popped exactly once. An exception ends the run with an
    [`Error`][sledlab.Error] that holds its traceback.

    Examples:
        >>> class LastComeFirstServed:
        ...     def __init__(self):
        ...         self.queue = []
        ...     def push(self, request):
        ...         self.queue.append(request)
        ...     def pop(self, now_ns, device):
        ...         return self.queue.pop()
        ...     def __len__(self):
        ...         return len(self.queue)
        >>> isinstance(LastComeFirstServed(), Scheduler)
        True
    """

    def push(self, request: QueuedRequest) -> None:
        """A request joins the queue."""

    def pop(self, now_ns: int, device: DeviceView) -> QueuedRequest | list[QueuedRequest]:
        """Choose the request or requests that the idle device serves next, and remove them from the queue.

        Several requests are served in one pass if they lie in one row and the sled has tips enough, otherwise
        one after the other. Only called while the queue holds requests.
        """

    def __len__(self) -> int:
        """Number of requests in the queue."""
