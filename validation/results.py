"""Results of measurements, from which pages are written: JSON files in a folder that is not committed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

VALIDATION = Path(__file__).parent
PROJECT = VALIDATION.parent
RESULTS = Path(os.environ.get("SLEDLAB_RESULTS") or PROJECT / "build" / "results").absolute()

T = TypeVar("T")


def write(name: str, result: object) -> None:
    """Write a result, a dataclass or several, to `NAME.json` in the folder of results."""
    file = RESULTS / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(to_plain(result), indent=1) + "\n", encoding="utf-8")


def read(name: str, kind: type[T]) -> T | None:
    """Return the result under a name as an instance of `kind`; `None` if there is none."""
    file = RESULTS / f"{name}.json"
    if not file.is_file():
        return None
    result: T = from_plain(kind, json.loads(file.read_text(encoding="utf-8")))
    return result


def to_plain(result: Any) -> Any:
    """Return a dataclass, or several, as plain JSON."""
    if isinstance(result, (tuple, list)):
        return [to_plain(each) for each in result]
    return asdict(result) if is_dataclass(result) and not isinstance(result, type) else result


def from_plain(kind: Any, data: Any) -> Any:
    """Convert plain JSON to type `kind`: a dataclass, or a tuple or mapping of dataclasses.

    Examples:
        >>> from_plain(tuple[float, ...], [1.5, 2.5])
        (1.5, 2.5)
    """
    origin, type_arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        values_by_field = {
            f.name: from_plain(hints[f.name], data[f.name]) for f in fields(kind) if f.name in data
        }
        return kind(**values_by_field)  # type: ignore[operator]
    if origin is tuple:
        kinds = [type_arguments[0]] * len(data) if type_arguments[-1] is ... else type_arguments
        return tuple(from_plain(each, item) for each, item in zip(kinds, data, strict=True))
    if origin in (dict, Mapping):
        return {key: from_plain(type_arguments[1], value) for key, value in data.items()}
    if origin is UnionType:
        return None if data is None else from_plain(type_arguments[0], data)
    return data
