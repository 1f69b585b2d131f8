"""Differences between response times measured by a client and simulated ones."""

import numpy as np
import polars as pl


def relative_errors(
    printed: str, recorded: pl.DataFrame, replies: pl.DataFrame, time_scale: float
) -> np.ndarray:
    """Compare the lines of the client with the recorded requests and replies of the server."""
    measured = _lines(printed)
    served = replies.join(recorded.with_row_index("id").cast({"id": pl.UInt64}), on="id")
    simulated_ns = (served["planned_ns"] - served["arrival_ns"]).to_numpy() * time_scale
    order = np.argsort(served["offset_bytes"].to_numpy())
    measured = measured[np.argsort(measured[:, 0])]
    assert np.array_equal(served["offset_bytes"].to_numpy()[order], measured[:, 0]), "other reads were served"
    errors: np.ndarray = (measured[:, 2] - measured[:, 1]) / simulated_ns[order] - 1
    return errors


def deviations(printed: str) -> np.ndarray:
    """Return the response times in the lines of the client relative to their median, minus 1."""
    measured = _lines(printed)
    times = measured[:, 2] - measured[:, 1]
    result: np.ndarray = times / np.median(times) - 1
    return result


def _lines(printed: str) -> np.ndarray:
    """Return offset in bytes, begin and end in ns of each read."""
    return np.array([line.split() for line in printed.splitlines()], dtype=np.int64)


def share_within(errors: np.ndarray, percent: float) -> float:
    """Return the percentage of reads whose measured time is within a percentage of the simulated one."""
    return float(np.mean(np.abs(errors) <= percent / 100) * 100)
