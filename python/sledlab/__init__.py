"""A laboratory for MEMS (probe-based) storage.

Replay a block trace against a device and see response time, throughput, energy and where the
time went:

    >>> import sledlab as sl
    >>> r = sl.simulate(sl.workload("uniform"), sl.device("mems-g2"), scheduler="sptf", limit=1000)
    >>> r.response_time.p99 < 20
    True

Times are in ms and energies in J unless a name says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab._native import __version__
from sledlab.errors import Error, InternalError

if TYPE_CHECKING:
    from sledlab.catalogue import device, hybrid, merge, power, replacement, scheduler, workload
    from sledlab.comparison import Comparison, compare
    from sledlab.difference import Difference, diff
    from sledlab.drive_validation import DriveValidation, validate_drive
    from sledlab.hits import HitRatios, hit_ratios
    from sledlab.hybrid_studies import HybridStudy, TunedHybrid, hybrid_study, tune_hybrid
    from sledlab.power_protocol import PowerPolicy
    from sledlab.power_studies import PowerStudy, power_study
    from sledlab.result import Result
    from sledlab.scheduler_protocol import Scheduler
    from sledlab.seek_maps import SeekMap, seek_map
    from sledlab.simulation import Experiment, run, simulate
    from sledlab.traces import Trace, read_trace, trace

__all__ = [
    "Comparison",
    "Difference",
    "DriveValidation",
    "Error",
    "Experiment",
    "HitRatios",
    "HybridStudy",
    "InternalError",
    "PowerPolicy",
    "PowerStudy",
    "Result",
    "Scheduler",
    "SeekMap",
    "Trace",
    "TunedHybrid",
    "__version__",
    "compare",
    "device",
    "diff",
    "hit_ratios",
    "hybrid",
    "hybrid_study",
    "merge",
    "power",
    "power_study",
    "read_trace",
    "replacement",
    "run",
    "scheduler",
    "seek_map",
    "simulate",
    "trace",
    "tune_hybrid",
    "validate_drive",
    "workload",
]

_HOMES = {
    "device": "catalogue",
    "hybrid": "catalogue",
    "merge": "catalogue",
    "power": "catalogue",
    "replacement": "catalogue",
    "scheduler": "catalogue",
    "workload": "catalogue",
    "Comparison": "comparison",
    "compare": "comparison",
    "Difference": "difference",
    "diff": "difference",
    "HitRatios": "hits",
    "hit_ratios": "hits",
    "HybridStudy": "hybrid_studies",
    "hybrid_study": "hybrid_studies",
    "TunedHybrid": "hybrid_studies",
    "tune_hybrid": "hybrid_studies",
    "PowerPolicy": "power_protocol",
    "PowerStudy": "power_studies",
    "power_study": "power_studies",
    "Result": "result",
    "Scheduler": "scheduler_protocol",
    "SeekMap": "seek_maps",
    "seek_map": "seek_maps",
    "DriveValidation": "drive_validation",
    "validate_drive": "drive_validation",
    "Experiment": "simulation",
    "run": "simulation",
    "simulate": "simulation",
    "Trace": "traces",
    "read_trace": "traces",
    "trace": "traces",
}


def __getattr__(name: str) -> Any:
    """Imports a part of the package when it is first used, so that the command line starts fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sledlab' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"sledlab.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__
