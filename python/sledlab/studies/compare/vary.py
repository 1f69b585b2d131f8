"""The option `vary` of a comparison: settings that vary in all combinations."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - annotations are read at run time
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.model.settings import word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.study.plan import Settings

    Varied = tuple[str, Any, Settings]
    """A key of `vary`, one of its values, and the settings that the value stands for."""


@dataclass(frozen=True)
class Vary:
    """Settings that vary.

    Attributes:
        values_by_key: Keys with their values as a study file spells them; `None` if nothing varies.
        combinations: All combinations of a value of each key.
    """

    values_by_key: dict[str, Any] | None
    combinations: Sequence[tuple[Varied, ...]]


NOTHING_VARIES = Vary(None, [()])


def settings_of(varied: Sequence[Varied]) -> Settings:
    """Return the settings of a combination of varied values."""
    return tuple(setting for *_, settings in varied for setting in settings)


def parse(values_by_key: Any) -> Vary:
    """Return the settings that vary.

    Raises:
        Error: A key has no values, or two keys set the same setting.

    Examples:
        >>> [settings_of(each) for each in parse({"device.sleds": [1, 4]}).combinations]
        [(('device.sleds', '1'),), (('device.sleds', '4'),)]
    """
    if not values_by_key:
        return NOTHING_VARIES
    if not hasattr(values_by_key, "items"):
        raise Error("vary: expected keys with lists of values", remedy='write it as {"device.sleds": [1, 4]}')
    axes = [_values(key, values) for key, values in values_by_key.items()]
    for first, second in combinations(axes, 2):
        for key in sorted({key for key, _ in settings_of(first)} & {key for key, _ in settings_of(second)}):
            raise Error(
                f"vary: both `{first[0][0]}` and `{second[0][0]}` set `{key}`",
                remedy="remove it from one of them",
            )
    spelled_values = {
        key: values if hasattr(values, "items") else [value for _, value, _ in axis]
        for (key, values), axis in zip(values_by_key.items(), axes, strict=True)
    }
    return Vary(spelled_values, list(product(*axes)))


def _values(key: str, values: Any) -> list[Varied]:
    """Return the values of one key of `vary`, each with its settings."""
    if hasattr(values, "items"):
        return _sets(key, values)
    if not isinstance(values, (list, tuple)) or not values:
        raise Error(f"vary: `{key}` has no list of values", remedy=f"write it as {{{key!r}: [1, 4]}}")
    if key in ("scheduler.kind", "replay.speedup", "seed"):
        raise Error(f"vary: `{key}` varies already", remedy="use scheduler, speedup or seed instead")
    if nested := [value for value in values if isinstance(value, (list, tuple, dict))]:
        raise Error(f"vary: `{key}`: expected numbers or words, found `{nested[0]!s:.60}`")
    values = list(dict.fromkeys(values))
    if not all(isinstance(value, (int, float)) for value in values):
        values = [str(value) for value in values]
    return [(key, value, ((key, word(value)),)) for value in values]


def _sets(key: str, sets: Mapping[str, Any]) -> list[Varied]:
    """Named sets of settings under a name of the user's, as values of `vary`."""
    remedy = 'write it as {"saving": {"none": {"merge.kind": "none"}, "merging": {"merge.kind": "chains"}}}'
    if not key.isidentifier():
        raise Error(f"vary: `{key}` is not a word for sets of settings", remedy=remedy)
    if not sets or not all(hasattr(settings, "items") for settings in sets.values()):
        raise Error(f"vary: `{key}` needs a set of settings for each name", remedy=remedy)
    return [
        (key, name, tuple((each, word(value)) for each, value in settings.items()))
        for name, settings in sets.items()
    ]
