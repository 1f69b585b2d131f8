"""Native extension of sledlab. Structured results are JSON text, columns are bytes.

Whatever takes long looks for signals about every 50 ms, and raises what their handlers raise. Kernels of data
mining do not: they finish what they are given, so give them blocks.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

BUILD_PROFILE: str
"""Cargo profile of the build: `release`, `quick` or `debug`."""

__version__: str
"""Version of sledlab."""

__sources__: str
"""Hash of the compiled sources, independent of machine and compiler."""

@final
class Experiment:
    """An immutable experiment; every change returns a new one.

    Examples:
        >>> import sledlab as sl
        >>> experiment = sl.Experiment('workload.kind = "uniform"').with_device("mems-g2")
        >>> sl.run(experiment.with_setting("replay.limit", "1000")).count
        1000
    """

    def __new__(
        cls, toml: str = "", name: str = "experiment", plugins: Sequence[str] | None = None
    ) -> Experiment:
        """Parse TOML; relative paths are resolved against the directory of the file `name`.

        `plugins` are allowed to run, as by `with_plugins`. Experiments can be copied and pickled.
        """
    def with_setting(self, key: str, value: str) -> Experiment:
        """Set a key such as `device.active_tips` to a TOML value or a bare word."""
    def with_device(self, name_or_path: str) -> Experiment:
        """Set the device to a preset or a device file."""
    def with_trace(self, file: str, format: str | None = None) -> Experiment:
        """Set the source to a trace file."""
    def with_workload(self, kind: str) -> Experiment:
        """Set the source to a workload generator."""
    def with_plugins(self, names: Sequence[str] | None) -> Experiment:
        """Allow these plug-ins, `module:Class`, to run, and no others; `*` allows all.

        What is made from this experiment allows them too. No file says so: one that is read allows none.
        """
    def allowed_plugins(self) -> list[str]:
        """Return the plug-ins that are allowed to run, used or not; `*` stands for all."""
    def plugins(self) -> list[str]:
        """Return the plug-ins that the experiment uses, allowed or not, without running their code."""
    def check(self, has_source: bool = False) -> None:
        """Validate the experiment before a run; plug-ins must be allowed, and are constructed.

        With `has_source`, the requests are passed to the run.
        """
    def to_toml(self) -> str:
        """Return the complete experiment, including defaults.

        No code of a plug-in runs; its parameters are written as configured.
        """
    def explicit_toml(self) -> str:
        """Return the explicit settings as TOML, without defaults and the contents of presets."""
    def setting(self, key: str) -> str | None:
        """Return the explicit setting of a key such as `trace.file`, `None` if it has the default."""
    def describe_device(self) -> str:
        """Return all device parameters and `capacity_blocks` as JSON."""
    def run(
        self,
        source: Source | None = None,
        rows: Callable[[list[tuple[str, bytes]]], None] | None = None,
        progress: Callable[[int, float | None], None] | None = None,
        highest_end: int | None = None,
        time_decisions: bool = False,
        stop_overloaded: bool = False,
    ) -> str:
        """Run the experiment and return the outcome as JSON.

        `progress` is called at the first request and then about every 50 ms, with operations and the share of
        the whole; while a trace is surveyed first, with no operations. If it raises `KeyboardInterrupt`, the
        outcome is that of what had been done. The interrupt is raised if nothing had been done, and without
        `progress`.

        With `time_decisions` the outcome has `decision_ns`, the mean wall-clock time of a scheduling
        decision. With `stop_overloaded` a run whose queue kept growing ends with its last arrival; others do
        not change.
        """

@final
class Server:
    """A network block device (NBD) server thread that completes requests at the times of the model."""

    def __new__(
        cls,
        experiment: Experiment,
        *,
        socket: str | None,
        tcp: str | None,
        data: str | None,
        scratch: bool,
        untimed: bool,
        power_failures: bool,
        scale: tuple[int, int],
        host_us: float | None,
        priority: str,
        recording: str,
        attached: bool,
        rotational: bool,
    ) -> Server:
        """Start the server; it listens when this returns.

        `data` is the path of a file, `scale` the ratio of wall-clock time to simulated time. `host_us` is the
        round-trip time to a client, measured if `None`. `recording` is a file for requests and replies. An
        `attached` server replies immediately until `begin`. `rotational` is reported to clients.
        `power_failures` stores the data that `power_fail` needs.
        """
    @property
    def uri(self) -> str:
        """Address of the server."""
    @property
    def socket(self) -> str | None:
        """Path of the Unix socket, if the server uses one."""
    def status(self) -> str | None:
        """Return the status as JSON, `None` after the server has stopped."""
    def power_fail(self, seed: int | None) -> str:
        """Simulate a power failure and return its effects as JSON. Default seed: that of the run."""
    def measure(self, path: Path) -> None:
        """Measure the latency to a file or device backed by the server, before the clock starts."""
    def begin(self) -> None:
        """Start the clock of a server that waits for an attachment."""
    def stop(self, drain: bool) -> str:
        """Stop the server, after outstanding requests if `drain`, and return its report as JSON."""
    def check(self) -> None:
        """Stop the server and raise the error of the model, if it failed."""

@final
class RowsDigest:
    """Checksum of a per-request table: tables of two runs are equal if their checksums are."""

    def __new__(cls) -> RowsDigest:
        """Return the checksum of an empty table."""
    def update(self, columns: list[tuple[str, bytes]]) -> None:
        """Add rows, as passed to `rows` of `Experiment.run`."""
    def value(self) -> int:
        """Return the checksum of all rows so far."""

@final
class Work:
    """What each node of a cluster did in each phase of a job: counts and bytes."""

    def __new__(cls, path: str, text: bytes | None = None) -> Work:
        """Parse a record from a file, or from `text`; then `path` is used in messages only."""
    def write(self, path: str) -> None:
        """Write the record as plain text."""
    def describe(self) -> str:
        """Return job, parameters, seed, nodes, files, groups, operations and number of phases as JSON."""
    def describe_phases(self, first: int, count: int) -> str:
        """Return up to `count` phases from phase `first` on with totals as JSON."""
    def traffic(self) -> str:
        """Return the bytes that each node sends to each node and, last, to the client, as JSON."""

def shares(
    redundancy: str, nodes: int, failed: Sequence[int]
) -> list[tuple[int | None, list[tuple[int, int, int, int]]]]:
    """Return for the share of each node the node with its copy and the assignment of the work on it.

    A part is `(machine, from, to, of)`: from `from / of` to `to / of` of it.
    """

@final
class ClusterExperiment:
    """An immutable experiment that replays a work record; every change returns a new one."""

    def __new__(cls, toml: str = "", name: str = "experiment") -> ClusterExperiment:
        """Parse TOML; relative paths are resolved against the directory of the file `name`.

        Experiments can be copied and pickled.
        """
    def with_plugins(self, names: Sequence[str] | None) -> ClusterExperiment:
        """Allow plug-ins as in `Experiment`: devices and replacement policies."""
    def allowed_plugins(self) -> list[str]:
        """Return the plug-ins that are allowed to run, used or not; `*` stands for all."""
    def check(self) -> None:
        """Reject plug-ins that are not allowed, and objects that are no classes."""
    def with_setting(self, key: str, value: str) -> ClusterExperiment:
        """Set a key such as `node.mhz` or `device.active_tips` to a TOML value or a bare word."""
    def with_device(self, name_or_path: str) -> ClusterExperiment:
        """Set the device of every node to a preset or a device file."""
    def with_preset(self, table: str, name_or_path: str) -> ClusterExperiment:
        """Set `node`, `host` or `network` to a preset or a file."""
    def with_work(self, file: str) -> ClusterExperiment:
        """Set the work record."""
    def work_file(self) -> str | None:
        """Return the work record of the experiment."""
    def to_toml(self, work: Work | None = None) -> str:
        """Return the complete experiment for a record, including defaults. Default: its own record."""
    def check_record(self) -> None:
        """Check all that `run` checks before it replays its own record, except copies of files."""
    def explicit_toml(self) -> str:
        """Return the explicit settings as TOML, without defaults and the contents of presets."""
    def setting(self, key: str) -> str | None:
        """Return the explicit setting of a key such as `node.preset`, `None` if it has the default."""
    def run(
        self,
        work: Work,
        what_if: bool = False,
        threads: int = 0,
        progress: Callable[[int, float | None], None] | None = None,
        dump_node: int | None = None,
        dump_path: str | None = None,
        goal_path: str | None = None,
    ) -> str:
        """Replay a record and return the outcome as JSON.

        `progress` is called with pages and the share of the whole; what it raises ends the replay.
        `dump_node` and `dump_path` write the block trace of a node's store, `goal_path` the job as a GOAL
        schedule.
        """

def check_toml(text: str, name: str) -> None:
    """Check that a text is valid TOML, with nesting and dotted keys of at most 80 levels.

    Raises:
        Error: It is not; the error has the line and column of the file `name`.
    """

def toml_tables(text: str) -> dict[str, Any]:
    """Return the tables of the text of an experiment, much faster than `tomllib`; dates are text.

    Raises:
        Error: The text is not valid TOML.
    """

def resolve_file_name(name: str, by: str) -> str:
    """Return the path, from the working directory, of a file that the file `by` refers to.

    A relative name is looked for relative to the directory of `by` first; what is in neither is as it is.
    """

@final
class QueuedRequest:
    """A queued request."""

    @property
    def id(self) -> int:
        """Number in order of arrival, from 0."""
    @property
    def arrival_ns(self) -> int:
        """Arrival at the system."""
    @property
    def queued_ns(self) -> int:
        """Arrival in the queue."""
    @property
    def lbn(self) -> int:
        """First block."""
    @property
    def blocks(self) -> int:
        """Number of blocks, at least 1."""
    @property
    def op(self) -> str:
        """`R` or `W`."""

@final
class DeviceView:
    """The mechanism when a request is selected: a sled, a disk, or a memory without moving parts."""

    @property
    def capacity_blocks(self) -> int:
        """Number of blocks."""
    @property
    def blocks_per_track(self) -> int:
        """Blocks of a track: of a disk's longest one; all of a memory."""
    @property
    def cylinders(self) -> int:
        """Number of cylinders; 1 of a memory."""
    @property
    def rows(self) -> int:
        """Rows of a cylinder: of a disk its heads; 1 of a memory."""
    @property
    def state(self) -> tuple[int, int, int]:
        """Position of the mechanism.

        Of a sled: x and y, in bits from the center, and the direction of motion in y (+1 or -1).
        Of a disk: cylinder, head and 1. Of a memory: 0, 0 and 1.
        """
    def location(self, lbn: int) -> tuple[int, int]:
        """Cylinder and row of a block: of a disk cylinder and head; of a memory 0 and 0.

        Raises `ValueError` for a block outside the device.
        """
    @overload
    def positioning_ns(self, requests: QueuedRequest) -> int: ...
    @overload
    def positioning_ns(self, requests: Iterable[QueuedRequest]) -> NDArray[np.uint64]:
        """Return positioning times from the present state in ns; 0 of a memory.

        One call for all queued requests is much faster than a call for each.

        Args:
            requests: A request, or requests in any order.

        Returns:
            The time of the request, or an array of the times in the order of the requests.
        """

@final
class PowerCosts:
    """Costs that a power policy weighs at the end of an idle period."""

    @property
    def idle_mw(self) -> float:
        """Power while idle where the mechanism has stopped, in mW."""
    @property
    def inactive_mw(self) -> float:
        """Power while parked, in mW; of a disk that is not spinning."""
    @property
    def startup_uj(self) -> float:
        """Energy of a start-up, in microjoules; of a disk of spinning up."""
    @property
    def break_even_ms(self) -> float:
        """Idle period from which parking at its start saves energy; infinite if it never does."""

@final
class Continuation:
    """State shared by traces that continue one another: device numbers and the time origin."""

    def __new__(cls, base_ns: int | None = None) -> Continuation:
        """Set the time origin to `base_ns` of the wall clock, by default to the first request."""
    def names(self) -> list[bytes]:
        """Return the names of devices by number; empty if the format has only numbers."""
    def notes(self) -> list[str]:
        """Return what a user should know about the traces, as sentences, once they have been read."""
    @property
    def base_ns(self) -> int | None:
        """Return the time origin in ns; `None` before the first request."""

@final
class Sorter:
    """Partition requests by device into files `0`, `1`, ... in one pass and constant memory.

    A file holds the requests of all devices whose number gives its own modulo how many files there are, in
    order of arrival: 24 bytes each, arrival in ns (u64), first block (u64), blocks (u32), device (u16), and
    what it is (u16): 0 read, 1 write, 2 trim, 3 flush; 4 more for metadata; 8 times the unwanted words of the
    last block.
    """

    def __new__(cls, directory: str, parts: int) -> Sorter:
        """Create the files in an empty directory."""
    def take(self, source: Source, progress: Callable[[int, float | None], None] | None = None) -> None:
        """Add all requests of a source, which continues the previous one."""
    def finish(self) -> int:
        """Write the buffered requests and return the number of all requests."""

@final
class Source:
    """A stream of requests that can be used once."""

    @property
    def format(self) -> str:
        """Name of the trace format, generator or transform."""
    @staticmethod
    def open(
        path: str,
        format: str | None = None,
        sort_window: int = 0,
        add_service_times: bool = False,
        continuation: Continuation | None = None,
        file: IO[bytes] | None = None,
        *,
        columns: str | None = None,
        start: str = "first",
        spread_s: float | None = None,
        sector_bytes: int | None = None,
        from_s: float = 0.0,
        until_s: float = 0.0,
    ) -> Source:
        """Open a trace file, or read an open one; then `path` is used in messages only.

        `continuation` is what the trace shares with those that it continues.
        """
    @staticmethod
    def generate(
        kind: str, params: str, seed: int, capacity_blocks: int, plugins: Sequence[str] | None = None
    ) -> Source:
        """Start a generator; `params` is TOML, `plugins` are the allowed plug-ins."""
    @staticmethod
    def from_columns(
        name: str,
        chunks: Iterator[tuple[str, tuple[bytes, bytes, bytes, bytes, bytes, bytes]]],
        clock: str = "trace",
        sort_window: int = 0,
        continuation: Continuation | None = None,
        *,
        start: str = "first",
        spread_s: float | None = None,
        from_s: float = 0.0,
        until_s: float = 0.0,
    ) -> Source:
        """Build a stream from columns: time, op, offset_bytes, length_bytes, device, metadata.

        Each chunk begins with the unit of its times: `us` (i64), `fractional us` (f64), `ns` (i64) or, for
        the clocks `date` and `day`, `wall ns` (u64).
        """
    @property
    def ns_before_1970(self) -> int | None:
        """The zero of the clock of a trace, in ns before 1970; `None` for clocks without a date."""
    @property
    def continuation(self) -> Continuation:
        """The state that the trace shares with traces that continue it."""
    def device_name(self, number: int) -> bytes:
        """Return the name of a device in the trace, or its number."""
    def next_chunk(self) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes] | None:
        """Arrival in ns (u64), op, first block (u64), bytes (u64), device (u16), metadata (u8).

        `None` at the end.
        """

def set_sample_directory(directory: str) -> None:
    """Set the directory of the sample traces and work records, `sample:NAME`."""

def is_plugin(name: str) -> bool:
    """Return whether the word for a model is a plug-in, `module:Class`."""

def catalog() -> str:
    """Return all models with their parameters as JSON."""

def device_text(name: str) -> str:
    """Return the text of a preset, including comments."""

def host_names() -> list[str]:
    """Return the names of the hosts to which drives can be attached."""

def replay_measured_requests(experiment: Experiment, file: str) -> tuple[bytes, bytes, bytes]:
    """Return op letters, and measured and simulated service times in ns (u64) of a measured stream."""

def import_device(data: bytes, file: str, name: str | None = None) -> tuple[str, list[str]]:
    """Convert a device in a DiskSim parameter file to a device file, with notes."""

def seek_map(
    experiment: Experiment, x_bit: int, y_bit: int, direction: int
) -> tuple[list[bytes], list[float]]:
    """Return x of columns and y of rows in bits (i32), and positioning times in ms (f64) row by row."""

def half_width_95(values: object, correlated: float) -> float | None:
    """Return half the 95 % confidence interval of the mean of values (float64); None for too few values.

    Args:
        values: Successive values.
        correlated: Number of successive values that are worth one independent value.
    """

def correlated_requests(utilization: float, dispersion: float) -> float:
    """Return for how many requests of an open replay one independent response time counts."""

def characterize(
    source: Source,
    cache_block_bytes: int | None = None,
    cache_sizes_mb: Sequence[int] | None = None,
    device: Experiment | None = None,
) -> str:
    """Return the characteristics of a workload as JSON; with a device, with the cylinders of each hour."""

def check_replacement(word: str, plugins: Sequence[str] | None) -> None:
    """Reject an unknown replacement policy, or a plug-in that is not allowed.

    `word` is `name:key=value` or `module:Class:key=value`.
    """

@final
class Conformance:
    """A model, and the rules of its kind."""

    def __new__(cls, kind: str, word: str, plugins: Sequence[str] | None) -> Conformance:
        """Return the model `word` of a kind: `device`, `scheduler`, `replacement` or `workload`.

        `plugins` are those that may run, as of experiments.
        """
    def rules(self) -> list[str]:
        """Return the rules in the order in which they are checked; for plug-ins those that apply to them."""
    def check_cases(self, rule: str, seed: int, cases: int) -> None:
        """Check the model against a rule in `cases` cases of a seed; raise an error for a violation."""

def kinds_of_plugin(word: str, plugins: Sequence[str] | None) -> list[str]:
    """Return the kinds of models whose methods a class has, without calling them."""

@final
class SegmentUses:
    """The uses of segments by a workload."""

    def __new__(cls, source: Source, segment_blocks: int, admits_reads: bool = True) -> SegmentUses:
        """Read a source to its end. Unless the caches admit reads, only writes enter them."""
    @property
    def segments(self) -> int:
        """Return the number of different segments."""
    @property
    def count(self) -> int:
        """Return the number of uses of segments."""
    def samples(self, count: int, rate: float, seed: int) -> list[SegmentUses]:
        """Return samples of the segments with all their uses, each with the share `rate` of all segments."""
    def hits(
        self, caches: Sequence[tuple[str, int]], plugins: Sequence[str] | None, counts_destages: bool = False
    ) -> str:
        """Return the hits of caches, given as (policy, capacity in segments), as JSON."""

def writer_formats() -> list[tuple[str, list[str], str]]:
    """Return the formats in which traces can be written.

    Each comes with the extensions that select it, and with how it states devices: by `number`, by `name` or
    in an optional `column`.
    """

def op_letter(word: str) -> str | None:
    """Return the letter of the operation that a word names, in any case; `None` for an unknown word."""

def compression_extensions() -> list[str]:
    """Return the extensions, behind those of a format, that select a compression."""

def write_trace(
    source: Source,
    path: str,
    format: str | None = None,
    device_column: bool = False,
    media_only: bool = False,
    limit: int | None = None,
    progress: Callable[[int, float | None], None] | None = None,
) -> int:
    """Write a trace file and return its number of requests."""

def time_window(source: Source, from_ns: int, until_ns: int | None, from_zero: bool) -> Source:
    """Select the requests that arrive in a window."""

def select_devices(source: Source, names: Sequence[str]) -> Source:
    """Select the requests to devices by name; a missing name is an error at the end of the trace."""

def number_by_name(source: Source) -> Source:
    """Give devices the numbers that are their names, where these are numbers."""

def block_range(source: Source, first: int, end: int) -> Source:
    """Select the requests that start in a range of blocks."""

def select_ops(source: Source, ops: str) -> Source:
    """Select operations by their letters."""

def scale_addresses(source: Source, factor: float) -> Source:
    """Multiply every address by a factor."""

def shift(source: Source, blocks: int) -> Source:
    """Shift every request by a number of blocks."""

def place(source: Source, extents: Sequence[int]) -> Source:
    """Concatenate the devices of a trace on one device."""

def overlay(source: Source) -> Source:
    """Map all requests to one device without changing addresses."""

def single_device(source: Source, volume: str) -> Source:
    """Number the device of a volume 0; requests to a second device are an error."""

def fit(source: Source, outside: str, capacity_blocks: int, highest_end: int | None) -> Source:
    """Fit requests to a capacity."""

def speedup(source: Source, factor: float) -> Source:
    """Divide arrival times by a factor."""

def limit(source: Source, requests: int = 0, operations: int = 0) -> Source:
    """Select the first requests (reads and writes) or operations of any kind; 0: no limit."""

def merge(sources: Sequence[Source], join_devices: bool) -> Source:
    """Merge streams in order of arrival; devices with equal names may be the same."""

def sequence(sources: Iterator[Source]) -> Source:
    """Join streams one after another."""

def survey(source: Source) -> tuple[int, list[int], int]:
    """Return the number of requests, the end of each device in blocks, and the last arrival in ns."""

@final
class HashTree:
    """Candidate itemsets of one length in the hash tree of Apriori, ready to be counted.

    Arrays hold exactly the type that is named, in C order; anything else raises `Error`.
    """

    def __new__(cls, candidates: Buffer, length: int) -> HashTree:
        """Takes itemsets of `length` items (u32, below 2^24) one after another, each strictly increasing."""
    def __len__(self) -> int:
        """Return the number of candidates."""
    def count(self, offsets: Buffer, items: Buffer, threads: int = 0) -> tuple[bytes, int, int]:
        """Transactions that contain each candidate (u64), nodes of the tree visited, candidates compared.

        Transaction `t` holds `items[offsets[t]:offsets[t + 1]]` (u32, strictly increasing; offsets u64). All
        three results add up over blocks of transactions, and are the same for any number of `threads`; 0 is
        as many as there are processors.
        """

@final
class UnitCounter:
    """Candidate dense units of MAFIA of one length, ready to be counted."""

    def __new__(
        cls,
        dims: int,
        windows: int,
        lows: Buffer,
        highs: Buffer,
        bin_of_window: Buffer,
        candidates: Buffer,
        length: int,
    ) -> UnitCounter:
        """Takes a grid, and units of `length` pairs (dimension, bin) (u32) one after another.

        Every dimension goes from its low to its high (f64) in so many windows; `bin_of_window` (u16) holds a
        row for each dimension. Dimensions of a unit increase strictly.
        """
    def __len__(self) -> int:
        """Return the number of candidates."""
    def count(self, records: Buffer, threads: int = 0) -> tuple[bytes, int, int, int]:
        """Records inside each unit (u64), values turned into bins, steps in their tree, comparisons without.

        Records are rows of `dims` values (f32). All four results add up over blocks of records, and are the
        same for any number of `threads`; 0 is as many as there are processors.
        """

def window_histogram(
    records: Buffer, dims: int, windows: int, lows: Buffer, highs: Buffer, threads: int = 0
) -> bytes:
    """Records (rows of f32) in each window of each dimension (u64, a row for each dimension).

    The window of value v is `floor((v - low) * (windows / (high - low)))` in f64, and the last one for the
    high.
    """

@final
class Quest:
    """Synthetic market-basket transactions in the manner of IBM Quest, without end."""

    BLOCK: int
    """Transactions of a block."""

    def __new__(
        cls,
        seed: int,
        universe: int | None = None,
        patterns: int | None = None,
        pattern_length: float | None = None,
        length: int | None = None,
        longest: int | None = None,
        correlation: float | None = None,
        corruption: float | None = None,
    ) -> Quest:
        """Draws the patterns.

        Different items (1000), patterns (2000), mean items of a pattern (4), mean (20) and most items (25)
        of a transaction, mean share of a pattern from the one before (0.5), mean level of corruption (0.5).
        """
    def block(self, index: int, count: int = ...) -> tuple[bytes, bytes]:
        """Lengths and items (u32 each) of the first `count` transactions of a block, by default of all."""

@final
class Boxes:
    """Records with planted clusters, without end."""

    BLOCK: int
    """Records of a block."""
    RANGE: float
    """Values are at least 0 and below this."""

    def __new__(
        cls,
        seed: int,
        dims: int | None = None,
        clusters: int | None = None,
        cluster_dims: int | None = None,
        box_share: float | None = None,
        noise: float | None = None,
    ) -> Boxes:
        """Draws the clusters.

        Dimensions (20), clusters (5), dimensions of a cluster (5), share of the range that its box covers
        in each (0.1), share of records in no cluster (0.1).
        """
    def block(self, index: int, count: int = ...) -> bytes:
        """The first `count` records of a block, by default all: rows of `dims` values (f32)."""
    def clusters(self) -> str:
        """The clusters: a list of `dims`, `lows` and `highs`, as JSON."""
