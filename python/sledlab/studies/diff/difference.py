"""The difference between two runs of the same requests, request by request."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab._native import half_width_95
from sledlab.display import DisplayedResult, find_presentation
from sledlab.errors import Error
from sledlab.lazy import numpy as np
from sledlab.show.model_names import label
from sledlab.studies.diff.side import Side, paired_responses, side

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.figure import Figure

    from sledlab.runs.result import Result

PERCENTILES = (1, 5, 25, 50, 75, 95, 99)
"""Percentiles of the difference in response time that are reported."""


@dataclass(frozen=True, repr=False)
class Difference(DisplayedResult):
    """The difference between two runs of the same requests: always second minus first.

    Times are in ms, energies in J.

    Attributes:
        a: The first run.
        b: The second run.
        requests: Number of requests, the same in both runs.
        mean_ms: Mean of the differences in response time.
        ci95_half_width_ms: Half the 95 % confidence interval of that mean, by batch means of successive
            requests, as for the mean of a single run; None if the runs are too short for their load.
        ratio: Mean response time of the second run over that of the first.
        percentiles_ms: Percentiles of the differences: 1, 5, 25, 50, 75, 95, 99.
        faster: Share of the requests that the second run answers sooner, 0 to 1.
        slower: Share that it answers later; the others take the same time to the nanosecond.
        energy_j: Difference in energy; None where a run does not report it.
        settings: Keys of the experiments that differ, with both values.
        differences_ms: The difference of every request, in order of arrival.

    Examples:
        >>> import sledlab as sl
        >>> busy = sl.workload("uniform", mean_interarrival_ms=0.8)
        >>> runs = [
        ...     sl.simulate(busy, "mems-g2", scheduler=name, limit=2000) for name in ("fcfs", "sptf")
        ... ]
        >>> difference = sl.diff(*runs)
        >>> difference.mean_ms < 0, difference.settings
        (True, {'scheduler.kind': ('fcfs', 'sptf')})
    """

    a: Side
    b: Side
    requests: int
    mean_ms: float
    ci95_half_width_ms: float | None
    ratio: float
    percentiles_ms: dict[str, float]
    faster: float
    slower: float
    energy_j: float | None
    settings: dict[str, tuple[Any, Any]]
    differences_ms: npt.NDArray[np.float64] = field(repr=False, compare=False)

    @property
    def significant(self) -> bool | None:
        """Whether the interval of the mean excludes zero; None where there is no interval."""
        half = self.ci95_half_width_ms
        return None if half is None else abs(self.mean_ms) > half

    def to_dict(self) -> dict[str, Any]:
        """Return all but the single requests as plain data: printed by `--json`."""
        names = ("requests", "mean_ms", "ci95_half_width_ms", "ratio", "percentiles_ms", "faster", "slower")
        return {
            "answer": find_presentation(self).answer(self),
            **{name: getattr(self, name) for name in names},
            "significant": self.significant,
            "energy_j": self.energy_j,
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "settings": {key: list(values) for key, values in self.settings.items()},
        }

    def plot(self, *, width: str | None = None) -> Figure:
        """Draw the distribution of the differences, a matplotlib figure.

        Args:
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.
        """
        return self._draw(width=width)


def diff(a: Result | str | Path, b: Result | str | Path) -> Difference:
    """Compare two runs of the same requests, request by request.

    Args:
        a: A result with its requests, a directory that a run wrote, or a table of requests
            (`.parquet`, `.csv`).
        b: Another such run.

    Raises:
        Error: One of them cannot be read, or their requests are not the same.

    Examples:
        >>> import sledlab as sl
        >>> fcfs, sptf = (
        ...     sl.simulate(sl.workload("uniform"), "mems-g2", scheduler=name, replay="closed:10", limit=1000)
        ...     for name in ("fcfs", "sptf")
        ... )
        >>> sl.diff(fcfs, sptf).mean_ms < 0
        True
    """
    first, second = side(a, "A"), side(b, "B")
    kinds = [str(each.config.get("scheduler", {}).get("kind", "")) for each in (first, second)]
    if (first.name, second.name) == ("A", "B") and all(kinds) and kinds[0] != kinds[1]:
        first, second = (
            each.with_name(label(kind)) for each, kind in zip((first, second), kinds, strict=True)
        )
    if first.name == second.name and isinstance(a, (str, Path)) and isinstance(b, (str, Path)):
        first, second = first.with_name(str(a)), second.with_name(str(b))
    if first.name == second.name:
        first, second = first.with_name(f"{first.name} (A)"), second.with_name(f"{second.name} (B)")
    first_ns, second_ns = paired_responses(first, second)
    if not len(first_ns):
        raise Error("there are no requests to compare", remedy="give two runs that completed some")
    differences = (second_ns.astype(np.int64) - first_ns.astype(np.int64)) / 1e6
    joules = first.energy_j, second.energy_j
    return Difference(
        a=first,
        b=second,
        requests=len(differences),
        mean_ms=float(differences.mean()),
        ci95_half_width_ms=half_width_95(
            differences, max(first.correlated_requests, second.correlated_requests)
        ),
        ratio=float(second_ns.mean() / first_ns.mean()) if first_ns.any() else float("nan"),
        percentiles_ms={f"p{p}": float(np.percentile(differences, p)) for p in PERCENTILES},
        faster=float((differences < 0).mean()),
        slower=float((differences > 0).mean()),
        energy_j=joules[1] - joules[0] if joules[0] is not None and joules[1] is not None else None,
        settings=_settings(first.config, second.config),
        differences_ms=differences,
    )


def _settings(a: dict[str, Any], b: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the keys of the experiments that differ, with both values; None for a key that only one has."""
    first, second = _flatten(a), _flatten(b)
    if not first or not second:
        return {}
    keys = dict.fromkeys([*first, *second])
    return {key: (first.get(key), second.get(key)) for key in keys if first.get(key) != second.get(key)}


def _flatten(config: dict[str, Any], path: str = "") -> dict[str, Any]:
    values_by_key: dict[str, Any] = {}
    for key, value in config.items():
        values_by_key |= (
            _flatten(value, f"{path}{key}.") if isinstance(value, dict) else {f"{path}{key}": value}
        )
    return values_by_key
