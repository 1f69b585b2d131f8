"""Chosen models: a name with the parameters that were set."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.model.entries import ParameterSpec


class Models(Protocol):
    """All models of a kind."""

    def canonical_name(self, word: str) -> str:
        """Return the name of a model as listed."""

    def model_parameters(self, name: str) -> tuple[ParameterSpec, ...]:
        """Return the parameters of a model."""


MODELS: dict[str, Models] = {}
"""All models by kind: `sledlab.model.catalog` enters them."""


SEPARATOR = re.compile(r"(?<!\d[eE])\+")
"""The sign between parts of a system in one word; not the sign of an exponent, as in `sleds=1e+1`."""


def split_parts(word: str) -> list[str]:
    """Return the parts of a system in one word; a name of a file may contain the separator.

    Examples:
        >>> split_parts("atlas-10k+mems-g2:sleds=1e+1:256MiB"), split_parts("mems-g2")
        (['atlas-10k', 'mems-g2:sleds=1e+1:256MiB'], ['mems-g2'])
    """
    return [word] if Path(word.partition(":")[0]).is_file() else SEPARATOR.split(word)


@dataclass(frozen=True)
class ModelChoice:
    """A named model with some of its parameters set.

    Attributes:
        kind: A kind of model, such as `device` or `scheduler`: a key of `CATALOGS`.
        name: Its name, or the path of a device file.
        parameters: The parameters that were set, by name; the others keep their defaults.
    """

    kind: str
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Spell the name of a listed model as its list does: names ignore case."""
        if self.name != self.name.lower() and self.kind in MODELS:
            object.__setattr__(self, "name", MODELS[self.kind].canonical_name(self.name))

    def __getattr__(self, parameter: str) -> Any:
        """Return the value of a parameter: the one that was set, or the default of the model.

        Examples:
            >>> import sledlab as sl
            >>> sl.device("mems-g2", sleds=4).sleds, sl.device("mems-g2").active_tips
            (4, 1280)
        """
        if parameter.startswith("_") or parameter in ("kind", "name", "parameters"):
            raise AttributeError(parameter)
        if parameter in self.parameters:
            return self.parameters[parameter]
        for spec in self._specs():
            if spec.name == parameter:
                return spec.default
        raise AttributeError(f"{self!r} has no parameter `{parameter}`")

    def __dir__(self) -> list[str]:
        """Return the attributes, parameters included."""
        return [*super().__dir__(), *(spec.name for spec in self._specs())]

    def _specs(self) -> tuple[ParameterSpec, ...]:
        """Return the parameters of the model; none for an unknown name and for a plug-in."""
        try:
            return MODELS[self.kind].model_parameters(self.name)
        except Error:
            return ()

    def __repr__(self) -> str:
        """The call that makes it: `sledlab.device('mems-g2', active_tips=3200)`."""
        parameters_text = "".join(f", {key}={value!r}" for key, value in self.parameters.items())
        return f"sledlab.{self.kind}({self.name!r}{parameters_text})"
