"""The options of a comparison of schedulers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003 - annotations are read at run time
from typing import Annotated, Any

from sledlab.errors import Error
from sledlab.lazy import tomllib
from sledlab.runs.options import Around, Numbers, Option, Several, Studied
from sledlab.runs.written import words


def vary_of(text: str) -> dict[str, list[Any]]:
    """The key and the values of `KEY=V,V`: numbers and truth values where a value is one, else words.

    Raises:
        Error: The text has no value.
    """
    key, sign, values = text.partition("=")
    if not sign:
        raise Error(f"`{text}` has no value", remedy="write --vary table.key=value,value")
    return {key.strip(): [_plain(each) for each in words(values)]}


def _plain(text: str) -> Any:
    try:
        found = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return found if isinstance(found, (int, float)) else text


class CompareOptions(Around, Studied, total=False):
    """The options of a comparison of schedulers."""

    schedulers: Annotated[
        Several, Option("Schedulers (sledlab scheduler list)", "A,B,C|all", "all that race")
    ]
    speedups: Annotated[
        Numbers,
        Option("Factors that divide the times between arrivals", "S,S,S", "1,2,4,8,16; 1 when closed"),
    ]
    vary: Annotated[
        Mapping[str, Sequence[Any] | Mapping[str, Any]],
        Option("One more key to vary, such as device.sleds=1,4.", "KEY=V,V", read=vary_of),
    ]
