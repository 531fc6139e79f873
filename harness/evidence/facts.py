"""Events -> facts: the measured figures that the rules of `bug.toml` are about.

| fact | meaning |
|---|---|
| `steps` | optimizer steps |
| `loss.first`, `loss.min`, `loss.last_mean` | loss of the first step, the lowest, mean of the last 20 steps (nats) |
| `loss.first_nan_step` | first step (1-based) whose loss is not finite |
| `rows.nan_labels`, `rows.finite_labels` | label values of the rows whose own loss was not finite, or was, in that step |
| `labels.values`, `labels.majority_share`, `labels.chance_loss` | label values trained on, share of the commonest, ln of their number |
| `model.num_labels`, `weights.nan` | classes of the head, whether a weight is NaN at the end |
| `evaluation.accuracy`, `evaluation.majority_share`, `evaluation.rows` | of the last evaluation |
| `memory.resident_peak_bytes`, `memory.requested_bytes` | most the process held; the request that failed |
| `memory.budget_bytes`, `memory.peak_bytes` | address space (TensorFlow: tensors) that the script may take, and took at most |
| `memory.needed_bytes` | that peak and the request that failed, together |
| `exception.type`, `exception.message`, `exception.stage`, `exception.line` | how the script ended, if it raised |
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

from harness.frameworks.events import number

Fact = float | int | str | bool | list[Any]
LAST = 20
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def collect(events: list[dict[str, Any]]) -> dict[str, Fact]:
    """The facts of one run. A fact that was not measured is absent."""
    found: dict[str, Fact | None] = {}
    late = {event["step"]: event["loss"] for event in events if event["event"] == "late_loss"}
    steps = [event for event in events if event["event"] == "step"]
    found["steps"] = len(steps)
    found |= _losses([number(late.get(event["step"], event["loss"])) for event in steps], steps)
    found |= _labels("labels", [label for event in steps for label in event.get("labels", [])])
    for event in events:
        kind = event["event"]
        if kind == "model":
            found["model.num_labels"] = event["num_labels"]
            found["weights.nan"] = event["nan"]
        elif kind == "memory":
            found |= {f"memory.{name}": value for name, value in event.items() if name != "event"}
        elif kind == "evaluation":
            found |= _evaluation(event)
        elif kind == "exception":
            found |= {f"exception.{name}": event[name] for name in ("type", "message", "stage", "line", "cell")}
            found["memory.requested_bytes"] = requested_bytes(event["message"])
    peak, requested = found.get("memory.peak_bytes"), found.get("memory.requested_bytes")
    if isinstance(peak, int) and isinstance(requested, int):
        found["memory.needed_bytes"] = peak + requested
    return {name: value for name, value in found.items() if value is not None}


def losses(events: list[dict[str, Any]]) -> list[float | None]:
    """The loss of each optimizer step; None where it could not be read."""
    late = {event["step"]: event["loss"] for event in events if event["event"] == "late_loss"}
    return [number(late.get(event["step"], event["loss"])) for event in events if event["event"] == "step"]


def _losses(values: list[float | None], steps: list[dict[str, Any]]) -> dict[str, Fact | None]:
    known = [value for value in values if value is not None]
    if not known:
        return {}
    found: dict[str, Fact | None] = {"loss.first": known[0], "loss.last_mean": math.fsum(known[-LAST:]) / len(known[-LAST:])}
    finite = [value for value in known if math.isfinite(value)]
    if finite:
        found["loss.min"] = min(finite)
    bad = next((index for index, value in enumerate(values) if value is not None and not math.isfinite(value)), None)
    if bad is not None:
        found["loss.first_nan_step"] = bad + 1
        for name in ("nan_labels", "finite_labels"):
            labels = steps[bad].get(name)
            found[f"rows.{name}"] = sorted(set(labels)) if labels is not None else None
    return found


def _labels(prefix: str, labels: list[int]) -> dict[str, Fact | None]:
    if not labels:
        return {}
    counts = Counter(labels)
    return {f"{prefix}.values": sorted(counts), f"{prefix}.majority_share": max(counts.values()) / len(labels),
            f"{prefix}.chance_loss": math.log(len(counts))}


def _evaluation(event: dict[str, Any]) -> dict[str, Fact | None]:
    labels, predicted = event.get("labels") or [], event.get("predicted")
    found: dict[str, Fact | None] = {}
    if labels:
        found["evaluation.rows"] = len(labels)
        found["evaluation.majority_share"] = max(Counter(labels).values()) / len(labels)
    if predicted is not None and labels:
        found["evaluation.accuracy"] = sum(map(int.__eq__, labels, predicted)) / len(labels)
    elif event.get("accuracy") is not None:
        found["evaluation.accuracy"] = number(event["accuracy"])
    return found


def requested_bytes(message: str) -> int | None:
    """The size of the allocation that a message of PyTorch or TensorFlow says failed.

    >>> requested_bytes("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1024 bytes. Error code 12")
    1024
    >>> requested_bytes("OOM when allocating tensor with shape[2048,4,128,128] and type float on /job")
    536870912
    """
    match = re.search(r"[Tt]ried to allocate ([\d.]+) (bytes|KiB|MiB|GiB)", message)
    if match:
        return int(float(match[1]) * _UNITS[match[2]])
    match = re.search(r"allocating tensor with shape\[([\d,]+)\] and type (\w+)", message)
    if match:
        width = {"half": 2, "bfloat16": 2, "double": 8, "int64": 8}.get(match[2], 4)
        return math.prod(int(size) for size in match[1].split(",")) * width
    return None
