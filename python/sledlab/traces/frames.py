"""Data in memory as polars frames: frames of pandas and Arrow, and mappings of arrays or lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.lazy import numpy, polars
from sledlab.traces.columns import check_columns

if TYPE_CHECKING:
    from collections.abc import Callable

COARSE_UNITS = {"Y": "D", "M": "D", "W": "D", "h": "ms", "m": "ms", "s": "ms"}
"""Units of numpy dates that polars lacks, with the units that they are converted to exactly."""

FINE_UNITS = ("ps", "fs", "as")
"""Units of numpy times below a nanosecond."""

CALENDAR_UNITS = ("Y", "M")
"""Units of numpy durations without a fixed length."""

MISSING_TYPES = ("NAType", "NaTType")
"""Classes of pandas of which the only value stands for a missing value."""


def to_frame(data: Any) -> polars.DataFrame:
    """Return the columns of a trace in a table or mapping.

    Args:
        data: A polars, pandas or Arrow table, or a mapping of columns.

    Raises:
        Error: A column is missing, or values cannot be converted.
    """
    if isinstance(data, polars.DataFrame):
        return data.select(check_columns(data.columns, "table"))
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        names = check_columns(list(data.columns), "table")
        return _to_polars({name: _convert(name, data[name], _from_pandas) for name in names})
    if isinstance(data, Mapping):
        names = check_columns(list(data), "table")
        return _to_polars({name: _convert(name, data[name], _to_column) for name in names})
    if hasattr(data, "__arrow_c_stream__"):
        frame = _to_polars(data)
        return frame.select(check_columns(frame.columns, "table"))
    raise Error(
        f"cannot make a trace of {type(data).__name__}",
        remedy="give a path, a polars, pandas or Arrow table, or a mapping of columns",
    )


def _to_polars(data: Any) -> polars.DataFrame:
    frame: polars.DataFrame = _convert(None, data, polars.DataFrame)
    return frame


def _convert(name: str | None, values: Any, convert: Callable[[Any], Any]) -> Any:
    """The values converted; errors of libraries become an `Error` with the name of the column."""
    try:
        return convert(values)
    except (
        polars.exceptions.PolarsError,
        polars.exceptions.PanicException,
        AttributeError,
        OverflowError,
        TypeError,
        ValueError,
    ) as error:
        subject = "the columns cannot be read" if name is None else f"the column `{name}` cannot be read"
        raise Error(f"{subject}: {(str(error).splitlines() or [type(error).__name__])[0]}") from error


def _to_column(values: Any) -> Any:
    """Return a column as polars reads it: numbers of one type, and times in units that polars has."""
    if hasattr(values, "iloc"):
        return _from_pandas(values)
    if isinstance(values, numpy.ndarray):
        return _from_array(values)
    if isinstance(values, (list, tuple)):
        array = numpy.array(values)
        is_typed = array.dtype.kind in "iufmM" and array.size > 0
        return _from_array(array) if is_typed else _from_objects(values)
    return values


def _from_pandas(values: Any) -> Any:
    """Return a column of pandas as polars reads it, without pyarrow where pandas does not use pyarrow."""
    if values.ndim != 1:
        raise ValueError("several columns have this name")
    if hasattr(values.dtype, "pyarrow_dtype"):
        return polars.Series(values.array.__arrow_array__())
    if getattr(values.dtype, "tz", None) is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    is_missing = values.isna().to_numpy()
    # Integers of pandas with missing values would become floats.
    needs_objects = not isinstance(values.dtype, numpy.dtype) and is_missing.any()
    array = values.to_numpy(dtype=object) if needs_objects else values.to_numpy()
    if array.dtype != numpy.object_:
        return _from_array(array)
    return _from_objects(None if absent else value for value, absent in zip(array, is_missing, strict=True))


def _from_array(array: Any) -> Any:
    """Return a numpy array with a type that polars reads."""
    if array.dtype == numpy.object_:
        return _from_objects(array.tolist())
    if array.dtype.kind not in "mM":
        return array
    unit = numpy.datetime_data(array.dtype)[0]
    if unit == "generic" or (array.dtype.kind == "m" and unit in CALENDAR_UNITS):
        raise TypeError(f"{array.dtype} has no fixed length: give a duration with a unit such as `us`")
    target = "ns" if unit in FINE_UNITS else COARSE_UNITS.get(unit, unit)
    if array.dtype.kind == "m" and target == "D":
        target = "ms"
    converted = array.astype(f"{array.dtype.kind}8[{target}]")
    if unit in COARSE_UNITS and (converted.astype(array.dtype) != array)[~numpy.isnat(array)].any():
        raise OverflowError(f"values of {array.dtype} are too large")
    return converted


def _from_objects(values: Iterable[Any]) -> Any:
    """Return Python objects as polars reads them; times of pandas and numpy keep their nanoseconds."""
    objects = [None if type(value).__name__ in MISSING_TYPES else value for value in values]
    zone_flags = {value.utcoffset() is not None for value in objects if isinstance(value, datetime)}
    if any(isinstance(value, numpy.datetime64) for value in objects):
        zone_flags.add(False)
    if len(zone_flags) > 1:
        raise TypeError("some dates have a time zone and others have none")
    if not any(_has_nanoseconds(value) for value in objects):
        return polars.Series(objects)
    times = [_to_numpy_time(value) for value in objects]
    time_type = next(type(value) for value in times if value is not None)
    if any(type(value) is not time_type for value in times if value is not None):
        raise TypeError("the values have different types")
    return _from_array(numpy.array([time_type("NaT") if value is None else value for value in times]))


def _has_nanoseconds(value: Any) -> bool:
    """Whether a value is a date or duration of pandas or numpy, which polars would round to microseconds."""
    return (
        isinstance(value, (numpy.datetime64, numpy.timedelta64))
        or hasattr(value, "to_datetime64")
        or hasattr(value, "to_timedelta64")
    )


def _to_numpy_time(value: Any) -> Any:
    """Return a date or duration as that of numpy, which has nanoseconds and no time zones."""
    if hasattr(value, "to_datetime64"):
        return value.to_datetime64()
    if hasattr(value, "to_timedelta64"):
        return value.to_timedelta64()
    if isinstance(value, datetime):
        utc = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return numpy.datetime64(utc)
    if isinstance(value, date):
        return numpy.datetime64(value)
    return numpy.timedelta64(value) if isinstance(value, timedelta) else value
