"""Measuring one run of a fleet: the survey of a volume, or a run of a device with its volumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003 - annotations are read at run time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.runs.execute import execute
from sledlab.runs.recording import Recording
from sledlab.show.model_names import is_hybrid
from sledlab.studies.fleet.busy_times import BusyTimes
from sledlab.studies.fleet.histogram import Histogram
from sledlab.studies.fleet.split_times import SplitTimes
from sledlab.study.access_map import AccessMap
from sledlab.study.measure import MeasuredRun, RunFigures, busy_time_s, result_row
from sledlab.study.plan import plain
from sledlab.traces.volumes import MergedTraces, Survey, Volume, survey

if TYPE_CHECKING:
    from sledlab.traces.read import Trace

SURVEY = "seed = 1\n\n[survey]\n"
"""Placeholder for the text of an experiment if a volume is only surveyed, without a run."""


@dataclass(frozen=True)
class SurveyExperiment:
    """Placeholder for an experiment if a volume is only surveyed."""

    settings: tuple[tuple[str, str], ...] = ()

    def with_setting(self, key: str, value: str) -> SurveyExperiment:
        """Return the same object: a survey has no setting but the seed, and does not depend on it."""
        assert key == "seed", (key, value)
        return self

    def to_toml(self) -> str:
        """Return the text of a run that surveys."""
        return SURVEY


@dataclass(frozen=True)
class FleetRun:
    """The cached results of a run, as plain data: a survey or a run.

    Attributes:
        requests: Reads and writes.
        survey: The survey, as plain data; see `Survey`.
        run: The row of the device, as plain data; see `Measured`.
        times: Response times of all requests of the device; see `Histogram.to_dict`.
        volumes: Response times of each volume, where several share the device.
        imbalance: Busy time of the busiest device or sled over the mean, where the kind has several.
    """

    requests: int = 0
    survey: Mapping[str, Any] | None = None
    run: Mapping[str, Any] | None = None
    times: Mapping[str, Any] | None = None
    volumes: Sequence[Mapping[str, Any]] = ()
    imbalance: float = 1.0

    @property
    def volume_survey(self) -> Survey:
        """The survey."""
        assert self.survey is not None
        return Survey(**self.survey)

    @property
    def device_row(self) -> RunFigures:
        """The row of the device."""
        assert self.run is not None
        return RunFigures(**self.run)

    @property
    def histogram(self) -> Histogram:
        """Response times of the device."""
        assert self.times is not None
        return Histogram.from_dict(self.times)

    @property
    def histograms(self) -> list[Histogram]:
        """Response times of each volume on the device."""
        return [Histogram.from_dict(each) for each in self.volumes] or [self.histogram]


def measure(
    text: str, trace: Trace | None, counts_idle_periods: bool = False, plugins: Sequence[str] = ()
) -> MeasuredRun[FleetRun]:
    """Survey a volume, or simulate a device.

    Args:
        text: A complete experiment, or `SURVEY`.
        trace: The volumes, merged.
        counts_idle_periods: Ignored: idle periods are not counted.
        plugins: Plug-ins that may run.

    Raises:
        Error: A request is invalid.
        InternalError: The run failed because of a defect of sledlab.
        KeyboardInterrupt: Ctrl-C.
    """
    assert trace is not None
    assert not counts_idle_periods
    return MeasuredRun(_survey(trace), {}) if text == SURVEY else _run(text, trace, plugins)


def _survey(trace: Trace) -> FleetRun:
    volume_survey = survey(Volume(trace.name, trace))
    return FleetRun(volume_survey.requests, survey=asdict(volume_survey))


def _run(text: str, trace: Trace, plugins: Sequence[str]) -> MeasuredRun[FleetRun]:
    """Simulate a device in constant memory: requests are counted, not stored."""
    assert isinstance(trace.opener, MergedTraces)
    offsets = trace.opener.offsets_blocks
    split = SplitTimes(offsets) if len(offsets) > 1 else None
    experiment = _native.Experiment(text).with_plugins(plugins)
    busy = _busy_times(text, tuple(plugins))
    result = execute(experiment, Recording(sinks=[sink for sink in (split, busy) if sink]), trace=trace)
    row = result_row(result, _rate(result.summary), None)
    volumes = [each.to_dict() for each in split.histograms] if split else []
    times = Histogram.from_result(result).to_dict()
    imbalance = busy.imbalance(busy_time_s(result)) if busy else 1.0
    run = FleetRun(result.count, None, asdict(row), times, volumes, imbalance)
    return MeasuredRun(run, dict(result.timing))


def _busy_times(text: str, plugins: tuple[str, ...]) -> BusyTimes | None:
    """Return the counter of busy times by device; None for a single device."""
    config = plain(text)
    if is_hybrid(config) and config["system"]["kind"] == "single":
        return BusyTimes(2)
    access_map = _access_map(text, plugins)
    return BusyTimes(access_map.units, access_map) if access_map and access_map.units > 1 else None


@lru_cache(maxsize=64)
def _access_map(text: str, plugins: tuple[str, ...]) -> AccessMap | None:
    """Return the map of an experiment: thousands of runs have one of a few texts."""
    return AccessMap.of(_native.Experiment(text).with_plugins(plugins))


def _rate(summary: Mapping[str, Any]) -> float:
    """Return the reads and writes offered per second until the last completion.

    Finding the last arrival would take another pass over the volumes.
    """
    operations, elapsed_s = summary["operations"], float(summary["elapsed_s"])
    return (operations["read"] + operations["write"]) / elapsed_s if elapsed_s > 0 else 0.0
