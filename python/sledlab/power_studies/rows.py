"""A power study as rows of text: tables of the terminal, of notebooks and of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.power_studies.words import hours, percent_signed, policy_name, seconds
from sledlab.wording import STATES, energy, figure, percent

if TYPE_CHECKING:
    from sledlab.power_studies.outcome import PowerStudy
    from sledlab.power_studies.tables import Row

POLICIES = ("policy", "energy", "above oracle", "mean", "95 %", "start-ups", "mean power", "on battery")
"""Columns of the table of policies; times in ms."""


def signed(share: float, digits: int = 1) -> str:
    """A change as a percentage with its sign; none where it rounds to nothing.

    Example:
        >>> [signed(x) for x in (0.0512, -0.3, -1e-6)]
        ['+5.1 %', '−30.0 %', '0 %']
    """
    text = f"{share * 100:+.{digits}f} %".replace("-", "−")
    return text if any(digit in text for digit in "123456789") else "0 %"


def policy_rows(study: PowerStudy, device: str) -> list[tuple[str, ...]]:
    """The policies of a device, as rows of the table."""
    battery = {row["policy"]: row for row in study.of_device("battery", device)}
    return [
        (
            policy_name(row["policy"]) + (" *" if row["saturated"] else ""),
            energy(row["energy_j"]),
            "–" if row["above_oracle"] is None else signed(row["above_oracle"], 2),
            figure(row["mean_ms"]),
            figure(row["p95_ms"]),
            f"{row['startups']:,.0f}",
            f"{figure(battery[row['policy']]['power_mw'])} mW",
            hours(battery[row["policy"]]["hours"]),
        )
        for row in sorted(study.of_device("policies", device), key=lambda row: float(row["energy_j"]))
    ]


def rows_of(study: PowerStudy, name: str, device: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and rows of a section's table in the report."""
    head, row = REPORTED[name]
    names = study.state_names(device)
    named = tuple(names.get(column, column) for column in head)
    return named, [row(each) for each in study.of_device(name, device)]


def _state_cells(row: Row) -> tuple[str, ...]:
    return tuple(energy(row[f"{state}_j"]) for state in STATES)


REPORTED: dict[str, Any] = {
    "request_energy": (
        ("policy", "each request", *STATES, "a read itself", "a write itself"),
        lambda row: (
            policy_name(row["policy"]),
            energy(row["energy_per_request_uj"] * 1e-6),
            *(energy(row[f"{state}_uj"] * 1e-6) for state in STATES),
            energy(row["read_uj"] * 1e-6),
            energy(row["write_uj"] * 1e-6),
        ),
    ),
    "timeouts": (
        ("timeout", "energy", *STATES, "mean (ms)", "95 % (ms)", "start-ups"),
        lambda row: (
            seconds(row["timeout_ms"]),
            energy(row["energy_j"]),
            *_state_cells(row),
            figure(row["mean_ms"]),
            figure(row["p95_ms"]),
            f"{row['startups']:,.0f}",
        ),
    ),
    "startup": (
        ("start-up takes", "energy", "mean (ms)", "95 % (ms)", "start-ups"),
        lambda row: (
            seconds(row["startup_ms"]),
            energy(row["energy_j"]),
            figure(row["mean_ms"]),
            figure(row["p95_ms"]),
            f"{row['startups']:,.0f}",
        ),
    ),
    "loads": (
        ("load", "policy", "requests/s", "energy", "each request", *STATES, "mean (ms)", "start-ups"),
        lambda row: (
            f"×{row['load']:g}",
            policy_name(row["policy"]) + (" *" if row["saturated"] else ""),
            figure(row["arrival_rate"]),
            energy(row["energy_j"]),
            energy(row["energy_per_request_uj"] * 1e-6),
            *(percent(row[f"{state}_share"]) for state in STATES),
            figure(row["mean_ms"]),
            f"{row['startups']:,.0f}",
        ),
    ),
    "strategies": (
        ("load", "strategy", "energy", "saved", "seek + access", "saved", "mean (ms)", "change", "merged"),
        lambda row: (
            f"×{row['load']:g}",
            row["strategy"] + (" *" if row["saturated"] else ""),
            energy(row["energy_j"]),
            percent_signed(row["energy_saved"]),
            energy(row["service_j"]),
            percent_signed(row["service_saved"]),
            figure(row["mean_ms"]),
            signed(row["response_change"]),
            f"{row['merged_requests']:,.0f}",
        ),
    ),
    "battery": (
        ("policy", "mean power", "lasts", "per gigabyte"),
        lambda row: (
            policy_name(row["policy"]) + (" *" if row["saturated"] else ""),
            f"{figure(row['power_mw'])} mW",
            hours(row["hours"]),
            f"{figure(row['mw_per_gb'])} mW/GB",
        ),
    ),
}
"""Tables of the report: their columns, where states stand as in the summary, and the texts of a row."""
