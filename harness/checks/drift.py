"""Code and libraries of different years: renamed arguments, removed names."""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from pathlib import Path
from typing import Any, ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.training_facts import ExceptionFacts

_ARGUMENT = (
    r"(?P<callee>[\w.<>]+)\(\) got an unexpected keyword argument '(?P<name>\w+)'",
    r"^got an unexpected keyword argument '(?P<name>\w+)'",  # of a function that holds its arguments against its signature itself
    r"Argument\(s\) not recognized: \{'(?P<name>\w+)'",
    r"Unrecognized keyword arguments passed to (?P<callee>\w+): \{'(?P<name>\w+)'",
    r"'Keyword argument not understood:', '(?P<name>\w+)'",
    r"Invalid keyword argument\(s\) in `(?P<callee>\w+)\(\)`: \(\{'(?P<name>\w+)'",
    r"(?P<callee>BuilderConfig) .*doesn't have a '(?P<name>\w+)' key",
    r"^(?P<name>decay|lr) is deprecated in the new",
)
_REQUIRED = (r"(?P<callee>[\w.]+)\(\) missing \d+ required positional arguments?: '(?P<wanted>\w+)'",)
_NAME = (r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'", r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'",
         r"'(?P<module>\w+)' object has no attribute '(?P<name>\w+)'")
_TWO_KERAS = (r"Could not interpret optimizer identifier: <keras\.",)

_LIBRARIES = ("torch", "transformers", "datasets", "evaluate", "accelerate", "tokenizers", "keras", "tf_keras", "tensorflow", "sklearn")


@functools.cache
def table() -> dict[str, Any]:
    """The names that changed, and those that are known: `renames.toml` beside this file."""
    return tomllib.loads(Path(__file__).with_name("renames.toml").read_text(encoding="utf-8"))


def _known_names() -> tuple[str, ...]:
    """Of a message alone only the names in the table tell that one was renamed: patterns for those."""
    rows = table()
    calls = "|".join(dict.fromkeys(row["call"] for row in rows["argument"]))
    callee = rf"(?P<callee>\b(?:{calls})(?:\.__init__)?)"
    required = [pattern.replace(r"(?P<callee>[\w.]+)", callee) for pattern in _REQUIRED]
    names = [pattern.replace(r"(?P<name>\w+)", f"(?P<name>{row['old']})").replace(r"(?P<module>[\w.]+)", f"(?P<module>{row['module']})")
             .replace(r"(?P<module>\w+)", f"(?P<module>{row['module']})") for row in rows["name"] for pattern in _NAME]
    return (*required, *names)


class RenamedArgument(Check):
    """An argument or name was renamed or removed in the installed library, or misspelt.

    Sources: the libraries' release notes (transformers 4.41, 4.46 and 5; Keras 3; torch 2.7; NumPy 2).
    """

    code: ClassVar[str] = "A701"
    stage: ClassVar[Stage] = "setup"
    requires: ClassVar[tuple[str, ...]] = ("D101", "D102", "A703")
    messages: ClassVar[tuple[str, ...]] = (*_ARGUMENT, *_known_names(), *_TWO_KERAS)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the exception that refuses a name."""
        override = self._override(seen)
        if override is not None:
            return override
        hit = raised.find(seen, _ARGUMENT, types=("TypeError", "ValueError"))
        if hit:
            return self._argument(seen, hit[0], hit[1].groupdict().get("callee") or "", hit[1]["name"])
        hit = raised.find(seen, _REQUIRED, types=("TypeError",))
        if hit and hit[0].site is not None:
            source = hit[0].site.source
            for row in table()["argument"]:
                if _is_call(row["call"], hit[1]["callee"]) and re.search(rf"\b{row['old']}\s*=[^=]", source):
                    return self._renamed(seen, hit[0], _short(hit[1]["callee"]), row)
        hit = raised.find(seen, _NAME, types=("ImportError", "AttributeError"))
        if hit and hit[1]["name"] != "load_metric":
            for row in table()["name"]:
                if re.fullmatch(row["module"], hit[1]["module"]) and re.fullmatch(row["old"], hit[1]["name"]):
                    return Finding(
                        message=f"`{hit[1]['module']}` has no `{hit[1]['name']}` in the installed "
                                f"version{_versions(seen, hit[1]['module'])}.",
                        remedy=f"Use {row['new']}.", site=hit[0].site, evidence=[raised.quote(hit[0])])
        lacking = self._lacking(seen)
        if lacking is not None:
            return lacking
        hit = raised.find(seen, _TWO_KERAS)
        if hit:
            return Finding(message="The optimizer is of Keras 3 and the model of Keras 2 (tf_keras), which the TensorFlow models of "
                                   "transformers need.",
                           remedy="Set `os.environ[\"TF_USE_LEGACY_KERAS\"] = \"1\"` before TensorFlow is imported, or take the optimizer "
                                  "from "
                                  "`tf_keras.optimizers`.", site=hit[0].site, evidence=[raised.quote(hit[0])])
        if seen.exception is None and not seen.steps:
            raise NotJudged("nothing was called yet")
        return self._unread(seen) or self._foreign(seen) or self._passed_over(seen) or self._uncalled(seen)

    @staticmethod
    def _uncalled(seen: Observation) -> Finding | None:
        """A method that is written for a library to call, and that it knows under another name."""
        found = seen.uncalled_override
        if found is None:
            return None
        return Finding(message=f"Nobody calls `{found.kind}.{found.name}`: `{found.library}` has no method of that name, and nothing in "
                               "the script asks for it.",
                       remedy=f"Name it as the library does: `def {found.closest}(...)`, if that is the moment that is meant.",
                       site=found.site, evidence=[f"the closest name that `{found.library}` calls: {found.closest}"])

    @staticmethod
    def _unread(seen: Observation) -> Finding | None:
        """A rate that is set as an attribute of an optimizer, which then has one more attribute and steps as before."""
        found = seen.unread
        rates = reading.finite(step.learning_rate for step in seen.steps)
        if found is None or not rates or any(abs(rate - found.value) <= 1e-3 * abs(found.value) for rate in rates):
            return None
        keras = seen.framework in reading.KERAS
        new = "optimizer.learning_rate = ..." if keras else 'for group in optimizer.param_groups: group["lr"] = ...'
        return Finding(message=f"`{found.kind}` does not read `{found.name}`: the line makes a new attribute of it, and the learning rate "
                               f"stays at {found.rate:.4g} where {found.value:.4g} was meant.",
                       remedy=f"Write `{new}`, or leave it to a schedule.", site=found.site, evidence=reading.own_losses(seen))

    @staticmethod
    def _foreign(seen: Observation) -> Finding | None:
        """Weights that are to be frozen by an attribute which the framework does not read."""
        found = seen.foreign
        if found is None:
            return None
        new = "`layer.trainable = False`, before `compile`" if seen.framework in reading.KERAS else \
            "`module.requires_grad_(False)`, or `for p in module.parameters(): p.requires_grad = False`"
        return Finding(message=f"`{found.kind}` does not read `{found.name}`: the line makes a new attribute of it, and freezes nothing. "
                               f"{found.weights} weights that were meant to stay as they are go on to learn.",
                       remedy=f"Write {new}.", site=found.site or reading.place(seen, "model", "optimizer"),
                       evidence=reading.own_losses(seen))

    @staticmethod
    def _passed_over(seen: Observation) -> Finding | None:
        """An optimizer of Keras takes no notice of what an older one was told, with a warning at most."""
        optimizer = seen.optimizer
        if optimizer is None or not optimizer.ignored:
            return None
        name, value = next(iter(optimizer.ignored.items()))
        rate = optimizer.learning_rate or 0.0
        what = f"it steps at {rate:.4g}, its default, and not at {value:g}" if name == "lr" else f"the rate stays at {rate:.4g}"
        new = f"`{optimizer.kind}(learning_rate={value:g})`." if name == "lr" else \
            f"`learning_rate=keras.optimizers.schedules.InverseTimeDecay({rate:.4g}, decay_steps=1, decay_rate={value:g})`."
        return Finding(message=f"`{optimizer.kind}` takes no notice of `{name}={value:g}` any more: {what}.", remedy=f"Write {new}",
                       site=optimizer.site or reading.place(seen, "optimizer", "compile"),
                       evidence=[f"{library} {version}" for library, version in seen.versions.items() if version and "keras" in library])

    @staticmethod
    def _override(seen: Observation) -> Finding | None:
        """A method of the script's own is called by a library, in whose place it stands, and cannot take what it is given."""
        error = next((found for found in reading.raised(seen) if found.overrides and found.refuser), None)
        if error is None:
            return None
        method, library = error.overrides.partition("(")[0], error.overrides.partition(".")[0]
        name = method.rpartition(".")[2]
        return Finding(
            message=f"The library calls `{name}` with arguments that the one in this script does not take; its own is "
                    f"`{error.overrides}`.",
            remedy=f"Take what `{library}` gives it: `def {error.overrides.partition('.')[2]}:`, and hand it on to `super().{name}(...)`.",
            site=error.refuser, evidence=[raised.quote(error)])

    @staticmethod
    def _lacking(seen: Observation) -> Finding | None:
        """An object of a library, not of a class of the script's own, is asked for a name that is not quite one of its own."""
        error = next((found for found in reading.raised(seen) if found.owner and found.close_names), None)
        if error is None or error.owner.split(".")[0] not in _LIBRARIES or error.owner.endswith("Tensor"):
            return None
        match = re.search(r"has no attribute '(\w+)'", error.message)
        name, cls = (match[1] if match else "?"), error.owner.rpartition(".")[2]
        return Finding(
            message=f"`{cls}` has no `{name}` in the installed version{_versions(seen, error.owner)}; the closest name is "
                    f"`{error.close_names[0]}`.",
            remedy=f"Write `{error.close_names[0]}` in place of `{name}`.", site=error.site, evidence=[raised.quote(error)])

    def _argument(self, seen: Observation, error: ExceptionFacts, callee: str, name: str) -> Finding | None:
        if re.search(r"\.(forward|call)$", callee):
            return None  # a column of the batch
        short = _short(callee) or _called(error, name)
        for row in table()["method"]:
            if short == row["name"] and name == row["argument"]:
                return Finding(message=f"The library passes `{name}` to `{callee}`, which the override in this script does not take.",
                               remedy=f"Take it: `{row['signature']}`.", site=error.refuser or error.site, evidence=[raised.quote(error)])
        for row in table()["argument"]:
            if row["old"] == name and (_is_call(row["call"], short) or (not callee and re.search(row["call"], short or "optimizer"))):
                return self._renamed(seen, error, short or "the optimizer", row)
        known = error.accepts or self._parameters(error, short)
        if not known:
            return None  # a function of the script's own, as far as can be told
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.6) or [one for one in known if one.startswith(f"{name}_")]
        meant = f"Write `{close[0]}=` in place of `{name}=`." if close else \
            f"Leave `{name}=` out. {short} takes: {', '.join(known[:20])}{' ...' if len(known) > 20 else ''}."
        return Finding(message=f"`{short}` takes no argument `{name}`{f'; the closest that it takes is `{close[0]}`' if close else ''}.",
                       remedy=meant, site=error.site, evidence=[raised.quote(error)])

    @staticmethod
    def _parameters(error: ExceptionFacts, short: str) -> list[str]:
        known: list[str] = table()["parameters"].get(short, [])
        if not known and error.site is not None and re.search(r"/(tf_)?keras/", raised.innermost(error)):
            known = table()["parameters"].get(f"keras_{short}", [])
        return known

    @staticmethod
    def _renamed(seen: Observation, error: ExceptionFacts, short: str, row: dict[str, str]) -> Finding:
        note = f" ({row['note']})" if row.get("note") else ""
        if row["new"]:
            message = f"`{short}` takes no argument `{row['old']}`; it is called `{row['new']}`{note}."
            remedy = f"Write `{row['new']}=` in place of `{row['old']}=`{note}."
        else:
            message = f"`{short}` takes no argument `{row['old']}` any more{note}."
            remedy = f"Leave `{row['old']}=` out{note}."
        versions = ", ".join(f"{name} {version}" for name, version in seen.versions.items() if version)
        return Finding(message=message, remedy=remedy, site=error.site,
                       evidence=[raised.quote(error), *([f"installed: {versions}"] if versions else [])])


def _short(callee: str) -> str:
    """`Trainer` of `Trainer.__init__`, `fit` of `TensorFlowTrainer.fit`."""
    parts = [part for part in callee.split(".") if part not in {"__init__", "__new__", "__call__", "<locals>"}]
    # Layers that share a private base class give that one's name.
    return {"_DropoutNd": "Dropout"}.get(parts[-1], parts[-1]) if parts else ""


def _called(error: ExceptionFacts, name: str) -> str:
    """The call that the argument is written in, where a library does not say it."""
    source = error.site.source if error.site else ""
    match = re.search(rf"(\w+)\((?:[^()]|\([^()]*\))*\b{name}\s*=", source)
    return match[1] if match else ""


def _is_call(pattern: str, callee: str) -> bool:
    return re.fullmatch(rf"(?:{pattern})", _short(callee)) is not None


def _versions(seen: Observation, module: str) -> str:
    version = seen.versions.get(module.split(".", maxsplit=1)[0])
    return f" ({version})" if version else ""
