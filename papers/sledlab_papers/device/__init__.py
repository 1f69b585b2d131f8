"""Claims of Hong 2006 on the device: performance, parameters, seeks."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import register_judges
from ..runs import Runs
from ..topic import ClaimVerdict, Topic
from ..validation_results import KINEMATICS
from . import mechanics, parameters

register_judges(parameters, mechanics)


def _page_texts(_: Runs, __: Mapping[str, ClaimVerdict]) -> dict[str, str]:
    return {"pairs": f"{mechanics.PAIRS:,}"}


DEVICE = Topic("device", (), Runs, _page_texts, validation_results=(KINEMATICS,))
"""A topic without experiments: its claims are judged by parameters and single runs."""
