"""A scheduler and two workers that the tests of this directory share."""

from collections.abc import Iterator

import distributed
import pytest

from tests.machines.cluster import Cluster


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    found.add_worker()
    found.add_worker()
    with distributed.Client(found.address, set_as_default=False) as client:
        client.wait_for_workers(2)
    yield found
    found.end()
