"""Costs of clusters and jobs: parts and totals, prices of the user, best value, budgets."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest
import sledlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from sledlab.cli import run
from sledlab.studies.costs.cost import YEAR_S, ClusterPrice, cluster_price, frontier, job_cost
from sledlab.studies.costs.prices import TABLES, Prices, defaults, prices

from tests.cached_runs import cached_bytes

SAMPLES = Path(__file__).parents[2] / "sample" / "work"
SCAN, SORT, JOIN = (str(SAMPLES / f"{name}.work") for name in ("scan", "sort", "join"))
PARTS = ["nodes_usd", "stores_usd", "ports_usd", "power_usd"]
JOULES = ["store_j", "processor_j", "memory_j", "network_j"]
SETTINGS = ("scale_factor=0.001",)

money = st.floats(0, 1e9)


def config(device: str = "mems-g2", **options: object) -> dict[str, object]:
    return dict(sl.replay(SCAN, device, what_if=False, **options).config)


def price(device: str = "mems-g2", price_list: Prices | None = None, **options: object) -> ClusterPrice:
    return cluster_price(config(device, **options), 4, price_list or prices())


def flat(value: object) -> str:
    """The printed form in one line."""
    return " ".join(str(value).split())


@pytest.fixture(scope="module")
def study() -> sl.SmartStudy:
    return sl.smart_study([SCAN, SORT], ["mems-g3", "hp-c2490a"], at=["nodes", "host"], parallel=1)


@given(money, money, money, st.floats(0, 1e9), st.floats(0, 1e15), st.floats(0, 10), st.floats(0.1, 100))
@settings(deadline=None)
def test_job_parts_sum_up(
    nodes: float, stores: float, ports: float, seconds: float, joules: float, kwh: float, years: float
) -> None:
    cost = job_cost(ClusterPrice(nodes, stores, ports), seconds, joules, Prices({}, kwh, years))
    assert cost.cluster_usd == pytest.approx(nodes + stores + ports, rel=1e-9)
    assert cost.job_usd == pytest.approx(sum(getattr(cost, part) for part in PARTS), rel=1e-9, abs=0)
    job_usd = (nodes + stores + ports) * seconds / (years * YEAR_S) + joules / 3.6e6 * kwh
    assert cost.job_usd == pytest.approx(job_usd, rel=1e-9, abs=1e-300)


def test_parts_add_up_in_a_study(study: sl.SmartStudy) -> None:
    runs = study.tables["runs"]
    assert runs.height == 8
    for parts, total in ((PARTS, "job_usd"), (JOULES, "energy_j")):
        sums = runs.select(polars.sum_horizontal(parts)).to_series()
        assert ((sums - runs[total]).abs() / runs[total]).max() < 1e-9


def test_a_cluster_is_its_nodes_stores_and_ports(study: sl.SmartStudy) -> None:
    """Four nodes, or five with a host; the client has a port too, as in the energy of the network."""
    rows_by_cluster = {
        (row["device"], row["at"]): row
        for row in study.tables["runs"].filter(job="scan").iter_rows(named=True)
    }
    assert rows_by_cluster["hp-c2490a", "nodes"]["cluster_usd"] == 4 * (150 + 90) + 5 * 40
    assert rows_by_cluster["hp-c2490a", "host"]["cluster_usd"] == 4 * (150 + 90) + 150 + 6 * 40
    row = rows_by_cluster["hp-c2490a", "nodes"]
    assert row["job_usd"] == pytest.approx(
        1160 * row["elapsed_s"] / (3 * YEAR_S) + row["energy_j"] / 3.6e6 * 0.08, rel=1e-12
    )
    assert price("mems-g3").stores == pytest.approx(4 * 15 * 6.1433856)


def test_composite_stores_are_the_sum_of_their_parts() -> None:
    disk_usd, sled_usd = price("hp-c2490a").stores, price("mems-g2").stores
    assert disk_usd == 4 * 90
    part_usd = 4 * 15 * 256 * 2**20 / 1e9  # of the sled in front, the part that is used
    assert price("hp-c2490a", hybrid="caching-disk").stores == pytest.approx(disk_usd + part_usd)
    whole = price("hp-c2490a", hybrid=sl.hybrid("caching-disk", front_mb=0))
    assert whole.stores == pytest.approx(disk_usd + sled_usd)
    assert price("hp-c2490a", system=sl.system("raid5", devices=5)).stores == 5 * disk_usd
    cached = price("hp-c2490a", cache=sl.cache("write-back", capacity_blocks=2_000_000))
    assert cached.stores == pytest.approx(disk_usd + 4 * 3.29 * 2e6 * 512 / 1e9)
    assert price("mems-g2", settings={"device.sleds": 4}).stores == pytest.approx(4 * sled_usd)
    assert price("mems-g2", prices(["mems-g2=50"])).stores == 4 * 50
    assert price("mems-g2", prices("device_gb.mems-g2=10")).stores == pytest.approx(sled_usd * 10 / 15)


def test_node_groups_have_separate_prices(tmp_path: Path) -> None:
    file = tmp_path / "mixed.toml"
    file.write_text(
        f'[work]\nfile = "{JOIN}"\n[device]\npreset = "mems-g2"\n'
        '[[group]]\nnodes = "right"\ndevice = "hp-c2490a"\nnode = { preset = "csd-arm" }\n'
    )
    mixed = cluster_price(sl.replay(experiment=file, what_if=False).config, 4, prices())
    assert mixed.stores == pytest.approx(price("mems-g2").stores / 2 + 2 * 90)
    assert mixed.nodes == 2 * 150 + 2 * 100


def test_every_built_in_model_has_a_price() -> None:
    price_list = defaults()
    assert not price_list.are_explicit
    assert set(price_list.tables["node"]) == set(sl.node)
    assert set(price_list.tables["device"]) | set(price_list.tables["device_gb"]) == {*sl.device, "dram"}
    assert not set(price_list.tables["device"]) & set(price_list.tables["device_gb"])
    assert set(price_list.tables["network"]) == set(sl.network) - {"ideal"}


def test_missing_price_is_empty_unless_prices_are_given(tmp_path: Path) -> None:
    device = tmp_path / "mine.toml"
    device.write_text('kind = "ram"\ndescription = "mine"\ncapacity_mb = 1000\n')
    unpriced = sl.smart_study(SCAN, [str(device), "ram"], parallel=1)
    assert unpriced.tables["runs"]["cluster_usd"].to_list()[0] is None
    assert unpriced.tables["runs"]["cluster_usd"].to_list()[1] is not None
    assert "–" in str(unpriced)
    for unpriced_study in (unpriced, sl.smart_study(SCAN, "ram", network="ideal", parallel=1)):
        with pytest.raises(sl.Error, match="no job was replayed 3 times on clusters that have a price"):
            unpriced_study.plot("pareto")
    assert "cluster" not in str(sl.smart_study(SCAN, "ram", network="ideal", parallel=1))
    with pytest.raises(sl.Error, match="`mine` has no price") as caught:
        sl.smart_study(SCAN, [str(device), "ram"], price=["kwh=0.2"], parallel=1)
    assert caught.value.remedy == "set it in USD: --price device.mine=100"
    priced = sl.smart_study(SCAN, [str(device), "ram"], price=["device.mine=10"], parallel=1)
    assert priced.tables["runs"]["cluster_usd"].to_list()[0] == 4 * (150 + 10) + 5 * 40
    size = sl.smart_size(
        "scan", "ram", network="ideal", until="store", node_count="1..2", job_settings=SETTINGS
    )
    assert size.sizes["cluster_usd"].to_list() == [None] * size.sizes.height
    assert "per 1,000" not in str(size)
    with pytest.raises(sl.Error, match="a port `ideal` has no price"):
        sl.smart_size("scan", "ram", network="ideal", budget=1000, node_count="1..2", job_settings=SETTINGS)


@pytest.mark.usefixtures("without_pages")
def test_file_and_command_line_override_prices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("years = 5\n[node]\nsmart-2003 = 100\n[device]\nmems-g2 = 70\n")
    arguments = ["smart", "--work", SCAN, "--device", "mems-g2"]
    arguments += ["--price", f"{file},mems-g2=30"]
    assert run([*arguments, "--parallel", "1", "--out", str(tmp_path / "out"), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    (row,) = output["tables"]["runs"]
    assert row["cluster_usd"] == 4 * (100 + 30) + 5 * 40
    assert output["prices"] == {
        "node": {"smart-2003": 100.0},
        "device": {"mems-g2": 30.0},
        "device_gb": {},
        "network": {"fast-ethernet": 40.0},
        "kwh": 0.08,
        "years": 5.0,
    }
    again = sl.smart_study(study=tmp_path / "out" / "study.toml", parallel=1)
    assert again.tables["runs"]["job_usd"].item() == row["job_usd"]
    assert again.toml == (tmp_path / "out" / "study.toml").read_text()


@pytest.mark.usefixtures("without_pages")
def test_other_prices_need_no_other_replays(tmp_path: Path) -> None:
    sl.smart_study(SCAN, "mems-g2", out=tmp_path, parallel=1)
    cached = cached_bytes(tmp_path)
    study = sl.smart_study(SCAN, "mems-g2", price=["years=30", "kwh=0"], out=tmp_path, parallel=1)
    assert cached_bytes(tmp_path) == cached
    assert study.tables["runs"]["power_usd"].item() == 0


@pytest.mark.parametrize(
    ("price", "message"),
    [
        ("mems-g33=50", "unknown price `mems-g33`"),
        ("device.mems-g33=50", "did you mean `mems-g3`?"),
        ("mems-g3", "has no value"),
        ("mems-g3=dear", "`dear` is not a number"),
        ("mems-g3=-1", "expected a number of 0 or more, found `-1.0`"),
        ("kwh=nan", "expected a number of 0 or more, found `nan`"),
        ("years=0", "give a number above 0"),
    ],
)
def test_invalid_prices_are_errors(price: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["smart", "--work", SCAN, "--device", "ram", "--price", price, "--parallel", "1"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[nodes]\nsmart-2003 = 1\n", "did you mean `node`?"),
        ("node = 3\n", "node: expected a table"),
        ("[node]\nsmart-2003 = true\n", "node.smart-2003: expected a number of 0 or more, found `True`"),
        ("[device]\nram = 1\n[device_gb]\nram = 1\n", "device.ram has a price for a device and one for a GB"),
        ("[node\n", "not valid TOML"),
        ("[network]\nram = 1\n", ""),
    ],
)
def test_invalid_price_files_are_errors(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    if message:
        with pytest.raises(sl.Error) as caught:
            prices(file)
        assert message in str(caught.value)
    else:  # two things share the name, so the table is required
        with pytest.raises(sl.Error, match="`ram` has several prices"):
            prices([file, "ram=2"])
        assert prices([file, "network.ram=2"]).price("network", "ram") == 2
    with pytest.raises(sl.Error, match="cannot read the prices"):
        prices(tmp_path / "nowhere.toml")


def test_every_price_table_has_a_default() -> None:
    assert set(TABLES) == set(defaults().tables)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_frontier_contains_undominated_points(points: list[tuple[int, int]]) -> None:
    best = frontier(points, lambda point: point)
    for point in points:
        is_dominated = any(
            other != point and other[0] <= point[0] and other[1] <= point[1] for other in points
        )
        assert (point in best) == (not is_dominated)
    assert len(set(best)) == len(best)


def test_best_value_is_drawn_and_named(tmp_path: Path, study: sl.SmartStudy) -> None:
    figure = study.plot("pareto")
    assert [axes.get_title("left") for axes in figure.axes] == ["scan", "sort"]
    assert (
        {axes.get_xscale() for axes in figure.axes} == {axes.get_yscale() for axes in figure.axes} == {"log"}
    )
    assert "`sort` is both fastest and cheapest with mems-g3 on 4 nodes at the nodes" in flat(study)
    costly_sled = sl.smart_study(
        SORT, ["mems-g1", "mems-g3", "ram"], price=["mems-g3=2000", "ram=9000", "mems-g1=100"], parallel=1
    )
    assert "`sort` is cheapest with mems-g1 on 4 nodes" in flat(costly_sled)
    assert "and fastest with ram on 4 nodes" in flat(costly_sled)
    assert "Between them: mems-g3 on 4 nodes; no others were replayed." in flat(costly_sled)
    costly_sled.write(tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert ">Cost<" in page
    assert "mems-g3 $2,000" in page
    assert page.count("<figure") == 3
    sl.smart_study(SORT, ["mems-g1", "mems-g3"], parallel=1, out=tmp_path / "two")
    assert ">Cost<" not in (tmp_path / "two" / "report.html").read_text()


def test_free_components_are_not_compared(tmp_path: Path) -> None:
    zero_prices = [
        "smart-2003=0",
        "fast-ethernet=0",
        "kwh=0",
        *(f"{name}=0" for name in ("ram", "mems-g1", "mems-g3")),
    ]
    study = sl.smart_study(SCAN, ["ram", "mems-g1", "mems-g3"], price=zero_prices, out=tmp_path, parallel=1)
    assert study.tables["runs"]["job_usd"].to_list() == [0, 0, 0]
    assert "cheapest" not in str(study)


def test_points_of_the_picture_have_their_nodes() -> None:
    options = {"job": "scan", "node_count": [1, 2, 16], "job_settings": ["scale_factor=0.01"]}
    study = sl.smart_study(device="mems-g3", price=["smart-2003=0", "kwh=1000"], parallel=1, **options)
    runs = study.tables["runs"].sort("job_usd")
    (axes,) = study.plot("pareto").axes
    cheapest_nodes = runs["nodes"][0]
    texts = [each.get_text() for each in axes.texts]
    assert f"{cheapest_nodes} node{'s' if cheapest_nodes > 1 else ''}" in texts
    assert len(texts) == 3
    assert {text.split()[0] for text in texts} == {"1", "2", "16"}


def cluster_usd(device: str, nodes: int, overrides: tuple[str, ...] = ()) -> float:
    return cluster_price(config(device), nodes, prices(overrides)).total


def test_budget_buys_maximum_number_of_nodes() -> None:
    options = {"node_count": "1..16", "job_settings": SETTINGS, "threads": 1}
    result = sl.smart_size("scan", ["mems-g3", "hp-c2490a"], budget="$2,000", **options)
    for device in ("mems-g3", "hp-c2490a"):
        maximum = result.buys[device]
        assert cluster_usd(device, maximum) <= 2000 < cluster_usd(device, maximum + 1)
        rows = result.sizes.filter(device=device)
        assert rows["nodes"].to_list() == [1, 2, 4, maximum, maximum + 1]
        assert rows["meets"].to_list() == [True, True, True, True, False]
        affordable = rows.filter("meets").sort("elapsed_s", "nodes")
        assert result.smallest[device] == affordable["nodes"][0]
        assert result.larger_misses(device) == []
        assert rows["cluster_usd"].to_list() == [cluster_usd(device, number) for number in rows["nodes"]]
    assert "is fastest within $2,000 on" in result.answer
    assert "The fastest within the budget is mems-g3" in result.answer
    assert result.to_dict()["goal"] == {"until": None, "deadline_s": None, "budget_usd": 2000.0}
    assert result.plot().axes


def test_budgets_are_exact_to_the_cent() -> None:
    options = {"node_count": "2..6", "job_settings": SETTINGS, "threads": 1}
    exact = sl.smart_size("scan", "hp-c2490a", budget=cluster_usd("hp-c2490a", 5), **options)
    assert exact.buys == {"hp-c2490a": 5}
    cent_less = sl.smart_size("scan", "hp-c2490a", budget=cluster_usd("hp-c2490a", 5) - 0.01, **options)
    assert cent_less.buys == {"hp-c2490a": 4}
    too_little = sl.smart_size("scan", "hp-c2490a", budget=100, **options)
    assert too_little.smallest == {"hp-c2490a": None}
    assert "$100 does not buy 2 nodes with hp-c2490a, the fewest tried: $600." in too_little.answer
    more_than_enough = sl.smart_size("scan", "hp-c2490a", budget=1e6, **options)
    assert more_than_enough.buys == {"hp-c2490a": 6}
    assert more_than_enough.sizes["nodes"].to_list() == [2, 4, 6]
    assert "on 6 nodes with hp-c2490a" in more_than_enough.answer


def test_too_many_nodes_are_not_fastest() -> None:
    """On a hub many nodes are slower than few."""
    options = {"network": "hub", "node_count": "1..16", "job_settings": SETTINGS, "threads": 1}
    result = sl.smart_size("sort", "ram", budget=1e9, settings={"node.mhz": 20000}, **options)
    fastest_nodes = result.sizes.sort("elapsed_s", "nodes")["nodes"][0]
    assert result.smallest == {"ram": fastest_nodes}
    assert f"is fastest within $1,000,000,000 on {fastest_nodes} node" in result.answer


def test_deadline_selects_the_cheapest_cluster() -> None:
    options = {"node_count": "1..16", "job_settings": SETTINGS, "threads": 1}
    deadline_s = sl.smart_size("scan", "mems-g3", budget=1e9, **options).find_row("mems-g3", 4).run.elapsed_s
    devices = ["mems-g3", "ram"]
    unlimited = sl.smart_size("scan", devices, deadline=deadline_s, **options)
    limited = sl.smart_size("scan", devices, deadline=deadline_s, budget=cluster_usd("mems-g3", 8), **options)
    assert unlimited.smallest["mems-g3"] == limited.smallest["mems-g3"]
    cheapest = min(
        devices,
        key=lambda device: unlimited.find_row(device, unlimited.smallest[device] or 0).cost.cluster_usd or 0,
    )
    min_nodes = unlimited.smallest["mems-g3"] or 0
    assert f"The cheapest is {cheapest} on " in unlimited.answer
    assert max(limited.sizes.filter(device="mems-g3")["nodes"]) == 8
    assert f"on {min_nodes} nodes and on all larger numbers tried (8)" in limited.answer
    assert f" s, ${cluster_usd('mems-g3', min_nodes):,.0f}." in limited.answer
    too_limited = sl.smart_size(
        "scan", "mems-g3", deadline=deadline_s, budget=cluster_usd("mems-g3", min_nodes - 1), **options
    )
    assert too_limited.smallest == {"mems-g3": None}
    assert (
        f"{min_nodes - 1} nodes, the maximum within ${cluster_usd('mems-g3', min_nodes - 1):,.10g}:"
        in too_limited.answer
    )
    assert "within" in str(too_limited)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--budget", "0"), "`0` is not a budget"),
        (("--budget", "much"), "write it as 20000, in USD"),
        (("--budget", "100", "--until", "store"), "both a component and a budget were given"),
        (("--budget", "100", "--price", "mems-g33=5"), "unknown price `mems-g33`"),
        (("--deadline", "1s", "--price", "device.mems-g33=5"), "did you mean `mems-g3`?"),
        (("--deadline", "1s", "--price", "nowhere.toml"), "nowhere.toml: cannot read the prices"),
    ],
)
def test_invalid_budgets_are_errors(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    job_options = ("--job", "scan", "--job-set", SETTINGS[0], "--node-count", "1..2", "--device", "mems-g3")
    assert run(["smart", "size", *job_options, *arguments]) == 2
    assert message in capsys.readouterr().err
