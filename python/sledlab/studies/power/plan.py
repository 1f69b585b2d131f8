"""The plan of a power study: each device with every timeout, under every policy, at every load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.model.catalog import power, with_settings
from sledlab.model.choices import numbers
from sledlab.model.device import describe
from sledlab.studies.power.devices import device_bases
from sledlab.studies.power.options import IMMEDIATE, NEVER, OWN, STRATEGIES, TIMEOUTS_MS
from sledlab.study.axes import check_unset
from sledlab.study.plan import Case, Plan, Question, check_source, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from sledlab._native import Experiment
    from sledlab.study.plan import Settings

STARTUP_FACTORS = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Start-up times to sweep, by default, as multiples of the device's own."""

LOADS = (1.0, 2.0, 5.0, 10.0)
"""Speed-ups of an open replay, by default."""

DEFAULTS: Mapping[str, Any] = {
    "device": None,
    "power": None,
    "timeout_ms": TIMEOUTS_MS,
    "startup_ms": None,
    "load": None,
    "strategy": None,
    "battery_wh": 10.0,
}
"""Values of axes, in the order of study files; `None` where other axes or the device decide."""


def plan(question: Question) -> Plan:
    """Check all that can be checked before the first run, and fill in defaults.

    Raises:
        Error: An option is invalid.
    """
    check_unset(question.base, ("power.kind", "merge.kind"), "power and strategy")
    devices = question.models("device")
    bases = device_bases(question, devices)
    for name, base in bases.items():
        if startup(base) is None:
            raise Error(
                f"the device `{name}` never parks, so there is nothing to study",
                remedy="choose a sled or a disk, such as mems-g2 or mobile-disk",
            )
    check_source(question.base, question.trace)
    first = plain(next(iter(bases.values())).to_toml())
    pace = float(first["replay"]["speedup"])
    has_source = question.trace is not None
    refusals = {
        name: {each: _refusal(base, each, has_source=has_source) for each in STRATEGIES}
        for name, base in bases.items()
    }
    axes = {**DEFAULTS, "power": tuple(power), **question.axes, "device": list(devices.values())}
    axes["load"] = _loads(axes["load"], str(first["replay"]["mode"]))
    axes["strategy"] = _strategies(axes["strategy"], refusals.values())
    axes["seed"] = question.seeds(first)
    cases = [case for name in bases for case in _cases(name, bases[name], axes, pace, refusals[name])]
    return Plan(bases, question.trace, cases, axes["seed"], axes, counts_idle_periods=True)


def _cases(
    device: str, base: Experiment, axes: Mapping[str, Any], pace: float, refusals: Mapping[str, str | None]
) -> Iterator[Case]:
    """All rows of all sections of a device."""

    def case(section: str, settings: Settings, **labels: Any) -> Case:
        load = labels.get("load", pace)
        speedup_settings = () if load == pace else (("replay.speedup", repr(load)),)
        return Case(section, tuple(labels.items()), device, (*settings, *speedup_settings), load)

    def policy(word: str) -> Settings:
        return (("power.kind", word),)

    yield case("idle_periods", policy(NEVER))
    for word in (OWN, IMMEDIATE):
        yield case("request_energy", policy(word), policy=word)
    for timeout_ms in axes["timeout_ms"]:
        yield case("timeouts", policy(f"fixed:timeout_ms={timeout_ms!r}"), timeout_ms=timeout_ms)
    key, own_time_ms = startup(base) or ("", 0.0)
    own_times_ms = numbers("start-up time", [factor * own_time_ms for factor in STARTUP_FACTORS])
    for each_ms in own_times_ms if axes["startup_ms"] is None else axes["startup_ms"]:
        yield case("startup", (*policy(IMMEDIATE), (key, repr(each_ms))), time_per_startup_ms=each_ms)
    for word in axes["power"]:
        yield case("policies", policy(word), policy=word)
    supported = [each for each in axes["strategy"] if refusals[each] is None]
    for load in axes["load"]:
        for word in (OWN, IMMEDIATE):
            yield case("loads", policy(word), policy=word, load=load)
        for each in supported:
            yield case("strategies", _settings(each, refusals), strategy=each, load=load)


def startup(base: Experiment) -> tuple[str, float] | None:
    """The key of a device's start-up time, and that time in ms; None for a device that does not park."""
    facts = describe(base)
    name = "off_startup_ms" if facts.get("idle_state") == "off" else "startup_ms"
    return (f"device.{name}", float(facts[name])) if name in facts else None


def _loads(loads: tuple[float, ...] | None, mode: str) -> tuple[float, ...]:
    """The loads; a closed replay has one, and without a think time the device is never idle."""
    is_closed = mode.startswith("closed")
    if is_closed and (mode.count(":") < 2 or mode.rpartition(":")[2].rstrip("mnsu").strip("0.") == ""):
        raise Error(
            f"replay `{mode}` keeps the device busy without idle periods, so there is nothing to decide",
            remedy="replay open, or with a think time, such as closed:1:20ms",
        )
    if is_closed and loads not in (None, (1.0,)):
        raise Error(
            "a closed replay has no load to vary: the next request waits for the last one",
            remedy="omit the loads, or vary the think time",
        )
    return loads or ((1.0,) if is_closed else LOADS)


def _strategies(
    requested: tuple[str, ...] | None, refusals: Collection[Mapping[str, str | None]]
) -> tuple[str, ...]:
    """The requested strategies, or all that a device supports, after the base.

    Raises:
        Error: No device supports a requested strategy.
    """
    chosen = {"base": None}
    for word in STRATEGIES if requested is None else requested:
        reasons = [each[word] for each in refusals]
        if not all(reasons):
            chosen[word] = None
        elif requested is not None:
            raise Error(f"strategy `{word}`: {reasons[0]}", remedy="omit it, or choose another device")
    return tuple(chosen)


def _refusal(base: Experiment, strategy: str, *, has_source: bool) -> str | None:
    """Why a device cannot follow a strategy: it lacks the switch, or refuses the combination."""
    try:
        with_settings(base, {"power.kind": OWN, **STRATEGIES[strategy]}).check(has_source=has_source)
    except Error as error:
        return error.message
    return None


def _settings(strategy: str, refusals: Mapping[str, str | None]) -> Settings:
    """The settings of a strategy; for `all`, those of all strategies that the device knows."""
    settings = {"power.kind": OWN}
    for each in STRATEGIES if strategy == "all" else [strategy]:
        if refusals[each] is None:
            settings |= STRATEGIES[each]
    return tuple(settings.items())
