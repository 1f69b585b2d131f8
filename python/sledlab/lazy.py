"""Large libraries, imported when they are first used, so that the command line starts fast.

The one place where imports wait: a module says `from sledlab.lazy import polars` as if it were the library.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _Later(ModuleType):
    """Stands for a module until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import distributed
    import duckdb
    import fsspec
    import jinja2
    import loky
    import matplotlib
    import matplotlib.figure as mpl_figure
    import matplotlib.patches as mpl_patches
    import matplotlib.ticker as mpl_ticker
    import numpy
    import platformdirs
    import polars
    import pyarrow
    import pyarrow.compute as arrow_compute
    import pyarrow.csv as arrow_csv
    import rich.box as rich_box
    import rich.cells as rich_cells
    import rich.console as rich_console
    import rich.live as rich_live
    import rich.progress as rich_progress
    import rich.table as rich_table
    import rich.text as rich_text
    from pyarrow import parquet
else:
    distributed = _Later("distributed")
    duckdb = _Later("duckdb")
    fsspec = _Later("fsspec")
    jinja2 = _Later("jinja2")
    loky = _Later("loky")
    matplotlib = _Later("matplotlib")
    mpl_figure = _Later("matplotlib.figure")
    mpl_patches = _Later("matplotlib.patches")
    mpl_ticker = _Later("matplotlib.ticker")
    numpy = _Later("numpy")
    platformdirs = _Later("platformdirs")
    polars = _Later("polars")
    pyarrow = _Later("pyarrow")
    arrow_compute = _Later("pyarrow.compute")
    arrow_csv = _Later("pyarrow.csv")
    parquet = _Later("pyarrow.parquet")
    rich_box = _Later("rich.box")
    rich_cells = _Later("rich.cells")
    rich_console = _Later("rich.console")
    rich_live = _Later("rich.live")
    rich_progress = _Later("rich.progress")
    rich_table = _Later("rich.table")
    rich_text = _Later("rich.text")

__all__ = [
    "arrow_compute",
    "arrow_csv",
    "distributed",
    "duckdb",
    "fsspec",
    "jinja2",
    "loaded",
    "loky",
    "matplotlib",
    "mpl_figure",
    "mpl_patches",
    "mpl_ticker",
    "numpy",
    "parquet",
    "platformdirs",
    "polars",
    "pyarrow",
    "rich_box",
    "rich_cells",
    "rich_console",
    "rich_live",
    "rich_progress",
    "rich_table",
    "rich_text",
]


def loaded(name: str) -> Any:
    """What `package.module:name` stands for, imported now."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
