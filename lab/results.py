"""Results that measurements leave and pages read: JSON with the hash of the sources at the time."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

PROJECT = Path(__file__).parents[1]
RESULTS = Path(os.environ.get("SLEDLAB_RESULTS") or PROJECT / "build" / "results").absolute()

SOURCES = (
    "Cargo.lock",
    *(f"crates/sledlab-{name}" for name in ("core", "models", "trace", "sim", "mining", "python")),
    *(f"presets/{name}" for name in ("devices", "hosts", "networks", "nodes")),
    *(f"python/sledlab/{name}" for name in ("job", "model", "runs", "studies", "study", "traces")),
)
"""Sources that results depend on: not texts, figures or servers, nor experiments, which have own hashes."""

KINDS = (".lock", ".py", ".rs", ".toml")
"""Endings of the files that are hashed."""

T = TypeVar("T")


@cache
def sources() -> str:
    """The hash of all sources that results depend on."""
    digest = hashlib.sha256()
    for file in sorted(file for file in _files() if file.suffix in KINDS):
        digest.update(f"{file.relative_to(PROJECT).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _files() -> Iterator[Path]:
    for name in SOURCES:
        place = PROJECT / name
        yield from place.rglob("*") if place.is_dir() else [place]


@dataclass(frozen=True)
class Left(Generic[T]):
    """A result, and the hash of the sources it was measured with."""

    sources: str
    found: T

    @property
    def stale(self) -> bool:
        """Whether the sources have changed since the measurement."""
        return self.sources != sources()


def leave(name: str, found: object, sources_of: str | None = None) -> None:
    """Writes a result, a dataclass or several, to `<name>.json` in the folder of results."""
    file = RESULTS / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"sources": sources_of or sources(), "found": _plain(found)}, indent=1)
    file.write_text(text + "\n", encoding="utf-8")


def read(name: str, kind: type[T]) -> Left[T] | None:
    """The result under a name, as an instance of `kind`; `None` if there is none."""
    file = RESULTS / f"{name}.json"
    if not file.is_file():
        return None
    said = json.loads(file.read_text(encoding="utf-8"))
    return Left(said["sources"], typed(kind, said["found"]))


def _plain(found: Any) -> Any:
    return [_plain(one) for one in found] if isinstance(found, (tuple, list)) else asdict(found)


def typed(kind: Any, data: Any) -> Any:
    """Plain JSON as a value of type `kind`: a dataclass, or a tuple or a mapping of these.

    Examples:
        >>> typed(tuple[float, ...], [1.5, 2.5])
        (1.5, 2.5)
    """
    of, inside = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        known = {f.name: typed(hints[f.name], data[f.name]) for f in fields(kind) if f.name in data}
        return kind(**known)  # type: ignore[operator]
    if of is tuple:
        kinds = [inside[0]] * len(data) if inside[-1] is ... else inside
        return tuple(typed(each, one) for each, one in zip(kinds, data, strict=True))
    if of in (dict, Mapping):
        return {key: typed(inside[1], value) for key, value in data.items()}
    if of is UnionType:
        return None if data is None else typed(inside[0], data)
    return data
