"""Results of measurements, from which pages are written: JSON files in a folder that is not committed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

PROJECT = Path(__file__).parents[1]
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
    of, inside = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        known = {f.name: from_plain(hints[f.name], data[f.name]) for f in fields(kind) if f.name in data}
        return kind(**known)  # type: ignore[operator]
    if of is tuple:
        kinds = [inside[0]] * len(data) if inside[-1] is ... else inside
        return tuple(from_plain(each, one) for each, one in zip(kinds, data, strict=True))
    if of in (dict, Mapping):
        return {key: from_plain(inside[1], value) for key, value in data.items()}
    if of is UnionType:
        return None if data is None else from_plain(inside[0], data)
    return data
