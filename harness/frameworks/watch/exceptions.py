"""An exception of the user's script as facts."""

from __future__ import annotations

import difflib
import inspect
import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.checks.tensor_facts import Site, TensorFacts
from harness.checks.training_facts import ExceptionFacts
from harness.frameworks import stages
from harness.frameworks.watch import shadows, written
from harness.frameworks.watch.sites import Sites, site

_OWN = str(Path(__file__).resolve().parents[2]) + "/"
_FRAMES = 40
_CALLED_BY_ITSELF = ("__init__", "__new__", "__call__", "__getitem__", "forward", "call")  # their arguments are the script's own affair
# Of a very long message both ends: frameworks put the class first, and what was wrong last (a graph's error, a chained traceback).
_HEAD, _TAIL = 2500, 1500
_LINE = 600  # of a line of values the beginning says what they are
_LOADING = re.compile(r"^(from_pretrained|load|load_dataset|load_metric|cached_file\w*|\w*get_config_dict|load_dataset_builder|"
                      r"dataset_module_factory|hf_hub_download)$")
_LOADED = ("pretrained_model_name_or_path", "path", "path_or_repo_id", "repo_id", "name", "filename", "config_name")
_REFUSED = re.compile(r"([\w.<>]+)\(\) (?:got an unexpected keyword argument|got multiple values|missing \d+ required|takes )")


def facts(error: BaseException, sites: Sites, at_fault: dict[str, Any]) -> ExceptionFacts:
    """Class, message, stage, the innermost line of the user's own, and all frames without the harness's, outermost first.

    `at_fault`: of the innermost module that the exception came through, see `torch_calls`; used where it is this exception's.
    """
    frames = [frame for frame in stages.frames_of(error, error.__traceback__) if not frame.path.startswith(_OWN)]
    own = [frame for frame in frames if sites.is_own(frame.path)]
    inputs: list[TensorFacts] = at_fault.get("inputs", [])
    seen = ExceptionFacts(
        type=type(error).__name__, bases=[base.__name__ for base in type(error).__mro__[1:-1]], message=_both_ends(str(error)),
        stage=stages.stage_of(error, frames),
        site=site((own[-1].path, _line(own[-1], error), own[-1].function)) if own else None,
        frames=[(frame.path, frame.line, frame.function) for frame in frames[-_FRAMES:]])
    if at_fault.get("error") is error:
        seen.module, seen.module_inputs = at_fault["module"], inputs
        seen.called = site(at_fault.get("called"))
    seen.called_with = _called_with(error)
    refuser = _refuser(error, own[-1].path if own else "")
    seen.accepts, seen.refuser = _accepts(refuser), _defined(refuser, sites)
    if seen.refuser is not None and not sites.is_own(frames[-1].path):
        seen.overrides = _overridden(refuser, error, sites)
    seen.owner, seen.close_names = _owner(error)
    seen.shadow = shadows.found(error, sites)
    return seen


def _line(frame: stages.Frame, error: BaseException) -> int:
    """The line of a frame; of a call over several lines that of the argument which is refused."""
    refused = isinstance(error, TypeError | ValueError) and "argument" in str(error)
    return written.argument(frame.path, frame.line, str(error)) if refused else frame.line


def _owner(error: BaseException) -> tuple[str, list[str]]:
    """The class whose object lacks an attribute, and its names that are spelt alike."""
    owner = getattr(error, "obj", None)
    if not isinstance(error, AttributeError) or owner is None or not error.name or isinstance(owner, ModuleType):
        return "", []
    cls = owner if isinstance(owner, type) else type(owner)
    if hasattr(cls, "__getattr__"):
        return "", []
    return f"{cls.__module__}.{cls.__qualname__}", difflib.get_close_matches(error.name, dir(owner), n=1, cutoff=0.7)


def _both_ends(text: str) -> str:
    if len(text) > _HEAD + _TAIL:
        text = "\n".join(line if len(line) <= _LINE else f"{line[:_LINE]} ..." for line in text.splitlines())
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n...\n{text[-_TAIL:]}"


def _called_with(error: BaseException) -> dict[str, str]:
    """What loading calls were given, off their frames' arguments."""
    found: dict[str, str] = {}
    trace = error.__traceback__
    while trace is not None:
        code, values = trace.tb_frame.f_code, trace.tb_frame.f_locals
        if code.co_filename.startswith(_OWN) or not _LOADING.search(code.co_name):
            trace = trace.tb_next
            continue
        for name in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]:
            if name in _LOADED and isinstance(values.get(name), str):
                found.setdefault(name, values[name][:200])
        trace = trace.tb_next
    return found


def _refuser(error: BaseException, own: str) -> Any:
    """The function that refused an argument, looked up by name where the script called it; None where that fails."""
    match = _REFUSED.search(str(error)) if isinstance(error, TypeError) else None
    if match is None:
        return None
    name = match[1].split(".")
    trace, inner = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == own or inner is None:
            inner = trace.tb_frame
        trace = trace.tb_next
    if inner is None:
        return None
    everything = {**inner.f_globals, **inner.f_locals}
    made = name[-1] in ("__init__", "__new__")
    wanted = name[0] if made or len(name) == 1 else name[-2]
    target = everything.get(wanted)
    if target is None and (made or len(name) == 1):
        target = _dotted(linecache.getline(inner.f_code.co_filename, inner.f_lineno), wanted, everything)
    if target is None and len(name) == 1:
        target = next((value for value in everything.values() if getattr(value, "__name__", None) == wanted), None)
    if target is not None and len(name) > 1 and not made:
        target = getattr(target, name[-1], None)
    if target is None:
        target = next((found for value in list(everything.values()) if getattr(type(value), "__name__", "") == wanted
                       and (found := getattr(value, name[-1], None)) is not None), None)
    return target


def _dotted(source: str, wanted: str, known: dict[str, Any]) -> Any:
    """What a line calls by a dotted name that ends so, `processors.RobertaProcessing(...)`; None where it calls nothing such."""
    called = re.search(rf"\b((?:\w+\.)+){re.escape(wanted)}\(", source)
    if called is None:
        return None
    target: Any = known.get(called[1].split(".")[0])
    for part in [*called[1].rstrip(".").split(".")[1:], wanted]:
        target = getattr(target, part, None) if isinstance(target, ModuleType) else None
    return target


def _overridden(refuser: Any, error: BaseException, sites: Sites) -> str:
    """How a library defines the method that a class of the script's own has put its own in place of: `Trainer.log(self, logs, ...)`."""
    function = inspect.unwrap(refuser.__func__ if inspect.ismethod(refuser) else refuser)
    name = function.__name__
    for cls in _classes(error):
        if vars(cls).get(name) is not function or name in _CALLED_BY_ITSELF:
            continue
        for base in cls.__mro__[1:]:
            replaced = inspect.unwrap(vars(base).get(name, function))
            code = getattr(replaced, "__code__", None)
            if code is not None and replaced is not function and not sites.is_own(code.co_filename):
                return f"{base.__name__}.{name}{_plain(inspect.signature(replaced))}"
    return ""


def _classes(error: BaseException) -> Iterator[type]:
    """The classes of the objects that an exception's frames hold, each with those it is derived from."""
    trace, seen = error.__traceback__, set()
    while trace is not None:
        for value in list(trace.tb_frame.f_locals.values()):
            held = value if isinstance(value, type) else type(value)
            for cls in held.__mro__[:-1]:
                if cls not in seen:
                    seen.add(cls)
                    yield cls
        trace = trace.tb_next


def _plain(signature: inspect.Signature) -> str:
    """A signature without its annotations, as one would write it."""
    bare = [part.replace(annotation=inspect.Parameter.empty) for part in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _accepts(refuser: Any) -> list[str]:
    """The parameters of the function that refused an argument."""
    try:
        names = inspect.signature(refuser).parameters
        return [parameter for parameter in names if parameter not in ("self", "args", "kwargs")]
    except (TypeError, ValueError):
        return []


def _defined(refuser: Any, sites: Sites) -> Site | None:
    """Where the function that refused an argument is defined, if that is in the script."""
    code = getattr(inspect.unwrap(refuser), "__code__", None) if callable(refuser) else None
    if code is None or not sites.is_own(code.co_filename):
        return None
    try:
        lines, first = inspect.getsourcelines(code)
    except OSError:  # made by `exec`, or its file has gone since
        return None
    line = first + next((number for number, text in enumerate(lines) if text.lstrip().startswith(("def ", "async def "))), 0)
    return site((code.co_filename, line, code.co_name))
