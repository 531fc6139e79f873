"""How many steps of a training are watched in full."""

from __future__ import annotations

import math
from collections.abc import Callable

from harness.checks.data_labels import still_guessing
from harness.frameworks.watch.session import WatchSession

_EVERY = 10


class Patience:
    """Lasts for the budget's steps; of a slow model fewer, and longer where the experiments are done, found nothing, and the loss has not
    left a guess yet: some healthy trainings begin with a plateau."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._over = False
        self._longer = False

    @property
    def goes_on(self) -> bool:
        """Whether the script trains on, at full speed, where its steps are no longer watched in full."""
        return self._longer and self._session.watched_seconds < self._session.budget.onward_seconds

    @property
    def turned_bad(self) -> bool:
        """Whether the last recorded loss is NaN or infinite: what follows is its echo."""
        steps = self._session.observation.steps
        return bool(steps) and steps[-1].loss is not None and not math.isfinite(steps[-1].loss)

    def lasts(self, undecided: Callable[[], bool]) -> bool:
        """Whether steps are still watched in full. `undecided`: whether the steps so far leave open if the script learns."""
        budget, steps = self._session.budget, len(self._session.observation.steps)
        if self._longer:
            if self._session.open and steps % _EVERY == 0 and not self._over:
                self._session.reconsider()
            done = steps % _EVERY == 0 and not self._session.open and not self._guessing()
            self._over = self._over or steps >= budget.patient_steps or self._slow() or done
        else:
            slow = steps >= budget.least_steps and self._slow() and (steps >= 2 * budget.least_steps or not undecided())
            self._over = self._over or slow or steps >= budget.steps
        self._over = self._over or self._session.out_of_time
        return not self._over

    def settled(self) -> None:
        """The experiments are done, and nothing was found, or nothing that more steps may not change."""
        self._longer = True
        self._over = self._slow() or not (self._session.open or self._guessing())

    def ended(self) -> None:
        """No further steps of this training will come."""
        self._longer = self._over = True

    def concluded(self) -> None:
        """To be called at each step after that: judges what was open, once no more steps are watched. May raise `Enough`."""
        if self._session.open and self._over:
            self._session.settle(last=True)

    def _slow(self) -> bool:
        budget = self._session.budget
        taken = self._session.watched_seconds - self._session.observation.probes.seconds
        return taken > budget.slow_seconds + (budget.onward_seconds if self._session.open else 0.0)

    def _guessing(self) -> bool:
        return self._session.safely("patience", still_guessing, self._session.observation) is not None
