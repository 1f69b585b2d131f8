"""Operators of a plan on nodes: from the scans up, each takes the rows of its inputs and gives rows on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.job.query import joining
from sledlab.job.query.phases import Flow, sort_comparisons
from sledlab.job.query.plan import JOINS, LIMITS, LITERALS
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sledlab.job.query.phases import Counts, QueryPhase, QueryPhases
    from sledlab.job.query.plan import Operator
    from sledlab.job.query.tables import QueryTable


@dataclass(frozen=True)
class _CommonTable:
    """Rows of a common table expression, kept until they are scanned: in memory, or in a file."""

    flow: Flow
    file: str


class Execution:
    """Carries out a plan on nodes, operator by operator.

    Attributes:
        phases: The phases of the record, filled as operators are carried out.
    """

    def __init__(self, phases: QueryPhases, tables: Sequence[QueryTable]) -> None:
        self.phases = phases
        self._tables = {str(file): table for table in tables for file in table.files}
        self._common_tables_by_number: dict[str, _CommonTable] = {}
        self._handlers_by_kind: dict[str, Callable[[Operator], Flow]] = {
            **dict.fromkeys(JOINS, self._join),
            **dict.fromkeys(LITERALS, self._literal),
            "CTE_SCAN": self._cte_scan,
            "FILTER": self._filter,
            "HASH_GROUP_BY": self._group,
            "PARTITIONED_AGGREGATE": self._group,
            "PERFECT_HASH_GROUP_BY": self._group,
            "STREAMING_WINDOW": self._window,
            "TABLE_SCAN": self._scan,
            "UNGROUPED_AGGREGATE": self._aggregate,
            "UNION": self._union,
            "UNNEST": self._unnest,
            "WINDOW": self._window,
        }
        # The last sort or limit of a query sends its rows to the client, and so do the operators above it.
        self._final_handlers_by_kind: dict[str, Callable[[Operator, bool], Flow]] = {
            **dict.fromkeys(LIMITS, self._limit),
            "CTE": self._cte,
            "ORDER_BY": self._sort,
            "PROJECTION": self._project,
            "TOP_N": self._top,
        }

    def run(self, plan: Operator) -> None:
        """Carry out a plan and send its result to the client."""
        flow = self._flow(plan.inputs[0], is_last=True)
        if flow.home != "client":
            counts = self.phases.counts(_drop_replicas(flow))
            flow.phase.add_sends(self.phases.send_to_client(counts), flow.width)

    def _flow(self, operator: Operator, *, is_last: bool = False) -> Flow:
        """The rows that an operator gives; if it `is_last`, it may send them to the client."""
        if operator.kind in self._final_handlers_by_kind:
            return self._final_handlers_by_kind[operator.kind](operator, is_last)
        return self._handlers_by_kind[operator.kind](operator)

    def _scan(self, operator: Operator) -> Flow:
        """Read a table completely."""
        files = operator.files
        tables = (self._tables[path] for path in self._tables if f"{files}, ".startswith(f"{path}, "))
        table = next(tables, None)
        if table is None:
            source = files or operator.info.get("Function", "")
            raise Error(f"`{source}` is not a distributed table", remedy="scan tables only")
        phase = self.phases.begin(f"scan {table.name}", is_numbered=False)
        counts = self.phases.spread_evenly(table.rows)
        self.phases.scan_table(phase, table.name, counts, table.bytes)
        phase.count_operations("tuple", counts)
        return Flow(operator.rows, operator.width, "shared", phase)

    def _literal(self, operator: Operator) -> Flow:
        """Rows that the query's text holds are on every node."""
        return Flow(operator.rows, operator.width, "each", self.phases.begin("values"))

    def _filter(self, operator: Operator) -> Flow:
        """Evaluate a predicate on every row."""
        flow = self._flow(operator.inputs[0])
        flow.phase.count_operations("tuple", self.phases.counts(flow))
        return replace(flow, rows=operator.rows, width=operator.width)

    def _project(self, operator: Operator, is_last: bool) -> Flow:
        """Compute other columns of the rows, which counts no operations."""
        return replace(
            self._flow(operator.inputs[0], is_last=is_last), rows=operator.rows, width=operator.width
        )

    def _unnest(self, operator: Operator) -> Flow:
        """Make several rows of each."""
        flow = replace(self._flow(operator.inputs[0]), rows=operator.rows, width=operator.width)
        flow.phase.count_operations("tuple", self.phases.counts(flow))
        return flow

    def _join(self, operator: Operator) -> Flow:
        """Join two inputs; the one that the hash table is built from comes first."""
        side = joining.build_side(operator)
        build = self._flow(operator.inputs[side])
        probe = self._flow(operator.inputs[1 - side])
        return joining.join(self.phases, operator, build, probe)

    def _union(self, operator: Operator) -> Flow:
        """Rows of several inputs, which wait until the last input has ended."""
        flows = [self._flow(each) for each in operator.inputs]
        phase = self.phases.begin("union")
        for flow in flows:
            self.phases.hold_rows(flow, self.phases.counts(flow), phase)
        home = flows[0].home if len({flow.home for flow in flows}) == 1 else "shared"
        return Flow(operator.rows, operator.width, home, phase)

    def _group(self, operator: Operator) -> Flow:
        """Aggregate by groups: first on each node, then partial groups on the nodes of their hashes."""
        flow = _drop_replicas(self._flow(operator.inputs[0]))
        phase = self.phases.begin("aggregate")
        if self.phases.nodes == 1 or flow.home == "first":
            self._group_locally(operator, flow, phase)
            return Flow(operator.rows, operator.width, flow.home, phase)
        partial_rows = self._estimate_groups(flow.rows, operator.rows)
        table_bytes = ceil(partial_rows / self.phases.nodes) * operator.width
        needs_all_rows = operator.needs_whole_groups
        if not needs_all_rows and table_bytes + flow.table_bytes <= self.phases.free_bytes:
            flow.phase.count_operations("hash", self.phases.counts(flow))
            flow.phase.record_memory(table_bytes + flow.table_bytes)
            flow = replace(flow, rows=partial_rows, width=operator.width)
        self.phases.partition(flow)
        arrived_counts = self.phases.spread_evenly(flow.rows)
        group_counts = self.phases.spread_evenly(operator.rows)
        if needs_all_rows or int(group_counts.max()) * operator.width > self.phases.free_bytes:
            self.phases.hold_rows(flow, arrived_counts, phase)
        else:
            phase.record_memory(int(group_counts.max()) * operator.width)
        phase.count_operations("hash", arrived_counts)
        return Flow(operator.rows, operator.width, "shared", phase)

    def _group_locally(self, operator: Operator, flow: Flow, phase: QueryPhase) -> None:
        """Aggregate rows on the nodes that have them; in parts, where the groups do not fit into memory."""
        counts = self.phases.counts(flow)
        flow.phase.count_operations("hash", counts)
        if operator.bytes + flow.table_bytes <= self.phases.free_bytes:
            flow.phase.record_memory(operator.bytes + flow.table_bytes)
            return
        parts = max(2, ceil(1.25 * operator.bytes / self.phases.free_bytes))
        self.phases.hold_rows(flow, counts, phase, streams=parts)
        phase.count_operations("hash", counts)

    def _estimate_groups(self, rows: int, groups: int) -> int:
        """Estimated number of groups after partial aggregation, added up over nodes.

        A group has rows / groups rows, and each of these is on any node with equal chance.
        """
        if not groups or not rows:
            return 0
        nodes = self.phases.nodes
        miss_probability = float((1 - 1 / nodes) ** (rows / groups))
        return min(rows, nodes * groups, max(groups, round(nodes * groups * (1 - miss_probability))))

    def _aggregate(self, operator: Operator) -> Flow:
        """Aggregate all rows to one: first on each node, then on the first node."""
        flow = _drop_replicas(self._flow(operator.inputs[0]))
        phase = self.phases.begin("aggregate")
        if flow.home == "first" or self.phases.nodes == 1:
            flow.phase.count_operations("hash", self.phases.counts(flow))
        elif operator.needs_whole_groups:
            # The partial states that nodes would send are as large as the rows.
            counts = self.phases.counts(flow)
            flow.phase.add_sends(self.phases.gather_to_first(counts), flow.width)
            gathered_counts = self.phases.place_on_first(flow.rows)
            self.phases.hold_rows(flow, gathered_counts, phase)
            phase.count_operations("hash", gathered_counts)
        else:
            flow.phase.count_operations("hash", self.phases.counts(flow))
            one_per_node = np.ones(self.phases.nodes, dtype=np.int64)
            flow.phase.add_sends(self.phases.gather_to_first(one_per_node), operator.width)
            phase.count_operations("hash", self.phases.place_on_first(self.phases.nodes))
        return Flow(operator.rows, operator.width, "first", phase)

    def _sort(self, operator: Operator, is_last: bool) -> Flow:
        """Sort the rows of each node, in runs where they exceed memory; the client or first node merges."""
        flow = _drop_replicas(self._flow(operator.inputs[0]))
        counts = self.phases.counts(flow)
        phase = self.phases.begin("sort")
        node_bytes = int(counts.max(initial=0)) * flow.width
        if node_bytes <= self.phases.free_bytes:
            phase.record_memory(node_bytes)
            phase.count_operations("compare", sort_comparisons(counts))
        else:
            runs = ceil(node_bytes / self.phases.free_bytes)
            file = self.phases.write(flow.phase, counts, flow.width, phase.name)
            flow.phase.count_operations("compare", sort_comparisons(-(-counts // runs)) * runs)
            self.phases.read_back(phase, file, runs=runs)
            phase.count_operations("merge", counts)
        return self._forward(operator, replace(flow, phase=phase, table_bytes=0), counts, is_last=is_last)

    def _top(self, operator: Operator, is_last: bool) -> Flow:
        """Keep the first rows of the order on each node, in a heap."""
        flow = _drop_replicas(self._flow(operator.inputs[0]))
        counts = self.phases.counts(flow)
        selected_counts = np.minimum(counts, operator.max_node_rows)
        flow.phase.count_operations(
            "compare", np.rint(counts * np.log2(np.maximum(selected_counts, 2))).astype(np.int64)
        )
        return self._forward(operator, flow, selected_counts, is_last=is_last)

    def _limit(self, operator: Operator, is_last: bool) -> Flow:
        """Keep any rows on each node, as many as the limit in total."""
        flow = _drop_replicas(self._flow(operator.inputs[0], is_last=is_last))
        if flow.home == "client":
            return replace(flow, rows=operator.rows, width=operator.width)
        selected_counts = np.minimum(self.phases.counts(flow), operator.max_node_rows)
        return self._forward(operator, flow, selected_counts, is_last=is_last)

    def _forward(self, operator: Operator, flow: Flow, selected_counts: Counts, *, is_last: bool) -> Flow:
        """Send the rows that nodes selected to the client, or to the first node if more operators follow."""
        if is_last:
            flow.phase.add_sends(self.phases.send_to_client(selected_counts), operator.width)
            return Flow(operator.rows, operator.width, "client", flow.phase)
        if flow.home == "first" or self.phases.nodes == 1:
            return Flow(operator.rows, operator.width, flow.home, flow.phase, flow.table_bytes)
        flow.phase.add_sends(self.phases.gather_to_first(selected_counts), operator.width)
        gathered_counts = self.phases.place_on_first(int(selected_counts.sum()))
        phase = self.phases.begin("gather")
        self.phases.hold_rows(replace(flow, width=operator.width), gathered_counts, phase)
        phase.count_operations("merge", gathered_counts)
        return Flow(operator.rows, operator.width, "first", phase)

    def _window(self, operator: Operator) -> Flow:
        """Sort the rows of each partition on one node; all on the first, where there are no partitions."""
        flow = _drop_replicas(self._flow(operator.inputs[0]))
        counts = self.phases.counts(flow)
        if flow.home == "shared" and operator.has_partitions:
            self.phases.partition(flow)
            counts = self.phases.spread_evenly(flow.rows)
        elif flow.home == "shared":
            flow.phase.add_sends(self.phases.gather_to_first(counts), flow.width)
            counts = self.phases.place_on_first(flow.rows)
        phase = self.phases.begin("window")
        self.phases.hold_rows(flow, counts, phase)
        if operator.kind == "WINDOW":
            phase.count_operations("compare", sort_comparisons(counts))
        phase.count_operations("tuple", counts)
        home = flow.home if operator.has_partitions else "first"
        return Flow(operator.rows, operator.width, home, phase)

    def _cte(self, operator: Operator, is_last: bool) -> Flow:
        """Evaluate a common table expression, then the part of the plan that scans it."""
        flow = _drop_replicas(self._flow(operator.inputs[0]))
        counts = self.phases.counts(flow)
        node_bytes = int(counts.max(initial=0)) * flow.width
        file = ""
        if node_bytes > self.phases.free_bytes // 2:
            file = self.phases.write(flow.phase, counts, flow.width, "common table")
            node_bytes = 0
        self._common_tables_by_number[operator.common_table] = _CommonTable(flow, file)
        self.phases.free_bytes -= node_bytes
        scanning_flow = self._flow(operator.inputs[1], is_last=is_last)
        self.phases.free_bytes += node_bytes
        return scanning_flow

    def _cte_scan(self, operator: Operator) -> Flow:
        """Scan the rows of a common table expression."""
        common = self._common_tables_by_number[operator.common_table]
        phase = self.phases.begin("rescan")
        if common.file:
            self.phases.read_back(phase, common.file)
        phase.count_operations("tuple", self.phases.counts(common.flow))
        return replace(common.flow, phase=phase, table_bytes=0)


def _drop_replicas(flow: Flow) -> Flow:
    """The flow with its rows on the first node only, where they were on each."""
    return replace(flow, home="first") if flow.home == "each" else flow
