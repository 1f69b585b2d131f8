"""Studies whose runs are replays of work records on clusters: measuring such a run, and its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003 - annotations are read at run time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from sledlab._native import ClusterExperiment
from sledlab.model.plugins import allowed_plugins
from sledlab.runs import cluster
from sledlab.runs.cluster_result import COMPONENTS
from sledlab.runs.compose import ComposedExperiment
from sledlab.runs.options import ClusterOptions
from sledlab.study.columns import Column
from sledlab.study.measure import MeasuredRun

if TYPE_CHECKING:
    from sledlab.runs.cluster_result import ClusterResult
    from sledlab.runs.compose import Device

PARTS = COMPONENTS[:-1]
"""Components that a faster part could shorten: all but waiting."""


@dataclass(frozen=True)
class ReplayFigures:
    """The simulated results of a replay; no value depends on the machine."""

    elapsed_s: Annotated[float, Column("time of the job", "s")]
    compute_s: Annotated[float, Column("mean time in which a node works on data", "s")]
    store_s: Annotated[float, Column("mean time in which a node waits for its store", "s")]
    network_s: Annotated[float, Column("mean time in which a node handles messages", "s")]
    waiting_s: Annotated[float, Column("mean time in which a node waits for others", "s")]
    saved_compute: Annotated[float | None, Column("share of the time saved by processors twice as fast")]
    saved_store: Annotated[float | None, Column("share of the time saved by stores twice as fast")]
    saved_network: Annotated[float | None, Column("share of the time saved by a network twice as fast")]
    bottleneck: Annotated[str, Column("component that saves the most time when twice as fast")]
    largest: Annotated[str, Column("the largest of compute, store and network")]
    requests: Annotated[int, Column("requests to stores")]
    sent_bytes: Annotated[
        int, Column("bytes sent to other nodes and the client, without collectives", "bytes")
    ]
    energy_j: Annotated[float, Column("energy of stores, processors, memories and ports", "J")]
    store_j: Annotated[float, Column("energy of stores", "J")]
    processor_j: Annotated[float, Column("energy of processors", "J")]
    memory_j: Annotated[float, Column("energy of memories", "J")]
    network_j: Annotated[float, Column("energy of ports", "J")]
    simulated_share: Annotated[float, Column("share of the pages that was simulated")]
    sampling_error: Annotated[
        float, Column("bound on the relative error of `elapsed_s` due to passes that were not simulated")
    ]
    phases: Annotated[Sequence[Mapping[str, Any]], Column("the phases in order", hidden=True)]

    def parts_s(self) -> Mapping[str, float]:
        """Return the mean time of a node in each component, in s."""
        return {part: float(getattr(self, f"{part}_s")) for part in COMPONENTS}

    def savings(self) -> Mapping[str, float]:
        """Return the share of time that each component, twice as fast, would save; empty if not computed."""
        savings_by_part = {part: getattr(self, f"saved_{part}") for part in PARTS}
        return {part: share for part, share in savings_by_part.items() if share is not None}


def measure(
    text: str, trace: None = None, counts_idle_periods: bool = False, plugins: Sequence[str] = ()
) -> MeasuredRun[ReplayFigures]:
    """Replay a record with a complete experiment; the other arguments are those of `measure.measure`.

    Raises:
        Error: The replay failed because of its experiment or record.
        InternalError: The replay failed because of a defect of sledlab.
    """
    return MeasuredRun(result_row(cluster.run(ClusterExperiment(text).with_plugins(plugins), threads=1)), {})


def result_row(result: ClusterResult) -> ReplayFigures:
    """Return the results of a replay that the result cache stores."""
    summary = result.summary
    nodes = result.nodes
    savings_by_part = {each["what"]: each["saved"] for each in summary["what_if"]}
    phases = [
        {
            "phase": phase["phase"],
            "elapsed_s": phase["elapsed_s"],
            **{f"{part}_s": phase[f"{part}_s"] / nodes for part in COMPONENTS},
            **longest_node,
        }
        for phase, longest_node in zip(summary["by_phase"], _longest_nodes(result), strict=True)
    ]
    return ReplayFigures(
        elapsed_s=result.elapsed_s,
        **{f"{part}_s": result.components_s[part] / nodes for part in COMPONENTS},
        saved_compute=savings_by_part.get("compute"),
        saved_store=savings_by_part.get("store"),
        saved_network=savings_by_part.get("network"),
        bottleneck=result.bottleneck.what,
        largest=result.largest,
        requests=sum(phase["requests"] for phase in summary["by_phase"]),
        sent_bytes=sum(phase["sent_bytes"] for phase in summary["by_phase"]),
        energy_j=result.energy.total,
        store_j=result.energy.store,
        processor_j=result.energy.processor,
        memory_j=result.energy.memory,
        network_j=result.energy.network,
        simulated_share=result.simulated_share,
        sampling_error=result.sampling_error,
        phases=phases,
    )


def _longest_nodes(result: ClusterResult) -> list[dict[str, Any]]:
    """Return the components of the node that works longest in each phase, which the other nodes wait for."""
    rows = []
    for _, node_rows in result.phases.group_by("phase", "phase_start_s", maintain_order=True):
        row = node_rows.row(int(node_rows["waiting_s"].arg_min() or 0), named=True)
        rows.append({"longest": row["node"], **{f"longest_{part}_s": row[f"{part}_s"] for part in PARTS}})
    return rows


def compose(
    source: None = None,
    device: Device | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    base: ClusterExperiment | None = None,
    options_class: type = ClusterOptions,
) -> ComposedExperiment:
    """Return the experiment that all replays of a study share; records are an axis, so there is no source."""
    experiment = cluster.compose_experiment(device, options or {}, base or ClusterExperiment(), options_class)
    return ComposedExperiment(experiment, plugins=allowed_plugins(options or {}, device))
