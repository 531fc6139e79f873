"""Lines that a finding may name, read off a script's text: the same for every framework."""

from __future__ import annotations

from harness.frameworks.watch import blends, dilution, loss_scales, one_scale, shifts
from harness.frameworks.watch.session import WatchSession


def note(session: WatchSession) -> None:
    """Enters them by the names of their sites."""
    for name, find in (("blended", blends.alone), ("pooled", dilution.written), ("scaled_whole", one_scale.written),
                       ("shift.written", shifts.written), ("scaled_loss", loss_scales.written)):
        session.noted(name, session.safely("a script's text", find, session.script))
