"""Rules of `bug.toml` against the facts of a run. Pure: no process, no framework."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from harness.catalog.schema import ExceptionPattern, FactRule, Rule, Value, Variant
from harness.errors import CatalogError
from harness.evidence.facts import Fact

_COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "==": operator.eq, "!=": operator.ne}
_PACKAGES = ("torch", "transformers", "tensorflow", "numpy", "evaluate", "datasets")


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison: what was measured, what was wanted, whether it holds."""

    fact: str
    wanted: str
    measured: Any
    holds: bool


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """One rule with its comparisons; it holds when all of them do."""

    says: str
    holds: bool
    checks: list[Check]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """`shown`, `learnt` or the failure of either, with every rule that applied and, for a fixed run, traces of the bug."""

    holds: bool
    word: str
    proofs: list[Proof]


def applies(rule: Rule, context: Mapping[str, Value], versions: Mapping[str, str]) -> bool:
    """Whether `when` matches a run: equal values, or a version specifier such as `>=5` for a package."""
    for key, wanted in rule.when.items():
        if key in _PACKAGES:
            try:
                if versions.get(key, "0") not in SpecifierSet(str(wanted), prereleases=True):
                    return False
            except InvalidSpecifier:
                raise CatalogError(f"`when` {key} = {wanted!r} is no version specifier such as '>=5'") from None
        elif context.get(key) != wanted:
            return False
    return True


def judge(variant: Variant, evidence: Sequence[Rule], learns: Sequence[Rule], facts: Mapping[str, Fact],
          exception: Mapping[str, Any] | None, context: Mapping[str, Value], versions: Mapping[str, str]) -> Verdict:
    """The verdict on a run. `context` holds its parameters and `framework`.

    Broken: every applying rule of `evidence` holds. Fixed: every applying rule of `learns` holds, and the evidence does not.
    """
    shown = [prove(rule, facts, exception) for rule in evidence if applies(rule, context, versions)]
    symptom = bool(shown) and all(proof.holds for proof in shown)
    if variant == "broken":
        return Verdict(holds=symptom, word="shown" if symptom else "not shown", proofs=shown)
    learnt = [prove(rule, facts, exception) for rule in learns if applies(rule, context, versions)]
    holds = bool(learnt) and all(proof.holds for proof in learnt) and not symptom
    return Verdict(holds=holds, word="learnt" if holds else "did not learn", proofs=learnt)


def prove(rule: Rule, facts: Mapping[str, Fact], exception: Mapping[str, Any] | None) -> Proof:
    """Hold one rule against a run."""
    checks = _exception(rule.exception, exception) + [_fact(wanted, facts) for wanted in rule.facts]
    return Proof(says=rule.says, holds=all(check.holds for check in checks), checks=checks)


def _exception(wanted: ExceptionPattern | None, seen: Mapping[str, Any] | None) -> list[Check]:
    if wanted is None:
        return [Check(fact="exception", wanted="none", measured=seen["type"] if seen else None, holds=seen is None)]
    if seen is None:
        return [Check(fact="exception.type", wanted=wanted.type, measured=None, holds=False)]
    return [
        Check(fact="exception.type", wanted=wanted.type, measured=seen["type"], holds=wanted.type in (seen["type"], *seen["bases"])),
        Check(fact="exception.message", wanted=f"/{wanted.message}/", measured=seen["message"],
              holds=re.search(wanted.message, seen["message"]) is not None),
        Check(fact="exception.stage", wanted=" or ".join(wanted.stages), measured=seen["stage"], holds=seen["stage"] in wanted.stages),
    ]


def _fact(rule: FactRule, facts: Mapping[str, Fact]) -> Check:
    measured = facts.get(rule.fact)
    if rule.op in ("present", "absent"):
        return Check(fact=rule.fact, wanted=rule.op, measured=measured, holds=(measured is not None) == (rule.op == "present"))
    if rule.op == "matches":
        return Check(fact=rule.fact, wanted=f"/{rule.value}/", measured=measured,
                     holds=measured is not None and re.search(str(rule.value), str(measured)) is not None)
    bound: Any = rule.value if rule.value is not None else 1
    wanted = f"{rule.op} {rule.value}"
    if rule.of is not None:
        base = facts.get(rule.of)
        if not isinstance(base, int | float):
            return Check(fact=rule.fact, wanted=f"{wanted} x {rule.of} (not measured)", measured=measured, holds=False)
        bound = bound * base
        factor = "" if rule.value in (None, 1) else f"{rule.value:g} x "
        wanted = f"{rule.op} {factor}{rule.of} ({bound:.4g})"
    values = measured if isinstance(measured, list) else [measured]
    try:
        holds = bool(values) and all(value is not None and _COMPARE[rule.op](value, bound) for value in values)
    except TypeError:
        holds = False
    return Check(fact=rule.fact, wanted=wanted, measured=measured, holds=holds)
