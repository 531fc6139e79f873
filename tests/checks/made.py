"""Small observations for the tests of checks."""

from __future__ import annotations

from typing import Any

from harness.checks import base
from harness.checks.data_facts import BatchFacts, LoaderFacts
from harness.checks.loss_facts import LossCall
from harness.checks.metric_facts import MetricFacts
from harness.checks.model_facts import ModelFacts
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts
from harness.checks.tensor_facts import Site, TensorFacts
from harness.checks.training_facts import ExceptionFacts, StepFacts

SITE = Site(file="/home/user/train.py", line=30, source="trainer.train()")


def judge(code: str, seen: Observation) -> str:
    """`found`, `clean` or the reason why it was not judged; of this check alone."""
    result = base._judge(check(code), seen, None)
    assert not (result.reason or "").startswith(base.FAILED), result.reason
    return result.reason or result.state if result.state == "skipped" else result.state


def finding(code: str, seen: Observation) -> base.Finding:
    """What the check found. Raises `AssertionError` where it found nothing."""
    found = check(code)().check(seen)
    assert found is not None
    return found


def check(code: str) -> type[base.Check]:
    return next(cls for cls in base.all_checks() if cls.code == code)


def error(type_: str, message: str, stage: Any = "forward", source: str = "trainer.train()", **more: Any) -> ExceptionFacts:
    return ExceptionFacts(type=type_, message=message, stage=stage, site=Site(file="/home/user/train.py", line=30, source=source), **more)


def ids(rows: int = 4, length: int = 16, largest: int = 90, smallest: int = 0) -> TensorFacts:
    return TensorFacts(shape=(rows, length), dtype="int64", minimum=smallest, maximum=largest, mean=30.0, std=20.0)


def text_batch(labels: list[Any] | None = None, **more: Any) -> BatchFacts:
    return BatchFacts(columns={"input_ids": ids(), "attention_mask": ids(largest=1), "labels": TensorFacts(shape=(4,), dtype="int64")},
                      labels=[0, 1, 2, 0] if labels is None else labels, has_attention_mask=True, has_padding=True, padding_masked=True,
                      inputs_key="input_ids", longest=16, **more)


def curve(start: float, end: float, steps: int = 40, accuracy: float | None = None, rate: float = 1e-3) -> CurveFacts:
    return CurveFacts(learning_rate=rate, losses=[start + (end - start) * step / (steps - 1) for step in range(steps)], accuracy=accuracy)


def steps(losses: list[float], labels: list[list[Any]] | None = None) -> list[StepFacts]:
    return [StepFacts(step=number + 1, loss=loss, labels=labels[number] if labels else None) for number, loss in enumerate(losses)]


def healthy() -> Observation:
    """A fine-tuning of a text classifier that learns."""
    return Observation(
        framework="torch", trainer="Trainer", stopped="finished", reached="evaluation", task="classification", classes=3,
        model=ModelFacts(kind="DistilBertForSequenceClassification", num_labels=3, vocabulary=100, positions=64, pretrained=True,
                         accepts=["input_ids", "attention_mask", "inputs_embeds", "labels"]),
        loaders=[LoaderFacts(role="train", rows=600, batch_size=4, batches=150, shuffled=True, label_counts={"0": 200, "1": 200, "2": 200},
                             label_runs=0.33, columns=["text", "input_ids", "attention_mask", "label"], dropped_columns=["text"],
                             label_column="label", site=SITE)],
        batches=[text_batch(texts=["[CLS] a good film [SEP]", "[CLS] bad [SEP]"], unknown_share=0.02) for _ in range(3)],
        loss_calls=[LossCall(name="model", value=1.1)], steps=steps([1.1 - 0.012 * number for number in range(60)]))


def metric(predicted: dict[str, int], true: dict[str, int], accuracy: float) -> MetricFacts:
    return MetricFacts(name="accuracy", values={"accuracy": accuracy}, predicted_counts=predicted, reference_counts=true)
