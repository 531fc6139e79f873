"""Small observations for tests, and exceptions that the libraries really raised (`raised.json`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_facts import BatchFacts
from harness.checks.loss_facts import LossCall
from harness.checks.model_facts import ModelFacts, OptimizerFacts, ParameterFacts
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts, ProbeFacts
from harness.checks.tensor_facts import Site, TensorFacts
from harness.checks.training_facts import ExceptionFacts, StepFacts

# Recorded with torch 2.13, tensorflow 2.21, tf_keras 2.21, keras 3.15, scikit-learn 1.9, numpy 2.4, evaluate 0.4.6 (CPU): frames are cut to
# the last six, long messages to their ends.
RAISED: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("raised.json").read_text())
HERE = Site(file="train.py", line=30, source="loss.backward()")
MODEL = Site(file="train.py", line=12, source="model = Net()")


def recorded(name: str) -> ExceptionFacts:
    """A recorded exception."""
    facts = next(group[name] for group in RAISED.values() if name in group)
    return ExceptionFacts(**{**facts, "frames": [tuple(frame) for frame in facts["frames"]], "site": HERE})


def seen(**facts: Any) -> Observation:
    """An observation of a PyTorch classifier, with what is given."""
    return Observation(**{"framework": "torch", "task": "classification", "sites": {"backward": HERE}, **facts})


def died(error: ExceptionFacts | str, **facts: Any) -> Observation:
    """An observation of a script that ended with an exception (a name in `raised.json`, or its facts)."""
    error = recorded(error) if isinstance(error, str) else error
    keras = any("keras" in path for path, _, _ in error.frames)
    return seen(**{"framework": "tf_keras" if keras else "torch", "exception": error, "stopped": "exception", **facts})


def tensor(*shape: int, **facts: Any) -> TensorFacts:
    """A tensor of floats unless told otherwise."""
    return TensorFacts(**{"shape": shape, "dtype": "float32", "minimum": -2.0, "maximum": 2.0, **facts})


def ids(*shape: int, top: int = 2) -> TensorFacts:
    """Class ids from 0 to `top`."""
    return TensorFacts(shape=shape, dtype="int64", minimum=0.0, maximum=float(top), integral=True)


def call(name: str = "cross_entropy", **facts: Any) -> LossCall:
    """A loss call over 8 rows and 3 classes."""
    return LossCall(**{"name": name, "inputs": tensor(8, 3), "target": ids(8), "value": 1.1, "reduction": "mean", "site": HERE, "step": 1,
                       **facts})


def model(*names: str, **facts: Any) -> ModelFacts:
    """A model that was drawn anew, of weights that all get gradients and move."""
    parameters = [parameter(name) for name in names or ("body.weight", "body.bias", "head.weight", "head.bias")]
    return ModelFacts(**{"kind": "Net", "parameters": parameters, "pretrained": False, "site": MODEL, **facts})


def parameter(name: str, **facts: Any) -> ParameterFacts:
    """A weight that is trained as it should be."""
    return ParameterFacts(**{"name": name, "size": 100, "in_optimizer": True, "gradient_norm": 0.1, "update_ratio": 1e-3, "moved": True,
                             "used": True, **facts})


def steps(count: int, loss: float = 1.0, **facts: Any) -> list[StepFacts]:
    """Healthy steps."""
    return [StepFacts(**{"step": n, "loss": loss, "backwards": 1, "gradients_before": 0.0, "gradient_norm": 1.0, **facts})
            for n in range(1, count + 1)]


def curve(rate: float, start: float, end: float, length: int = 40, accuracy: float | None = None) -> CurveFacts:
    """A straight line from `start` to `end`."""
    losses = [start + (end - start) * n / (length - 1) for n in range(length)]
    return CurveFacts(learning_rate=rate, losses=losses, accuracy=accuracy)


def probes(own: CurveFacts, *others: CurveFacts, **facts: Any) -> ProbeFacts:
    """A probe over several batches at the script's own rate and at others."""
    return ProbeFacts(train=own, train_scaled=list(others), **facts)


FAILS_LEARNS_SMALLER = probes(curve(1e-3, 1.1, 1.1), curve(1e-4, 1.1, 0.2), curve(1e-2, 1.1, 1.4))
FAILS_LEARNS_LARGER = probes(curve(1e-7, 1.1, 1.099), curve(1e-6, 1.1, 1.09), curve(1e-5, 1.1, 0.2))
NEVER_LEARNS = probes(curve(1e-3, 1.1, 1.1), curve(1e-4, 1.1, 1.09), curve(1e-2, 1.1, 1.2))
LEARNS = probes(curve(1e-3, 1.1, 0.2), curve(1e-4, 1.1, 0.9), curve(1e-2, 1.1, 1.3))
ADAM = OptimizerFacts(kind="Adam", learning_rate=1e-3, held=4, foreign=0, site=HERE)


def batch(**columns: TensorFacts) -> BatchFacts:
    """A batch with these columns."""
    return BatchFacts(columns=columns)


def verdict(check: type[Check], observation: Observation) -> Finding | str | None:
    """The finding, None where all is well, or the reason why that cannot be told."""
    try:
        return check().check(observation)
    except NotJudged as reason:
        return str(reason)


def found(check: type[Check], observation: Observation, *parts: str) -> Finding:
    """The finding, which must say all of `parts` in its message, remedy or evidence."""
    finding = verdict(check, observation)
    assert isinstance(finding, Finding), finding
    text = "\n".join([finding.message, finding.remedy, *finding.evidence])
    for part in parts:
        assert part in text, (part, text)
    assert finding.remedy
    assert finding.site is not None
    return finding
