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
    """Segments from that of keys used once to the highest: a use moves a key to the next one.

    `rooms` has the most keys of each segment above the first.
    """

    def __init__(self, room: int, rooms: Sequence[int] | None = None) -> None:
        self.room, self.rooms = room, [room // 2] if rooms is None else rooms
        self.segments = [[] for _ in range(len(self.rooms) + 1)]

    @property
    def cached(self) -> list[int]:
        return [key for segment in self.segments for key in segment]

    def use(self, key: int) -> int | None:
        if key not in self.cached:
            victim = None
            if len(self.cached) == self.room:
                victim = next(segment for segment in self.segments if segment).pop(0)
            self.segments[0].append(key)
            return victim
        level = next(level for level, segment in enumerate(self.segments) if key in segment)
        self.segments[level].remove(key)
        self.segments[min(level + 1, len(self.rooms))].append(key)
        for level in range(len(self.rooms), 0, -1):
            if len(self.segments[level]) > self.rooms[level - 1]:
                self.segments[level - 1].append(self.segments[level].pop(0))
        return None


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


class Clock:
    """Keys in a circle, and a hand that spares used keys once."""

    def __init__(self, room: int) -> None:
        self.room, self.cached, self.used, self.hand = room, [], set(), 0

    def use(self, key: int) -> int | None:
        if key in self.cached:
            self.used.add(key)
            return None
        if len(self.cached) < self.room:
            self.cached.append(key)
            return None
        while self.cached[self.hand] in self.used:
            self.used.remove(self.cached[self.hand])
            self.hand = (self.hand + 1) % self.room
        victim, self.cached[self.hand] = self.cached[self.hand], key
        self.hand = (self.hand + 1) % self.room
        return victim


class TwoQ:
    """2Q, full version; the queues begin with their oldest key."""

    def __init__(self, room: int) -> None:
        self.room, self.k_in, self.k_out = room, room // 4, room // 2
        self.a1_in, self.a1_out, self.am = [], [], []

    @property
    def cached(self) -> list[int]:
        return self.a1_in + self.am

    def use(self, key: int) -> int | None:
        victim = None
        if key in self.am:
            self.am.remove(key)
            self.am.append(key)
        elif key in self.a1_out:
            self.a1_out.remove(key)
            victim = self.reclaim()
            self.am.append(key)
        elif key not in self.a1_in:
            victim = self.reclaim()
            self.a1_in.append(key)
        return victim

    def reclaim(self) -> int | None:
        if len(self.cached) < self.room:
            return None
        if len(self.a1_in) <= self.k_in:
            return self.am.pop(0)
        victim = self.a1_in.pop(0)
        self.a1_out = [*self.a1_out, victim][-self.k_out :] if self.k_out else []
        return victim


class S3Fifo:
    """S3-FIFO; the queues begin with their oldest key."""

    def __init__(self, room: int) -> None:
        self.room, self.small_room, self.uses = room, max(1, room // 10), {}
        self.small, self.main, self.ghosts = [], [], []

    @property
    def cached(self) -> list[int]:
        return self.small + self.main

    def use(self, key: int) -> int | None:
        if key in self.cached:
            self.uses[key] = min(self.uses[key] + 1, 3)
            return None
        queue = self.queue_of(key)
        if key in self.ghosts:
            self.ghosts.remove(key)
        victim = self.evict() if len(self.cached) == self.room else None
        self.uses[key] = 0
        queue.append(key)
        return victim

    def queue_of(self, key: int) -> list[int]:
        """The queue that `key` is inserted in."""
        return self.main if key in self.ghosts else self.small

    def evict(self) -> int:
        if len(self.small) >= self.small_room:
            while self.small:
                oldest = self.small.pop(0)
                if self.uses[oldest] <= 1:
                    self.remember(oldest)
                    return oldest
                self.uses[oldest] = 0
                self.main.append(oldest)
        while self.uses[self.main[0]] > 0:
            self.uses[self.main[0]] -= 1
            self.main.append(self.main.pop(0))
        return self.main.pop(0)

    def remember(self, key: int) -> None:
        self.ghosts.append(key)
        if len(self.ghosts) > self.room - self.small_room:
            self.ghosts.pop(0)


class Lirs:
    """Section 3.3 of LIRS; stack and queue begin with their oldest key.

    LIR keys are those of `lir`. A stack of more than twice as many keys as the cache has room for forgets its
    oldest evicted keys.
    """

    def __init__(self, room: int) -> None:
        self.room, self.max_lir = room, room - max(1, room // 100)
        self.stack, self.queue, self.lir = [], [], set()

    @property
    def cached(self) -> list[int]:
        return [*self.lir, *self.queue]

    def use(self, key: int) -> int | None:
        victim, in_stack = None, key in self.stack
        if key not in self.cached and len(self.cached) == self.room:
            victim = self.queue.pop(0)
        if in_stack:
            self.stack.remove(key)
        self.stack.append(key)
        if key in self.queue:
            self.queue.remove(key)
        if key not in self.lir:
            if in_stack or len(self.lir) < self.max_lir:
                self.lir.add(key)
            else:
                self.queue.append(key)
        self.prune()
        if len(self.lir) > self.max_lir:
            self.lir.remove(self.stack[0])
            self.queue.append(self.stack.pop(0))
            self.prune()
        excess = len(self.stack) - 2 * self.room
        if excess > 0:
            cached = set(self.cached)
            for forgotten in [each for each in self.stack if each not in cached][:excess]:
                self.stack.remove(forgotten)
        return victim

    def prune(self) -> None:
        while self.stack and self.stack[0] not in self.lir:
            self.stack.pop(0)


class WTinyLfu:
    """An LRU window, and an SLRU that a key enters if it was used more often than the victim.

    Lists begin with the least recently used key. Counts end at 10, and are halved after 10 uses per place.
    """

    def __init__(self, room: int) -> None:
        self.window_room = max(1, room // 100)
        self.main_room = room - self.window_room
        self.protected_room, self.sample = self.main_room * 4 // 5, 10 * room
        self.window, self.probation, self.protected = [], [], []
        self.counts, self.counted = {}, 0

    @property
    def cached(self) -> list[int]:
        return self.window + self.probation + self.protected

    def use(self, key: int) -> int | None:
        self.count(key)
        victim = None
        if key in self.window:
            self.window.remove(key)
        elif key in self.cached:
            (self.probation if key in self.probation else self.protected).remove(key)
            self.protected.append(key)
            if len(self.protected) > self.protected_room:
                self.probation.append(self.protected.pop(0))
            return None
        elif len(self.window) == self.window_room:
            victim = self.leave_window(self.window.pop(0))
        self.window.append(key)
        return victim

    def count(self, key: int) -> None:
        self.counts[key] = min(self.counts.get(key, 0) + 1, 10)
        self.counted += 1
        if self.counted == self.sample:
            self.counts = {key: count // 2 for key, count in self.counts.items()}
            self.counted //= 2

    def leave_window(self, candidate: int) -> int | None:
        """The key that leaves the cache when `candidate` leaves the window: it or one of the main cache."""
        if len(self.probation + self.protected) < self.main_room:
            self.probation.append(candidate)
            return None
        segment = self.probation or self.protected
        if not segment or self.counts[candidate] <= self.counts[segment[0]]:
            return candidate
        self.probation.append(candidate)
        return segment.pop(0)


class Lfuda:
    """The key with the smallest priority leaves, of equal ones the least recently used.

    The priority of the last one is the age; LFU has none.
    """

    def __init__(self, room: int, *, literal: bool = False, ages: bool = True) -> None:
        self.room, self.literal, self.ages, self.age = room, literal, ages, 0
        self.cached, self.uses, self.priority = [], {}, {}

    def use(self, key: int) -> int | None:
        victim = None
        if key not in self.cached:
            if len(self.cached) == self.room:
                victim = min(self.cached, key=self.priority.__getitem__)
                self.cached.remove(victim)
                self.age = self.priority[victim] if self.ages else 0
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
    "clock": Clock,
    "slru": Slru,
    "2q": TwoQ,
    "lirs": Lirs,
    "arc": Arc,
    "s3-fifo": S3Fifo,
    "sieve": Sieve,
    "w-tinylfu": WTinyLfu,
    "lfu": lambda room: Lfuda(room, ages=False),
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
