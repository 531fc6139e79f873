"""The records of `bug.toml`. Unknown keys are errors, so that a typo never passes silently."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Framework = Literal["tensorflow", "torch"]
Device = Literal["cpu", "xla", "lazy", "cuda"]
Stage = Literal["setup", "data", "batch", "forward", "loss", "backward", "step", "evaluation", "resources"]
Value = bool | int | float | str
Variant = Literal["broken", "fixed"]

FORMAT = 1
STAGES: tuple[Stage, ...] = ("setup", "data", "batch", "forward", "loss", "backward", "step", "evaluation", "resources")
Text = Annotated[str, msgspec.Meta(min_length=1)]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of every record that is read from a file."""


class Script(Record, frozen=True):
    """One framework's pair of scripts, in the specimen's and the solution's folder; `check` is the code a diagnosis must find."""

    framework: Framework
    broken: Text
    fixed: Text
    devices: Annotated[tuple[Device, ...], msgspec.Meta(min_length=1)]
    requires: tuple[str, ...] = ()
    check: str = ""


class Parameter(Record, frozen=True):
    """A parameter's type, range (inclusive) and meaning. Its default stands in the script alone."""

    type: Literal["int", "float", "str", "bool"]
    help: Text
    min: float | None = None
    max: float | None = None
    choices: tuple[Value, ...] | None = None
    frameworks: tuple[Framework, ...] | None = None


class ExceptionPattern(Record, frozen=True):
    """The exception a run must end with: the class's name or a base's, a regular expression, the stage it came out of
    (or the stages, where parameters decide which of them it is)."""

    type: Text
    message: Text
    stage: Stage | Annotated[tuple[Stage, ...], msgspec.Meta(min_length=2)]

    @property
    def stages(self) -> tuple[Stage, ...]:
        return self.stage if isinstance(self.stage, tuple) else (self.stage,)


class FactRule(Record, frozen=True):
    """`fact op value`, or `fact op value x of` where `of` is another fact; a list is compared element by element."""

    fact: Text
    op: Literal[">=", "<=", ">", "<", "==", "!=", "present", "absent", "matches"]
    value: Value | None = None
    of: str | None = None


class Rule(Record, frozen=True):
    """What must hold of a run, where `when` matches: an exception (without one, none may be raised) and measured facts."""

    when: dict[str, Value] = {}
    says: str = ""
    exception: ExceptionPattern | None = None
    facts: tuple[FactRule, ...] = ()


class Message(Record, frozen=True):
    """What a library line says (or said) when the fault happens: `text` as printed, empty where nothing is said.

    `line` names it ("2021", "transformers 5"); `pattern` is a regular expression, valid in Python and JavaScript, of what stays the same;
    `when` as in a rule: a run that it applies to must say this. Without `when`, nothing that runs here says it any more.
    """

    framework: Framework
    line: Text
    text: str = ""
    pattern: str = ""
    note: str = ""
    when: dict[str, Value] | None = None


class BugFile(Record, frozen=True):
    """A whole `bug.toml`."""

    format: int
    id: Annotated[str, msgspec.Meta(pattern=r"^bug\d\d$")]
    title: Text
    symptom: Text
    cause: Text
    stage: Stage
    fault: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    time_budget_s: float
    scripts: Annotated[tuple[Script, ...], msgspec.Meta(min_length=1)]
    parameters: dict[str, Parameter]
    evidence: Annotated[tuple[Rule, ...], msgspec.Meta(min_length=1)]
    learns: Annotated[tuple[Rule, ...], msgspec.Meta(min_length=1)]
    messages: tuple[Message, ...] = ()
    see_also: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
