"""Twenty systems for comparing browser and native core: all kinds of devices, systems and generators."""

from __future__ import annotations

REQUESTS = 100_000

_SYSTEMS = {
    "mems-fcfs": ("mems-g1", "uniform:mean_interarrival_ms=1.2", {"scheduler.kind": "fcfs"}),
    "mems-sptf": ("mems-g2", "uniform:mean_interarrival_ms=0.6", {"scheduler.kind": "sptf"}),
    "mems-sptf-piecewise": (
        "mems-g3",
        "exponential:mean_interarrival_ms=0.6",
        {"scheduler.kind": "sptf", "device.kinematics": "piecewise"},
    ),
    # A power of waiting times for every candidate.
    "mems-p-alpha": ("mems-g2", "uniform:mean_interarrival_ms=0.6", {"scheduler.kind": "p-alpha"}),
    "mems-pa-sptf": ("mems-g2", "volume", {"scheduler.kind": "pa-sptf", "replay.speedup": 20.0}),
    "mems-wstf": ("mems-g2", "small:mean_interarrival_ms=0.7", {"scheduler.kind": "wstf"}),
    "mems-zones": ("mems-g2", "uniform:mean_interarrival_ms=0.6", {"scheduler.kind": "zsptf-pyramid"}),
    "mems-disksim": ("mems-g2-disksim", "mems-check", {"scheduler.kind": "c-scan"}),
    # Weights that are exponentials of losses.
    "mems-share": ("mems-g2", "hplajw", {"power.kind": "share"}),
    "mems-adaptive": ("mems-g2", "snake", {"power.kind": "adaptive"}),
    "mems-chains": (
        "mems-g2",
        "small-and-streams",
        {"merge.kind": "chains", "scheduler.kind": "sptf", "replay.mode": "closed:8"},
    ),
    "mems-raid5": (
        "mems-g2",
        "volume",
        {"system.kind": "raid5", "system.devices": 5, "scheduler.kind": "sptf", "replay.speedup": 20.0},
    ),
    "mems-cached": (
        "mems-g2",
        "tpcc",
        {"cache.kind": "write-back", "cache.capacity_blocks": 8192, "scheduler.kind": "asptf"},
    ),
    "disk-sptf": ("atlas-10k", "disk-check", {"scheduler.kind": "sptf"}),
    "disk-cello": ("cheetah-9lp", "cello", {"scheduler.kind": "c-scan"}),
    "disk-stripe": (
        "hp-c2490a",
        "tpcd",
        {"system.kind": "stripe", "system.devices": 4, "scheduler.kind": "sstf", "replay.outside": "wrap"},
    ),
    "caching-disk": ("atlas-10k", "hplajw", {"hybrid.kind": "caching-disk", "replay.outside": "wrap"}),
    "write-buffer": ("atlas-10k", "snake", {"hybrid.kind": "write-buffer", "replay.outside": "wrap"}),
    "flash": ("ssd-tlc", "uniform:mean_interarrival_ms=0.3", {"scheduler.kind": "fcfs"}),
    "memory": ("ram", "exponential:mean_interarrival_ms=0.1", {"replay.outside": "wrap"}),
}


def _toml_value(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


def _text(device: str, workload: str, keys: dict[str, object]) -> str:
    tables: dict[str, dict[str, object]] = {
        "device": {"preset": device},
        "workload": {"requests": REQUESTS},
        "replay": {"limit": REQUESTS},
    }
    kind, *arguments = workload.split(":")
    tables["workload"] |= {
        "kind": kind,
        **{key: float(value) for key, _, value in (argument.partition("=") for argument in arguments)},
    }
    for key, value in keys.items():
        table, _, name = key.partition(".")
        tables.setdefault(table, {})[name] = value
    lines = ["seed = 7"]
    for table, values in tables.items():
        lines.append(f"[{table}]")
        lines.extend(f"{name} = {_toml_value(value)}" for name, value in values.items())
    return "\n".join(lines) + "\n"


SYSTEMS = {name: _text(*system) for name, system in _SYSTEMS.items()}
"""Experiments as TOML, by name."""
