"""A laboratory for MEMS (probe-based) storage.

Replay a block trace against a device and see response time, throughput, energy and where the
time went:

    >>> import sledlab as sl
    >>> r = sl.simulate(sl.workload("uniform"), sl.device("mems-g2"), scheduler="sptf", limit=1000)
    >>> r.response_time.p99 < 20
    True

Times are in ms and energies in J unless a name states another unit.
"""

from __future__ import annotations

from sledlab.early_exit import exit_at_once as _exit_at_once  # noqa: F401 - first, for Ctrl-C meanwhile

# isort: split
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab._native import __version__ as __version__
from sledlab._native import set_sample_directory
from sledlab.display import register
from sledlab.errors import Error as Error
from sledlab.errors import IncompleteStudy as IncompleteStudy
from sledlab.errors import InternalError as InternalError
from sledlab.lazy import load_object
from sledlab.studies import LIST, SINGLE

if TYPE_CHECKING:
    from sledlab.emulation.server import Server as Server
    from sledlab.emulation.server import serve as serve
    from sledlab.job.node import Node as Node
    from sledlab.job.query import record_query as record_query
    from sledlab.job.record import record as record
    from sledlab.model.catalog import cache as cache
    from sledlab.model.catalog import device as device
    from sledlab.model.catalog import hybrid as hybrid
    from sledlab.model.catalog import merge as merge
    from sledlab.model.catalog import network as network
    from sledlab.model.catalog import node as node
    from sledlab.model.catalog import power as power
    from sledlab.model.catalog import replacement as replacement
    from sledlab.model.catalog import scheduler as scheduler
    from sledlab.model.catalog import system as system
    from sledlab.model.catalog import workload as workload
    from sledlab.model.conformance import check as check
    from sledlab.model.device_protocol import Device as Device
    from sledlab.model.experiment import experiment as experiment
    from sledlab.model.power_protocol import PowerPolicy as PowerPolicy
    from sledlab.model.replacement_protocol import ReplacementPolicy as ReplacementPolicy
    from sledlab.model.scheduler_protocol import Scheduler as Scheduler
    from sledlab.model.workload_protocol import Workload as Workload
    from sledlab.reproduction.run import Reproduction as Reproduction
    from sledlab.reproduction.run import reproduce as reproduce
    from sledlab.runs.cluster import replay as replay
    from sledlab.runs.cluster_result import ClusterResult as ClusterResult
    from sledlab.runs.emulation import ClosedLoop as ClosedLoop
    from sledlab.runs.emulation import Emulation as Emulation
    from sledlab.runs.emulation import PowerFailure as PowerFailure
    from sledlab.runs.execute import Experiment as Experiment
    from sledlab.runs.execute import run as run
    from sledlab.runs.execute import simulate as simulate
    from sledlab.runs.explanation import Explanation as Explanation
    from sledlab.runs.interrupt import Interrupted as Interrupted
    from sledlab.runs.result import Result as Result
    from sledlab.show.view import View as View
    from sledlab.show.view import view as view
    from sledlab.studies.compare import compare as compare
    from sledlab.studies.compare.tables import Comparison as Comparison
    from sledlab.studies.diff import Difference as Difference
    from sledlab.studies.diff import diff as diff
    from sledlab.studies.drive import DriveValidation as DriveValidation
    from sledlab.studies.drive import validate_drive as validate_drive
    from sledlab.studies.fleet import fleet as fleet
    from sledlab.studies.fleet.tables import Fleet as Fleet
    from sledlab.studies.hybrid import hybrid_study as hybrid_study
    from sledlab.studies.hybrid.tables import HybridStudy as HybridStudy
    from sledlab.studies.miss_ratio import MissRatioCurves as MissRatioCurves
    from sledlab.studies.miss_ratio import miss_ratio_curves as miss_ratio_curves
    from sledlab.studies.power import power_study as power_study
    from sledlab.studies.power.tables import PowerStudy as PowerStudy
    from sledlab.studies.saved_results import open as open  # noqa: A004
    from sledlab.studies.seek_map import SeekMap as SeekMap
    from sledlab.studies.seek_map import seek_map as seek_map
    from sledlab.studies.side_by_side import side_by_side as side_by_side
    from sledlab.studies.side_by_side.tables import SideBySide as SideBySide
    from sledlab.studies.size import SmartSize as SmartSize
    from sledlab.studies.size import smart_size as smart_size
    from sledlab.studies.smart import smart_study as smart_study
    from sledlab.studies.smart.tables import SmartStudy as SmartStudy
    from sledlab.studies.tune import tune_hybrid as tune_hybrid
    from sledlab.studies.tune.tables import TunedHybrid as TunedHybrid
    from sledlab.study.partial import PartialStudy as PartialStudy
    from sledlab.traces.hits import HitRatios as HitRatios
    from sledlab.traces.hits import hit_ratios as hit_ratios
    from sledlab.traces.read import Trace as Trace
    from sledlab.traces.read import read_trace as read_trace
    from sledlab.traces.read import trace as trace
    from sledlab.traces.splitting import split_volumes as split_volumes
    from sledlab.traces.volumes import Survey as Survey
    from sledlab.traces.volumes import Volume as Volume
    from sledlab.traces.volumes import merge_volumes as merge_volumes
    from sledlab.traces.volumes import read_volumes as read_volumes
    from sledlab.traces.volumes import survey as survey
    from sledlab.traces.work import Work as Work
    from sledlab.traces.work import work as work

_CATALOGS = (
    "cache",
    "device",
    "hybrid",
    "merge",
    "network",
    "node",
    "power",
    "replacement",
    "scheduler",
    "system",
    "workload",
)

_HOMES = {
    **dict.fromkeys(_CATALOGS, "model.catalog"),
    "ClosedLoop": "runs.emulation",
    "Emulation": "runs.emulation",
    "PowerFailure": "runs.emulation",
    "Server": "emulation.server",
    "serve": "emulation.server",
    "experiment": "model.experiment",
    "Node": "job.node",
    "record": "job.record",
    "record_query": "job.query",
    "check": "model.conformance",
    "Device": "model.device_protocol",
    "PowerPolicy": "model.power_protocol",
    "ReplacementPolicy": "model.replacement_protocol",
    "Scheduler": "model.scheduler_protocol",
    "Workload": "model.workload_protocol",
    **dict.fromkeys(("Reproduction", "reproduce"), "reproduction.run"),
    "replay": "runs.cluster",
    "ClusterResult": "runs.cluster_result",
    "Experiment": "runs.execute",
    "run": "runs.execute",
    "simulate": "runs.execute",
    "Explanation": "runs.explanation",
    "Interrupted": "runs.interrupt",
    "Result": "runs.result",
    **dict.fromkeys(("View", "view"), "show.view"),
    "HitRatios": "traces.hits",
    "hit_ratios": "traces.hits",
    "Trace": "traces.read",
    "read_trace": "traces.read",
    "trace": "traces.read",
    "split_volumes": "traces.splitting",
    "open": "studies.saved_results",
    "PartialStudy": "study.partial",
    **dict.fromkeys(("Survey", "Volume", "merge_volumes", "read_volumes", "survey"), "traces.volumes"),
    "Work": "traces.work",
    "work": "traces.work",
    **{name: f"studies.{listed.folder}" for listed in (*LIST, *SINGLE) for name in listed.names},
    **{name: f"studies.{listed.folder}.tables" for listed in LIST for name in listed.names[1:]},
}
"""The module of each public name, imported when the name is first used: the command line starts fast."""

__all__ = sorted(["Error", "InternalError", "IncompleteStudy", "__version__", *_HOMES])  # noqa: PLE0605

set_sample_directory(str(Path(__file__).parent / "sample"))

register("Result", partial(load_object, "sledlab.show.run:PRESENTATION"))
register("Explanation", partial(load_object, "sledlab.show.explanation:PRESENTATION"))
register("ClusterResult", partial(load_object, "sledlab.show.cluster:PRESENTATION"))
register("Work", partial(load_object, "sledlab.show.work:PRESENTATION"))
register("Outcome", partial(load_object, "sledlab.study.display:PRESENTATION"))
register("PartialStudy", partial(load_object, "sledlab.study.partial:PRESENTATION"))
for _listed in (*LIST, *SINGLE):
    if _listed.display:
        register(
            _listed.names[1],
            partial(load_object, f"sledlab.studies.{_listed.folder}.{_listed.display}:PRESENTATION"),
        )


def __getattr__(name: str) -> Any:
    """The public name `name`, imported from its module when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sledlab' has no attribute {name!r}")
    value = load_object(f"sledlab.{_HOMES[name]}:{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)
