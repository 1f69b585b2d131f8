"""Differences between response times measured by a client and simulated ones."""

import numpy as np
import polars as pl


def relative_errors(
    client_output: str, requests: pl.DataFrame, replies: pl.DataFrame, time_scale: float
) -> np.ndarray:
    """Compare the lines of the client with the recorded requests and replies of the server."""
    client_times = _client_times(client_output)
    served_reads = replies.join(requests.with_row_index("id").cast({"id": pl.UInt64}), on="id")
    simulated_ns = (served_reads["planned_ns"] - served_reads["arrival_ns"]).to_numpy() * time_scale
    order = np.argsort(served_reads["offset_bytes"].to_numpy())
    client_times = client_times[np.argsort(client_times[:, 0])]
    assert np.array_equal(served_reads["offset_bytes"].to_numpy()[order], client_times[:, 0]), (
        "other reads were served"
    )
    errors: np.ndarray = (client_times[:, 2] - client_times[:, 1]) / simulated_ns[order] - 1
    return errors


def deviations(client_output: str) -> np.ndarray:
    """Return the response times in the lines of the client relative to their median, minus 1."""
    client_times = _client_times(client_output)
    response_times = client_times[:, 2] - client_times[:, 1]
    relative_deviations: np.ndarray = response_times / np.median(response_times) - 1
    return relative_deviations


def _client_times(client_output: str) -> np.ndarray:
    """Return offset in bytes, begin and end in ns of each read."""
    return np.array([line.split() for line in client_output.splitlines()], dtype=np.int64)


def share_within(errors: np.ndarray, percent: float) -> float:
    """Return the percentage of reads whose measured time is within a percentage of the simulated one."""
    return float(np.mean(np.abs(errors) <= percent / 100) * 100)
