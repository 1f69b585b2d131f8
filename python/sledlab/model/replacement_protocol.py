"""The protocol of replacement policies written in Python: the methods that a class must have."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class ReplacementPolicy(Protocol):
    """A replacement policy: three methods choose the key that a full cache evicts.

    Name a class that has them as `module:Class`, or `module:Class:key=value`, wherever the name of a
    replacement policy may stand; the module is looked for as `import` does, and last in the current
    directory. A class that only a file names runs where plug-ins are allowed. Its constructor is given
    `capacity`, the number of keys that the cache has room for, and the parameters `key=value` behind the
    class. Each cache gets an object of its own.

    The simulator keeps the residency of the cache. Keys are the numbers of segments, which all have the same
    size. An exception ends the run with an [`Error`][sledlab.Error] that holds its traceback.

    A hybrid fetches segments along with others of their group (`hybrid.fetch_kb`) before a request uses them.
    They are inserted by a fourth, optional method `prefetch(key)`, or by `insert` if the class does not have
    it; their first use is a `hit`.

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
        """A request uses a resident key: a hit."""

    def insert(self, key: int) -> None:
        """A request uses a key that the cache does not hold, a miss: the key becomes resident.

        Without a method `prefetch`, also: a key that no request has used becomes resident.
        """

    def evict(self, incoming: int) -> int:
        """The victim: the key that the full cache evicts, so that `incoming` can be inserted next."""
