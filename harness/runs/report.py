"""The record of one run: what was run, what was measured, the verdict. `--json` prints it; `harness schema run` its schema."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.catalog.schema import Value, Variant
from harness.evidence.judge import Verdict

FORMAT = 1


class ExceptionReport(msgspec.Struct, frozen=True, kw_only=True):
    """The exception a script ended with: class name, message, the pipeline stage it came out of, the script's own line."""

    type: str
    message: str
    stage: str
    line: int | None
    source: str | None
    cell: str | None


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """One run. Times in seconds (`own_s` is the script's time without imports), losses in nats, one per optimizer step; `date` is UTC."""

    format: int = FORMAT
    bug: str
    title: str
    variant: Variant
    framework: str
    script: str
    parameters: dict[str, Value]
    verdict: Verdict
    exception: ExceptionReport | None
    facts: dict[str, Any]
    losses: list[float | None]
    versions: dict[str, str]
    wall_s: float
    imports_s: float
    own_s: float
    exit_code: int
    date: str = ""


def to_json(document: Any) -> bytes:
    """Indented JSON. Non-finite numbers become the strings `nan`, `inf`, `-inf`, since JSON has none."""
    return msgspec.json.format(msgspec.json.encode(_finite(msgspec.to_builtins(document))), indent=2)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a run's document."""
    found = msgspec.json.schema(RunReport)
    losses = found["$defs"]["RunReport"]["properties"]["losses"]
    losses["items"]["anyOf"].append({"enum": ["nan", "inf", "-inf"]})
    return found
