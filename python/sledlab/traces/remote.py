"""Files of object stores and web servers, read in place: addresses that fsspec knows."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, cast

from sledlab.errors import Error, Place
from sledlab.lazy import fsspec, polars, pyarrow_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)

INSTALL = "pip install 'sledlab[object-stores]'"
"""The command that installs the libraries for reading object stores."""


def is_remote(address: str) -> bool:
    """Whether a place is an address, `scheme://...`, rather than a path.

    Examples:
        >>> is_remote("s3://traces/fleet"), is_remote("traces/fleet"), is_remote("sample:mail-a")
        (True, False, False)
    """
    return _ADDRESS.match(address) is not None


def open_file(address: str) -> IO[bytes]:
    """Open a file for reading; blocks are fetched as they are read.

    Raises:
        Error: The file cannot be opened.
    """
    with _store_errors(address):
        store, path = fsspec.core.url_to_fs(address)
        return cast("IO[bytes]", store.open(path, "rb"))


def parquet_batches(file: IO[bytes], columns: list[str], rows: int) -> Iterator[polars.DataFrame]:
    """Read columns of a Parquet file in batches; only the blocks of these columns are fetched.

    Raises:
        Error: pyarrow is not installed: polars would read the complete file into memory.
    """
    try:
        opened_file = pyarrow_parquet.ParquetFile(file)
    except ModuleNotFoundError as error:
        raise Error("Parquet at an address needs pyarrow, which is not installed", remedy=INSTALL) from error
    for batch in opened_file.iter_batches(batch_size=rows, columns=columns):
        frame = polars.from_arrow(batch)
        assert isinstance(frame, polars.DataFrame)
        yield frame


def files(address: str) -> dict[str, str]:
    """Files in a directory and in its directories: addresses, by their paths relative to the directory.

    Raises:
        Error: There is no such directory, or it cannot be listed.
    """
    with _store_errors(address):
        store, root = fsspec.core.url_to_fs(address)
        paths = sorted(store.find(root, maxdepth=2))
        base = root.rstrip("/") + "/"
        contained_paths = [path for path in paths if path.startswith(base)]
        return {path.removeprefix(base): _full_address(store, path, address) for path in contained_paths}


def identity(address: str) -> str:
    """A text for a file and its state, from the file's metadata in its store, such as size and checksum.

    Raises:
        Error: There is no such file.
    """
    with _store_errors(address):
        store, path = fsspec.core.url_to_fs(address)
        metadata = store.info(path)
        state_keys = (
            "ETag",
            "etag",
            "md5Hash",
            "checksum",
            "LastModified",
            "last_modified",
            "mtime",
            "created",
        )
        state = [f"{name}={metadata[name]}" for name in state_keys if metadata.get(name) is not None]
        return " ".join([address, f"size={metadata.get('size')}", *state])


def _full_address(store: Any, path: str, address: str) -> str:
    """The address of a file that a store lists, with the scheme, which stores may omit."""
    if is_remote(path):
        return path
    return f"{address.split('://', 1)[0]}://{path.lstrip('/') if store.root_marker == '' else path}"


@contextmanager
def _store_errors(address: str) -> Iterator[None]:
    """Turn errors of a store, whose classes differ from store to store, into an `Error` with the address."""
    try:
        yield
    except Error:
        raise
    except ImportError as error:
        raise Error(f"`{address}` cannot be read: {error}", remedy=INSTALL) from error
    except FileNotFoundError as error:
        raise Error(
            "there is no such file or directory", Place(address, 0, 0, ""), "check the address"
        ) from error
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise Error(
            f"cannot be read: {reason}", Place(address, 0, 0, ""), "check the address and its permissions"
        ) from error
