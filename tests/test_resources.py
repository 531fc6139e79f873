"""Memory that a script limits for itself: measured, and given back to those who report when the script is over."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

_STARVED = """
import json, resource
from harness.frameworks.resources import MemoryObserver, address_space_bytes

events = []
observer = MemoryObserver(lambda event, **fields: events.append({"event": event, **fields}))
observer.attach()
before = resource.getrlimit(resource.RLIMIT_AS)
granted = address_space_bytes() + 64 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (granted, HARD))
kept = []
try:
    while True:
        kept.append(bytearray(2**20))
except MemoryError:
    observer.finish()
after = resource.getrlimit(resource.RLIMIT_AS)
print(json.dumps({"events": events, "kept": len(kept), "before": before, "after": after, "granted": granted}))
"""


def starved(hard: str) -> SimpleNamespace:
    done = subprocess.run([sys.executable, "-c", _STARVED.replace("HARD", hard)], capture_output=True, text=True, timeout=60, check=True)
    return SimpleNamespace(**json.loads(done.stdout))


def test_a_starved_script_leaves_room_to_report() -> None:
    seen = starved("before[1]")
    budget, peak = seen.events
    assert 63 * 2**20 <= budget["budget_bytes"] <= 64 * 2**20
    assert 0.9 * budget["budget_bytes"] <= peak["peak_bytes"] <= budget["budget_bytes"]
    assert seen.kept > 40
    assert seen.after == seen.before


def test_a_hard_limit_stays() -> None:
    seen = starved("granted")
    assert seen.after == [seen.granted, seen.granted]


_UNDER = """
import subprocess, sys
held = b"x" * (400 * 2**20)
print(subprocess.run([sys.executable, "-c", sys.argv[1]], capture_output=True, text=True, check=True).stdout)
"""


def test_a_peak_is_that_of_the_process_alone() -> None:
    """Under a parent of 400 MiB: nothing of it, but what was held and let go."""
    asked = "\n".join(("from harness.frameworks.resources import resident_peak_bytes", "before = resident_peak_bytes()",
                       "held = b'x' * (100 * 2**20)", "del held", "print(before, resident_peak_bytes())"))
    done = subprocess.run([sys.executable, "-c", _UNDER, asked], capture_output=True, text=True, timeout=60, check=True)
    before, after = (int(number) for number in done.stdout.split())
    assert before < 200 * 2**20
    assert 90 * 2**20 < after - before < 120 * 2**20
