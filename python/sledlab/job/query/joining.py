"""Joins: one side is sent to all nodes, or both to the nodes of their hashes, whichever sends fewer bytes."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.job.query.phases import Flow, sort_comparisons

if TYPE_CHECKING:
    from sledlab.job.query.phases import Counts, QueryPhases
    from sledlab.job.query.plan import Operator

_REPLICABLE_JOINS = ("INNER", "CROSS")
_RIGHT_JOINS = ("RIGHT", "RIGHT_SEMI", "RIGHT_ANTI")
_FULL_JOINS = ("FULL", "OUTER")


def build_side(join: Operator) -> int:
    """The input of a join that its hash table is built from, and that is evaluated first: the smaller one.

    Without a hash, one input has to go to all nodes: then it is one that may.
    """
    smaller = 0 if join.inputs[0].bytes < join.inputs[1].bytes else 1
    if join.kind != "HASH_JOIN" and not _can_replicate(join, smaller):
        return 1 - smaller
    return smaller


def _can_replicate(join: Operator, side: int) -> bool:
    """Whether rows of a side may be on every node: not if the join decides of each whether it is kept."""
    if join.join_type in _REPLICABLE_JOINS:
        return True
    if join.join_type in _FULL_JOINS:
        return False
    return side == (0 if join.join_type in _RIGHT_JOINS else 1)


def join(phases: QueryPhases, operator: Operator, build: Flow, probe: Flow) -> Flow:
    """Join two flows; the build flow ends before the probe flow begins.

    Raises:
        Error: The join cannot be distributed over nodes.
    """
    if probe.home == "each":
        probe = replace(probe, home="shared")
    side = build_side(operator)
    can_replicate = _can_replicate(operator, side)
    has_hash = operator.kind == "HASH_JOIN"
    if not (can_replicate or has_hash):
        raise Error(
            f"a {operator.join_type} join without an equality cannot be distributed over nodes",
            remedy="add an equality to the join condition",
        )
    to_probe = _sent_to_probe(phases, build, probe) if can_replicate else 0
    if can_replicate and (not has_hash or not to_probe or to_probe < _sent_by_hash(phases, build, probe)):
        build_counts = _send_build_side(phases, build, probe)
        is_exchanged = False
    else:
        phases.partition(build)
        phases.partition(probe)
        build_counts = phases.spread_evenly(build.rows)
        is_exchanged = True
    home = "shared" if is_exchanged else probe.home
    probe_counts = phases.counts(replace(probe, home=home))
    build.phase.count_operations("hash" if has_hash else "tuple", build_counts)
    flow = _probing_flow(
        phases, replace(probe, home=home), build, build_counts, probe_counts, is_exchanged=is_exchanged
    )
    _count_matching(operator, flow, build_counts, probe_counts)
    return Flow(operator.rows, operator.width, flow.home, flow.phase, flow.table_bytes)


def _sent_to_probe(phases: QueryPhases, build: Flow, probe: Flow) -> int:
    """Bytes sent when the rows of the build side go to the nodes of the probing rows."""
    if build.home == "each" or (build.home == "first" and probe.home == "first"):
        return 0
    if probe.home == "first":
        return (build.rows - int(phases.counts(build)[0])) * build.width
    return (phases.nodes - 1) * build.rows * build.width


def _sent_by_hash(phases: QueryPhases, build: Flow, probe: Flow) -> int:
    """Bytes sent when both sides go to the nodes of their hashes."""
    sent_bytes = 0
    for flow in (build, probe):
        if flow.home != "each":
            local_rows = int(phases.exchange_by_hash(phases.counts(flow)).diagonal().sum())
            sent_bytes += (flow.rows - local_rows) * flow.width
    return sent_bytes


def _send_build_side(phases: QueryPhases, build: Flow, probe: Flow) -> Counts:
    """Send the build side to the nodes of the probing rows; return the rows that each node then has."""
    counts = phases.counts(build)
    if probe.home == "first":
        if build.home == "shared":
            build.phase.add_sends(phases.gather_to_first(counts), build.width)
        return phases.place_on_first(build.rows)
    if build.home != "each":
        build.phase.add_sends(phases.broadcast(counts), build.width)
    return phases.spread_evenly(build.rows * phases.nodes)


def _probing_flow(
    phases: QueryPhases,
    probe: Flow,
    build: Flow,
    build_counts: Counts,
    probe_counts: Counts,
    *,
    is_exchanged: bool,
) -> Flow:
    """The flow in the phase in which it probes.

    Rows that stream past a hash table in memory are probed in their own phase. Rows that were sent to the
    nodes of their hashes are probed in the next phase, and so are rows that wait because the hash table does
    not fit: then both sides are written in parts.
    """
    hash_table_bytes = int(build_counts.max(initial=0)) * build.width
    build.phase.record_memory(min(hash_table_bytes, phases.free_bytes))
    if not is_exchanged and hash_table_bytes + probe.table_bytes <= phases.free_bytes:
        probe.phase.record_memory(hash_table_bytes + probe.table_bytes)
        return replace(probe, table_bytes=hash_table_bytes + probe.table_bytes)
    phase = phases.begin("join")
    parts = (
        max(2, ceil(1.25 * hash_table_bytes / phases.free_bytes))
        if hash_table_bytes > phases.free_bytes
        else 0
    )
    waiting_bytes = int(probe_counts.max(initial=0)) * probe.width
    if parts:
        phases.hold_rows(build, build_counts, phase, streams=parts)
        phases.hold_rows(probe, probe_counts, phase, streams=parts)
    elif hash_table_bytes + waiting_bytes > phases.free_bytes:
        phases.read_back(phase, phases.write(probe.phase, probe_counts, probe.width, phase.name))
    else:
        phase.record_memory(hash_table_bytes + waiting_bytes)
    held_bytes = min(hash_table_bytes, phases.free_bytes)
    phase.record_memory(held_bytes)
    return replace(probe, phase=phase, table_bytes=held_bytes)


def _count_matching(operator: Operator, flow: Flow, build_counts: Counts, probe_counts: Counts) -> None:
    """Count the operations of matching."""
    if operator.kind == "HASH_JOIN":
        flow.phase.count_operations("probe", probe_counts)
    elif operator.kind in ("PIECEWISE_MERGE_JOIN", "IE_JOIN"):
        flow.phase.count_operations(
            "compare", sort_comparisons(build_counts) + sort_comparisons(probe_counts)
        )
        flow.phase.count_operations("merge", build_counts + probe_counts)
    else:
        flow.phase.count_operations("tuple", build_counts * probe_counts)
