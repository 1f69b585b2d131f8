"""Facts about the experiment for the end of a page, as pairs of a name and a text."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from sledlab._native import __version__
from sledlab.show import model_names, wording

if TYPE_CHECKING:
    from collections.abc import Mapping


def common_facts(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the device, source, replay mode and warm-up that all runs have in common, and the version."""
    replay = config.get("replay", {})
    return [
        ("device", model_names.device_name(config)),
        *_source_facts(config),
        ("replay", str(replay.get("mode", "open"))),
        ("warm-up", f"{int(replay.get('warmup') or 0):,} operations"),
        ("version", f"sledlab {__version__}"),
    ]


def setting_facts(config: Mapping[str, Any], toml: str) -> list[tuple[str, str]]:
    """Return the limit, speed-up and further settings of a study.

    Args:
        config: The complete experiment that all runs have in common.
        toml: The study as a file.
    """
    replay, limit = config.get("replay", {}), int(config.get("replay", {}).get("limit") or 0)
    settings = [
        f"{table}.{key} = {value}"
        for table, values in tomllib.loads(toml).items()
        if isinstance(values, dict) and table not in EXCLUDED_SETTINGS
        for key, value in values.items()
        if f"{table}.{key}" not in EXCLUDED_SETTINGS
    ]
    return [
        ("limit", f"{limit:,} requests" if limit else ""),
        ("speed-up", f"{wording.speedup(config):g} times" if replay.get("speedup", 1) != 1 else ""),
        ("settings", ", ".join(settings)),
    ]


def requests_fact(facts: Mapping[str, Any]) -> tuple[str, str]:
    """Return the characteristics of the requests, from `sledlab.traces.facts.TraceFacts` as plain data."""
    return (
        "requests",
        f"{facts['requests']:,}, {wording.percent(facts['read_share'])} reads, "
        f"{wording.figure(facts['mean_kb'])} KB on average, "
        f"{wording.figure(facts['footprint_mb'])} MB touched, "
        f"{wording.percent(facts['sequential_share'])} sequential",
    )


EXCLUDED_SETTINGS = (
    *("study", "trace", "device.preset", "front.preset", "scheduler.kind", "workload.kind"),
    *(f"replay.{name}" for name in ("mode", "warmup", "limit", "speedup")),
)
"""Tables and keys that other facts show."""


def _source_facts(config: Any) -> list[tuple[str, str]]:
    trace, workload = config.get("trace") or {}, config.get("workload") or {}
    if trace.get("file"):
        return [("trace", str(trace["file"]))]
    if workload:
        return [("workload", str(workload.get("kind", "")))]
    return [("requests", "from Python")]
