"""A scheduler and two workers that the tests of this directory share."""

from collections.abc import Iterator

import distributed
import pytest

from tests.machines.cluster import Cluster


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    shared_cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        shared_cluster.add_worker()
        shared_cluster.add_worker()
        with distributed.Client(shared_cluster.address, set_as_default=False) as client:
            client.wait_for_workers(2)
        yield shared_cluster
    finally:
        shared_cluster.end()
