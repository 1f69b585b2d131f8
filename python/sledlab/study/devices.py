"""Studies of several devices side by side: the requested devices, and the outcome of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.model.catalog import ModelChoice
from sledlab.model.choices import spell
from sledlab.study.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from sledlab._native import Experiment
    from sledlab.runs.compose import Device
    from sledlab.study.plan import Question


def given_devices(question: Question) -> tuple[list[Device], dict[str, Experiment]]:
    """The devices that a study compares, and the base experiment of the runs on each, by its name.

    Raises:
        Error: No device was given, one does not exist or cannot be built, or one was given twice.
    """
    requested = question.axis("device", question.device)
    if not requested:
        raise Error("no device was given", remedy="name one, such as mems-g2 (sledlab list device)")
    devices: list[Device] = (
        [requested] if isinstance(requested, (str, Path, ModelChoice)) else list(requested)
    )
    bases: dict[str, Experiment] = {}
    for device in devices:
        name = device_label(device)
        if name in bases:
            raise Error(f"the device `{name}` was given twice", remedy="omit one of them")
        bases[name] = question.with_device(device)
        bases[name].check(has_source=question.trace is not None)
    return devices, bases


def device_label(device: Device) -> str:
    """The name of a device in a study; of a file, without its directory.

    Examples:
        >>> device_label("mems-g2:active_tips=3200"), device_label("devices/mine.toml")
        ('mems-g2 active_tips=3200', 'mine')
    """
    word = spell(device) if isinstance(device, ModelChoice) else str(device)
    name, *parameters = word.split(":")
    return " ".join([Path(name).stem if name.endswith(".toml") else name, *parameters])


class DeviceOutcome(Outcome):
    """The outcome of a study of devices; each row of its tables names its device."""

    @property
    def devices(self) -> list[str]:
        """Names of the devices."""
        return list(self.axes["device"])

    def device_rows(self, name: str, device: str) -> list[Any]:
        """The rows of one device in a table."""
        rows: Sequence[Any] = self.rows[name]
        return [row for row in rows if row.device == device]

    def plot(self, section: str = "states", *, device: str | None = None, width: str | None = None) -> Figure:
        """Draw a section for one of the devices.

        Args:
            section: Name of the section.
            device: Name of the device; by default the first.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Raises:
            Error: There is no such section or device.
        """
        device = self.devices[0] if device is None else device
        if device not in self.devices:
            raise Error(
                f"unknown device `{device}` in this study", remedy=f"available: {', '.join(self.devices)}"
            )
        return self._draw(section, device=device, width=width)
