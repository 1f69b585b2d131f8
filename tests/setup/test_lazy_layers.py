"""The check of lazy imports that `make lint` runs."""

from pathlib import Path

from tools.layers import PROJECT, lazy_imports, read_layers, violations

PACKAGE = PROJECT / "python" / "sledlab"


def test_lazy_imports_are_found():
    assert len(list(lazy_imports(PACKAGE))) > 100


def test_package_has_no_upward_lazy_import():
    assert violations(PACKAGE, read_layers(PROJECT)) == []


def test_upward_lazy_import_is_reported(tmp_path: Path):
    for folder in ("cli", "runs"):
        (tmp_path / "sledlab" / folder).mkdir(parents=True)
        (tmp_path / "sledlab" / folder / "__init__.py").touch()
    (tmp_path / "sledlab" / "runs" / "low.py").write_text(
        '"""Low."""\nshow = later("sledlab.cli.high:show")\n'
    )
    (tmp_path / "sledlab" / "cli" / "high.py").write_text('run = later("sledlab.runs.low:run")\n')
    result = violations(tmp_path / "sledlab", read_layers(PROJECT))
    assert result == ["sledlab/runs/low.py:2: `sledlab.cli.high` is in a higher layer"]


def test_module_in_no_layer_is_reported(tmp_path: Path):
    (tmp_path / "sledlab").mkdir()
    for name in ("__init__", "__main__", "errors", "extra"):
        (tmp_path / "sledlab" / f"{name}.py").touch()
    result = violations(tmp_path / "sledlab", read_layers(PROJECT))
    assert result == ["sledlab.extra is in no layer of pyproject.toml"]
