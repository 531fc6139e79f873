"""Recurrent states that go on from one batch to the next."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.model_facts import CarriedFacts
from harness.checks.observation import Observation

# Steps that begin with what the one before left, as a number and as a share; rows that came again, and the share of them that may still
# be followed by the row of before.
_STEPS, _MOSTLY, _ROWS, _BY_CHANCE = 5, 0.5, 30, 0.2


class CarriedState(Check):
    """A recurrent state goes on from one batch to the next, although the next one holds other sequences.

    Each row then begins with what a sequence that has nothing to do with it has left behind. It is meant where batches are cut out of long
    texts, so that each row goes on where it stopped.
    Sources: Keras docs, `RNN` ("Note on using statefulness in RNNs"); PyTorch docs, `nn.LSTM` (`h_0`, zeros where it is left out).
    """

    code: ClassVar[str] = "F107"
    stage: ClassVar[Stage] = "forward"
    requires: ClassVar[tuple[str, ...]] = ("F103",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the states at the beginning of each step, and from whether rows that come again are followed by the same ones."""
        facts = seen.carried
        if facts is None or facts.carried < _STEPS or facts.carried < _MOSTLY * facts.steps:
            return None
        if not self._drawn(facts):
            if facts.again < _ROWS:
                raise NotJudged("recurrent states go on from batch to batch; whether the rows do as well was not seen")
            return None
        keras = seen.framework in reading.KERAS
        if facts.stateful:
            remedy = ("Leave `stateful=True` out: each sequence begins with zeros then. Where it is meant, `fit(..., shuffle=False)` with "
                      "rows that go on from batch to batch, and `reset_states()` after each epoch.")
        elif keras:
            remedy = "Begin each batch with zeros: leave `initial_state` out, or make it anew for every batch."
        else:
            remedy = "Begin each batch with zeros: leave the state out of the call, `out, state = rnn(x)`, or set it to `None` first."
        evidence = [f"steps that began with the state of the one before: {facts.carried} of {facts.steps}"]
        evidence += [f"rows that came again: {facts.again}; followed by the same row as before: {facts.same}"] if facts.again else []
        evidence += ["batches: drawn at random"] if facts.drawn else []
        return Finding(
            message=f"The state of `{facts.kind}` goes on from one batch to the next, although the rows are shuffled: each begins with "
                    "what another sequence has left behind.",
            remedy=remedy, site=facts.site or reading.place(seen, "forward", "fit"), evidence=evidence)

    @staticmethod
    def _drawn(facts: CarriedFacts) -> bool:
        """Whether rows have no successor that their state could go on to."""
        by_loader = facts.drawn >= _STEPS and facts.drawn >= _MOSTLY * facts.turned
        return by_loader or (facts.again >= _ROWS and facts.same <= _BY_CHANCE * facts.again)
