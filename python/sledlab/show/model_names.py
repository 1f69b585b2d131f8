"""Names of devices, networks, traces, schedulers, policies and settings in texts and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab._native import is_plugin
from sledlab.show.ticks import tick_text
from sledlab.traces.samples import trace_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

MODEL_COLUMNS = ("device", "policy")
"""Columns that name models with their parameters, such as `share:eta=2`."""


def model_label(word: str) -> str:
    """Return a model as displayed: its name followed by its parameters.

    Examples:
        >>> model_label("share:eta=2:alpha=0.1")
        'share eta=2 alpha=0.1'
    """
    return word.replace(":", " ")


def device_name(config: Mapping[str, Any]) -> str:
    """Return the name of the device in sentences; for a hybrid, its devices and its kind."""
    name = _name(config.get("device", {}))
    if not is_hybrid(config):
        return name
    return f"{name} with {_name(config.get('front', {}))} ({config['hybrid']['kind']})"


def is_hybrid(config: Mapping[str, Any]) -> bool:
    """Return whether an experiment has a hybrid of two devices."""
    return bool(config.get("hybrid", {}).get("kind", "none") != "none")


def network_name(config: Mapping[str, Any]) -> str:
    """Return the name of the network in sentences; its model where a file describes it without a name.

    Examples:
        >>> network_name({"network": {"kind": "switch", "name": "lab"}})
        'lab'
        >>> network_name({"network": {"kind": "hub"}})
        'hub'
    """
    return _name(config.get("network", {}), "the network")


def network_description(config: Mapping[str, Any]) -> str:
    """Return the name and the description of the network; a network need not have a description."""
    return ": ".join(filter(None, (network_name(config), config["network"].get("description"))))


def node_description(node: Mapping[str, Any]) -> str:
    """Return the description of a node; the name of its file if that has none."""
    return str(node.get("description") or node.get("name", ""))


def _name(model: Mapping[str, Any], unknown: str = "the device") -> str:
    return str(model.get("name") or model.get("preset") or model.get("kind") or unknown)


def source_name(config: Mapping[str, Any]) -> str:
    """Return the name of the trace or workload in sentences."""
    trace = config.get("trace")
    if trace and trace.get("file"):
        return trace_label(str(trace["file"]))
    workload = config.get("workload")
    if workload:
        return str(workload.get("kind", "workload"))
    return "requests from Python"


def title(config: Mapping[str, Any]) -> str:
    """Return a heading for a run: the names of its source and its device."""
    return f"{source_name(config)} on {device_name(config)}"


def scheduler_name(config: Mapping[str, Any]) -> str:
    """Return the display name of the scheduler."""
    return label(str(config.get("scheduler", {}).get("kind", "fcfs")))


def label(word: str) -> str:
    """Return a scheduler or policy as displayed: in capitals, a class by its name.

    Examples:
        >>> [label(word) for word in ("c-scan", "zsptf:grid=40x4", "my.policies:Elevator:up=1")]
        ['C-SCAN', 'ZSPTF grid=40x4', 'Elevator up=1']
    """
    name, _, parameters = word.partition(":")
    return (
        parameters.replace(":", " ")
        if is_plugin(word)
        else f"{name.upper()} {parameters.replace(':', ' ')}".rstrip()
    )


def setting_value(key: str, value: Any) -> str:
    """Return the value of a setting, or of a column that names models, as tables and figures display it.

    Examples:
        >>> setting_value("device.active_tips", 1280), setting_value("device.spring_factor", 0.4)
        ('1,280', '0.4')
        >>> setting_value("scheduler", "edf20:Deadline"), setting_value("policy", "fixed:timeout_ms=10")
        ('Deadline', 'fixed timeout_ms=10')
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return tick_text(value)
    text = str(value)
    return label(text) if key == "scheduler" else model_label(text) if key in MODEL_COLUMNS else text


def settings_text(settings: Iterable[tuple[str, Any]]) -> str:
    """Return settings with their values, as in `device.sleds = 4, scheduler = SPTF`."""
    return ", ".join(f"{key} = {setting_value(key, value)}" for key, value in settings)


def power_name(config: Mapping[str, Any]) -> str:
    """When the device parks, with the parameters that decide it.

    Examples:
        >>> power_name({"power": {"kind": "fixed", "timeout_ms": 10.0}}), power_name({})
        ('fixed, timeout_ms 10', '')
    """
    power = dict(config.get("power", {}))
    kind = str(power.pop("kind", ""))
    return ", ".join([kind, *(f"{key} {value:g}" for key, value in power.items())])
