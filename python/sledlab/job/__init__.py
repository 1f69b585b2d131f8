"""Jobs: what storage nodes run. A job really runs, on all nodes, and leaves a work record; see docs/job.md.

Adding one: a file that defines a generator function of a node, and a line in `LIST`.
"""

from __future__ import annotations

import importlib.util
import inspect
from dataclasses import dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import sledlab
from sledlab.errors import Error, Place, unknown
from sledlab.job.data import LIST as DATA
from sledlab.job.data import find as find_data
from sledlab.lazy import loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledlab.job.data import Data
    from sledlab.job.running import Function


@dataclass(frozen=True)
class Listed:
    """A job that comes with sledlab.

    Attributes:
        name: Its name.
        meaning: One line.
        home: Module and generator function.
        data: The data that it runs on.
        phases: Its phases, where they are the same for all data; they tell how far a run is.
    """

    name: str
    meaning: str
    home: str
    data: str
    phases: tuple[str, ...] = ()


LIST = (
    Listed(
        "scan",
        "Evaluates a predicate on every line item and sends the client what matches.",
        "sledlab.job.scan:scan",
        "tpch",
        ("scan",),
    ),
    Listed(
        "sort",
        "Sorts line items by a sampling bucket sort, out of core.",
        "sledlab.job.sort:sort",
        "tpch",
        ("sampling", "re-distribution", "internal sort", "merge"),
    ),
    Listed(
        "join",
        "Joins line items with orders: hash, re-distribution, and a nested loop or hash join.",
        "sledlab.job.join:join",
        "tpch",
        ("hash", "re-distribution", "join"),
    ),
    Listed(
        "apriori-cd",
        "Mines association rules by count distribution: every node holds all candidates.",
        "sledlab.job.apriori_cd:count_distribution",
        "baskets",
    ),
    Listed(
        "apriori-hd",
        "Mines association rules by hybrid distribution: a grid of nodes shares the candidates.",
        "sledlab.job.apriori_hd:hybrid_distribution",
        "baskets",
    ),
    Listed(
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
        name: Its name.
        function: A generator function of a node and parameters, each with a default.
        phases: Its phases, if they are known before.
        data: The kind of data, by name; empty where the job's own file makes it.
        make: What makes the data of a node in the user's file: `data(number, nodes, seed)`.
        source: A hash of its source, and of what it is made from.
        file: The user's file; empty for one that comes with sledlab.
    """

    name: str
    function: Function
    phases: tuple[str, ...] = ()
    data: str = ""
    make: Callable[..., Any] | None = field(default=None, repr=False)
    source: str = ""
    file: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """The job's parameters with their defaults."""
        return defaults(self.function)


def find(name: str | Path, data: str = "") -> Job:
    """The job of a name, or of a Python file.

    Args:
        name: A name of `LIST`, or a file whose generator function of a node is the job.
        data: The kind of data, if not that of the job.

    Raises:
        Error: There is none, or the file cannot be taken.
    """
    if str(name).endswith(".py"):
        return _of_file(Path(name), data)
    for listed in LIST:
        if listed.name == name:
            function = loaded(listed.home)
            return Job(listed.name, function, listed.phases, data or listed.data, source=_own_source())
    raise unknown("job", str(name), [listed.name for listed in LIST])


def _own_source() -> str:
    """A hash of what sledlab's jobs are made from."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files) + sledlab.__version__.encode()).hexdigest()


def _of_file(path: Path, data: str) -> Job:
    """The job that a user's file defines."""
    try:
        source = path.read_bytes()
    except OSError as error:
        raise Error(f"cannot read the job `{path}`: {error.strerror}") from error
    module = _imported(path)
    own = [
        each
        for name, each in vars(module).items()
        if inspect.isgeneratorfunction(each)
        and each.__module__ == module.__name__
        and not name.startswith("_")
    ]
    named = [each for each in own if each.__name__ == path.stem]
    functions = named or own
    if len(functions) != 1:
        found = ", ".join(f"`{each.__name__}`" for each in functions) or "none"
        raise Error(
            f"a job is one generator function of a node; `{path}` has {found}",
            remedy=f"name it `{path.stem}`, and let it yield what nodes do together",
        )
    make = getattr(module, "data", None)
    digest = sha256(source + _own_source().encode()).hexdigest()
    job = Job(path.stem, functions[0], (), data, None if data else make, digest, str(path))
    if not data and make is None:
        known = ", ".join(listed.name for listed in DATA)
        raise Error(
            f"the job `{path}` has no data", remedy=f"define data(number, nodes, seed), or choose: {known}"
        )
    assert job.parameters is not None
    return job


def _imported(path: Path) -> ModuleType:
    """The module of a file."""
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


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """The parameters of a job behind its node, with their defaults.

    Raises:
        Error: One has none.
    """
    found = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.default is parameter.empty or not isinstance(
            parameter.default, bool | int | float | str
        ):
            raise Error(
                f"the parameter `{parameter.name}` of the job `{function.__name__}` needs a default",
                remedy=f"give it a number, a text, or true or false: {parameter.name}=1",
            )
        found[parameter.name] = parameter.default
    return found


def said(job: Job, settings: Mapping[str, Any]) -> tuple[dict[str, Any], Data | None]:
    """The parameters of a job, and its data, with what is said of both.

    Raises:
        Error: A setting is unknown, or not of its type.
    """
    parameters = job.parameters
    kind = find_data(job.data).kind if job.data else None
    of_data = {each.name: each.default for each in fields(kind)} if kind is not None else {}  # type: ignore[arg-type]
    for key, value in settings.items():
        if key in parameters:
            parameters[key] = _typed(key, value, parameters[key])
        elif key in of_data:
            of_data[key] = _typed(key, value, of_data[key])
        else:
            raise unknown("setting", key, [*parameters, *of_data])
    return parameters, kind(**of_data) if kind is not None else None


def _typed(key: str, value: Any, default: Any) -> Any:
    """A value of the type of its default."""
    kind = type(default)
    if isinstance(value, str) and kind is bool:
        value = {"true": True, "false": False}.get(value.lower(), value)
    if isinstance(value, str) and kind in (int, float):
        try:
            value = kind(value.replace("_", "")) if kind is float else int(value)
        except ValueError:
            pass
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not kind:
        what = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[kind]
        raise Error(f"`{key}` is {what}, not `{value}`", remedy=f"the default is {default}")
    return value


def names() -> Sequence[str]:
    """Names of the jobs that come with sledlab."""
    return [listed.name for listed in LIST]
