"""The compiled part of sledlab. Structured results are JSON text, columns are bytes.

Whatever takes long looks for signals about every 50 ms, and raises what their handlers raise. Kernels of data
mining do not: they finish what they are given, so give them blocks.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, final

from typing_extensions import Buffer

BUILD_PROFILE: str
"""The Cargo profile that it was compiled with: `release`, `quick` or `debug`."""

__version__: str
"""The version of sledlab."""

__sources__: str
"""A hash of the sources that it was compiled from, the same on every machine and by every compiler."""

@final
class Experiment:
    """An experiment under construction; every change gives a new one.

    Examples:
        >>> import sledlab as sl
        >>> experiment = sl.Experiment('workload.kind = "uniform"').with_device("mems-g2")
        >>> sl.run(experiment.with_setting("replay.limit", "1000")).count
        1000
    """

    def __new__(
        cls, toml: str = "", name: str = "experiment", plugins: Sequence[str] | None = None
    ) -> Experiment:
        """Reads TOML; files that it names are looked for beside the file `name`, which messages name.

        `plugins` are allowed to run, as by `with_plugins`. Experiments can be copied and pickled.
        """
    def with_setting(self, key: str, value: str) -> Experiment:
        """Sets a key such as `device.active_tips` to a TOML value or a bare word."""
    def with_device(self, name_or_path: str) -> Experiment:
        """Takes the device from a preset or a device file."""
    def with_trace(self, file: str, format: str | None = None) -> Experiment:
        """Takes the requests from a trace file."""
    def with_workload(self, kind: str) -> Experiment:
        """Takes the requests from a generator."""
    def with_plugins(self, names: Sequence[str] | None) -> Experiment:
        """Allows those plug-ins, `module:Class`, to run, and no others; `*` allows all.

        What is made from this experiment allows them too. No file says so: one that is read allows none.
        """
    def allowed_plugins(self) -> list[str]:
        """The plug-ins that are allowed to run, named or not; `*` stands for all."""
    def plugins(self) -> list[str]:
        """The plug-ins that the experiment names, allowed or not; nothing of them runs."""
    def check(self) -> None:
        """Checks all that can be checked before the work starts; plug-ins must be allowed, and are made."""
    def to_toml(self) -> str:
        """The complete experiment, every default filled in.

        Nothing of a plug-in runs; what it is given is written as it was said.
        """
    def explicit_toml(self) -> str:
        """What has been said, as TOML: no default is filled in, and no preset is opened."""
    def setting(self, key: str) -> str | None:
        """What has been said of a key such as `trace.file`; defaults do not count."""
    def describe_device(self) -> str:
        """Every parameter of the device and its `capacity_blocks`, as JSON."""
    def run(
        self,
        source: Source | None = None,
        rows: Callable[[list[tuple[str, bytes]]], None] | None = None,
        progress: Callable[[int, float | None], None] | None = None,
        highest_end: int | None = None,
        time_decisions: bool = False,
        stop_overloaded: bool = False,
    ) -> str:
        """Runs and gives the outcome as JSON.

        `progress` is called at the first request and then about every 50 ms, with operations and the share of
        the whole; while a trace is surveyed first, with no operations. If it raises `KeyboardInterrupt`, the
        outcome is that of what had been done. The interrupt is raised if nothing had been done, and without
        `progress`.

        With `time_decisions` the outcome has `decision_ns`, the mean real time of a scheduling decision. With
        `stop_overloaded` a run whose queue kept growing ends with its last arrival; others do not change.
        """

@final
class Server:
    """A block device that answers when the model says: a thread that speaks NBD."""

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
        """Starts it; it listens when this returns.

        `data` is the path of a file, `scale` how many times slower than real time the model goes, as a ratio.
        `host_us` is the time from here to a client and back, measured where it is none. `recording` is a file
        that gets what was asked and answered. An `attached` server answers at once until it is to `begin`.
        Clients are told if the device is `rotational`. What `power_fail` needs is kept with
        `power_failures`.
        """
    @property
    def uri(self) -> str:
        """Where it listens."""
    @property
    def socket(self) -> str | None:
        """The Unix socket, where there is one."""
    def status(self) -> str | None:
        """What goes on, as JSON; nothing once it has been stopped."""
    def power_fail(self, seed: int | None) -> str:
        """Has the device lose its power; what that has done, as JSON. `seed` is the run's if none."""
    def measure(self, path: Path) -> None:
        """Measures the way to a file or device that was made of it, before it begins."""
    def begin(self) -> None:
        """Starts the clock, where it was to wait until something is attached."""
    def stop(self, drain: bool) -> str:
        """Ends it, after what is under way if `drain`; its report as JSON, the same whenever it is asked."""
    def check(self) -> None:
        """Raises what the model had given up with when it ended, if it had."""

@final
class RowsDigest:
    """Stands for a per-request table: those of two runs are the same if these are."""

    def __new__(cls) -> RowsDigest:
        """Of no rows."""
    def update(self, columns: list[tuple[str, bytes]]) -> None:
        """Takes the next rows, as `rows` of `Experiment.run` gets them."""
    def value(self) -> int:
        """The number that stands for all rows so far."""

@final
class Work:
    """What each node of a cluster did in each phase of a job: counts and bytes."""

    def __new__(cls, path: str, text: bytes | None = None) -> Work:
        """Reads a record: of a file or, where text is given, of that; the path then stands in messages."""
    def write(self, path: str) -> None:
        """Writes the record as plain text."""
    def describe(self) -> str:
        """Job, parameters, seed, nodes, files, groups, kinds of operation and phases with totals, as JSON."""
    def traffic(self) -> str:
        """Bytes that nodes send to each other and, last, to the client in all phases, row by row, as JSON."""

def shares(
    redundancy: str, nodes: int, failed: Sequence[int]
) -> list[tuple[int | None, list[tuple[int, int, int, int]]]]:
    """For the share of each node: who holds its copy, and who does which part of the work on it.

    A part is `(machine, from, to, of)`: from `from / of` to `to / of` of it.
    """

@final
class ClusterExperiment:
    """The experiment of the replay of a work record, under construction; every change gives a new one."""

    def __new__(cls, toml: str = "", name: str = "experiment") -> ClusterExperiment:
        """Reads TOML; files that it names are looked for beside the file `name`, which messages name.

        Experiments can be copied and pickled.
        """
    def with_plugins(self, names: Sequence[str] | None) -> ClusterExperiment:
        """Allows those plug-ins to run, as of `Experiment`: devices and replacement policies."""
    def check(self) -> None:
        """Refuses plug-ins that are not allowed, and classes that are none."""
    def with_setting(self, key: str, value: str) -> ClusterExperiment:
        """Sets a key such as `node.mhz` or `device.active_tips` to a TOML value or a bare word."""
    def with_device(self, name_or_path: str) -> ClusterExperiment:
        """Takes the device of every node from a preset or a device file."""
    def with_preset(self, table: str, name_or_path: str) -> ClusterExperiment:
        """Takes `node`, `host` or `network` from a preset or a file."""
    def with_work(self, file: str) -> ClusterExperiment:
        """Names the record."""
    def work_file(self) -> str | None:
        """The record that the experiment names."""
    def to_toml(self, work: Work | None = None) -> str:
        """The complete experiment for a record, that which it names unless given; every default filled in."""
    def explicit_toml(self) -> str:
        """What has been said, as TOML: no default is filled in, and no preset is opened."""
    def setting(self, key: str) -> str | None:
        """What has been said of a key such as `node.preset`; defaults do not count."""
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
        """Replays a record and gives the outcome as JSON.

        `progress` is called with pages and the share of the whole; what it raises ends the replay.
        `dump_node` and `dump_path` write the block trace of a node's store, `goal_path` the job as a GOAL
        schedule.
        """

def seen(name: str, by: str) -> str:
    """The name of a file that the file `by` names as the working directory sees it.

    A relative name is looked for relative to the directory of `by` first; what is in neither is as it is.
    """

@final
class QueuedRequest:
    """A request in the hands of a scheduler."""

    @property
    def id(self) -> int:
        """Number in order of arrival, from 0."""
    @property
    def arrival_ns(self) -> int:
        """When it reached the system."""
    @property
    def queued_ns(self) -> int:
        """When it joined the queue."""
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
    """The mechanism at the moment of a choice: a sled, a disk, or a memory in which nothing moves."""

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
        """Where the mechanism is.

        Of a sled: x and y, in bits from the centre, and the direction of motion in y (+1 or -1).
        Of a disk: cylinder, head and 1. Of a memory: 0, 0 and 1.
        """
    def location(self, lbn: int) -> tuple[int, int]:
        """Cylinder and row of a block: of a disk cylinder and head; of a memory 0 and 0.

        Raises `ValueError` for a block outside the device.
        """
    def positioning_ns(self, request: QueuedRequest) -> int:
        """Positioning time of a request from the present state, in ns; 0 of a memory."""

@final
class PowerCosts:
    """What a power policy weighs at the end of a rest, of any device."""

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
        """How long a rest must last for parking at its beginning to pay; infinite if it never does."""

@final
class Continuation:
    """What traces share that continue one another: numbers of devices, and what wall clocks count from."""

    def __new__(cls, base_ns: int | None = None) -> Continuation:
        """Counts from `base_ns` of the wall clock, or from the first request."""
    def names(self) -> list[bytes]:
        """Names of the devices by number; none where the format has only numbers."""
    @property
    def base_ns(self) -> int | None:
        """What wall clocks count from, in ns; `None` before the first request, and of other clocks."""

@final
class Sorter:
    """Sorts requests by device into a few files, `0` and on, in one pass and constant memory.

    A file holds the requests of all devices whose number gives its own modulo how many files there are, in
    order of arrival: 24 bytes each, arrival in ns (u64), first block (u64), blocks (u32), device (u16), and
    what it is (u16): 0 read, 1 write, 2 trim, 3 flush; 4 more for metadata; 8 times the unwanted words of the
    last block.
    """

    def __new__(cls, directory: str, parts: int) -> Sorter:
        """Begins so many files in an empty directory."""
    def take(self, source: Source, progress: Callable[[int, float | None], None] | None = None) -> None:
        """Takes all requests of a source, which continues the one before it."""
    def finish(self) -> int:
        """Writes what is held back, and gives the number of requests."""

@final
class Source:
    """A stream of requests that can be used once."""

    @property
    def format(self) -> str:
        """Name of the trace format, the generator or the step it comes from."""
    @staticmethod
    def open(
        path: str,
        format: str | None = None,
        sort_window: int = 0,
        add_service_times: bool = False,
        continuation: Continuation | None = None,
        file: IO[bytes] | None = None,
    ) -> Source:
        """Opens a trace file, or reads one that is open; `path` then stands in messages.

        `continuation` is what the trace shares with those that it continues.
        """
    @staticmethod
    def generate(
        kind: str, params: str, seed: int, capacity_blocks: int, plugins: Sequence[str] | None = None
    ) -> Source:
        """Starts a generator; `params` is TOML, `plugins` are those that may run, as of experiments."""
    @staticmethod
    def from_columns(
        name: str,
        chunks: Iterator[tuple[bytes, bytes, bytes, bytes, bytes, bytes]],
        fractional: bool = False,
        sort_window: int = 0,
    ) -> Source:
        """Requests out of columns: time_us, op, offset_bytes, length_bytes, device, metadata."""
    def next_chunk(self) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes] | None:
        """Arrival in ns (u64), op, first block (u64), bytes (u64), device (u16), metadata (u8).

        `None` at the end.
        """

def samples_lie_in(directory: str) -> None:
    """Says where the traces and work records lie that come with sledlab, so that `sample:NAME` is found."""

def is_plugin(word: str) -> bool:
    """Whether the word for a model names a plug-in, `module:Class`."""

def catalogue() -> str:
    """Everything that can be named in an experiment, as JSON."""

def device_text(name: str) -> str:
    """The file of a preset, comments included."""

def host_names() -> list[str]:
    """Names of the hosts to which drives can be attached."""

def replay_measured(experiment: Experiment, file: str, host: str | None = None) -> tuple[bytes, bytes, bytes]:
    """Op letters, measured and simulated service times in ns (u64) of a measured stream."""

def import_device(text: str, file: str, name: str | None = None) -> tuple[str, list[str]]:
    """A device of a DiskSim parameter file as a device file, and remarks."""

def seek_map(
    experiment: Experiment, x_bit: int, y_bit: int, direction: int
) -> tuple[list[bytes], list[float]]:
    """X of the columns and y of the rows in bits (i32), and positioning times in ms (f64) row by row."""

def characterise(
    source: Source, cache_block_bytes: int | None = None, cache_sizes_mb: Sequence[int] | None = None
) -> str:
    """What the workload is like, as JSON."""

def check_replacement(word: str, plugins: Sequence[str] | None) -> None:
    """Refuses a replacement policy that does not exist, or is none of the plug-ins that may run.

    `word` is `name:key=value` or `module:Class:key=value`.
    """

@final
class Conformance:
    """A model, and the rules of its kind."""

    def __new__(cls, kind: str, word: str, plugins: Sequence[str] | None) -> Conformance:
        """The model of a kind, `device`, `scheduler`, `replacement` or `workload`, that `word` says.

        `plugins` are those that may run, as of experiments.
        """
    def rules(self) -> list[str]:
        """The rules, in the order in which they are to be held; of a plug-in those that it is asked."""
    def hold(self, rule: str, seed: int, cases: int) -> None:
        """Holds the model to a rule in so many cases of a seed; refuses one that breaks it."""

def kinds_of_plugin(word: str, plugins: Sequence[str] | None) -> list[str]:
    """The kinds of model whose methods a class has, as messages call them; none of the methods runs."""

@final
class SegmentUses:
    """The uses of segments by a workload."""

    def __new__(cls, source: Source, segment_blocks: int) -> SegmentUses:
        """Reads a source to its end."""
    @property
    def segments(self) -> int:
        """Number of different segments."""
    def hits(self, caches: Sequence[tuple[str, int]], plugins: Sequence[str] | None) -> str:
        """Hits of caches given as (policy, room in segments), as JSON; `plugins` are those that may run."""

def write_trace(
    source: Source,
    path: str,
    format: str | None = None,
    device_column: bool = False,
    media_only: bool = False,
    limit: int | None = None,
    progress: Callable[[int, float | None], None] | None = None,
) -> int:
    """Writes a trace file and gives the number of requests in it."""

def time_window(source: Source, from_ns: int, until_ns: int | None, from_zero: bool) -> Source:
    """Requests that arrive in a window."""

def only_devices(source: Source, devices: Sequence[int]) -> Source:
    """Requests to some devices, numbered anew."""

def block_range(source: Source, first: int, end: int) -> Source:
    """Requests that begin in a range of blocks."""

def media_only(source: Source) -> Source:
    """Reads and writes only."""

def shift(source: Source, blocks: int) -> Source:
    """Every request moved by so many blocks."""

def place(source: Source, extents: Sequence[int]) -> Source:
    """The devices of a trace one after another on one."""

def overlay(source: Source) -> Source:
    """Every request on one device, at its own address."""

def fit(source: Source, outside: str, capacity_blocks: int, highest_end: int | None) -> Source:
    """Requests fitted to a capacity."""

def speedup(source: Source, factor: float) -> Source:
    """Arrivals divided by a factor."""

def limit(source: Source, requests: int = 0, operations: int = 0) -> Source:
    """What comes up to so many requests (reads and writes), or operations of any kind; 0 for all."""

def merge(sources: Sequence[Source], keep_devices: bool) -> Source:
    """Several streams in order of arrival."""

def survey(source: Source) -> tuple[int, list[int], int]:
    """Requests, the end of each device in blocks, and the last arrival in ns."""

@final
class HashTree:
    """Candidate itemsets of one length in the hash tree of Apriori, ready to be counted.

    Arrays hold exactly the type that is named, in C order; anything else raises `Error`.
    """

    def __new__(cls, candidates: Buffer, length: int) -> HashTree:
        """Takes itemsets of `length` items (u32, below 2^24) one after another, each strictly increasing."""
    def __len__(self) -> int:
        """The number of candidates."""
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
        """The number of candidates."""
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
    def planted(self) -> str:
        """The clusters: a list of `dims`, `lows` and `highs`, as JSON."""
