"""Prices of clusters and costs of jobs, in sentences: the replays that are good value."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sledlab.show.money import JOB_COUNT, jobs_cost
from sledlab.show.wording import figure, join_names, list_names
from sledlab.studies.costs.cost import frontier

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sledlab.studies.smart.tables import SmartRun, SmartStudy

MIN_COMPARED = 3
"""Fewest replays of a job that a figure is drawn of."""

PRICED = "Of the replays with a price, "
"""Beginning of a sentence where other replays have no price."""

MAX_NAMED = 5
"""Most kinds of cluster that a sentence names."""


def priced_runs(study: SmartStudy) -> list[SmartRun]:
    """The replays on clusters whose parts all have prices."""
    return [each for each in study.runs if each.cost.job_usd is not None]


def comparable_runs(study: SmartStudy) -> dict[str, list[SmartRun]]:
    """The replays with a cost above 0, by job, where a job has enough of them to compare."""
    runs_by_job: dict[str, list[SmartRun]] = {}
    for each in priced_runs(study):
        if each.cost.job_usd:
            runs_by_job.setdefault(each.where.job, []).append(each)
    return {job: runs for job, runs in runs_by_job.items() if len(runs) >= MIN_COMPARED}


def pareto_runs(runs: Sequence[SmartRun]) -> list[SmartRun]:
    """The replays that no other beats in both time and cost, the fastest first."""
    return frontier(runs, lambda each: (each.run.elapsed_s, each.cost.job_usd or 0.0))


def choices(study: SmartStudy) -> str:
    """A sentence for each job: the cheapest and the fastest replay, and those between."""
    counts = Counter(each.where.job for each in study.runs)
    return " ".join(
        sentence
        for job, runs in comparable_runs(study).items()
        for sentence in _choices(f"{'' if len(runs) == counts[job] else PRICED}`{job}`", runs)
    )


def _choices(subject: str, runs: Sequence[SmartRun]) -> Iterator[str]:
    pareto = pareto_runs(runs)
    fastest, cheapest = pareto[0], pareto[-1]
    if fastest is cheapest:
        run_text = _run_text(fastest, runs)
        yield f"{subject} is both fastest and cheapest with {run_text}: {_time_and_cost(fastest)}."
        return
    cheapest_text, fastest_text = _distinct_texts(cheapest, fastest)
    yield (
        f"{subject} is cheapest with {_run_text(cheapest, runs)}, {cheapest_text}, and fastest with "
        f"{_run_text(fastest, runs)}, {fastest_text}."
    )
    others_text = (
        "all others are slower and cost more" if len(runs) > len(pareto) else "no others were replayed"
    )
    if len(pareto) > 2:
        yield f"Between them: {_runs_text(pareto[-2:0:-1], runs)}; {others_text}."
    else:
        yield (
            f"Nothing lies between them; {others_text}."
            if len(runs) > len(pareto)
            else "Nothing lies between them."
        )


def _runs_text(named_runs: Sequence[SmartRun], runs: Sequence[SmartRun]) -> str:
    """Replays in words, grouped by all but their numbers of nodes."""
    nodes_by_cluster: dict[tuple[str, str], list[str]] = {}
    for each in named_runs:
        nodes_by_cluster.setdefault((each.where.device, _other_values(each, runs)), []).append(
            f"{each.where.nodes:,}"
        )
    texts = [
        f"{name} on {join_names(nodes)} nodes {other_values}".strip()
        for (name, other_values), nodes in nodes_by_cluster.items()
    ]
    return list_names(texts, MAX_NAMED)


def _run_text(run: SmartRun, runs: Sequence[SmartRun]) -> str:
    """The device and the number of nodes, and further values that distinguish it from the other replays."""
    case = run.where
    nodes = f"{case.nodes:,} node{'s' if case.nodes > 1 else ''}"
    return " ".join(filter(None, [case.device, "on", nodes, _other_values(run, runs)]))


def _other_values(run: SmartRun, runs: Sequence[SmartRun]) -> str:
    """The values besides device and nodes that distinguish a replay from the others."""
    case = run.where
    texts_by_column = {
        "page_kb": f"pages of {case.page_kb:g} KB" if case.page_kb else "",
        "network": f"over {case.network}",
        "at": "at the host" if case.at == "host" else "at the nodes",
    }
    distinct_texts = [
        text
        for name, text in texts_by_column.items()
        if len({getattr(other.where, name) for other in runs}) > 1
    ]
    return " ".join(filter(None, distinct_texts))


def _time_and_cost(run: SmartRun, digits: int = 3) -> str:
    return (
        f"{figure(run.run.elapsed_s, digits)} s and {jobs_cost(run.cost.job_usd, digits)} for {JOB_COUNT:,}"
    )


def _distinct_texts(cheapest: SmartRun, fastest: SmartRun) -> tuple[str, str]:
    """Times and costs of two replays, with enough digits to differ from each other."""
    digits = 3
    for digits in range(3, 8):
        times = {figure(each.run.elapsed_s, digits) for each in (cheapest, fastest)}
        amounts = {jobs_cost(each.cost.job_usd, digits) for each in (cheapest, fastest)}
        if len(times) == len(amounts) == 2:
            break
    return _time_and_cost(cheapest, digits), _time_and_cost(fastest, digits)
