"""Checks of axes: seeds, and keys of an experiment that a study varies itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from sledlab._native import Experiment

AXES_BY_KEY = {"scheduler.kind": "scheduler", "replay.speedup": "speedup", "seed": "seed"}
"""Axes that studies have for a key; `vary` is the axis of others."""


def seeds(config: Mapping[str, Any], given_seeds: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return the seeds of a study: those given, or the one of the experiment.

    Args:
        config: The experiment that all runs share, complete.
        given_seeds: Values of the axis `seed`, or `None`.

    Raises:
        Error: There are several seeds, and no result depends on the seed.

    Examples:
        >>> seeds({"seed": 7}, None), seeds({"seed": 7, "workload": {}}, (1, 2, 3))
        ((7,), (1, 2, 3))
    """
    seed_list = (config["seed"],) if given_seeds is None else given_seeds
    if len(seed_list) > 1 and not depends_on_seed(config):
        raise Error(
            f"{len(seed_list)} seeds for a trace, of which no result depends on the seed: all would be the "
            "same",
            remedy="omit seed, take a generated workload, or set replay.last_block=random",
        )
    return seed_list


def depends_on_seed(config: Mapping[str, Any]) -> bool:
    """Return whether results of an experiment depend on its seed: requests are generated, or random in part.

    Examples:
        >>> [depends_on_seed({"replay": {"last_block": each}}) for each in ("given", "random")]
        [False, True]
    """
    return "workload" in config or config.get("replay", {}).get("last_block") == "random"


def check_unset(experiment: Experiment, keys: Iterable[str], alternative: str) -> None:
    """Refuse an experiment that sets a key which the study itself varies.

    Raises:
        Error: The experiment sets one of `keys`; `alternative` names the option to choose instead.
    """
    for key in keys:
        if experiment.setting(key) is not None:
            raise Error(
                f"`{key}` is set, but it is an axis of the study",
                remedy=f"omit it; choose {alternative} instead",
            )


def check_not_varied(
    given_settings: Mapping[str, str],
    settings_of_runs: Sequence[Mapping[str, str]],
    axes: Mapping[str, Any],
    chosen_axes: Container[str],
) -> None:
    """Refuse what a user set where every run sets it, and not all of them to this value.

    Args:
        given_settings: Values that the user set, by key.
        settings_of_runs: Settings of each run.
        axes: Values of the study's axes.
        chosen_axes: Axes that the user chose. Values that vary in the file of a study are not the user's.

    Raises:
        Error: A setting has no effect; the remedy names the option that has.
    """
    for key, value in given_settings.items():
        axis = AXES_BY_KEY.get(key, "vary")
        values_in_runs = {settings.get(key) for settings in settings_of_runs}
        is_chosen = axis == "vary" and axis in chosen_axes
        if axes.get(axis) and not is_chosen and None not in values_in_runs and values_in_runs != {value}:
            choice = f"--vary {key}={value}" if axis == "vary" else f"--{axis} {value}"
            raise Error(
                f"`{key}` is set, but it is an axis of the study",
                remedy=f"omit it; give {choice} instead",
            )
