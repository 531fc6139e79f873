"""Observations on their way from a watched script's process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from harness.checks.observation import Observation
from harness.diagnosis import transport, watched


@pytest.mark.parametrize("text", [b"", b"{}{}", b'{"script": 1}', b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_observation_is_none(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "observation.json"
    path.write_bytes(text)
    assert transport.read(path) is None


def test_numbers_that_are_none_survive(tmp_path: Path) -> None:
    seen = Observation(script="train.py", seconds=float("inf"))
    transport.write(seen, tmp_path / "observation.json")
    assert transport.read(tmp_path / "observation.json") == seen


def test_no_snapshot_replaces_the_whole_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "observation.json"

    class Session:
        observation = Observation(script="half.py")
        looks = 0

        def look(self) -> None:
            """The script ends while this snapshot is taken."""
            self.looks += 1
            recording.ended.set()
            transport.write(Observation(script="whole.py"), output)

    session = Session()
    recording = watched.Recording(cast("Any", session), output)
    monkeypatch.setattr(watched, "_SNAPSHOT_S", 0.001)
    recording._snapshots()
    found = transport.read(output)
    assert session.looks == 1
    assert found is not None
    assert found.script == "whole.py"
