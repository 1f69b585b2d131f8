"""Checks of axes: seeds, and keys of an experiment that a study varies itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.runs.parsing import whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sledlab._native import Experiment


def seeds(config: Mapping[str, Any], seed_values: Any) -> tuple[int, ...]:
    """Return the seeds of a study, each once.

    Args:
        config: The experiment that all runs share, complete.
        seed_values: One seed, several, or a text such as `1..10`; `None` for the seed of the experiment.

    Raises:
        Error: A value is no seed, or there are several and no result depends on the seed.

    Examples:
        >>> seeds({"seed": 7}, None), seeds({"seed": 7, "workload": {}}, "1..3")
        ((7,), (1, 2, 3))
    """
    seed_list = listed_seeds(config["seed"] if seed_values is None else seed_values)
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


def listed_seeds(seed_values: Any) -> tuple[int, ...]:
    """Return seeds as numbers, each once.

    Raises:
        Error: A value is no whole number of 0 or more, or there is none.
    """
    if isinstance(seed_values, str):
        seed_values = whole_numbers(seed_values)
    unique_seeds = tuple(
        dict.fromkeys(seed_values if isinstance(seed_values, (list, tuple, range)) else [seed_values])
    )
    for seed in unique_seeds or [seed_values]:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise Error(f"`{seed}` is not a seed", remedy="give whole numbers, 0 or more")
    return unique_seeds


def with_first_seed(experiment: Any, seed_values: Any) -> Any:
    """Return an experiment with the first of the given seeds; `None` changes nothing."""
    if seed_values is None:
        return experiment
    return experiment.with_setting("seed", str(listed_seeds(seed_values)[0]))


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
