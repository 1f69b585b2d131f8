"""Labels that distinguish the replays of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sledlab.studies.smart.tables import SmartRun, SmartStudy


def labels(study: SmartStudy) -> list[str]:
    """For each replay, a line with the values that distinguish it from the others."""
    rows = zip(parts(study), study.runs, strict=True)
    return [", ".join(texts.values()) or run.where.device for texts, run in rows]


def parts(study: SmartStudy) -> list[dict[str, str]]:
    """For each replay, the columns that have several values in the study as text."""
    cases = [each.where for each in study.runs]
    names = ("job", "nodes", "device", "page_kb", "network", "at")
    varying = [name for name in names if len({getattr(case, name) for case in cases}) > 1]
    return [{name: text for name in varying if (text := _value_text(each, name))} for each in study.runs]


def _value_text(run: SmartRun, name: str) -> str:
    case = run.where
    if name == "nodes":
        return f"{case.nodes:,} nodes"
    if name == "page_kb":
        return f"{case.page_kb:g} KB" if case.page_kb else ""
    if name == "at":
        return f"at {'the host' if case.at == 'host' else 'the nodes'}"
    return str(getattr(case, name))
