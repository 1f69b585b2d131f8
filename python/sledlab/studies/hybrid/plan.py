"""The plan of a hybrid study: for each section, the stores with their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.studies.stores.configurations import (
    ALL,
    CONFIGURATIONS,
    DISK,
    DISK_RAM,
    MEMS,
    MIRROR,
    SEGMENTS_KB,
)
from sledlab.studies.stores.plan import Stores, StoresPlan, memory
from sledlab.study.plan import Case, Question, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledlab.study.plan import Settings

DEFAULT_CONFIGURATIONS = tuple(name for name in CONFIGURATIONS if name != MIRROR)
"""All configurations but the mirror, by default."""

SIZES_MB = (64.0, 128.0, 256.0, 512.0, 3072.0)
"""Sizes of MEMS to sweep, by default, in 2^20 bytes."""

RATIOS = tuple(float(ratio) for ratio in range(1, 11))
"""Ratios of the price of non-volatile memory to that of MEMS, by default."""

DEFAULT_MEMS_MB = 256.0
"""MEMS of the configurations by default, in 2^20 bytes: 3 % of the disk of Wang 2005."""


def plan(question: Question) -> StoresPlan:
    """Check all that can be checked before the first run, and fill in defaults.

    Raises:
        Error: An option is invalid.
    """
    stores = Stores.from_question(question)
    axes: dict[str, Any] = {
        "configuration": DEFAULT_CONFIGURATIONS,
        "mems_mb": SIZES_MB,
        "segment_kb": SEGMENTS_KB,
        "price_ratio": RATIOS,
        "replacement": ("lru",),
        "at_mb": DEFAULT_MEMS_MB,
        "at_segment_kb": segment_kb(stores.facts.mean_kb),
        **question.axes,
    }
    axes["configuration"] = stores.with_baselines(axes["configuration"])
    axes["seed"] = question.seeds(plain(stores.bases[DISK].to_toml()))
    return stores.plan(list(_cases(stores, axes)), axes["seed"], axes)


def _cases(stores: Stores, axes: Mapping[str, Any]) -> Iterator[Case]:
    """Yield all rows of all sections."""
    at_mb, at_kb, default_policy = axes["at_mb"], axes["at_segment_kb"], axes["replacement"][0]

    def case(section: str, name: str, settings: Settings, **labels: Any) -> Case:
        base = MEMS if name == MEMS else DISK
        return Case(section, tuple({"configuration": name, **labels}.items()), base, settings)

    for name in axes["configuration"]:
        store_settings = stores.settings(name, at_mb, at_kb, default_policy)
        label = stores.front_label if name == MEMS else CONFIGURATIONS[name].label
        yield case("configurations", name, store_settings, label=label)
    for mb in axes["mems_mb"]:
        for kb in axes["segment_kb"]:
            yield case("sizes", ALL, stores.settings(ALL, mb, kb, default_policy), mems_mb=mb, segment_kb=kb)
    if len(axes["replacement"]) > 1:
        for policy in axes["replacement"]:
            yield case("replacement", ALL, stores.settings(ALL, at_mb, at_kb, policy), policy=policy)
    if axes["price_ratio"]:
        yield case("prices", ALL, stores.settings(ALL, at_mb, at_kb, default_policy))
    for ratio in axes["price_ratio"]:
        yield case("prices", DISK_RAM, memory(at_mb / ratio), ratio=ratio, memory_mb=at_mb / ratio)


def segment_kb(mean_kb: float) -> int:
    """Return the first power of two that fits a mean request, from 4 to 256 KB (Wang 2005, section 6.1).

    Examples:
        >>> [segment_kb(kb) for kb in (0.5, 8, 8.1, 900)]
        [4, 8, 16, 256]
    """
    return next((size for size in SEGMENTS_KB if size >= mean_kb), SEGMENTS_KB[-1])
