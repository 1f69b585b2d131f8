"""Replacement policies as their papers define them, in lists and plain loops.

`use(key)` returns the key that is evicted, or None; `cached` has the keys in the cache.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any


class Queue:
    """LRU or FIFO: keys in the order in which they are evicted, without those that are pinned."""

    def __init__(self, room: int, *, moves_on_hit: bool) -> None:
        self.room, self.moves_on_hit, self.cached = room, moves_on_hit, []

    def use(self, key: int, pinned: Sequence[int] = ()) -> int | None:
        if key in self.cached:
            if self.moves_on_hit:
                self.cached.remove(key)
                self.cached.append(key)
            return None
        victim = None
        if len(self.cached) == self.room:
            victim = next(each for each in self.cached if each not in pinned)
            self.cached.remove(victim)
        self.cached.append(key)
        return victim


class Slru:
    """Keys used once are on probation; the protected ones were used again."""

    def __init__(self, room: int, share: float = 0.5) -> None:
        self.room, self.protected_room = room, int(room * share)
        self.probation, self.protected = [], []

    @property
    def cached(self) -> list[int]:
        return self.probation + self.protected

    def use(self, key: int) -> int | None:
        victim = None
        if key in self.cached:
            (self.probation if key in self.probation else self.protected).remove(key)
            self.protected.append(key)
            if len(self.protected) > self.protected_room:
                self.probation.append(self.protected.pop(0))
            return None
        if len(self.cached) == self.room:
            victim = (self.probation or self.protected).pop(0)
        self.probation.append(key)
        return victim


class Arc:
    """ARC(c) of Figure 4; lists begin with the least recently used key."""

    def __init__(self, room: int) -> None:
        self.c, self.p = room, 0.0
        self.t1, self.t2, self.b1, self.b2 = [], [], [], []

    @property
    def cached(self) -> list[int]:
        return self.t1 + self.t2

    def use(self, key: int) -> int | None:
        t1, t2, b1, b2, victim = self.t1, self.t2, self.b1, self.b2, None
        if key in t1 + t2:
            (t1 if key in t1 else t2).remove(key)
            t2.append(key)
        elif key in b1:
            self.p = min(self.p + max(1, len(b2) / len(b1)), self.c)
            victim = self.replace(key)
            b1.remove(key)
            t2.append(key)
        elif key in b2:
            self.p = max(self.p - max(1, len(b1) / len(b2)), 0)
            victim = self.replace(key)
            b2.remove(key)
            t2.append(key)
        else:
            victim = self.miss(key)
            t1.append(key)
        return victim

    def miss(self, key: int) -> int | None:
        first, second = len(self.t1 + self.b1), len(self.t2 + self.b2)
        if first == self.c:
            if len(self.t1) == self.c:
                return self.t1.pop(0)
            self.b1.pop(0)
            return self.replace(key)
        if first + second >= self.c:
            if first + second == 2 * self.c:
                self.b2.pop(0)
            return self.replace(key)
        return None

    def replace(self, key: int) -> int:
        t1 = len(self.t1)
        from_t1 = t1 > 0 and (t1 > self.p or (key in self.b2 and t1 == self.p))
        source, ghosts = (self.t1, self.b1) if from_t1 else (self.t2, self.b2)
        ghosts.append(source.pop(0))
        return ghosts[-1]


class Sieve:
    """A queue from the oldest to the newest key, and a hand that spares visited keys once."""

    def __init__(self, room: int) -> None:
        self.room, self.cached, self.visited, self.hand = room, [], set(), 0

    def use(self, key: int) -> int | None:
        if key in self.cached:
            self.visited.add(key)
            return None
        victim = None
        if len(self.cached) == self.room:
            while self.cached[self.hand] in self.visited:
                self.visited.remove(self.cached[self.hand])
                self.hand = (self.hand + 1) % self.room
            victim = self.cached.pop(self.hand)
            # Past the newest key the hand begins again at the oldest one.
            self.hand %= self.room - 1 or 1
        self.cached.append(key)
        return victim


class Lfuda:
    """The key with the smallest priority leaves, of equal ones the least recently used.

    The priority of the last one is the age.
    """

    def __init__(self, room: int, *, literal: bool = False) -> None:
        self.room, self.literal, self.age = room, literal, 0
        self.cached, self.uses, self.priority = [], {}, {}

    def use(self, key: int) -> int | None:
        victim = None
        if key not in self.cached:
            if len(self.cached) == self.room:
                victim = min(self.cached, key=self.priority.__getitem__)
                self.cached.remove(victim)
                self.age = self.priority[victim]
            self.uses[key] = self.priority[key] = 0
        else:
            self.cached.remove(key)
        self.cached.append(key)
        self.uses[key] += 1
        self.priority[key] = self.age + (1 + self.priority[key] if self.literal else self.uses[key])
        return victim


class Random:
    """A random key leaves."""

    def __init__(self, room: int, seed: int) -> None:
        self.room, self.cached, self.generator = room, [], random.Random(seed)

    def use(self, key: int) -> int | None:
        if key in self.cached:
            return None
        victim = self.generator.choice(self.cached) if len(self.cached) == self.room else None
        if victim is not None:
            self.cached.remove(victim)
        self.cached.append(key)
        return victim


class Acme:
    """Policies with own caches vote for the keys they hold; the key with the fewest votes leaves."""

    def __init__(self, room: int, seed: int, penalty: float = 0.95, shared: float = 0.01) -> None:
        self.room, self.penalty, self.shared, self.cached = room, penalty, shared, []
        names = ("lru", "lfuda", "slru", "arc", "fifo")
        self.voters = [*(POLICIES[name](room) for name in names), Random(room, seed)]
        self.weights = [1.0] * len(self.voters)

    def use(self, key: int) -> int | None:
        for index, voter in enumerate(self.voters):
            self.weights[index] *= 1.0 if key in voter.cached else self.penalty
            voter.use(key)
        pool = self.shared * sum(self.weights) / len(self.weights)
        self.weights = [weight * (1 - self.shared) + pool for weight in self.weights]
        victim = None
        if key in self.cached:
            self.cached.remove(key)
        elif len(self.cached) == self.room:
            victim = min(self.cached, key=self.votes)
            self.cached.remove(victim)
        self.cached.append(key)
        return victim

    def votes(self, key: int) -> float:
        return sum(
            weight for voter, weight in zip(self.voters, self.weights, strict=True) if key in voter.cached
        )


POLICIES: dict[str, Callable[..., Any]] = {
    "lru": lambda room: Queue(room, moves_on_hit=True),
    "fifo": lambda room: Queue(room, moves_on_hit=False),
    "slru": Slru,
    "arc": Arc,
    "sieve": Sieve,
    "lfuda": Lfuda,
    "lfuda-literal": lambda room: Lfuda(room, literal=True),
}


def count_hits(policy: Any, uses: Sequence[int]) -> int:
    """Number of uses that find their key in the cache."""
    hits = 0
    for key in uses:
        hits += key in policy.cached
        policy.use(key)
    return hits


def belady_hits(room: int, uses: Sequence[int]) -> int:
    """Hits if the key whose next use is farthest away leaves."""
    next_use, last = [0] * len(uses), {}
    for now in reversed(range(len(uses))):
        next_use[now] = last.get(uses[now], len(uses))
        last[uses[now]] = now
    next_use_by_key, hits = {}, 0
    for now, key in enumerate(uses):
        hits += key in next_use_by_key
        if key not in next_use_by_key and len(next_use_by_key) == room:
            del next_use_by_key[max(next_use_by_key, key=next_use_by_key.__getitem__)]
        next_use_by_key[key] = next_use[now]
    return hits
