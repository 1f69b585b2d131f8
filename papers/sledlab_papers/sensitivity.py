"""Sensitivity sweeps: the outcome of a claim with each value that a modeling choice could have had.

`sensitivity_sweeps.toml` of a topic declares them. The judge of a claim is called once for each value, with
runs that read the results of that value: those of directories with another ending, where these exist.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from sledlab.reproduction.verdicts import CHANCE, PUBLISHED, Cell, SensitivitySweep

from .claims import Verdict
from .runs import PlannedExperiment

FEWER_SEEDS = "fewer seeds than elsewhere, and one seed alone turns it"
"""Reason why a sensitivity sweep of runs with fewer seeds does not count."""


@dataclass(frozen=True)
class Value:
    """A value of a choice.

    Attributes:
        name: The value in words.
        reading: Ending of the directories of its runs, or marks that change how runs are read; empty for the
            value behind all other numbers.
        options: Options that run it; empty where its runs are in the plan anyway.
    """

    name: str
    reading: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choice:
    """A modeling choice, and the values that it could have had, in order.

    Attributes:
        assumption: The choice, in words.
        exclusion: Why it does not count, where the paper does not leave it open: a key of `EXCLUSIONS`.
        values: All values; one of them is the value behind all other numbers.
        reruns: The directories of experiments that are run again with each value, with options of one each.
        options: Options of all these runs.
        claims: Claims that depend on it; by default all that are judged by rerun or differently read results.
        excluded_claims: Claims, among these, that it says nothing about.
        published_for: Claims for which it does not count, as other values contradict a published number.
        fewer_seeds: Whether its runs are in the plan, with fewer seeds than those behind all other numbers.
    """

    assumption: str
    values: tuple[Value, ...]
    exclusion: str = ""
    reruns: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    excluded_claims: tuple[str, ...] = ()
    published_for: tuple[str, ...] = ()
    fewer_seeds: bool = False

    def planned_experiments(self, plan: Sequence[PlannedExperiment]) -> Iterator[PlannedExperiment]:
        """The experiments that its values need, besides those of a plan."""
        plan_by_place = {planned.place: planned for planned in plan}
        for value in self.values:
            for place, *place_options in (line.split() for line in self.reruns if value.options):
                planned = plan_by_place[place]
                yield PlannedExperiment(
                    planned.experiment,
                    (*planned.options, *self.options, *place_options, *value.options),
                    f"{planned.suffix}{value.reading[0]}",
                    f"{planned.title or f'`{planned.experiment}`'}, {self.assumption}: {value.name}",
                )

    def moves(self, key: str) -> bool:
        """Whether its values set a key of the experiments."""
        return any(f"{key}=" in word for value in self.values for word in value.options)

    def for_claim(self, claim: str) -> Choice:
        """The choice as it counts for a claim."""
        return replace(self, exclusion=PUBLISHED) if claim in self.published_for else self

    def with_results(self, directory: Path) -> Choice:
        """The choice with those of its values whose runs are in a directory.

        Runs of a new value are missing until `make reproduce` makes them.
        """
        places = [line.split()[0] for line in self.reruns]
        values = tuple(
            value
            for value in self.values
            if not value.options or all((directory / f"{each}{value.reading[0]}").exists() for each in places)
        )
        return replace(self, values=values)

    def affects(self, claim: str, read_places: Iterable[str], directory: Path) -> bool:
        """Whether a value changes the results that the judge of a claim reads, given by their places."""
        if self.claims or claim in self.excluded_claims:
            return claim in self.claims
        endings = {each for value in self.values for each in value.reading}
        marks = {each for each in endings if not each.startswith("-")}
        if marks or self.reruns:
            return bool(marks) or not {line.split()[0] for line in self.reruns}.isdisjoint(read_places)
        return any((directory / f"{place}{ending}").exists() for place in read_places for ending in endings)

    def sweep(self, judge: Callable[[tuple[str, ...]], Verdict]) -> SensitivitySweep | None:
        """The sweep: outcome of a claim with each value; None if no number depends on the choice."""
        verdicts_by_value = [(value, judge(value.reading)) for value in self.values]
        if (
            not self.claims
            and len({(each.outcome, each.ours, each.tables) for _, each in verdicts_by_value}) == 1
        ):
            return None
        default_index = next(i for i, value in enumerate(self.values) if not value.reading)
        default_verdict = verdicts_by_value[default_index][1]
        cells = tuple(
            Cell(value.name, _cell_outcome(each, default_verdict), each.short)
            for value, each in verdicts_by_value
        )
        return SensitivitySweep(self.assumption, self.exclusion, default_index, cells)


def _cell_outcome(verdict: Verdict, default: Verdict) -> str:
    """The outcome; where fitted numbers make something else of a claim than by default, that."""
    is_turned = verdict.level and default.level and verdict.level != default.level
    return verdict.level if is_turned else verdict.outcome


def sensitivity_sweeps(
    choices: Sequence[Choice], judge: Callable[[tuple[str, ...]], Verdict]
) -> Iterator[SensitivitySweep]:
    """Yield the sensitivity sweeps of a claim.

    Where a single seed turns the claim, sweeps of runs with fewer seeds do not count.
    """
    choices_and_sweeps = [(choice, sweep) for choice in choices if (sweep := choice.sweep(judge))]
    depends_on_seed = any(sweep.flips for choice, sweep in choices_and_sweeps if choice.exclusion == CHANCE)
    for choice, sweep in choices_and_sweeps:
        has_fewer_seeds = bool(choice.reruns) or choice.fewer_seeds
        is_excluded = depends_on_seed and has_fewer_seeds and sweep.flips and not choice.exclusion
        yield replace(sweep, exclusion=FEWER_SEEDS) if is_excluded else sweep


@cache
def choices(topic: str) -> tuple[Choice, ...]:
    """The choices made for the claims of a topic."""
    file = Path(__file__).parent / topic / "sensitivity_sweeps.toml"
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["sweep"] if file.is_file() else []
    return tuple(_choice(**row) for row in rows)


def _choice(*, values: Sequence[dict[str, Any]], options: str = "", **row: Any) -> Choice:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
    }
    parsed_values = tuple(_value(**each) for each in values)
    return Choice(values=parsed_values, options=tuple(shlex.split(options)), **fields)


def _value(name: str, ending: str | Sequence[str] = (), options: str = "") -> Value:
    reading = (ending,) if isinstance(ending, str) else tuple(ending)
    return Value(name, reading, tuple(shlex.split(options)))
