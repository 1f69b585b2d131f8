"""Checks of axes: seeds, and keys of an experiment that a study varies itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sledlab._native import Experiment


def seeds(config: Mapping[str, Any], count: Any) -> tuple[int, ...]:
    """`count` roots of random numbers, counting up from the seed of an experiment.

    Raises:
        Error: The count is no whole number above 0, or nothing in the experiment is random.
    """
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise Error(f"`{count}` is not a number of seeds", remedy="give a whole number, 1 or more")
    if count > 1 and "workload" not in config:
        raise Error(
            f"{count} seeds for a trace: nothing in it is random, so all would give the same",
            remedy="leave seeds out, or take a generated workload",
        )
    return tuple(range(config["seed"], config["seed"] + count))


def untouched(experiment: Experiment, keys: Iterable[str], instead: str) -> None:
    """Refuses an experiment that sets a key which the study itself varies.

    Raises:
        Error: The experiment sets one of `keys`; `instead` names the option to choose instead.
    """
    for key in keys:
        if experiment.setting(key) is not None:
            raise Error(
                f"`{key}` is set, which the study itself changes",
                remedy=f"leave it out; choose {instead} instead",
            )
