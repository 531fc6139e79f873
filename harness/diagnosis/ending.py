"""How a watched child ended that did not come to its end: as facts for the checks, and in words."""

from __future__ import annotations

import linecache
import os
import signal
from pathlib import Path

from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.checks.training_facts import EndFacts
from harness.process.crash import Crash
from harness.process.launch import Outcome
from harness.runs import availability


def by_signal(outcome: Outcome, crash: Crash, seen: Observation, script: Path) -> EndFacts | None:
    """What is known of a child that a signal ended, None of one that ended otherwise or was ended by us."""
    if outcome.signal is None or outcome.timed_out:
        return None
    own = None
    if crash.line is not None:
        own = Site(file=str(script), line=crash.line, source=linecache.getline(str(script), crash.line).strip(), function=crash.function)
    return EndFacts(name=signal.Signals(outcome.signal).name, site=own or seen.running, loading=crash.loading or "",
                    clash=availability.clash_with(crash.loading), said=crash.said, out_of_memory=outcome.out_of_memory,
                    resident=seen.resident, machine=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def in_words(outcome: Outcome, crash: Crash, seen: Observation | None, timeout_s: float) -> str:
    """To be put behind the script's name; says where it was last, where that is known."""
    running = seen.running if seen is not None else None
    if outcome.timed_out:
        where = f" at line {running.line}, `{running.source}`" if running else ""
        return f"was ended after {timeout_s:g} s{where} (--timeout gives it more)"
    if outcome.signal is not None:
        return f"was ended by {signal.Signals(outcome.signal).name}{availability.explained(crash)}"
    return f"ended with status {outcome.status}"
