"""Claims on subsector access (Hong 2006, section 5.3.3; Lin, section 5)."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import Judgment, judge_criterion, judge_fitted, judge_printed, judge_range
from ..runs import ExperimentRuns
from ..simulator import parameters
from ..wording import cells, format_rows, number_table
from .plan import PowerRuns
from .singles import CENTER_PARKING, simulate_snake

METADATA, WAITING = "hong2006-metadata", "hong2006-figure-12"
"""Experiments in which the sled parks at once, and after a second."""

TABLE, LIN_SMALL, HONG_SMALL = "lin-subsector", "lin-small-requests", "hong2006-small-requests"
BYTES = (4, 8, 16, 32, 64, 128)
SCHEDULERS = ("fcfs", "sstf", "sptf")
WHOLE, PART = "false", "true"

ENTRIES = ("energy_j", "servicing_j", "startup_j", "inactive_j", "mean_ms")
PUBLISHED_TABLE: Mapping[float, tuple[float, ...]] = {
    10.0: (224.232490, 10.817354, 1.882250, 211.532886, 1.524451),
    100.0: (29.991416, 9.880290, 0.247550, 19.863575, 129.842917),
}
"""The table of Lin without subsectors, by speed-up, in the order of `ENTRIES`."""

PUBLISHED_WITH_PARTS: Mapping[float, tuple[float, float]] = {
    10.0: (223.985658, 10.570522),
    100.0: (29.744633, 9.633507),
}
"""Total and servicing energy with subsector access, as printed, by speed-up."""

SMALL_SIZES = {"exponential": "exponential, mean 200 bytes", "uniform": "uniform, 4 to 512 bytes"}
"""Sizes of small requests by the name of their distribution."""

MEAN_SIZES_BYTES = (50, 100, 200, 400)
"""Mean sizes of requests below the 512 bytes of Hong 2006, section 7."""

LEAST_METADATA_SAVING = 0.29
"""The least that Hong 2006 saves by reading metadata in part (section 5.3.3)."""

SAVING_OF_LAST_BLOCKS, SAVING_OF_PARTS = 0.03, 0.3
"""Shares of servicing energy that Lin saves on Snake where the last block of a request is read in part, and
estimates where each request is."""

MARGINAL_SAVING = 0.03
"""Share of the whole energy below which a saving is marginal, as the criterion of H-72 has it."""

UNCHANGED_MEASURES = ("startup_j", "inactive_j", "mean_ms", "p99_ms", "max_ms")


def h_71(runs: PowerRuns) -> Judgment:
    """Savings of the energy of seeks and accesses by bytes requested of each block of metadata."""
    experiment = runs.experiment(METADATA)
    savings = {
        size_bytes: -experiment.change(f"{size_bytes} bytes", "sectors", 10.0, "servicing_j")
        for size_bytes in BYTES
    }
    accesses = {
        size_bytes: -experiment.change(f"{size_bytes} bytes", "sectors", 10.0, "access_j")
        for size_bytes in BYTES
    }
    is_monotone = (
        list(savings.values()) == sorted(savings.values(), reverse=True) and savings[4] > savings[128]
    )
    # The tips of a requested part were fitted to both numbers.
    return (
        judge_fitted(is_monotone)
        .with_values([savings[128]], [savings[4]])
        .with_numbers(saved=savings)
        .with_tables(
            number_table(
                "Energy saved, %",
                "bytes requested | of seeks and accesses | of accesses alone",
                (cells("{} | {:%1} | {:%1}", size, savings[size], accesses[size]) for size in BYTES),
            )
        )
    )


def h_72(runs: PowerRuns) -> Judgment:
    """Changes of response time and of total energy."""
    experiment = runs.experiment(METADATA)
    is_same = all(
        experiment.seed_values(f"{size_bytes} bytes", speedup, "mean_ms")
        == experiment.seed_values("sectors", speedup, "mean_ms")
        for size_bytes in BYTES
        for speedup in experiment.speedups
    )
    parked_savings = [
        -experiment.change(f"{size_bytes} bytes", "sectors", speedup, "energy_j")
        for size_bytes in BYTES
        for speedup in experiment.speedups
    ]
    waiting_experiment = runs.experiment(WAITING)
    waiting_savings = [
        -waiting_experiment.change("parts", "none", speedup, "energy_j") for speedup in experiment.speedups
    ]
    savings = [*parked_savings, *waiting_savings]
    judgment = judge_criterion(is_same and max(savings) < MARGINAL_SAVING, is_same and min(savings) >= 0)
    return judgment.with_numbers(
        mean="the same to the last bit" if is_same else "differs",
        parked=parked_savings,
        waiting=waiting_savings,
    )


def h_77(runs: PowerRuns) -> Judgment:
    """Savings while data are transferred, by the mean size of small requests."""
    experiment = runs.experiment(HONG_SMALL)
    savings, servicing_savings = {}, {}
    for mean_bytes in MEAN_SIZES_BYTES:
        blocks_case, parts_case = f"{mean_bytes} bytes, blocks", f"{mean_bytes} bytes, parts"
        savings[mean_bytes] = -experiment.change(parts_case, blocks_case, 1.0, "access_j")
        servicing_savings[mean_bytes] = -experiment.change(parts_case, blocks_case, 1.0, "servicing_j")
    are_met = [saving >= LEAST_METADATA_SAVING for saving in savings.values()]
    return (
        judge_range(all(are_met), any(are_met), min(savings.values()) > 0)
        .with_numbers(
            least=min(savings.values()),
            most=max(savings.values()),
            of_servicing=max(servicing_savings.values()),
            share=tip_share("mems-g2"),
        )
        .with_tables(
            number_table(
                "Energy that reading parts saves, %",
                "mean size, bytes | of accesses | of seeks and accesses",
                (
                    cells("{} | {:%1} | {:%1}", size, saving, servicing_savings[size])
                    for size, saving in savings.items()
                ),
            )
        )
    )


def y_03(_: PowerRuns) -> Judgment:
    """Savings if half of each block were requested, at the speeds of the table."""
    savings = {}
    for speedup in PUBLISHED_TABLE:
        whole_run, half_run = (
            simulate_snake(
                "mems-g3",
                *CENTER_PARKING,
                ("workload.metadata_share", 1.0),
                ("replay.metadata_block_bytes", 256),
                ("device.subsector_access", has_subsector_access),
                speedup=speedup,
            )
            for has_subsector_access in (False, True)
        )
        servicing_j, half_j = (run.energy.seek + run.energy.access for run in (whole_run, half_run))
        savings[speedup] = 1 - half_j / servicing_j
    return judge_printed(savings.values(), direction_holds=min(savings.values()) > 0).with_numbers(
        savings=format_rows("{1:1%} at {0:g}", savings.items())
    )


def _saved_j(experiment: ExperimentRuns, speedup: float) -> float:
    """Servicing energy that subsector access saves, in J."""
    return experiment.mean(WHOLE, speedup, "servicing_j") - experiment.mean(PART, speedup, "servicing_j")


def _changes_servicing_alone(experiment: ExperimentRuns, speedup: float) -> bool:
    """Whether subsector access lowers servicing energy and changes nothing else."""
    is_same = all(
        experiment.seed_values(PART, speedup, m) == experiment.seed_values(WHOLE, speedup, m)
        for m in UNCHANGED_MEASURES
    )
    return is_same and experiment.change(PART, WHOLE, speedup, "servicing_j") < 0


def _judge_table(experiment: ExperimentRuns, speedup: float) -> Judgment:
    """Judge by the entries at a speed, with the servicing energy that is saved, ours and the printed one."""
    return judge_printed(
        *([experiment.mean(WHOLE, speedup, entry)] for entry in ENTRIES),
        direction_holds=_changes_servicing_alone(experiment, speedup),
    ).with_numbers(
        saved=_saved_j(experiment, speedup),
        printed=PUBLISHED_TABLE[speedup][1] - PUBLISHED_WITH_PARTS[speedup][1],
    )


def y_26(runs: PowerRuns) -> Judgment:
    """The table at ten times the speed."""
    return _judge_table(runs.experiment(TABLE), 10.0)


def y_27(runs: PowerRuns) -> Judgment:
    """The table at a hundred times the speed."""
    experiment = runs.experiment(TABLE)
    ratio = experiment.mean(WHOLE, 100.0, "mean_ms") / experiment.mean(WHOLE, 10.0, "mean_ms")
    return _judge_table(experiment, 100.0).with_numbers(ratio=ratio)


def y_28(runs: PowerRuns) -> Judgment:
    """Savings of servicing energy."""
    experiment = runs.experiment(TABLE)
    savings = [-experiment.change(PART, WHOLE, speedup, "servicing_j") for speedup in (10.0, 100.0)]
    published_savings = [
        1 - PUBLISHED_WITH_PARTS[speedup][1] / PUBLISHED_TABLE[speedup][1] for speedup in (10.0, 100.0)
    ]
    is_exact = [round(100 * share, 2) for share in published_savings] == [2.28, 2.50]
    judgment = judge_printed(*([share] for share in savings), direction_holds=is_exact and min(savings) > 0)
    return judgment.with_numbers(
        ten=100 * savings[0], saved=savings, printed_ten=100 * published_savings[0], printed=published_savings
    )


def y_29(runs: PowerRuns) -> Judgment:
    """Entries that subsector access does not change."""
    experiment = runs.experiment(TABLE)
    is_same = all(_changes_servicing_alone(experiment, speedup) for speedup in experiment.speedups)
    speedup_texts = format_rows("{:g}", experiment.speedups)
    return judge_criterion(is_same).with_numbers(
        are="are the same to the last bit" if is_same else "differ", speeds=speedup_texts
    )


def y_30(runs: PowerRuns) -> Judgment:
    """Joules saved, by speed."""
    experiment = runs.experiment(TABLE)
    saved_j = {speedup: _saved_j(experiment, speedup) for speedup in experiment.speedups}
    return judge_criterion(max(saved_j.values()) / min(saved_j.values()) - 1 < 0.01).with_numbers(
        saved=format_rows("{1:.6f} J at {0:g}", saved_j.items())
    )


def y_31(runs: PowerRuns) -> Judgment:
    """Servicing energy at a hundred against ten times the speed."""
    changes = {}
    for scheduler in SCHEDULERS:
        experiment = runs.experiment(TABLE, scheduler)
        changes[scheduler] = (
            experiment.mean(WHOLE, 100.0, "servicing_j") / experiment.mean(WHOLE, 10.0, "servicing_j") - 1
        )
    published_change = PUBLISHED_TABLE[100.0][1] / PUBLISHED_TABLE[10.0][1] - 1
    # The place of data was fitted to the fall.
    return (
        judge_fitted(round(changes["fcfs"], 4) < 0)
        .with_values([-changes["fcfs"]])
        .with_numbers(
            changes=format_rows("{:upper} {:+2%}", changes.items()),
            fcfs=changes["fcfs"],
            printed=published_change,
        )
    )


def tip_share(preset: str) -> float:
    """Share of the tips in the power of a sled that reads one block."""
    p = parameters(preset)
    tips_mw = p["tips_per_block"] * p["tip_mw"]
    return float(tips_mw / (p["sled_mw"] + tips_mw))


def y_34(runs: PowerRuns) -> Judgment:
    """Requests of some 200 bytes."""
    experiment = runs.experiment(LIN_SMALL)
    p = parameters("mems-g3")
    sled_j_per_ms = p["sled_mw"] * 1e-6
    servicing_savings, access_savings, tip_savings = {}, {}, {}
    for distribution in SMALL_SIZES:
        blocks_case, parts_case = f"{distribution}, blocks", f"{distribution}, parts"
        access_savings[distribution] = -experiment.change(parts_case, blocks_case, 1.0, "access_j")
        servicing_savings[distribution] = -experiment.change(parts_case, blocks_case, 1.0, "servicing_j")
        sled_j = (
            experiment.mean(blocks_case, 1.0, "requests")
            * experiment.mean(blocks_case, 1.0, "transfer_ms")
            * sled_j_per_ms
        )
        tip_savings[distribution] = access_savings[distribution] / (
            1 - sled_j / experiment.mean(blocks_case, 1.0, "access_j")
        )
    savings = (servicing_savings, access_savings, tip_savings)
    return (
        judge_criterion(
            min(servicing_savings.values()) >= SAVING_OF_PARTS,
            min(servicing_savings.values()) > SAVING_OF_LAST_BLOCKS,
        )
        .with_numbers(
            exponential=servicing_savings["exponential"],
            uniform=servicing_savings["uniform"],
            share=tip_share("mems-g3"),
        )
        .with_tables(
            number_table(
                "Energy saved, %",
                "sizes | seeks and accesses | accesses | tips alone",
                (
                    cells("{} | {:%1} | {:%1} | {:%1}", name, *(each[distribution] for each in savings))
                    for distribution, name in SMALL_SIZES.items()
                ),
            )
        )
    )
