"""Weights of new models that a loop's tape follows, and that no tape is ever asked about."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.training_facts import LeftOutFacts
from harness.frameworks.watch import keras_hidden, parsed, written
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_LEAST = 8  # gradients that were asked for
_NAMES = 6


class LeftOut:
    """Told of every gradient that a tape is asked for."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._asked: set[int] = set()
        self._seen: dict[int, tuple[Any, Any]] = {}
        self._late: set[int] = set()  # of them, followed for the first time after several gradients
        self._times = 0
        self._place: Place | None = None
        self._under_way: tuple[Place, ...] = ()  # when the last of them was first followed
        self._in_training: dict[int, Any] = {}

    def ran(self, model: Any, training: Any) -> None:
        """A model was called under a tape, and told so."""
        if training is True:
            self._in_training[id(model)] = model

    def went_back(self, watched: Iterable[Any], weights: Iterable[Any]) -> None:
        """A tape has followed the variables `watched`, and was asked about `weights`."""
        self._times += 1
        self._asked |= keras_hidden.ids_of(weights)
        self._place = self._place or self._watch.session.sites.place()
        for variable in watched:
            if id(variable) not in self._asked and id(variable) not in self._seen and variable.dtype.is_floating:
                self._seen[id(variable)] = variable, np.array(variable.numpy())
                self._late |= {id(variable)} if self._times > _LEAST else set()
                self._under_way = self._watch.session.sites.stack()

    def finish(self) -> None:
        """What was asked about in the end, or changed in another way, is a weight that learns; what was loaded may be meant to stay."""
        if self._times < _LEAST:
            return
        still = {key for key, (variable, first) in self._seen.items()
                 if key not in self._asked and np.array_equal(variable.numpy(), first)}
        if not still:
            return
        models = self._watch.models.fresh() + self._watch.models.alone()
        names = [str(getattr(weight, "path", weight.name)) for model in models for weight in model.trainable_variables
                 if keras_hidden.ids_of([weight]) & still]
        names = list(dict.fromkeys(names))
        if names:
            told = any(model.trainable_variables and all(keras_hidden.ids_of([weight]) & still for weight in model.trainable_variables)
                       for model in self._in_training.values())
            listed = keras_hidden.ids_of(weight for model in models for weight in model.trainable_variables)
            self._watch.seen.left_out = LeftOutFacts(weights=len(names), names=names[:_NAMES], steps=self._times, told=told,
                                                     late=still & listed <= self._late,
                                                     site=site(self._listed()))

    def _listed(self) -> Place | None:
        """Where the list that the tape is asked about is made, if it has a name; else where the tape is asked."""
        if self._place is None:
            return None
        file, line, _ = self._place
        calls = [node for node in ast.walk(parsed.tree(file)) if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "gradient"
                 and node.lineno <= line <= (node.end_lineno or node.lineno) and len(node.args) > 1]
        given = calls[0].args[1] if calls else None
        script = self._watch.session.script
        if isinstance(given, ast.Attribute):
            return written.assigned(given.attr, script, self._watch.session.sites) or self._place
        if isinstance(given, ast.Name):
            lines = sorted(node.lineno for node in ast.walk(parsed.tree(file)) if isinstance(node, ast.Assign)
                           and any(isinstance(target, ast.Name) and target.id == given.id for target in node.targets))
            # Of several it is the last before what the script is doing, where a function is handed one list after another.
            reached = max((line for called, line, _ in self._under_way if called == file), default=0)
            before = [line for line in lines if line < reached]
            chosen = lines[0] if len(lines) == 1 else before[-1] if before else None
            return (file, chosen, "<module>") if chosen is not None else self._place
        return self._place
