"""What a power study found out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import outcomes
from sledlab.power_studies.tables import Row, fits, tables
from sledlab.wording import STATES, state_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars
    from matplotlib.figure import Figure

    from sledlab.power_studies.plan import Plan, Point


@dataclass(frozen=True, repr=False)
class PowerStudy:
    """Where the energy of some devices goes on a workload, and what would save some.

    Energies are in J, times in ms and states in s unless a name says otherwise. Displays itself in a
    notebook, and prints as the text of `sledlab power`.

    Attributes:
        rows: Every table as plain rows, by name.
        config: What all runs have in common, as plain data, with the first device.
        study: What was swept, as plain data.

    Example:
        >>> import sledlab as sl
        >>> sparse = sl.workload("uniform", mean_interarrival_ms=20)
        >>> study = sl.power_study(sparse, "mems-g2", limit=300, loads=[1], jobs=1)
        >>> [round(fit["slope"], 1) for fit in study.fits]  # ms of response per ms of start-up
        [1.0]
        >>> study.plot("policies").axes[0].get_xlabel()
        'energy (J)'
    """

    rows: Mapping[str, list[Row]] = field(repr=False)
    config: Mapping[str, Any] = field(repr=False)
    study: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, plan: Plan, found: Mapping[Point, Mapping[str, Row]]) -> PowerStudy:
        """The study of the points found, each with its `row`."""
        from sledlab.comparison.plan import plain

        configs = {name: plain(base.to_toml()) for name, base in plan.bases.items()}
        said = {
            "devices": list(plan.bases),
            "policies": list(plan.policies),
            "timeouts_ms": list(plan.timeouts_ms),
            "startups_ms": {name: list(values) for name, values in plan.startups_ms.items()},
            "loads": list(plan.loads),
            "pace": plan.pace,
            "strategies": {name: list(values) for name, values in plan.strategies.items()},
            "battery_wh": plan.battery_wh,
            "seeds": list(plan.seeds),
            "scheduler": plan.scheduler,
            "own_timeout_ms": {name: config["power"]["timeout_ms"] for name, config in configs.items()},
            "state_names": {
                name: {state: state_name(state, config) for state in STATES}
                for name, config in configs.items()
            },
        }
        return cls(
            rows=tables(plan, {point: each["row"] for point, each in found.items()}),
            config=next(iter(configs.values())),
            study=said,
        )

    @property
    def devices(self) -> list[str]:
        """What the devices are called."""
        return list(self.study["devices"])

    @cached_property
    def tables(self) -> dict[str, polars.DataFrame]:
        """A frame for each section.

        `states`, `request_energy`, `break_even`, `timeouts`, `startup`, `loads`, `policies`,
        `strategies` and `battery`.
        """
        return outcomes.frames(self.rows)

    @cached_property
    def fits(self) -> list[Row]:
        """For each device, `slope`, `intercept_ms` and `r2` of the mean response over the start-up time."""
        return fits(self.rows["startup"])

    def of_device(self, name: str, device: str) -> list[Row]:
        """The rows of one device in a table."""
        return [row for row in self.rows[name] if row["device"] == device]

    def state_names(self, device: str) -> Mapping[str, str]:
        """What people call the states of a device: a parked disk sleeps or is off."""
        names: Mapping[str, str] = self.study["state_names"][device]
        return names

    def under(self, device: str, policy: str) -> Row:
        """What a device did at the study's pace under `fixed`, its own timeout, or `immediate`."""
        return next(row for row in self.of_device("request_energy", device) if row["policy"] == policy)

    def plot(self, section: str = "policies", *, device: str | None = None) -> Figure:
        """Draws a section for one of the devices.

        Args:
            section: `states`, `timeouts`, `startup`, `loads`, `policies`, `strategies` or `battery`.
            device: Which device; the first unless given.

        Raises:
            Error: There is no such section or device.
        """
        from sledlab.power_studies import figures

        return figures.draw(self, section, device)

    def report(self, path: str | Path) -> Path:
        """Writes a self-contained HTML page about the study to `path` and returns the path."""
        from sledlab import report

        return report.write_power_study(self, Path(path))

    def write(self, directory: str | Path) -> None:
        """Writes all tables, the summary and the report into a directory."""
        outcomes.write(self, Path(directory))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data: what `--json` prints."""
        from sledlab.power_studies import words

        return {
            "answer": words.answer(self),
            "study": dict(self.study),
            "startup_fits": self.fits,
            "tables": dict(self.rows),
            "config": dict(self.config),
        }

    def __repr__(self) -> str:
        """The answer and a table of the policies."""
        from sledlab.power_studies import printing

        return printing.as_text(self)

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        from sledlab.power_studies import printing

        return printing.as_html(self)
