"""The plan of a study of smart storage: jobs, queries or records, on devices, pages and networks."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.model.choices import parse_model
from sledlab.show.progress import Progress
from sledlab.studies.smart.costs import check_prices
from sledlab.study.devices import device_label
from sledlab.study.plan import Case, Plan, explicit_tables, with_model
from sledlab.study.prices import prices
from sledlab.study.recording import parse_job_settings, recordables
from sledlab.traces.work import work

if TYPE_CHECKING:
    from sledlab.study.plan import Question
    from sledlab.traces.work import Work


NODES = (4, 8, 16, 32)
"""Numbers of nodes by default, those of Chiu 2004."""


def plan_runs(question: Question) -> Plan:
    """Check all that can be checked before the first run.

    Raises:
        Error: A model is missing or named twice, or a record does not fit on a device.
    """
    records = _records(question)
    devices = _unique_models(question, "device", question.device)
    networks = _unique_models(question, "network", question.base.setting("network.preset") or "fast-ethernet")
    pages, places = _pages(question), _as_list(question.axis("at", ("nodes",)))
    if not places:
        raise Error("no place to work at was given", remedy="say nodes, host or nodes,host")
    if unknown := [place for place in places if place not in ("nodes", "host")]:
        raise Error(f"`{unknown[0]}` is not a place of work", remedy="use nodes, host or nodes,host")
    bases: dict[str, Any] = {}
    cases = []
    for (file, record), device, network in product(records, devices, networks):
        base = with_model(
            with_model(question.base, parse_model("device", device)), parse_model("network", network)
        )
        names = {
            "job": record.job,
            "nodes": record.nodes,
            "device": device_label(device),
            "network": device_label(network),
        }
        key = f"{names['job']} on {names['nodes']} nodes with {names['device']} over {names['network']}"
        bases[key] = base.with_work(file)
        for page, place in product(pages, places):
            settings = (("cluster.at", place), *((("node.page_kb", f"{page:g}"),) if page else ()))
            labels = {**names, "page_kb": page, "at": place}
            pages_name = f"{key}, pages of {page:g} KB" if page else key
            name = f"{pages_name}, at the host" if place == "host" else pages_name
            cases.append(Case("runs", tuple(labels.items()), key, settings, record.nodes, name))
    axes: dict[str, Any] = {
        "job": _as_list(question.axis("job")) or None,
        "query": [str(query) for query in _as_list(question.axis("query"))] or None,
        "tables": None if question.axis("tables") is None else str(question.axis("tables")),
        "node_count": _nodes(question) if question.axis("job") or question.axis("query") else None,
        "job_settings": _as_list(question.axis("job_settings")) or None,
        "work": [str(file) for file in _as_list(question.axis("work"))] or None,
        "device": devices,
        "network": networks,
        "page_kb": [page for page in pages if page] or None,
        "at": places,
        "price": [str(price) for price in _as_list(question.axis("price"))] or None,
    }
    plan = Plan(bases, None, cases, (int(explicit_tables(question.base).get("seed", 1)),), axes)
    plan.check()
    check_prices(plan, prices(axes["price"]))
    return plan


def _records(question: Question) -> list[tuple[str, Work]]:
    """The records, sorted by job and number of nodes."""
    files = [str(file) for file in _as_list(question.axis("work"))] + _record_work(question)
    if not files:
        remedy = (
            "specify a job, as in --job sort, a query, as in --query q5, or work records: --work sort.work"
        )
        raise Error("neither a job nor a work record was given", remedy=remedy)
    records = sorted(((file, work(file)) for file in files), key=lambda each: _rank(each[1]))
    names = [(record.job, record.nodes) for _, record in records]
    if len(set(names)) < len(names):
        job, nodes = next(name for name in names if names.count(name) > 1)
        raise Error(f"two records are of `{job}` on {nodes} nodes", remedy="omit one of them")
    return records


def _rank(record: Work) -> tuple[tuple[str, int], int]:
    """Sorting key of a record: its job, q2 before q10, and its number of nodes."""
    name = record.job.rstrip("0123456789")
    return (name, int(record.job[len(name) :] or 0)), record.nodes


def _record_work(question: Question) -> list[str]:
    """Record jobs and queries on each number of nodes, unless a record is cached.

    Raises:
        Error: A setting is a parameter of no job or query, or a job failed.
    """
    recordable_list = recordables(
        _as_list(question.axis("job")),
        _as_list(question.axis("query")),
        question.axis("tables"),
        question.plugins,
    )
    settings = parse_job_settings(recordable_list, _as_list(question.axis("job_settings")))
    seed = int(explicit_tables(question.base).get("seed", 1))
    files = []
    with Progress("recording", unit="") as progress:
        for recordable, nodes in product(recordable_list, _nodes(question) if recordable_list else ()):
            settings_of_job = {name: value for name, value in settings.items() if name in recordable.settings}
            files.append(recordable.record(nodes, seed, settings_of_job, progress.show_step).name)
    return files


def _nodes(question: Question) -> list[int]:
    """Numbers of nodes of jobs.

    Raises:
        Error: A number is not whole.
    """
    nodes = _as_list(question.axis("node_count", NODES))
    if invalid := [each for each in nodes if not float(each).is_integer()]:
        raise Error(f"a job cannot run on {invalid[0]:g} nodes", remedy="give whole numbers")
    return [int(each) for each in nodes]


def _unique_models(question: Question, kind: str, default: Any) -> list[Any]:
    """The models of an axis, each once."""
    models = _as_list(question.axis(kind, default))
    if not models:
        raise Error(f"no {kind} was given", remedy=f"specify some with --{kind} (sledlab list {kind})")
    names = [device_label(each) for each in models]
    if len(set(names)) < len(names):
        repeated_name = next(name for name in names if names.count(name) > 1)
        raise Error(f"the {kind} `{repeated_name}` was given twice", remedy="list each once")
    return models


def _pages(question: Question) -> list[float | None]:
    """Sizes of pages in KB; None for the node's own."""
    pages = _as_list(question.axis("page_kb"))
    if invalid := [page for page in pages if not float(page).is_integer() or page < 1]:
        raise Error(f"invalid page size {invalid[0]:g} KB", remedy="use whole KB, 1 or more")
    return [float(page) for page in pages] or [None]


def _as_list(values: Any) -> list[Any]:
    """An argument as a list."""
    if values is None:
        return []
    return list(values) if isinstance(values, (list, tuple)) else [values]
