"""Targets that are all one number, or all but a few."""

from __future__ import annotations

import pytest

from harness.checks.data_facts import BatchFacts
from harness.checks.loss_facts import LossCall
from harness.checks.model_facts import ModelFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import TensorFacts
from tests.checks.made import judge, steps


@pytest.mark.parametrize(("share", "dtype", "width", "fault"), [
    (1e-4, "int16", 48, True), (0.02, "int16", 48, False), (1e-4, "float32", 48, False), (1e-4, "int16", 7, False)])
def test_numbers_that_are_cut_on_the_way_to_an_autoencoder(share: float, dtype: str, width: int, *, fault: bool) -> None:
    target = TensorFacts(shape=(32, 48), dtype=dtype, minimum=0.0, maximum=1.0, mean=share, integral=True)
    given = TensorFacts(shape=(32, width), dtype="float32", minimum=0.0, maximum=1.02, mean=0.5, std=0.2)
    seen = Observation(framework="keras", task="regression", model=ModelFacts(final_units=48), steps=steps([0.1] * 20),
                       batches=[BatchFacts(columns={"x": given, "y": target})],
                       loss_calls=[LossCall(name="mse", target=target, step=number) for number in range(8)])
    assert (judge("D104", seen) == "found") is fault


@pytest.mark.parametrize(("ends", "units", "fault"), [((0.0, 0.0), 1, True), ((0.0, 1.0), 1, False), ((0.0, 0.0), None, False)])
def test_targets_of_a_regression_that_are_one_number(ends: tuple[float, float], units: int | None, *, fault: bool) -> None:
    """The last: what is held against zeros comes out of no layer, as the residual of an equation does."""
    target = TensorFacts(shape=(32, 1), dtype="float32", minimum=ends[0], maximum=ends[1])
    seen = Observation(framework="keras", task="regression", model=ModelFacts(final_units=units), steps=steps([0.1] * 20),
                       batches=[BatchFacts(columns={"y": target})],
                       loss_calls=[LossCall(name="mse", target=target, step=number) for number in range(8)])
    assert (judge("D104", seen) == "found") is fault


@pytest.mark.parametrize(("mean", "calls", "fault"), [(0.1, 1, True), (0.4, 1, False), (0.1, 2, False)],
                         ids=["the model's answers", "what is made of them", "several losses"])
def test_targets_that_no_column_holds(mean: float, calls: int, *, fault: bool) -> None:
    """Without a loader: a residual that is held against zeros is none of the model's answers, and stands beside other losses."""
    target = TensorFacts(shape=(64,), dtype="float32", minimum=0.0, maximum=0.0)
    output, given = (TensorFacts(shape=(64,), dtype="float32", mean=middle, std=0.2) for middle in (0.1, mean))
    seen = Observation(framework="torch", task="regression", model=ModelFacts(final_units=1, output=output), steps=steps([0.1] * 20),
                       loss_calls=[LossCall(name="mse", target=target, inputs=given, step=number // calls) for number in range(8)])
    assert (judge("D104", seen) == "found") is fault
