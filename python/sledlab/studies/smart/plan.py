"""The plan of a study of smart storage: jobs, queries or records, on devices, pages and networks."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.show.progress import Progress
from sledlab.studies.costs.prices import prices
from sledlab.studies.smart.costs import check_prices
from sledlab.studies.smart.options import PLACES
from sledlab.studies.smart.recording import parse_job_settings, recordables
from sledlab.study.plan import Case, Plan, explicit_tables, with_model
from sledlab.study.systems import with_system
from sledlab.traces.work import work

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.study.plan import Question
    from sledlab.traces.work import Work


NODES = (4, 8, 16, 32)
"""Numbers of nodes by default, those of Chiu 2004."""

NETWORK = "fast-ethernet"
"""The network by default."""


def plan_runs(question: Question) -> Plan:
    """Check all that can be checked before the first run.

    Raises:
        Error: A model is missing, or a record does not fit on a device.
    """
    records = _records(question)
    devices, networks = question.models("device"), question.models("network", NETWORK)
    pages, places = tuple(map(float, question.axis("page_kb", ()))), question.axis("at", PLACES[:1])
    clusters = {
        (device, network): with_model(with_system(question.base, devices[device]), networks[network])
        for device, network in product(devices, networks)
    }
    bases: dict[str, Any] = {}
    cases = []
    for (file, record), ((device, network), cluster) in product(records, clusters.items()):
        key = f"{record.job} on {record.nodes} nodes with {device} over {network}"
        bases[key] = cluster.with_work(file)
        cases += [
            _case(key, record, {"device": device, "network": network, "page_kb": page, "at": place})
            for page, place in product(pages or (None,), places)
        ]
    axes: dict[str, Any] = {
        **_record_axes(question),
        "device": list(devices.values()),
        "network": list(networks.values()),
        "page_kb": pages or None,
        "at": places,
        "price": question.axis("price") or None,
    }
    plan = Plan(bases, None, cases, (int(explicit_tables(question.base).get("seed", 1)),), axes)
    plan.check()
    check_prices(plan, prices(axes["price"]))
    return plan


def _case(cluster: str, record: Work, labels: Mapping[str, Any]) -> Case:
    """Return the replay of a record on a cluster, with pages and at the place that labels name."""
    page, place = labels["page_kb"], labels["at"]
    settings = (("cluster.at", place), *((("node.page_kb", f"{page:g}"),) if page else ()))
    pages_name = f"{cluster}, pages of {page:g} KB" if page else cluster
    name = f"{pages_name}, at the host" if place == "host" else pages_name
    all_labels = {"job": record.job, "nodes": record.nodes, **labels}
    return Case("runs", tuple(all_labels.items()), cluster, settings, record.nodes, name)


def _record_axes(question: Question) -> dict[str, Any]:
    """Return the axes that choose records."""
    return {
        "job": question.axis("job") or None,
        "query": question.axis("query") or None,
        "tables": question.axis("tables"),
        "node_count": _node_counts(question) or None,
        "job_settings": question.axis("job_settings") or None,
        "work": question.axis("work") or None,
    }


def _records(question: Question) -> list[tuple[str, Work]]:
    """The records, sorted by job and number of nodes."""
    files = [*question.axis("work", ()), *_record_work(question)]
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
        question.axis("job", ()), question.axis("query", ()), question.axis("tables"), question.plugins
    )
    settings = parse_job_settings(recordable_list, question.axis("job_settings", ()))
    seed = int(explicit_tables(question.base).get("seed", 1))
    files = []
    with Progress("recording", unit="") as progress:
        for recordable, nodes in product(recordable_list, _node_counts(question)):
            settings_of_job = {name: value for name, value in settings.items() if name in recordable.settings}
            files.append(recordable.record(nodes, seed, settings_of_job, progress.show_step).name)
    return files


def _node_counts(question: Question) -> tuple[int, ...]:
    """Return the numbers of nodes on which jobs and queries run; none if only work records are given."""
    if not (question.axis("job") or question.axis("query")):
        return ()
    node_counts: tuple[int, ...] = question.axis("node_count", NODES)
    return node_counts
