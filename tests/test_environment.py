"""The environment a script runs in: its share of the cores, threads that hardly spin while they wait, and what the user set."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from harness.process import environment


@pytest.mark.parametrize(("text", "cores"), [("200000 100000\n", 2.0), ("150000 100000\n", 1.5), ("max 100000\n", math.inf),
                                             ("", math.inf), ("200000 0\n", math.inf)])
def test_a_containers_quota(tmp_path: Path, text: str, cores: float) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(text)
    assert environment._quota(file) == cores
    assert environment._quota(tmp_path / "none") == math.inf


def test_a_quota_caps_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_quota", lambda: 0.5)
    assert environment.cores() == 1


def test_children_side_by_side_share_the_cores_and_hardly_spin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "cores", lambda: 8)
    found = environment.for_script("torch", quiet=False, offline=True, jobs=3, base={})
    assert (found["OMP_NUM_THREADS"], found["GOMP_SPINCOUNT"]) == ("2", "1000")


def test_what_the_user_set_is_kept() -> None:
    own = {"OMP_NUM_THREADS": "5", "OMP_WAIT_POLICY": "ACTIVE", "USE_TF": "1"}
    found = environment.for_script("torch", quiet=True, offline=True, base=own)
    assert own.items() <= found.items()
    assert "GOMP_SPINCOUNT" not in found
