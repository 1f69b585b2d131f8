"""The options of a comparison of schedulers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003 - annotations are read at run time
from typing import Annotated, Any

from sledlab.errors import Error
from sledlab.lazy import tomllib
from sledlab.runs.options import Around, Numbers, Option, Several, Studied, pair
from sledlab.runs.written import words


def vary_of(texts: Sequence[str]) -> dict[str, list[Any]] | None:
    """Return the values of each key from texts `KEY=V,V`: numbers, truth values or words.

    Raises:
        Error: A text has no value, or two texts have the same key.
    """
    found: dict[str, str] = {}
    for key, values in (pair("--vary", text) for text in texts):
        if key in found:
            raise Error(f"`--vary {key}` is given twice", remedy=f"use --vary {key}={found[key]},{values}")
        found[key] = values
    return {key: [_plain(each) for each in words(values)] for key, values in found.items()} or None


def _plain(text: str) -> Any:
    try:
        found = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return found if isinstance(found, (int, float)) else text


class CompareOptions(Around, Studied, total=False):
    """The options of a comparison of schedulers."""

    schedulers: Annotated[
        Several, Option("Schedulers (sledlab list scheduler)", "A,B,C|all", "all that race")
    ]
    speedups: Annotated[
        Numbers,
        Option("Factors that divide the times between arrivals", "S,S,S", "1,2,4,8,16; 1 when closed"),
    ]
    vary: Annotated[
        Mapping[str, Sequence[Any] | Mapping[str, Any]],
        Option(
            "Also vary a setting, such as device.sleds=1,4; can be repeated for all combinations.",
            "KEY=V,V",
            read=vary_of,
            repeated=True,
        ),
    ]
