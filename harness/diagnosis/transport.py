"""Observations across the process border: JSON, with non-finite numbers as strings; never pickle, since the script wrote part of it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec

from harness.checks.observation import Observation

_MOST_BYTES = 64 * 2**20


def write(seen: Observation, path: Path) -> None:
    """Write an observation as a whole or not at all."""
    draft = path.with_name(path.name + ".new")
    draft.write_bytes(msgspec.json.encode(_strings(msgspec.to_builtins(seen, enc_hook=str))))
    draft.replace(path)


def read(path: Path) -> Observation | None:
    """Read an observation; None where there is none, or what is there cannot be one."""
    if not path.exists() or path.stat().st_size > _MOST_BYTES:
        return None
    try:
        return msgspec.convert(_numbers(msgspec.json.decode(path.read_bytes())), Observation)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _strings(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strings(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strings(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"float"}:
            return float(value["float"])
        return {key: _numbers(item) for key, item in value.items()}
    return [_numbers(item) for item in value] if isinstance(value, list) else value
