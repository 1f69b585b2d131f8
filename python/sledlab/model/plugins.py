"""Plug-ins, which are classes and jobs written by users, and the rule that decides which of them may run.

Importing a plug-in runs its code with all rights of the user. A plug-in therefore runs only if an option
names it, or if the user allows the plug-ins that files name (`allow_plugins`). `allowed_plugins` is the only
function that gives this permission, for plug-ins of every kind. The simulator checks it before it imports a
class, `check_plugins` before a study starts and before a job is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.model.catalog import ModelChoice

ALL_PLUGINS = "*"
"""Stands for all plug-ins where a permission lists their names."""

DATA_OPTIONS = ("work", "trace", "price", "reuse", "cluster")
"""Options that name data or addresses: `sample:sort` and `node1:8786` are no classes."""


def is_plugin(word: str) -> bool:
    """Return whether a word names a plug-in: a class, `module:Class`, or a job, `FILE.py`.

    Examples:
        >>> [is_plugin(word) for word in ("mine:Lcfs", "jobs/mine.py", "fcfs", "zsptf:grid=40x4")]
        [True, True, False, False]
    """
    return _native.is_plugin(word) or word.endswith(".py")


def find_words(value: Any) -> Iterator[str]:
    """Yield all texts, file names and model names in a value, with its tables, lists and parameters."""
    if isinstance(value, (str, Path)):
        yield str(value)
    elif isinstance(value, ModelChoice):
        yield value.name
        yield from find_words(value.parameters)
    elif isinstance(value, (Mapping, list, tuple)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from find_words(item)


def find_plugins(value: Any) -> tuple[str, ...]:
    """Return the plug-ins that a value names, each once."""
    return tuple(dict.fromkeys(filter(is_plugin, find_words(value))))


def allowed_plugins(options: Mapping[str, Any], *models: Any) -> tuple[str, ...]:
    """Return the plug-ins that may run: those that options name, or `*` with `allow_plugins`.

    Args:
        options: Options by name. Values that a file sets must not be among them.
        models: Models that are given by position.

    Examples:
        >>> allowed_plugins({"scheduler": "mine:Lcfs", "speedup": 2}, "tape:Tape")
        ('mine:Lcfs', 'tape:Tape')
        >>> allowed_plugins({"allow_plugins": True})
        ('*',)
    """
    if options.get("allow_plugins"):
        return (ALL_PLUGINS,)
    return find_plugins([[value for name, value in options.items() if name not in DATA_OPTIONS], models])


def check_plugins(words: Iterable[str], allowed: Collection[str]) -> None:
    """Refuse plug-ins that are not allowed to run.

    Args:
        words: Names of plug-ins; classes may have parameters.
        allowed: The result of `allowed_plugins`.

    Raises:
        Error: A plug-in is not allowed.
    """
    allowed_names = {_without_parameters(plugin) for plugin in allowed}
    for word in words:
        if not {ALL_PLUGINS, _without_parameters(word)} & allowed_names:
            raise Error(
                f"the experiment refers to the plug-in `{word}`, which is not allowed to run",
                remedy="if you trust it, pass --allow-plugins (in Python: allow_plugins=True)",
            )


def _without_parameters(word: str) -> str:
    """The name of a plug-in without parameters."""
    return ":".join(word.split(":")[:2]) if _native.is_plugin(word) else word
