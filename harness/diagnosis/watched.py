"""Running something under watch, in the process that is to be watched: its record is written while it runs and when it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from harness.checks.observation import Observation
from harness.child import ImportClock
from harness.diagnosis.transport import write
from harness.frameworks.watch import alive
from harness.frameworks.watch.session import WatchSession
from harness.process import crash

_SNAPSHOT_S = 2.0


class Recording:
    """Keeps the record of a session at `output`. `chosen`: the record to be written, of the one that this process has made itself."""

    def __init__(self, session: WatchSession, output: Path, chosen: Callable[[Observation], Observation] = lambda own: own) -> None:
        self._session, self._output, self._chosen = session, output, chosen
        self._writing, self.ended = threading.Lock(), threading.Event()
        self._begun = time.monotonic()

    def run(self, act: Callable[[], object], notes: crash.Notes | None = None) -> BaseException | None:
        """Call `act`, take the session's hooks away, and write what was seen, whatever happens. What `act` raised, if it did."""
        write(self._session.observation, self._output)
        threading.Thread(target=self._snapshots, daemon=True).start()
        # What frameworks make at their import stays for good: the collector need not go through it again with every graph that is traced.
        clock = ImportClock(notes, after_long=alive.settle)
        clock.start()
        error: BaseException | None = None
        try:
            act()
        except BaseException as raised:
            error = raised
        clock.stop()
        self.ended.set()
        self._session.detach()
        seen = self._chosen(self._session.finish(error))
        seen.seconds, seen.imports_seconds = time.monotonic() - self._begun, clock.seconds
        with self._writing:
            write(seen, self._output)
        return error

    def _snapshots(self) -> None:
        """What was seen so far, written now and then, so that a script that hangs or is killed still has been watched; never once it has
        ended, since the whole record is written then."""
        session = self._session
        while not self.ended.wait(_SNAPSHOT_S):
            try:
                session.look()
                session.observation.seconds = time.monotonic() - self._begun
                seen = self._chosen(session.observation)
                with self._writing:
                    if not self.ended.is_set():
                        write(seen, self._output)
            except (RuntimeError, ValueError, TypeError):
                continue  # the script's thread was changing the record; the next snapshot will do
