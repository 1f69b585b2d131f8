"""Data that jobs run on: generated and kept, or the user's own. Adding one: a file, and a line in `LIST`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sledlab.errors import Error, unknown
from sledlab.lazy import loaded, platformdirs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sledlab.job.files import Shared

    # Called with what is being generated and the share of it that is done.
    Tell = Callable[[str, float], None]


class Data(Protocol):
    """A set of data, shared out among nodes.

    The fields of a class of data are its parameters, each with a default.
    """

    def prepare(self, nodes: int, seed: int, tell: Tell) -> None:
        """Generates what is not kept yet, for so many nodes.

        Raises:
            Error: It cannot be had; the message says what to do.
        """

    def files(self, nodes: int, seed: int) -> Mapping[str, Shared]:
        """What nodes share, by names of files."""

    def identity(self) -> Mapping[str, Any]:
        """What tells it from other data: its parameters, and a hash of the user's files."""


class ListedData(NamedTuple):
    """A kind of data.

    Attributes:
        name: Its name.
        meaning: One line.
        home: Module and class.
    """

    name: str
    meaning: str
    home: str

    @property
    def kind(self) -> Callable[..., Data]:
        """The class."""
        found: Callable[..., Data] = loaded(self.home)
        return found


LIST = (
    ListedData("tpch", "Tables of TPC-H, by tpchgen-cli.", "sledlab.job.data.tpch:Tpch"),
    ListedData("tpch-text", "Tables of TPC-H as wide as dbgen's text.", "sledlab.job.data.tpch:TpchText"),
    ListedData(
        "baskets",
        "Transactions of market baskets, in the manner of IBM Quest.",
        "sledlab.job.data.baskets:MarketBaskets",
    ),
    ListedData("boxes", "Records with clusters planted in subspaces.", "sledlab.job.data.boxes:PlantedBoxes"),
)


def find(name: str) -> ListedData:
    """The data of a name.

    Raises:
        Error: There is none.
    """
    for listed in LIST:
        if listed.name == name:
            return listed
    raise unknown("data", name, [listed.name for listed in LIST])


def home() -> Path:
    """Where generated data and records are kept: `$SLEDLAB_DATA`, or the user's cache directory.

    Raises:
        Error: Nothing can be written there.
    """
    said = os.environ.get("SLEDLAB_DATA")
    path = Path(said) if said else Path(platformdirs.user_cache_dir("sledlab"))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(
            f"cannot keep data in `{path}`: {error.strerror}",
            remedy="name another directory: SLEDLAB_DATA=...",
        ) from error
    return path
