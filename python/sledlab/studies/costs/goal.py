"""Goals: limits that response times have to keep to."""

from __future__ import annotations

from dataclasses import dataclass

from sledlab.errors import Error, unknown
from sledlab.studies.size.goal import seconds

MEASURES = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
"""Statistics of response times that a goal may limit."""


@dataclass(frozen=True)
class ResponseGoal:
    """A limit of response times.

    Attributes:
        measure: `mean`, a percentile such as `p99`, or `max`.
        limit_ms: The highest value allowed, in ms.
    """

    measure: str
    limit_ms: float

    def __str__(self) -> str:
        """The goal as users write it, such as `p99=10ms`."""
        return f"{self.measure}={self.limit_ms:g}ms"


def goal(text: str | None) -> ResponseGoal | None:
    """The goal that a text such as `p99=10ms` names; None for None.

    Raises:
        Error: The text names no goal.

    Examples:
        >>> goal("p99=10ms"), goal("mean = 0.5s"), goal(None)
        (ResponseGoal(measure='p99', limit_ms=10.0), ResponseGoal(measure='mean', limit_ms=500.0), None)
    """
    if text is None:
        return None
    name, equals, limit = (part.strip() for part in str(text).partition("="))
    if equals and name not in MEASURES:
        raise unknown("measure of a goal", name, list(MEASURES))
    try:
        if equals and limit[-1:].isalpha():  # a bare number may be meant in s or in ms
            return ResponseGoal(name, 1000 * seconds(limit))
    except Error:
        pass
    raise Error(
        f"`{text}` is not a goal for response times", remedy="write it with a unit, as p99=10ms or mean=0.5s"
    )
