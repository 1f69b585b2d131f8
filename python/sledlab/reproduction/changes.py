"""What a user changes in the experiments of a figure: the device, settings and schedulers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.reproduction.assumption import DEFAULT, OLD, STUDY, changed_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.reproduction.figure import Figure, FigurePanel, FigureRun


@dataclass(frozen=True)
class Changes:
    """Differences from the published experiments.

    Attributes:
        device: Name or file of a device to use instead of the paper's; empty for the paper's.
        settings: Values by key of the experiment, such as `device.startup_ms`.
        schedulers: Schedulers to compare instead of the paper's; empty for the paper's.
        assumptions: The set of assumptions: `default`, `old` or a file.
    """

    device: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    schedulers: tuple[str, ...] = ()
    assumptions: str = DEFAULT

    def __bool__(self) -> bool:
        """Return whether anything is changed."""
        return bool(self.device or self.settings or self.schedulers or self.assumptions != DEFAULT)

    @property
    def device_name(self) -> str:
        """The name of the device, for texts."""
        return Path(self.device).stem if self.device else ""

    def options(self, run: FigureRun, study: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a study that make the changes.

        Args:
            run: The run of the figure.
            study: The table `[study]` of the experiment.

        Raises:
            Error: The experiment compares no schedulers, or varies a key that is set.
        """
        options = self._assumed_options(run, study)
        options |= self._device_options(run, study) if self.device and run.own else {}
        if self.schedulers:
            if "scheduler" not in study:
                raise Error(f"{run.experiment} does not compare schedulers")
            options["scheduler"] = list(self.schedulers)
        if self.settings:
            varied_key = next((key for key in self.settings if key in study.get("vary", {})), None)
            if varied_key:
                raise Error(f"{run.experiment} varies `{varied_key}`, so the key cannot be set")
            options["settings"] = {
                **run.options.get("settings", {}),
                **options.get("settings", {}),
                **self.settings,
            }
        return options

    def _assumed_options(self, run: FigureRun, study: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that make other assumptions; what an experiment varies stays as it is."""
        paper = run.experiment.partition("-")[0]
        values = changed_values(paper, run.place, self.assumptions)
        options = {key.removeprefix(STUDY): value for key, value in values.items() if key.startswith(STUDY)}
        settings = {
            key: value
            for key, value in values.items()
            if not key.startswith(STUDY) and key not in study.get("vary", {})
        }
        return options | ({"settings": {**run.options.get("settings", {}), **settings}} if settings else {})

    def _device_options(self, run: FigureRun, study: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that put the device into a run, in its role."""
        if run.own == "devices":
            return {"device": [*study["device"], self.device]}
        if run.own == "sets":
            key, sets = next(iter(study["vary"].items()))
            return {"vary": {key: {name: self._replace_device(settings) for name, settings in sets.items()}}}
        return {run.own: self.device}

    def _replace_device(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """A set of settings with the device in the place of its MEMS."""
        device_setting = {"device.preset": self.device} if "device.preset" in settings else {}
        return {
            **settings,
            **device_setting,
            **({"front.preset": self.device} if "hybrid.kind" in settings else {}),
        }

    def figure(self, figure: Figure) -> Figure:
        """Return the figure with names for the device or the schedulers among its series.

        Raises:
            Error: The figure shows one scheduler, and there are several.
        """
        return replace(figure, panels=tuple(self._change_panel(figure, panel) for panel in figure.panels))

    def _change_panel(self, figure: Figure, panel: FigurePanel) -> FigurePanel:
        names_by_value = dict(panel.names)
        if names_by_value and self.device and any(run.own == "devices" for run in figure.runs):
            names_by_value[self.device_name] = self.device_name
        where = dict(panel.where)
        if self.schedulers and "scheduler" in (panel.series, panel.x):
            names_by_value = {name: names_by_value.get(name, name.upper()) for name in self.schedulers}
        elif self.schedulers:
            if len(self.schedulers) > 1:
                raise Error(f"{figure.name} shows one scheduler", remedy="choose one")
            where["scheduler"] = self.schedulers[0]
        return replace(panel, names=names_by_value, where=where)

    def sentences(self, figure: Figure | None = None) -> list[str]:
        """Return sentences that tell a run with these changes from the published experiment.

        Args:
            figure: The figure that is drawn, if any.
        """
        texts = []
        if self.device and figure and any(run.own == "devices" for run in figure.runs):
            texts.append(f"This run also has the device {self.device_name}.")
        elif self.device:
            texts.append(
                f"This run is on the device {self.device_name}; "
                "published values are on the device of the paper."
            )
        if self.assumptions == OLD:
            texts.append("This run has the assumptions before each paper had one set.")
        elif self.assumptions != DEFAULT:
            texts.append(f"This run has the assumptions of `{self.assumptions}`.")
        if self.settings:
            settings_text = ", ".join(f"{key} = {value}" for key, value in self.settings.items())
            texts.append(f"Changed in this run: {settings_text}. Published values are without the change.")
        if self.schedulers:
            texts.append(f"This run compares other schedulers than the paper: {', '.join(self.schedulers)}.")
        return texts
