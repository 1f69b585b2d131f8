"""Imports put off until the first use, so that the command line starts and completes words fast.

A module writes `from sledlab.lazy import polars` as if that were the library. A function of sledlab is put
off where it is named: `simulate = later("sledlab.runs.execute:simulate")`.
"""

from __future__ import annotations

import os
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _LazyModule(ModuleType):
    """Stands for a module, which is imported when one of its attributes is first used.

    Environment variables that the module reads while it is imported are set before, unless the user set them.
    """

    def __init__(self, name: str, **environment: str) -> None:
        super().__init__(name)
        self._environment = environment

    def __getattr__(self, name: str) -> Any:
        for variable, setting in self._environment.items():
            os.environ.setdefault(variable, setting)
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import decimal
    import difflib
    import hashlib
    import json
    import shutil
    import tempfile
    import tomllib
    import zlib
    from importlib import metadata

    import distributed
    import duckdb
    import fsspec
    import jinja2
    import loky
    import matplotlib
    import matplotlib.artist as mpl_artist
    import matplotlib.collections as mpl_collections
    import matplotlib.colors as mpl_colors
    import matplotlib.figure as mpl_figure
    import matplotlib.lines as mpl_lines
    import matplotlib.patches as mpl_patches
    import matplotlib.text as mpl_text
    import matplotlib.ticker as mpl_ticker
    import matplotlib.transforms as mpl_transforms
    import numpy
    import platformdirs
    import polars
    import pyarrow.parquet as pyarrow_parquet
    import rich.box as rich_box
    import rich.cells as rich_cells
    import rich.console as rich_console
    import rich.live as rich_live
    import rich.progress as rich_progress
    import rich.table as rich_table
    import rich.text as rich_text
    import xarray
else:
    decimal = _LazyModule("decimal")
    difflib = _LazyModule("difflib")
    hashlib = _LazyModule("hashlib")
    json = _LazyModule("json")
    metadata = _LazyModule("importlib.metadata")
    shutil = _LazyModule("shutil")
    tempfile = _LazyModule("tempfile")
    tomllib = _LazyModule("tomllib")
    zlib = _LazyModule("zlib")
    distributed = _LazyModule("distributed")
    duckdb = _LazyModule("duckdb")
    fsspec = _LazyModule("fsspec")
    jinja2 = _LazyModule("jinja2")
    loky = _LazyModule("loky")
    matplotlib = _LazyModule("matplotlib")
    mpl_figure = _LazyModule("matplotlib.figure")
    mpl_lines = _LazyModule("matplotlib.lines")
    mpl_patches = _LazyModule("matplotlib.patches")
    mpl_colors = _LazyModule("matplotlib.colors")
    mpl_collections = _LazyModule("matplotlib.collections")
    mpl_transforms = _LazyModule("matplotlib.transforms")
    mpl_artist = _LazyModule("matplotlib.artist")
    mpl_text = _LazyModule("matplotlib.text")
    mpl_ticker = _LazyModule("matplotlib.ticker")
    numpy = _LazyModule("numpy")
    platformdirs = _LazyModule("platformdirs")
    # Otherwise polars panics at a Parquet file with a column of intervals, as DuckDB writes it.
    polars = _LazyModule("polars", POLARS_IMPORT_INTERVAL_AS_STRUCT="1")
    pyarrow_parquet = _LazyModule("pyarrow.parquet")
    rich_box = _LazyModule("rich.box")
    rich_cells = _LazyModule("rich.cells")
    rich_console = _LazyModule("rich.console")
    rich_live = _LazyModule("rich.live")
    rich_progress = _LazyModule("rich.progress")
    rich_table = _LazyModule("rich.table")
    rich_text = _LazyModule("rich.text")
    xarray = _LazyModule("xarray")

__all__ = [
    "decimal",
    "difflib",
    "distributed",
    "duckdb",
    "fsspec",
    "hashlib",
    "jinja2",
    "json",
    "later",
    "load_object",
    "loky",
    "matplotlib",
    "metadata",
    "mpl_artist",
    "mpl_collections",
    "mpl_colors",
    "mpl_figure",
    "mpl_lines",
    "mpl_patches",
    "mpl_text",
    "mpl_ticker",
    "mpl_transforms",
    "numpy",
    "platformdirs",
    "polars",
    "pyarrow_parquet",
    "resolve",
    "rich_box",
    "rich_cells",
    "rich_console",
    "rich_live",
    "rich_progress",
    "rich_table",
    "rich_text",
    "shutil",
    "tempfile",
    "tomllib",
    "xarray",
    "zlib",
]


def load_object(name: str) -> Any:
    """The object called `package.module:name`, imported now; the name may be dotted, as of a method."""
    module, _, attribute = name.partition(":")
    return attrgetter(attribute)(import_module(module))


class _LazyCallable:
    """A function or a class that is imported when it is called."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return load_object(self.name)(*args, **kwargs)

    def __repr__(self) -> str:
        return self.name


def later(name: str) -> Any:
    """A function or a class, `package.module:name`, or a module of sledlab, imported when it is first used.

    Examples:
        >>> word = later("sledlab.model.settings:word")
        >>> word, word(True)
        (sledlab.model.settings:word, 'true')
    """
    return _LazyCallable(name) if ":" in name else _LazyModule(name)


def resolve(value: Any) -> Any:
    """The function or class that a value made by `later` stands for, imported now; any other value as it is.

    Examples:
        >>> resolve(later("sledlab.model.settings:word"))(True), resolve(3)
        ('true', 3)
    """
    return load_object(value.name) if isinstance(value, _LazyCallable) else value
