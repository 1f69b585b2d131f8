"""Tables with a column for each device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sledlab.reproduction.verdicts import NumberTable

from ..wording import format_text, number_table
from .published_times import DEVICES, NAMES


def device_table(
    title: str,
    row_head: str,
    values_by_row: Mapping[str, Iterable[object]],
    cell_format: str = "{:figure}",
    devices: Sequence[str] = DEVICES,
) -> NumberTable:
    """A table of values by device.

    Args:
        title: What the values are, with their unit.
        row_head: Head of the column with the names of rows.
        values_by_row: A value for each of the `devices`, by the name of the row.
        cell_format: Format of a value.
        devices: Devices in the order of columns.
    """
    columns = " | ".join([row_head, *(NAMES[device] for device in devices)])
    rows = [
        [name, *(format_text(cell_format, value) for value in values)]
        for name, values in values_by_row.items()
    ]
    return number_table(title, columns, rows)
