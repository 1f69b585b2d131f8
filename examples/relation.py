"""Queries on a relation on a MEMS sled: stored by rows, by columns, and in the tabular layout.

Prints the mean response of scans and of look-ups, from the arrival of a query to the last of its requests:

    python examples/relation.py
"""

import polars as pl
import sledlab as sl

STORES = {"rows": "row-first", "columns": "row-first", "tabular": "tabular"}
QUERIES = 3000


def responses(store, layout, attributes, projected):
    """Return the mean response of look-ups and of scans in ms, and the utilization of the sled."""
    workload = sl.workload(
        "relation",
        store=store,
        attributes=attributes,
        projected=projected,
        scan_share=0.1,
        mean_interarrival_ms=25.0,
        requests=QUERIES * attributes,
    )
    device = sl.device("mems-g2", layout=layout, attributes=attributes)
    result = sl.simulate(workload, device, scheduler="sptf:batch=same-position", requests=True, seed=1)
    queries = (
        result.requests.group_by("arrival_ns")
        .agg(pl.max("completion_ns"), pl.max("blocks"))
        .sort("arrival_ns")
        .head(QUERIES)
        .with_columns(ms=(pl.col("completion_ns") - pl.col("arrival_ns")) / 1e6)
    )
    means = [queries.filter(which)["ms"].mean() for which in (pl.col("blocks") == 1, pl.col("blocks") > 1)]
    return *means, result.utilization


def main():
    print("attributes  scanned  store    look-up ms  scan ms  busy %")
    for attributes, projected in ((5, 1), (5, 5), (20, 1), (20, 4)):
        for store, layout in STORES.items():
            look_up, scan, busy = responses(store, layout, attributes, projected)
            print(f"{attributes:10}  {projected:7}  {store:8} {look_up:10.2f} {scan:8.2f} {100 * busy:7.1f}")


if __name__ == "__main__":
    main()
