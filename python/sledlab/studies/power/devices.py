"""The devices of a power study, side by side: the experiment of each, and the outcome by device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.study.outcome import Outcome
from sledlab.study.systems import with_system

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab._native import Experiment
    from sledlab.runs.compose import Device
    from sledlab.study.plan import Question


def device_bases(question: Question, devices: Mapping[str, Device]) -> dict[str, Experiment]:
    """The base experiment of the runs on each device or system, by its label.

    Raises:
        Error: A device does not exist or cannot be built.
    """
    bases = {name: with_system(question.base, device) for name, device in devices.items()}
    for base in bases.values():
        base.check(has_source=question.trace is not None)
    return bases


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

    def plot_options(self, where: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the device whose figure is drawn."""
        return {"device": where["device"]} if [*where] == ["device"] else super().plot_options(where)

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
