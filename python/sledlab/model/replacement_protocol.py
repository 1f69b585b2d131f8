"""What a replacement policy written in Python must do."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class ReplacementPolicy(Protocol):
    """Decides what a full cache drops: three methods. The simulator keeps what is in the cache.

    Name a class that has them as `module:Class`, or `module:Class:key=value`, wherever the name of a
    replacement policy may stand; the module is looked for as `import` does, and last in the current
    directory. A class that only a file names runs where plug-ins are allowed. Its constructor is given
    `capacity`, how many keys there is room for, and what the word says after the class. Each cache gets an
    object of its own.

    Keys are whole numbers: those of segments. All take the same room. An exception ends the run with an
    [`Error`][sledlab.Error] that holds its traceback.

    Examples:
        >>> class Oldest:
        ...     def __init__(self, capacity):
        ...         self.keys = []
        ...     def hit(self, key):
        ...         pass
        ...     def insert(self, key):
        ...         self.keys.append(key)
        ...     def evict(self, incoming):
        ...         return self.keys.pop(0)
        >>> isinstance(Oldest(4), ReplacementPolicy)
        True
    """

    def hit(self, key: int) -> None:
        """A key that is in the cache is used."""

    def insert(self, key: int) -> None:
        """A key comes into the cache: it is used, and was not there."""

    def evict(self, incoming: int) -> int:
        """The key that leaves the full cache, so that `incoming` can be inserted next."""
