"""The search for the smallest cluster: a job recorded and replayed with various numbers of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from sledlab import _native
from sledlab.errors import Error
from sledlab.model.choices import several
from sledlab.model.plugins import allowed_plugins
from sledlab.results import list_in_manifest, prepare_directory, record_digests
from sledlab.runs.cluster import compose_experiment, run
from sledlab.runs.keywords import accept_options
from sledlab.runs.options import ClusterOptions
from sledlab.runs.systems import parse_systems
from sledlab.studies.costs.prices import prices as read_prices
from sledlab.studies.size.bill import Bill
from sledlab.studies.size.goal import goal, parse_node_range
from sledlab.studies.size.result import KIND, OUTPUT_FILES, Size, SmartSize
from sledlab.studies.size.search import fastest, smallest
from sledlab.studies.smart.options import NODE_RANGE
from sledlab.studies.smart.recording import parse_job_settings, recordables
from sledlab.studies.smart.replays import result_row
from sledlab.study.plan import plain, with_run_name
from sledlab.study.systems import with_system

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sledlab._native import ClusterExperiment
    from sledlab.job.task import Tell
    from sledlab.runs.cluster_result import ClusterResult
    from sledlab.runs.compose import Device
    from sledlab.studies.size.goal import ClusterGoal
    from sledlab.studies.smart.recording import Recordable


EMPTY_WORK_RECORD = b"""{"work": 1, "job": "nothing", "nodes": 1, "files": {}}
{"phase": "nothing", "nodes": "all"}
"""
"""A record that any cluster can replay, to check options before a job runs."""


@accept_options(ClusterOptions)
def smart_size(
    job: str | Path | None = None,
    device: Sequence[Device] | Device | None = None,
    *,
    query: str | Path | None = None,
    tables: str | Path | None = None,
    until: str | None = None,
    deadline: float | str | None = None,
    budget: float | str | None = None,
    node_count: str | Sequence[int] = NODE_RANGE,
    job_settings: Sequence[str] | str = (),
    price: Sequence[str | Path] | str | Path = (),
    out: str | Path | None = None,
    replace: bool = False,
    progress: Tell | None = None,
    **options: Unpack[ClusterOptions],
) -> SmartSize:
    """Find the smallest cluster on which a component is the bottleneck, or that meets a deadline.

    Replays the job with the first number of nodes and its doublings, until three in a row meet the goal or
    the last number is reached; then halves the gap below the first that meets it until both it and the number
    just below have been replayed. Before each replay the job runs on that many nodes, unless its record is
    cached. With a budget and no deadline it replays
    doublings up to the most nodes that the budget buys, that number and one more, and chooses the fastest
    that it buys.

    Args:
        job: A job (`sledlab list job`), or a Python file that defines one.
        query: Instead of a job: `q1` to `q22` of TPC-H, a file of SQL, or SQL.
        tables: A directory of tables for the query, if not those of TPC-H.
        device: A device or several, as the stores of nodes.
        until: The component that has to save most when twice as fast: `compute` (or `processor`),
            `store` or `network`.
        deadline: Longest time the job may take: in s, or a text such as `60s`, `2min`, `500ms`.
        budget: Highest price of the cluster, in USD. Either `until`, or `deadline` or `budget` or both.
        node_count: The fewest and the most nodes, as a text or a pair.
        job_settings: Parameters of the job or of data, such as `scale_factor=0.1`.
        price: Prices in USD, such as `mems-g3=50`, or files of prices, over those of sledlab.
        out: A directory for report, table and summary.
        replace: Whether to delete existing sledlab results in that directory first.
        progress: Called at intervals with the current step and the share of it that is done.
        **options: Further options, as in `replay`.

    Returns:
        The answer for each device, and all replays.

    Raises:
        Error: An argument is invalid, a part lacks a price that is needed, or the job cannot run on a number
            of nodes; the message names it.
        KeyboardInterrupt: Ctrl-C.

    Examples:
        >>> import sledlab as sl
        >>> size = sl.smart_size(
        ...     "sort",
        ...     ["mems-g3", "ram"],
        ...     until="store",
        ...     node_count="2..8",
        ...     job_settings=["scale_factor=0.001"],
        ... )
        >>> list(size.smallest)
        ['mems-g3', 'ram']
    """
    target = goal(until, deadline, budget)
    prices = read_prices(price)
    first, last = parse_node_range(node_count)
    recordable = _parse_recordable(job, query, tables)
    settings = parse_job_settings([recordable], several(job_settings))
    clusters = _clusters(device, options)
    directory = prepare_directory(out, KIND, replace=replace)
    runs = _Runs(recordable, settings, options, clusters, progress or (lambda what, share: None))
    # Per node, the fewest nodes store most: a job that does not fit is refused at once.
    bill = Bill(
        {name: runs.check(name, first) for name in clusters}, prices, requires_prices=budget is not None
    )
    search = _Search(target, runs, bill, first, last)
    answers, devices_by_name = {}, {}
    for name in clusters:
        answers[name] = search.find_nodes(name)
        devices_by_name[name] = runs.config["device"]
    rows = sorted(search.rows, key=lambda each: (list(clusters).index(each.device), each.nodes))
    shared_config = {key: value for key, value in runs.config.items() if key not in ("work", "device")}
    size = SmartSize(
        *(runs.name, target, (first, last), answers, rows, settings, shared_config, devices_by_name),
        *(search.buys, bill.used_prices),
    )
    if directory is not None:
        list_in_manifest(directory, KIND, OUTPUT_FILES)
        size.write(directory)
        record_digests(directory)
    return size


class _Search:
    """The search for the cluster, on one device after another.

    Attributes:
        rows: All replays so far.
        buys: The most nodes that the budget buys, for each device searched; empty without a budget.
    """

    def __init__(self, target: ClusterGoal, runs: _Runs, bill: Bill, first: int, last: int) -> None:
        self.rows: list[Size] = []
        self.buys: dict[str, int] = {}
        self._goal, self._runs, self._bill = target, runs, bill
        self._first, self._last = first, last

    def find_nodes(self, name: str) -> int | None:
        """The number of nodes found for a device; None where no number meets the goal."""
        first, max_nodes = self._first, self._last
        if self._goal.budget_usd is not None:
            max_nodes = self._bill.max_nodes(name, self._goal.budget_usd, first, self._last)
            self.buys[name] = max_nodes
        if self._goal.is_fastest:
            return fastest(
                first, self._last, max_nodes, lambda number: self._replay(name, number).run.elapsed_s
            )
        # A cluster over budget with the fewest nodes is replayed all the same, to tell by how much.
        return smallest(first, max(first, max_nodes), lambda number: self._replay(name, number).meets)

    def _replay(self, name: str, number: int) -> Size:
        row = result_row(self._runs.result(name, number))
        if not row.savings():
            raise Error(
                "what each component saves is omitted by cluster.what_if = false",
                remedy="omit that setting: sizes are chosen by these values",
            )
        cost = self._bill.cost(name, number, row)
        self.rows.append(Size(name, number, row, self._goal.is_met(row, cost), cost))
        return self.rows[-1]


class _Runs:
    """Replays of one job with any number of nodes; each record is made or found once.

    Attributes:
        name: The name of the job.
        config: The experiment of the last replay, as plain data.
    """

    def __init__(
        self,
        recordable: Recordable,
        settings: Mapping[str, str],
        options: ClusterOptions,
        clusters: Mapping[str, ClusterExperiment],
        tell: Tell,
    ) -> None:
        self.name = recordable.name
        self.config: Mapping[str, Any] = {}
        self._recordable, self._settings, self._options, self._tell = recordable, settings, options, tell
        self._clusters = clusters
        self._records: dict[int, str] = {}

    def check(self, name: str, nodes: int) -> Mapping[str, Any]:
        """Check that the job can be replayed with a device, given by its name, and a number of nodes.

        Returns:
            The experiment, complete, as plain data.

        Raises:
            Error: The job cannot run on that many nodes, or does not fit on them.
        """
        file = self._record(nodes)
        try:
            cluster = self._clusters[name].with_work(file)
            cluster.check_record()
            return plain(cluster.to_toml())
        except Error as error:
            raise with_run_name(error, f"{self.name} on {_count(nodes)} with {name}") from error

    def result(self, name: str, nodes: int) -> ClusterResult:
        """The result of the job with a device, given by its name, and a number of nodes.

        Raises:
            Error: The job cannot run on that many nodes, or its record cannot be replayed.
        """
        file, step = self._record(nodes), f"replaying on {_count(nodes)} with {name}"
        try:
            result = run(
                self._clusters[name].with_work(file),
                threads=self._options.get("threads") or 0,
                progress=lambda _, share: self._tell(step, share),
            )
        except Error as error:
            raise with_run_name(error, f"{self.name} on {_count(nodes)} with {name}") from error
        self.config = result.config
        return result

    def _record(self, nodes: int) -> str:
        """The file of the job's record for a number of nodes.

        Raises:
            Error: The job cannot run on that many nodes.
        """
        if nodes not in self._records:
            seed = self._options.get("seed")
            step = f"recording on {_count(nodes)}"
            try:
                work = self._recordable.record(
                    nodes,
                    1 if seed is None else seed,
                    self._settings,
                    lambda phase, share: self._tell(f"{step}: {phase}", share),
                )
            except Error as error:
                raise with_run_name(error, f"{self.name} on {_count(nodes)}") from error
            self._records[nodes] = work.name
        return self._records[nodes]


def _parse_recordable(
    job: str | Path | None, query: str | Path | None, tables: str | Path | None
) -> Recordable:
    """The job or the query.

    Raises:
        Error: There is no job or query, or more than one.
    """
    jobs = [] if job is None else [job]
    allowed = allowed_plugins({"job": job})  # the user names the job: no file can
    recordable_list = recordables(jobs, [] if query is None else [query], tables, allowed)
    if len(recordable_list) != 1:
        raise Error(
            "there is one job or one query to find a size for", remedy="use --job sort, or --query q5"
        )
    return recordable_list[0]


def _count(nodes: int) -> str:
    return f"{nodes:,} node{'s' if nodes > 1 else ''}"


def _clusters(
    devices: Sequence[Device] | Device | None, options: ClusterOptions
) -> dict[str, ClusterExperiment]:
    """The experiment with each device, by name, without a record; checked.

    Raises:
        Error: There is no device, one was given twice, or an option is invalid.
    """
    if (options.get("threads") or 0) < 0:
        raise Error(f"there is no number of threads {options['threads']}", remedy="use a number from 0")
    base = compose_experiment(None, options, _native.ClusterExperiment())
    empty_work = _native.Work("nothing", EMPTY_WORK_RECORD)
    clusters: dict[str, ClusterExperiment] = {}
    for name, device in parse_systems(devices).items():
        clusters[name] = with_system(base, device)
        clusters[name].to_toml(empty_work)
    return clusters
