"""Jobs that storage nodes run, on real data: each writes a work record of its nodes; see docs/job.md.

To add a job: a file that defines a generator function of a node, and a line in `LIST`.
"""

from __future__ import annotations

import importlib.util
import inspect
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sledlab.errors import Error, Place, unknown
from sledlab.job.data import LIST as DATA
from sledlab.job.data import find as find_data
from sledlab.lazy import hashlib, later, load_object

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from sledlab.job.running_job import Function
    from sledlab.model.entries import ParameterSpec

build_name = later("sledlab.sources:build_name")
class_parameters = later("sledlab.job.parameters:class_parameters")
function_parameters = later("sledlab.job.parameters:function_parameters")

MEMORY_MB = 62.0
"""Most that a job holds of a node's 64 MiB: the system of Chiu 2004 takes 450 KB, page buffers some."""


class ListedJob(NamedTuple):
    """A job that comes with sledlab.

    Attributes:
        name: Name of the job.
        meaning: The meaning, in one line.
        target: Module and generator function.
        data: Name of the kind of data that it runs on.
        phases: Names of its phases, where they are the same for all data; progress reports name them.
    """

    name: str
    meaning: str
    target: str
    data: str
    phases: tuple[str, ...] = ()


LIST = (
    ListedJob(
        "scan",
        "Evaluates a predicate on every line item and sends the client what matches.",
        "sledlab.job.scan:scan",
        "tpch",
        ("scan",),
    ),
    ListedJob(
        "sort",
        "Sorts line items by a sampling bucket sort, out of core.",
        "sledlab.job.sort:sort",
        "tpch",
        ("sampling", "re-distribution", "internal sort", "merge"),
    ),
    ListedJob(
        "join",
        "Joins line items with orders: hash, re-distribution, and a nested loop or hash join.",
        "sledlab.job.join:join",
        "tpch",
        ("hash", "re-distribution", "nested loop"),
    ),
    ListedJob(
        "q1",
        "TPC-H's Q1: filters line items and adds them up in four groups.",
        "sledlab.job.q1:q1",
        "tpch-text",
        ("scan lineitem", "aggregate 1", "sort 1"),
    ),
    ListedJob(
        "q3",
        "TPC-H's Q3: joins customers, orders and line items; returns ten groups of highest revenue.",
        "sledlab.job.q3:q3",
        "tpch-text",
        ("scan customer", "scan orders", "scan lineitem", "aggregate 1"),
    ),
    ListedJob(
        "q6",
        "TPC-H's Q6: filters line items and adds them up.",
        "sledlab.job.q6:q6",
        "tpch-text",
        ("scan lineitem", "aggregate 1"),
    ),
    ListedJob(
        "apriori-cd",
        "Mines association rules by count distribution: every node holds all candidates.",
        "sledlab.job.apriori_cd:count_distribution",
        "baskets",
    ),
    ListedJob(
        "apriori-hd",
        "Mines association rules by hybrid distribution: a grid of nodes shares the candidates.",
        "sledlab.job.apriori_hd:hybrid_distribution",
        "baskets",
    ),
    ListedJob(
        "mafia",
        "Finds clusters in subspaces by adaptive bins and dense units (MAFIA).",
        "sledlab.job.mafia:mafia",
        "boxes",
    ),
)
"""The jobs that come with sledlab."""


@dataclass(frozen=True)
class Job:
    """A job that can be run.

    Attributes:
        name: Name of the job.
        function: A generator function of a node and parameters, each with a default.
        phases: Names of its phases, where they are known before it runs; progress reports name them.
        data: The kind of data, by name; empty where the job's own file makes it.
        make: The function `data(number, nodes, seed)` of the user's file, which makes the data of a node.
        client: The function `client` of the same file, which makes the answer from what nodes return; if any.
        source: The sources that its records depend on: its own, and those of sledlab.
        file: The user's file; empty for one that comes with sledlab.
    """

    name: str
    function: Function
    phases: tuple[str, ...] = ()
    data: str = ""
    make: Callable[..., Any] | None = field(default=None, repr=False)
    source: str = ""
    file: str = ""
    client: Callable[[Sequence[Any]], Any] | None = field(default=None, repr=False)

    @property
    def parameters(self) -> tuple[ParameterSpec, ...]:
        """The job's parameters."""
        result: tuple[ParameterSpec, ...] = function_parameters(self.function)
        return result

    @property
    def settings(self) -> tuple[tuple[ParameterSpec, ...], tuple[ParameterSpec, ...]]:
        """The parameters that a user can set: those of the job, and those of its data."""
        data_class = find_data(self.data).kind if self.data else None
        return self.parameters, class_parameters(data_class) if data_class is not None else ()


def find(name: str | Path, data: str = "") -> Job:
    """The job of a name, or of a Python file.

    Args:
        name: A name of `LIST`, or a Python file whose generator function of a node is the job.
        data: The kind of data, where it is not that of the job.

    Raises:
        Error: No job has the name, or the file does not define one job.
    """
    if str(name).endswith(".py"):
        return _load_job(Path(name), data)
    for listed in LIST:
        if listed.name == str(name).lower():
            function = load_object(listed.target)
            client = getattr(inspect.getmodule(function), "client", None)
            return Job(
                listed.name,
                function,
                listed.phases,
                data or listed.data,
                source=sources_name(),
                client=client,
            )
    raise unknown("job", str(name), [listed.name for listed in LIST])


def sources_name() -> str:
    """The version of sledlab, and a hash of all sources that records of jobs and queries depend on."""
    # These modules import this one: written out, their names would count as imports.
    name: str = build_name(f"{__name__}.record", f"{__name__}.query")
    return name


def _load_job(path: Path, data: str) -> Job:
    """The job that a user's file defines."""
    try:
        source = path.read_bytes()
    except OSError as error:
        raise Error(f"cannot read the job `{path}`: {error.strerror}") from error
    module = _import_file(path)
    generator_functions = [
        function
        for name, function in vars(module).items()
        if inspect.isgeneratorfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
    ]
    with_file_name = [function for function in generator_functions if function.__name__ == path.stem]
    functions = with_file_name or generator_functions
    if len(functions) != 1:
        function_names = ", ".join(f"`{function.__name__}`" for function in functions) or "none"
        raise Error(
            f"a job is one generator function of a node; `{path}` has {function_names}",
            remedy=f"name it `{path.stem}`, and let it yield the supersteps of nodes",
        )
    make, client = (getattr(module, name, None) for name in ("data", "client"))
    digest = hashlib.sha256(source + sources_name().encode()).hexdigest()
    job = Job(path.stem, functions[0], (), data, None if data else make, digest, str(path), client)
    if not data and make is None:
        data_names = ", ".join(listed.name for listed in DATA)
        raise Error(
            f"the job `{path}` has no data",
            remedy=f"define data(number, nodes, seed), or choose: {data_names}",
        )
    function_parameters(job.function)
    return job


def _import_file(path: Path) -> ModuleType:
    """The module that a Python file defines, imported."""
    spec = importlib.util.spec_from_file_location(f"sledlab_job_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        place = Place(str(path), error.lineno or 0, 0, (error.text or "").strip())
        raise Error(f"the job is not Python: {error.msg}", place=place) from error
    except Exception as error:
        raise Error(f"the job `{path}` cannot be imported: {type(error).__name__}: {error}") from error
    return module
