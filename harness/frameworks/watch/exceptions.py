"""An exception of the user's script as facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.checks.observation import ExceptionFacts, TensorFacts
from harness.frameworks import stages
from harness.frameworks.watch.sites import Sites, site

_OWN = str(Path(__file__).resolve().parents[2]) + "/"
_FRAMES = 40


def facts(error: BaseException, sites: Sites, at_fault: dict[str, Any]) -> ExceptionFacts:
    """Class, message, stage, the innermost line of the user's own, and all frames without the harness's, outermost first.

    `at_fault`: of the innermost module that the exception came through, see `torch_calls`; used where it is this exception's.
    """
    frames = [frame for frame in stages.frames_of(error, error.__traceback__) if not frame.path.startswith(_OWN)]
    own = [frame for frame in frames if sites.is_own(frame.path)]
    inputs: list[TensorFacts] = at_fault.get("inputs", [])
    seen = ExceptionFacts(
        type=type(error).__name__, bases=[base.__name__ for base in type(error).__mro__[1:-1]], message=str(error)[:4000],
        stage=stages.stage_of(error, frames),
        site=site((own[-1].path, own[-1].line, own[-1].function)) if own else None,
        frames=[(frame.path, frame.line, frame.function) for frame in frames[-_FRAMES:]])
    if at_fault.get("error") is error:
        seen.module, seen.module_inputs = at_fault["module"], inputs
    return seen
