"""Columns that a function which TensorFlow has traced does not take."""

from __future__ import annotations

from harness.checks.model_facts import ModelFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from tests.checks.made import error, finding, judge


def test_a_label_that_a_traced_call_does_not_take() -> None:
    message = "outer_factory.<locals>.inner_factory.<locals>.tf__call() got an unexpected keyword argument 'NAME'"
    model = ModelFacts(kind="TFDistilBertForTokenClassification", accepts=["input_ids", "attention_mask", "labels"])
    keyed = Site(file="/home/user/train.py", line=7, source='{"input_ids": ids, "label": tags}')
    seen = Observation(exception=error("TypeError", message.replace("NAME", "label")), framework="tf_keras", model=model,
                       sites={"keyed.label": keyed})
    found = finding("D102", seen)
    assert found.site == keyed
    assert "the model's argument is `labels`" in found.message
    assert judge("D101", seen) == "clean"
    within = [("/lib/transformers/modeling_tf_utils.py", 1656, "train_step")]
    seen.exception = error("TypeError", message.replace("NAME", "idx"), frames=within)
    assert "column `idx` that the forward pass of TFDistilBertForTokenClassification does not take" in finding("D101", seen).message
