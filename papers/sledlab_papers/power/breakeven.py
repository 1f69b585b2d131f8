"""Break-even times, and policies compared on sleds and on a disk."""

from __future__ import annotations

from ..markdown import table
from ..runs import ExperimentRuns
from ..simulator import half_width, parameters
from ..wording import format_small, format_text, percent
from .plan import DISK, PowerRuns
from .policies import ADAPTIVE, IMMEDIATE, LEARNING_POLICIES, NEVER, ORACLE, SHARE, fixed_timeouts
from .singles import idle_mw

SLEDS = ("mems-g1", "mems-g2", "mems-g3")


def _row(device: str, idle_mw: float, parked_mw: float, startup_ms: float, startup_mw: float) -> list[str]:
    startup_uj = startup_ms * startup_mw
    break_even_ms = startup_uj / (idle_mw - parked_mw)
    return [f"`{device}`", f"{idle_mw:.0f}", f"{parked_mw:g}", f"{startup_uj:,.0f}", f"{break_even_ms:,.2f}"]


def break_even_table() -> str:
    """A table: the length of idle periods from which parking saves energy."""
    rows = []
    for name in SLEDS:
        p = parameters(name)
        rows.append(_row(name, idle_mw(name), p["inactive_mw"], p["startup_ms"], p["startup_mw"]))
    disk = parameters("mobile-disk")
    rows.append(
        _row("mobile-disk", *(disk[key] for key in ("idle_mw", "sleep_mw", "startup_ms", "startup_mw")))
    )
    return table(["device", "idle, mW", "parked, mW", "start-up, uJ", "break-even, ms"], rows)


def _policy_table(experiment: ExperimentRuns, names: list[str]) -> str:
    rows = [
        [
            _label(policy),
            *(percent(experiment.change(policy, IMMEDIATE, s, "energy_j"), 2) for s in experiment.speedups),
        ]
        for policy in names
    ]
    return table(["policy", *(f"at {speedup:g}" for speedup in experiment.speedups)], rows)


def _label(policy: str) -> str:
    if "=" not in policy:
        return policy
    ms = float(policy.split("=")[1])
    return f"{ms:g} ms" if ms < 1000 else f"{ms / 1000:g} s"


def noise(experiment: ExperimentRuns) -> float:
    """The widest 95 % interval, over seeds, of the excess of a learning policy over parking at once."""
    widest = 0.0
    for policy in LEARNING_POLICIES:
        for speedup in experiment.speedups:
            pairs = zip(
                experiment.seed_values(policy, speedup, "energy_j"),
                experiment.seed_values(IMMEDIATE, speedup, "energy_j"),
                strict=True,
            )
            widest = max(
                widest, half_width([policy_j / immediate_j - 1 for policy_j, immediate_j in pairs]) or 0.0
            )
    return widest


def page_texts(runs: PowerRuns) -> dict[str, str]:
    """Break-even times and policies."""
    sleds, seagate = runs.experiment("lin-policies"), runs.seagate_runs("lin-policies")
    hplajw_disk, snake_disk = runs.experiment(DISK), runs.snake_disk_runs()
    sled_policies = [ORACLE, SHARE, ADAPTIVE, *fixed_timeouts(sleds), NEVER]
    disk_policies = [ORACLE, SHARE, ADAPTIVE, *fixed_timeouts(hplajw_disk), NEVER]
    oracle_changes = {s: seagate.change(ORACLE, IMMEDIATE, s, "energy_j") for s in seagate.speedups}
    saving_speedups = [
        s
        for s in seagate.speedups
        if min(seagate.change(policy, IMMEDIATE, s, "energy_j") for policy in sled_policies[1:]) < 0
    ]
    best_speedup = min(oracle_changes, key=oracle_changes.__getitem__)
    return {
        "break_even": break_even_table(),
        "noise": format_small(100 * noise(sleds)),
        "faster": " and ".join(f"{speedup:g}" for speedup in saving_speedups),
        "oracle": format_text("{:1%} at {:g} times the speed", -oracle_changes[best_speedup], best_speedup),
        "seagate": _policy_table(seagate, sled_policies),
        "snake": _policy_table(sleds, sled_policies),
        "hplajw_disk": _policy_table(hplajw_disk, disk_policies),
        "snake_disk": _policy_table(snake_disk, disk_policies),
    }
