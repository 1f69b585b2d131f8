"""Results of cluster replays: made from the outcome that the simulator returns, written to a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab._native import __version__
from sledlab.display import SCHEMA
from sledlab.files import atomic_write
from sledlab.lazy import json, polars
from sledlab.results import OUTCOME, REPORT, read_errors, read_json
from sledlab.runs.cluster_result import COMPONENTS, COUNTS, ClusterResult
from sledlab.runs.file_names import read_experiment, relativize_experiment
from sledlab.runs.recording import EXPERIMENT, LATEX, SUMMARY
from sledlab.traces.parquet import write_table
from sledlab.traces.work import MAX_NODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sledlab.traces.work import Work

    Node = Mapping[str, Any]

PHASES = ("phases.parquet", "phases.csv")
"""Files of the table of phases, in two formats."""

KIND = "replay"
"""Kind of the results that a replay writes to a directory."""

RESULT_FILES = (SUMMARY, EXPERIMENT, REPORT, LATEX, OUTCOME, *PHASES)
"""Files that a replay writes to a directory."""

TIMES = (*COMPONENTS, "processor")
"""Times of a node in a phase, which an outcome has in ns."""

SUMS = (*COUNTS, "store_j")
"""Counts and energy of a node in a phase."""


def to_result(outcome: Mapping[str, Any], work: Work, toml: str) -> ClusterResult:
    """The result made from an outcome: ns become s, nodes become rows.

    Args:
        outcome: The outcome that the simulator returns.
        work: The record that was replayed.
        toml: The complete experiment.
    """
    config = outcome["config"]
    node_records = [node for phase in outcome["phases"] for node in phase["nodes"]]
    joules_by_part = {name.removesuffix("_j"): value for name, value in outcome["energy"].items()}
    states = joules_by_part.pop("store_states")
    summary = {
        "schema": SCHEMA,
        "job": outcome["job"],
        "nodes": outcome["nodes"],
        "elapsed_s": outcome["elapsed_ns"] / 1e9,
        "components_s": {component: _seconds(node_records, component) for component in COMPONENTS},
        "bottleneck": _bottleneck(outcome),
        "largest": outcome["largest"],
        "what_if": [
            {
                "what": alternative["what"],
                "elapsed_s": alternative["elapsed_ns"] / 1e9,
                "saved": alternative["saved"],
            }
            for alternative in outcome["what_if"]
        ],
        "pages": outcome["pages"],
        "simulated_share": outcome["simulated_share"],
        "skipped_passes": outcome["skipped_passes"],
        "sampling_error": outcome["sampling_error"],
        "by_phase": [_sums(phase) for phase in outcome["phases"]],
        "energy_j": joules_by_part,
        "store_energy_j": states,
        "seed": config["seed"],
        "version": __version__,
        "config": config,
    }
    failure = outcome.get("failure")
    if failure is not None:
        summary["failure"] = _failure_summary(failure)
    return ClusterResult(summary, _columns(outcome["phases"]), _traffic_rows(outcome, work), toml)


def _failure_summary(failure: Mapping[str, Any]) -> dict[str, Any]:
    """Copies, failed nodes and rebuild, with times in s instead of ns."""
    detected_ns, rebuild = failure["detected_ns"], failure["rebuild"]
    return {
        **{name: failure[name] for name in ("redundancy", "failed", "phase")},
        "detected_s": None if detected_ns is None else detected_ns / 1e9,
        **{name: failure[name] for name in ("copied_bytes", "spares")},
        "rebuild": rebuild
        and {
            "bytes": rebuild["bytes"],
            "job_bytes": rebuild["job_bytes"],
            "finished_s": rebuild["finished_ns"] / 1e9,
        },
    }


def _seconds(nodes: Iterable[Node], component: str) -> float:
    """Time of all `nodes` together in a component, in s."""
    return float(sum(node[f"{component}_ns"] for node in nodes) / 1e9)


def _phase_span(phase: Mapping[str, Any]) -> dict[str, Any]:
    """Name, beginning and end of a phase, in s."""
    return {
        "phase": phase["name"],
        "phase_start_s": phase["start_ns"] / 1e9,
        "phase_end_s": phase["end_ns"] / 1e9,
    }


def _sums(phase: Mapping[str, Any]) -> dict[str, Any]:
    """A phase with sums of times, counts and energy over its nodes."""
    nodes = phase["nodes"]
    return {
        **_phase_span(phase),
        "elapsed_s": (phase["end_ns"] - phase["start_ns"]) / 1e9,
        **{f"{component}_s": _seconds(nodes, component) for component in TIMES},
        **{name: sum(node[name] for node in nodes) for name in SUMS},
    }


def _columns(phases: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The table of phases: a row for every phase and node, as columns."""
    spans = [(_phase_span(phase), len(phase["nodes"])) for phase in phases]
    nodes = [node for phase in phases for node in phase["nodes"]]
    return {
        "phase": [span["phase"] for span, count in spans for _ in range(count)],
        "node": [node for _, count in spans for node in range(count)],
        "phase_start_s": [span["phase_start_s"] for span, count in spans for _ in range(count)],
        "phase_end_s": [span["phase_end_s"] for span, count in spans for _ in range(count)],
        **{f"{component}_s": [node[f"{component}_ns"] / 1e9 for node in nodes] for component in TIMES},
        **{name: [node[name] for node in nodes] for name in SUMS},
    }


def _bottleneck(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The bottleneck: the component whose doubled speed saves most; without what-if, the largest one."""
    if not outcome["what_if"]:
        return {"what": outcome["largest"], "saved": None}
    best_component = max(outcome["what_if"], key=lambda alternative: alternative["saved"])
    return {"what": best_component["what"], "saved": best_component["saved"]}


def _traffic_rows(outcome: Mapping[str, Any], work: Work) -> Sequence[Sequence[int]]:
    """Bytes that each node sends each node; with a host, nodes send to it alone. Empty above `MAX_NODES`."""
    if work.nodes > MAX_NODES:
        return ()
    if (failure := outcome.get("failure")) is not None:
        traffic: Sequence[Sequence[int]] = failure["traffic"]
        return traffic
    if outcome["config"]["cluster"]["at"] == "nodes":
        rows: Sequence[Sequence[int]] = work.traffic.tolist()
        return rows
    host_number = outcome["nodes"] - 1
    sent, received = (
        [sum(phase["nodes"][node][name] for phase in outcome["phases"]) for node in range(host_number + 1)]
        for name in ("sent_bytes", "received_bytes")
    )
    to_host = [[0] * host_number + [sent[node], 0] for node in range(host_number)]
    return [*to_host, [*received[:host_number], 0, sent[host_number] - sum(received[:host_number])]]


def write(result: ClusterResult, directory: Path) -> None:
    """Write the result into a directory: summary, table of phases, experiment, page and LaTeX."""
    texts_by_file = {
        SUMMARY: result.to_json() + "\n",
        EXPERIMENT: relativize_experiment(directory, result.toml),
        LATEX: result.latex(),
        OUTCOME: json.dumps({"sent": [list(row) for row in result.traffic_rows]}) + "\n",
    }
    for name, text in texts_by_file.items():
        with atomic_write(directory / name) as draft:
            draft.write_text(text, encoding="utf-8")
    with atomic_write(directory / PHASES[0]) as draft:
        write_table(result.phases, draft)
    with atomic_write(directory / PHASES[1]) as draft:
        result.phases.write_csv(draft)
    result.report(directory / REPORT)


def read(directory: Path) -> ClusterResult:
    """Read the result that `write` wrote into a directory.

    Raises:
        Error: A file is missing or damaged.
    """
    summary = read_json(directory / SUMMARY)
    summary.pop("warnings", None)
    with read_errors(directory / PHASES[0]) as path:
        columns = polars.read_parquet(path).to_dict(as_series=False)
    with read_errors(directory / EXPERIMENT) as path:
        toml = read_experiment(path)
    return ClusterResult(summary, columns, read_json(directory / OUTCOME)["sent"], toml)
