"""The options of a power study."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from sledlab.model.choices import models, numbers, parse_words, positive_number
from sledlab.runs.options import (
    Devices,
    ModelList,
    Numbers,
    Option,
    SchedulerOptions,
    SpeedupOptions,
    StudyOptions,
    SystemOptions,
)
from sledlab.runs.parsing import words
from sledlab.runs.systems import parse_systems

if TYPE_CHECKING:
    from collections.abc import Mapping

TIMEOUTS_MS = (0.0, 1.0, 2.0, 5.0, 10.0, 40.0, 100.0, 1000.0, 10_000.0, 100_000.0)
"""Idle timeouts to sweep, by default: from those that matter to a sled to those of a disk."""

OWN, IMMEDIATE, NEVER = "fixed", "immediate", "never"
"""Policies of the device's own timeout, and of the two extremes: parking at once and never."""

STRATEGIES: Mapping[str, Mapping[str, str]] = {
    "base": {},
    "immediate": {"power.kind": IMMEDIATE},
    "merging": {"merge.kind": "chains"},
    "subsector": {"device.subsector_access": "true"},
    "all": {},
}
"""Strategies that save energy, with the settings of each; `all` is all of them together."""


def parse_words_or_all(text: str) -> list[str] | str:
    """Return the words between commas, or the word `all` by itself."""
    return text if text == "all" else words(text)


def parse_strategies(value: Any) -> tuple[str, ...] | None:
    """Return strategies by name, each once; `None` for the word `all`, every one that a device supports.

    Raises:
        Error: No strategy has the name.
    """
    return None if value == "all" else parse_words("strategy", "strategies", value, STRATEGIES)


class PowerOptions(StudyOptions, SchedulerOptions, SystemOptions, SpeedupOptions, total=False):
    """The options of a power study, without its devices."""

    power: Annotated[
        ModelList,
        Option("Power policies (sledlab list power)", "A,B|all", "all", parse=partial(models, "power")),
    ]
    timeout_ms: Annotated[
        Numbers,
        Option(
            "Idle timeouts, in ms",
            "MS,MS",
            "0 to 100,000",
            flag="timeout",
            parse=partial(numbers, "timeout"),
        ),
    ]
    startup_ms: Annotated[
        Numbers,
        Option(
            "Start-up times, in ms",
            "MS,MS",
            "0 to 4 × device's",
            flag="startup",
            parse=partial(numbers, "start-up time"),
        ),
    ]
    load: Annotated[
        Numbers,
        Option(
            "Loads, as speed-ups",
            "S,S",
            "1,2,5,10; 1 if closed",
            parse=partial(numbers, "load", above=True),
        ),
    ]
    strategy: Annotated[
        ModelList,
        Option(
            "Strategies that save energy",
            "A,B|all",
            "all",
            read=parse_words_or_all,
            parse=parse_strategies,
        ),
    ]
    battery_wh: Annotated[
        float,
        Option("Battery capacity, in Wh", "WH", "10", parse=partial(positive_number, "charge in Wh")),
    ]


class PowerArguments(PowerOptions, total=False):
    """All arguments of a power study: its options, and the devices."""

    device: Annotated[
        Devices,
        Option(
            "Devices, systems (disk+flash:8GB) or experiments.",
            "NAME|FILE,..",
            parse=parse_systems,
        ),
    ]
