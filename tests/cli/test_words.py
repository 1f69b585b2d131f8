"""Wording of output: the singular, names of user classes, percentiles that differ between commands."""

import pytest

LCFS = """
class Lcfs:
    def __init__(self):
        self.queue = []
    def push(self, request):
        self.queue.append(request)
    def pop(self, now_ns, device):
        return [self.queue.pop()] if self.queue else []
    def __len__(self):
        return len(self.queue)
"""


def test_single_request_uses_the_singular(sledlab, tmp_path):
    file = tmp_path / "one.csv"
    file.write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n")
    assert "1 request in 0.0 s; 1 read, 0 writes, 0 trims, 0 flushes" in " ".join(
        sledlab("trace", "info", file).out.split()
    )
    assert sledlab("trace", "convert", file, tmp_path / "two.csv").err.startswith("wrote 1 request to ")
    assert "answered 1 request in" in sledlab("simulate", "--device", "mems-g2", "--trace", file).out


def test_user_class_keeps_its_name(sledlab, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mysched_of_words.py").write_text(LCFS)
    arguments = ("--device", "mems-g2", "--workload", "uniform", "--limit", 50, "--scheduler")
    printed = sledlab("simulate", *arguments, "mysched_of_words:Lcfs").out
    assert "mems-g2 under Lcfs answered 50 requests" in printed
    assert "MYSCHED" not in printed


@pytest.mark.usefixtures("without_pages")
def test_difference_explains_percentiles(sledlab, tmp_path):
    arguments = ("simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 50)
    assert sledlab(*arguments, "--out", tmp_path / "a").code == 0
    printed = sledlab("diff", tmp_path / "a", tmp_path / "a").out.replace("\n", " ")
    assert "a run takes its own from a histogram, which may differ by 0.1 %." in printed
