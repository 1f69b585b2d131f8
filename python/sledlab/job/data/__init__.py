"""Data that jobs run on: generated and kept, or the user's own. Adding one: a file, and a line in `LIST`."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sledlab.errors import Error, unknown
from sledlab.lazy import hashlib, load_object, platformdirs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sledlab.job.files import SharedFile

    # Called with what is being generated and the share of it that is generated, 0 to 1.
    Tell = Callable[[str, float], None]


class Data(Protocol):
    """A set of data, of which each node gets a share.

    The fields of a class of data are its parameters, each with a default.
    """

    def prepare(self, nodes: int, seed: int, tell: Tell) -> None:
        """Generate the data for `nodes` nodes, unless they are kept from an earlier run.

        Raises:
            Error: The data cannot be generated or found.
        """

    def files(self, nodes: int, seed: int) -> Mapping[str, SharedFile]:
        """The files of the data, by name; each is shared among the nodes."""

    def identity(self) -> Mapping[str, Any]:
        """What distinguishes these data from others: their parameters, and a hash of the user's files."""

    def generator(self, nodes: int, seed: int) -> str:
        """A text that differs for a generator that makes other data of the same parameters."""


MAX_PARAMETER = 2**32 - 1
"""Largest parameter of generated data."""


def check_parameters(data: Any) -> None:
    """Check the parameters of generated data, the fields of a dataclass.

    Raises:
        Error: A parameter is negative or too large.
    """
    for name, value in asdict(data).items():
        if not 0 <= value <= MAX_PARAMETER:
            raise Error(
                f"`{name}` cannot be {value:,}", remedy=f"choose a number from 0 to {MAX_PARAMETER:,}"
            )


def hash_start(*parts: bytes) -> str:
    """Return a hash of the first data that a generator makes: another one for another generator."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


class ListedData(NamedTuple):
    """A kind of data.

    Attributes:
        name: Name of the kind.
        meaning: The meaning, in one line.
        target: Module and class.
    """

    name: str
    meaning: str
    target: str

    @property
    def kind(self) -> Callable[..., Data]:
        """The class of the data."""
        result: Callable[..., Data] = load_object(self.target)
        return result


LIST = (
    ListedData("tpch", "Tables of TPC-H, by tpchgen-cli.", "sledlab.job.data.tpch:Tpch"),
    ListedData(
        "tpch-text", "Tables of TPC-H with the row width of dbgen's text.", "sledlab.job.data.tpch:TpchText"
    ),
    ListedData(
        "baskets",
        "Transactions of market baskets, as of the IBM Quest generator.",
        "sledlab.job.data.baskets:MarketBaskets",
    ),
    ListedData("boxes", "Records with clusters planted in subspaces.", "sledlab.job.data.boxes:PlantedBoxes"),
)


def find(name: str) -> ListedData:
    """The kind of data of a name.

    Raises:
        Error: No kind has the name.
    """
    for listed in LIST:
        if listed.name == name:
            return listed
    raise unknown("data", name, [listed.name for listed in LIST])


def home() -> Path:
    """Where generated data and records are kept: `$SLEDLAB_DATA`, or the user's cache directory.

    Raises:
        Error: The directory cannot be written to.
    """
    directory = os.environ.get("SLEDLAB_DATA")
    path = Path(directory) if directory else Path(platformdirs.user_cache_dir("sledlab"))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(
            f"cannot save data in `{path}`: {error.strerror}",
            remedy="use another directory: SLEDLAB_DATA=...",
        ) from error
    return path
