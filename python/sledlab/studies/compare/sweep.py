"""Sweeps: the best value of each setting that a comparison varies, and settings without an effect.

Runs that differ in one setting only have the same recorded requests, or generated ones with the same
arrivals, lengths and kinds, so they are compared seed by seed. A setting that changes the capacity changes
the addresses of generated requests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledlab.show.ranking import Ranking, is_level
from sledlab.study.statistics import half_width, mean, relative

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledlab.studies.races.race import Race
    from sledlab.study.measure import RunFigures

    Combination = tuple[Any, ...]
    """A value for each key of a sweep."""

SCHEDULER = "scheduler"
"""Key of the scheduler if several schedulers are compared."""

REQUESTS = ("workload.", "trace.", "replay.", "seed")
"""Settings that change the requests: their values are cases to answer one by one, not choices."""


@dataclass(frozen=True)
class SettingEffect:
    """The effect of one value of a key, with all other keys as in the best combination.

    Attributes:
        key: The key.
        value: A value other than the best.
        mean_ms: Mean response time with that value.
        less: Share of that time which the best value saves.
        half: Half the 95 % confidence interval of that share over the seeds; None with one seed.
        overloaded: Whether the queue kept growing with that value.
    """

    key: str
    value: Any
    mean_ms: float
    less: float
    half: float | None
    overloaded: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as plain data; the value as text, as keys have values of several types."""
        return {
            "key": self.key,
            "value": str(self.value),
            "mean_ms": self.mean_ms,
            "less": self.less,
            "less_ci95": self.half,
            "differs": self.differs,
            "overloaded": self.overloaded,
        }

    @property
    def differs(self) -> bool:
        """Whether the results are not level, see `sledlab.show.ranking.is_level`."""
        return self.overloaded or not is_level(self.less, self.half)


@dataclass(frozen=True, eq=False)
class Sweep:
    """The runs of a comparison at one load, by the values of the keys that vary.

    Attributes:
        case: Keys that change the requests, with their values.
        speedup: The load, as a speed-up.
        values: The values of each key.
        runs: The runs of each combination of values, one for each seed.
    """

    case: tuple[tuple[str, Any], ...]
    speedup: float
    values: Mapping[str, Sequence[Any]]
    runs: Mapping[Combination, Sequence[RunFigures]]

    def is_overloaded(self, combination: Combination) -> bool:
        """Return whether the queue kept growing."""
        return any(run.saturated for run in self.runs[combination])

    @cached_property
    def steady_combinations(self) -> list[Combination]:
        """Combinations that are not overloaded."""
        return [each for each in self.runs if not self.is_overloaded(each)]

    def mean_ms(self, combination: Combination) -> float:
        """Return the mean response time over the seeds."""
        return mean([run.mean_ms for run in self.runs[combination]]) or 0.0

    def half_ms(self, combination: Combination) -> float | None:
        """Return half the 95 % confidence interval of the mean response time over the seeds."""
        return half_width([run.mean_ms for run in self.runs[combination]])

    @cached_property
    def best(self) -> Combination:
        """The combination with the shortest mean response time."""
        return Ranking.of(self.runs, self.mean_ms, self.is_overloaded).first

    def value(self, combination: Combination, key: str) -> Any:
        """Return the value of a key in a combination."""
        return combination[list(self.values).index(key)]

    def is_level_with_best(self, combination: Combination) -> bool:
        """Return whether a combination makes no difference to the best one."""
        return (
            self.is_overloaded(self.best) == self.is_overloaded(combination)
            and not replace(
                self.effect(next(iter(self.values)), self.best, combination), overloaded=False
            ).differs
        )

    def with_value(self, combination: Combination, key: str, value: Any) -> Combination:
        """Return a combination with another value of a key."""
        return tuple(
            value if name == key else each for name, each in zip(self.values, combination, strict=True)
        )

    def effect(self, key: str, best: Combination, other: Combination) -> SettingEffect:
        """Return the effect of `other` against `best`: of a key, if they differ in that key only."""
        shares = relative(*([run.mean_ms for run in self.runs[each]] for each in (best, other)))
        return SettingEffect(
            key,
            self.value(other, key),
            self.mean_ms(other),
            mean(shares) or 0.0,
            half_width(shares),
            self.is_overloaded(other),
        )

    def effects(self, key: str) -> list[SettingEffect]:
        """Return the effects of the other values of a key, smallest first, overloaded ones last."""
        others = [value for value in self.values[key] if value != self.value(self.best, key)]
        unsorted_effects = [
            self.effect(key, self.best, self.with_value(self.best, key, value)) for value in others
        ]
        return sorted(unsorted_effects, key=lambda effect: (effect.overloaded, effect.less))

    @cached_property
    def inert(self) -> list[str]:
        """Keys whose values make no difference, whatever the values of the other keys."""
        return [key for key in self.values if not any(self._differences(key))]

    def _differences(self, key: str) -> Iterator[bool]:
        """Yield for all pairs of combinations that differ in one key whether they differ in their results."""
        for combination in self.runs:
            other = self.with_value(combination, key, self.value(self.best, key))
            if other != combination:
                effect = self.effect(key, other, combination)
                is_other_overloaded = self.is_overloaded(other)
                yield effect.overloaded != is_other_overloaded or (
                    not is_other_overloaded and replace(effect, overloaded=False).differs
                )


def sweeps(comparison: Race) -> list[Sweep]:
    """Return the sweeps at the lightest and at the heaviest load that most combinations sustain, by case.

    Empty if nothing varies but the requests.
    """
    return [
        each for case_sweeps in sweeps_by_case(comparison) for each in _lightest_and_heaviest(case_sweeps)
    ]


def sweeps_by_case(comparison: Race) -> list[list[Sweep]]:
    """Return the sweeps at all loads, of each case; empty if nothing varies but the requests."""
    varied = comparison.axes.get("vary") or {}
    cases = [key for key, values in varied.items() if _changes_requests(key, values)]
    choices = [key for key in varied if key not in cases]
    if not choices:
        return []
    keys = [*choices, *([SCHEDULER] if len(comparison.axes["scheduler"]) > 1 else [])]
    runs: dict[tuple[Any, ...], dict[float, dict[Combination, list[RunFigures]]]] = {}
    for row in comparison.rows["runs"]:
        values_by_key = {**row.who.varied, SCHEDULER: row.who.name}
        runs_by_load = runs.setdefault(tuple((key, values_by_key[key]) for key in cases), {})
        runs_by_combination = runs_by_load.setdefault(row.who.speedup, {})
        runs_by_combination.setdefault(tuple(values_by_key[key] for key in keys), []).append(row.run)
    return [_case_sweeps(case, keys, loads) for case, loads in runs.items()]


def _changes_requests(key: str, values: Any) -> bool:
    """Return whether a key of `vary`, or a named set of settings, changes the requests."""
    settings = {name for each in values.values() for name in each} if hasattr(values, "items") else {key}
    return any(name.startswith(REQUESTS) for name in settings)


def _case_sweeps(
    case: tuple[tuple[str, Any], ...],
    keys: Sequence[str],
    loads: Mapping[float, Mapping[Combination, Sequence[RunFigures]]],
) -> list[Sweep]:
    """Return the sweeps of one case, one for each load."""
    all_sweeps = []
    for speedup, runs in sorted(loads.items()):
        values = {key: list(dict.fromkeys(each[index] for each in runs)) for index, key in enumerate(keys)}
        all_sweeps.append(Sweep(case, speedup, values, runs))
    return all_sweeps


def _lightest_and_heaviest(all_sweeps: Sequence[Sweep]) -> list[Sweep]:
    """Return the sweep at the lightest load, and that at the heaviest one which most combinations sustain."""
    sustained = [each for each in all_sweeps if 2 * len(each.steady_combinations) > len(each.runs)]
    heaviest = sustained[-1] if sustained else all_sweeps[0]
    return list(dict.fromkeys((all_sweeps[0], heaviest)))
