"""What devices are made of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sledlab import _native


def describe(experiment: _native.Experiment) -> dict[str, Any]:
    """Every parameter of the device of an experiment, and `capacity_blocks`."""
    found: dict[str, Any] = json.loads(experiment.describe_device())
    return found
