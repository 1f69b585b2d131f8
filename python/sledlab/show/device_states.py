"""States of devices: the five of the energy ledger, and their names in text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.model.device import resolve_kind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from sledlab.model.entries import DeviceKind

STATES = ("seek", "access", "idle", "inactive", "startup")
"""The five states of the energy ledger, as the summary names them."""

STATE_NAMES = {"startup": "start-up"}
"""Names of states in text, where they differ from the keys of the summary."""


def device_kind(config: Mapping[str, Any]) -> DeviceKind:
    """Return the kind of the device of an experiment.

    Examples:
        >>> device_kind({"device": {"kind": "disk"}}).parts
        {'seek': 'seek_x', 'settle': 'settle', 'rotation': 'rotation'}
    """
    return resolve_kind(config["device"])


def state_name(state: str, config: Mapping[str, Any]) -> str:
    """Return the display name of a device state: an inactive disk is in `sleep` or `off`, for example.

    Examples:
        >>> disk = {"device": {"kind": "disk", "idle_state": "sleep"}}
        >>> [state_name(state, disk) for state in ("idle", "inactive", "startup")]
        ['idle', 'sleep', 'start-up']
    """
    if state == "inactive" and (parameter := device_kind(config).inactive_parameter):
        return str(config["device"].get(parameter, state))
    return STATE_NAMES.get(state, state)


def state_descriptions(config: Mapping[str, Any]) -> str:
    """Return sentences on what the device does in each power state."""
    kind, parked_state = device_kind(config), state_name("inactive", config)
    return f"{kind.active_text} {parked_state.capitalize()}: {kind.inactive_texts[parked_state]}"
