"""Descriptions of the figures that a reader can compute in a browser: runs, assumptions, panels and criteria.

The page in `web/explore` draws any figure from its description. Everything in it is read from where the
command line reads it: experiments, assumptions, sensitivity sweeps, panels and printed numbers of claims.
`explorable.toml` only names the figures and says which values decide a claim.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from sledlab.model.settings import word
from sledlab.reproduction.assumption import STUDY, Assumption, assumptions
from sledlab.reproduction.figure import Figure, FigurePanel, figures
from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.verdicts import Claim, figure_claims
from sledlab.show.view import fill_page

from .claims import claims as claim_entries
from .explorable_parts import SPEEDUP, JobPart, Part
from .paths import PROJECT
from .printed import PrintedNumber
from .sensitivity import choices
from .simulator import catalog
from .topics import TOPICS

FILE = Path(__file__).with_name("explorable.toml")

PAGE = "reproduction/explore.html"
"""Path of the page in the documentation."""

FRAME = PROJECT / "web" / "dist" / "explore.html"
CORE = FRAME.with_name("cluster.wasm.xz")
"""The page without core and figures, and a core that replays work records too: built by `make web`."""

IN_SET, FORMER, SWEPT = "the set", "the old reading", "varied in a sensitivity sweep"
"""Origins of values."""

LIMIT = "replay.limit"
"""The setting that the size chosen on the page replaces."""


@cache
def declarations() -> dict[str, dict[str, Any]]:
    """The declarations of explorable figures, by name."""
    rows = tomllib.loads(FILE.read_text(encoding="utf-8"))["figure"]
    return {row["name"]: row for row in rows}


def marker(paper: str) -> str:
    """Return the marker that `docs/hooks.py` replaces by links to the explorable figures of a paper."""
    return f"{{{{ explore {paper} }}}}" if _names(paper) else ""


def links(paper: str) -> str:
    """Return links, in Markdown, to the explorable figures of a paper, for its page."""
    texts = [f'<a href="{Path(PAGE).name}#{name}">{_numbers(name)}</a>' for name in _names(paper)]
    text = f"Change them and watch {' and '.join(texts)} in this browser."
    return text if is_built() else "`make web` builds the page on which figures can be computed."


def _names(paper: str) -> list[str]:
    return [name for name in declarations() if name.startswith(f"{paper}-")]


def is_built() -> bool:
    """Whether the parts of the page are there."""
    return FRAME.is_file() and CORE.is_file()


def page() -> str:
    """Return the page, whole: it needs no network and no sledlab."""
    return fill_page(FRAME, CORE, [description(name) for name in declarations()])


def shown_figures(name: str) -> list[Figure]:
    """The figures whose panels are on a page; all have the same runs."""
    return [figures()[each] for each in declarations()[name]["figures"]]


def _numbers(name: str) -> str:
    """The figures on a page in words: `figure 4`, or `figures 4 to 6`."""
    numbers = [figure.number for figure in shown_figures(name)]
    return f"figure {numbers[0]}" if len(numbers) == 1 else f"figures {numbers[0]} to {numbers[-1]}"


def description(name: str) -> dict[str, Any]:
    """Return what the page needs to know of a figure, as plain data."""
    declaration, shown = declarations()[name], shown_figures(name)
    parts = [(JobPart if "phases" in declaration else Part)(run, declaration) for run in shown[0].runs]
    paper = shown[0].paper
    citation = PAPERS[paper].citation
    label = f"{citation}, {_numbers(name)}"
    return {
        "name": name,
        "paper": paper,
        "citation": citation,
        "label": label,
        "title": f"{label}: {shown[0].title}" if len(shown) == 1 else label,
        "notes": [
            *(figure.note for figure in shown if figure.note),
            *filter(None, [declaration.get("note")]),
        ],
        "sizes": declaration["sizes"],
        "size_label": "Scale factor of the data" if "phases" in declaration else "Requests a run",
        "parts": [part.to_dict() for part in parts],
        "assumptions": list(_assumptions(shown[0], parts, declaration)),
        "panels": [_panel(figure, panel) for figure in shown for panel in figure.panels],
        "claims": [_claim(claim, declaration) for figure in shown for claim in figure_claims(figure)],
    }


SECTIONS = {
    "device": "devices",
    "workload": "workloads",
    "hybrid": "hybrids",
    "power": "power_policies",
    "cache": "caches",
}
"""Sections of the catalog with the models that a table names."""

SHARED_PARAMETERS = ("cache", "system", "merge", "replay")
"""Tables whose models have the same parameters."""


def _assumptions(
    figure: Figure, parts: Sequence[Part], declaration: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The lines of a paper's set, each with its settings that change the figure and that it does not vary."""
    for assumption in assumptions(figure.paper):
        applied_parts = [index for index, part in enumerate(parts) if assumption.applies_to(part.run.place)]
        if not applied_parts:
            continue
        fixed = {
            key for index in applied_parts for case in parts[index].plan.cases for key, _ in case.settings
        }
        fixed.update(declaration.get("without_effect", ()), [LIMIT])
        settings = [
            _setting(key, assumption, figure.topic, parts[applied_parts[0]])
            for key in assumption.settings
            if key not in fixed and _is_adjustable(key, assumption)
        ]
        parameters = [
            _scheduler_setting(each["scheduler"], each["name"], figure.topic)
            for each in declaration.get("parameters", ())
            if each["assumption"] == assumption.name
        ]
        yield {
            "says": assumption.says,
            "mark": assumption.mark,
            "because": assumption.because,
            "parts": applied_parts,
            "settings": [*settings, *parameters],
        }


def _is_adjustable(key: str, assumption: Assumption) -> bool:
    """Whether a key is a setting of runs, or chooses among loads that the figure has."""
    return not key.startswith(STUDY) or (key == SPEEDUP and key in assumption.former)


def _setting(key: str, assumption: Assumption, topic: str, part: Part) -> dict[str, Any]:
    """A setting of an assumption: its value, other values with their origins, and what it may be."""
    value = word(assumption.settings[key])
    former = word(assumption.former[key]) if key in assumption.former else None
    known = {value: IN_SET}
    if former is not None:
        known[former] = FORMER
    for choice in choices(topic):
        for swept in choice.values:
            pairs = zip(swept.options[::2], swept.options[1::2], strict=True)
            settings = dict(text.split("=", 1) for option, text in pairs if option == "--set")
            if key in settings:
                known.setdefault(settings[key], SWEPT)
    return {"key": key, "value": value, "former": former, "known": list(known.items()), **_domain(key, part)}


def _scheduler_setting(scheduler: str, name: str, topic: str) -> dict[str, Any]:
    """A parameter of a scheduler as a setting."""
    entry = next(each for each in catalog.load_catalog()["schedulers"] if each["name"] == scheduler)
    declared = next(each for each in entry["parameters"] if each["name"] == name)
    endings = [ending for choice in choices(topic) for value in choice.values for ending in value.reading]
    prefix = f"{scheduler} {name}="
    swept = [ending.removeprefix(prefix) for ending in endings if ending.startswith(prefix)]
    default = f"{declared['default']:g}"
    return {
        "key": f"{scheduler}:{name}",
        "value": default,
        "former": None,
        "known": [[default, IN_SET], *([each, SWEPT] for each in swept)],
        "words": [],
        **{each: declared[each] for each in ("meaning", "unit", "range")},
    }


def _domain(key: str, part: Part) -> dict[str, Any]:
    """What a setting means and may be, as the simulator declares it; empty for axes of the study."""
    table, _, name = key.partition(".")
    if f"{table}." == STUDY:
        return {}
    base, full_catalog = part.base, catalog.load_catalog()
    if name in ("kind", "preset"):
        names = [each["name"] for each in full_catalog[SECTIONS[table]]]
        family = (base.setting(key) or "").partition("-")[0]
        return {"words": [each for each in names if name == "kind" or each.startswith(f"{family}-")]}
    entry = full_catalog[table] if table in SHARED_PARAMETERS else _model(table, base)
    declared = next((each for each in entry["parameters"] if each["name"] == name), None)
    if declared is None:  # cycles of an operation
        return {"words": [], "unit": "cycles"}
    kind = declared["kind"]
    words = kind["choice"] if isinstance(kind, dict) else ["true", "false"] if kind == "switch" else []
    return {"words": words, **{each: declared[each] for each in ("meaning", "unit", "range")}}


def _model(table: str, base: Any) -> dict[str, Any]:
    """The entry of the catalog for the model that an experiment names in a table."""
    if table == "node":
        section, kind = "nodes", base.setting("node.preset")
    elif table == "device":
        section, kind = "device_kinds", json.loads(base.describe_device())["kind"]
    else:
        section, kind = SECTIONS[table], base.setting(f"{table}.kind").partition(":")[0]
    model: dict[str, Any] = next(each for each in catalog.load_catalog()[section] if each["name"] == kind)
    return model


def _panel(figure: Figure, panel: FigurePanel) -> dict[str, Any]:
    """A panel of a figure, with its printed statements."""
    fields = asdict(panel)
    shown = ("y", "x", "kind", "title", "places", "where", "series", "names", "labels", "log", "limits")
    statements = [{key: _plain(value) for key, value in statement.items()} for statement in fields["printed"]]
    title = panel.title or f"Figure {figure.number}: {figure.title}"
    return {**{key: _plain(fields[key]) for key in shown}, "title": title, "printed": statements}


def _plain(value: Any) -> Any:
    """A value as JSON has it; infinity, which JSON lacks, becomes `None`: no bound."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def _claim(claim: Claim, declaration: Mapping[str, Any]) -> dict[str, Any]:
    """A claim on a figure, with the outcome on whole runs and the criteria that the page can judge."""
    entry = next(each for topic in TOPICS for name, each in claim_entries(topic).items() if name == claim.id)
    criteria = [each for each in declaration.get("criteria", ()) if each["claim"] == claim.id]
    return {
        "id": claim.id,
        "claim": claim.claim,
        "published": claim.published,
        "outcome": claim.outcome_text,
        "ours": claim.short,
        "criteria": [_criterion(each, entry.printed) for each in criteria],
    }


def _criterion(row: Mapping[str, Any], printed: Sequence[str]) -> dict[str, Any]:
    """A criterion with the values that meet it, and those that nearly do."""
    criterion = {"form": "change", "where": {}, "levels": [], **row}
    criterion["a"] = [word(each) for each in row["a"]]
    criterion["b"] = word(row["b"])
    rule = {} if "within" in row else PrintedNumber(printed[0]).as_criterion()
    return {key: _plain(value) for key, value in (criterion | rule).items()}
