"""A scheduler and two workers that the tests of this directory share."""

from collections.abc import Iterator

import pytest

from tests.machines.cluster import Cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    found.add_worker()
    found.add_worker()
    yield found
    found.end()
