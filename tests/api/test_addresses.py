"""Addresses in files of experiments and studies: only the user makes sledlab use the network."""

import functools
import http.server
import threading
from contextlib import suppress

import pytest
import sledlab as sl
from sledlab.model.settings import document

from tests.keys import (
    CLUSTER,
    RUN_STUDY,
    SINGLE_SYSTEM,
    STUDIES,
    TABLES,
    make_experiment,
    make_study,
    text_axes,
    text_keys,
)

pytest.importorskip("aiohttp", reason="make setup")

ADDRESS_ERROR = "is an address, and a file alone does not make sledlab use the network"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The address of a web server with a fleet of one volume, and the requests that it got."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fleet").mkdir()
    sl.read_trace("sample:mail-a-60s").write(tmp_path / "fleet" / "mail.csv")
    requests = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            requests.append(arguments)

    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=tmp_path))
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}", requests
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def run_file(run, tables):
    """Run a file and ignore its errors."""
    with open("file.toml", "w") as file:
        file.write(document(tables))
    with suppress(sl.Error):
        run("file.toml")


@pytest.mark.parametrize("table", TABLES)
def test_no_key_of_experiments_uses_the_network(server, table):
    address, requests = server
    for key in text_keys(table):
        for file in ("fleet/mail.csv", "fleet/mail.parquet", ""):
            run_file(sl.run, make_experiment(key, f"{address}/{file}", SINGLE_SYSTEM))
        run_file(lambda file: sl.replay(experiment=file), make_experiment(key, f"{address}/a.work", CLUSTER))
    assert requests == []


@pytest.mark.parametrize("kind", STUDIES)
def test_no_axis_of_studies_uses_the_network(server, kind):
    address, requests = server
    for axis in text_axes(kind):
        for file in ("fleet/", "fleet/mail.csv", "my.toml"):
            run_file(
                lambda file: RUN_STUDY[kind](study=file, parallel=1),
                make_study(kind, axis, f"{address}/{file}"),
            )
    assert requests == []


@pytest.mark.parametrize("run_experiment", [sl.run, lambda file: sl.side_by_side(study=file, parallel=1)])
def test_parquet_trace_at_an_address_is_refused(server, run_experiment):
    address, requests = server
    trace = {"file": f"{address}/fleet/mail.parquet", "format": "parquet"}
    tables = {"device": {"preset": "mems-g2"}, "trace": trace}
    with open("file.toml", "w") as file:
        file.write(document(tables))
    with pytest.raises(sl.Error, match=f"trace.file: `{address}.*` {ADDRESS_ERROR}"):
        run_experiment("file.toml")
    with pytest.raises(sl.Error, match=ADDRESS_ERROR):
        sl.run(sl.Experiment(document(tables)))
    with pytest.raises(sl.Error, match=ADDRESS_ERROR):
        sl.compare(study="file.toml", scheduler="fcfs", parallel=1)
    assert requests == []
    assert sl.simulate(sl.workload("uniform"), experiment="file.toml", limit=9).count == 9


@pytest.mark.parametrize("address", ["memory://fleet", "file:///etc", "s3://bucket/fleet", "HTTPS://host/"])
def test_fleet_place_in_a_file_is_refused(sledlab, tmp_path, address):
    study = tmp_path / "study.toml"
    study.write_text(f'[study]\nkind = "fleet"\nplace = "{address}"\ndevice = ["mems-g2"]\n')
    with pytest.raises(sl.Error, match=ADDRESS_ERROR) as caught:
        sl.fleet(study=study, parallel=1)
    assert caught.value.place.line == 3
    sledlab("fleet", study).assert_refused(ADDRESS_ERROR)


def test_fleet_place_named_by_the_user_is_read(server, sledlab):
    address, requests = server
    fleet = sl.fleet(f"{address}/fleet/", ["mems-g2"], settings={"replay.limit": 9}, parallel=1, out="out")
    assert fleet.tables["fleet"].height == 1
    assert requests
    with pytest.raises(sl.Error, match=ADDRESS_ERROR):
        sl.fleet(study="out/study.toml", parallel=1)
    again = sl.fleet(f"{address}/fleet/", study="out/study.toml", parallel=1)
    assert again.to_dict() == fleet.to_dict()
    answer = sledlab("fleet", "out/study.toml", "--place", f"{address}/fleet/", "--parallel", 1, "--json")
    assert answer.code == 0, answer.err
    sledlab("fleet", f"{address}/fleet/", "--place", "sample:").assert_refused("omit one of them")


def test_addresses_in_descriptions_are_accepted(tmp_path):
    tables = {**SINGLE_SYSTEM, "device": {"preset": "mems-g2", "description": "https://example.org/sled"}}
    (tmp_path / "file.toml").write_text(document(tables))
    assert sl.run(tmp_path / "file.toml").count == 9
