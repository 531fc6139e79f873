"""Standardised targets whose fractions an integer type has cut off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.checks.loss_targets import LabelDtype
from tests.checks.facts import call, seen, tensor, verdict


@pytest.mark.parametrize(("values", "dtype", "wrong"), [
    (np.random.default_rng(0).normal(size=4000).astype("int64"), "int64", True),
    (np.random.default_rng(0).normal(size=4000).round(), "float32", False),
    (np.random.default_rng(0).poisson(1.4, 4000) - np.random.default_rng(1).poisson(1.4, 4000), "int64", False),  # goals, less the other's
    (np.random.default_rng(0).choice([-1, 0, 1], 4000, p=[0.1, 0.8, 0.1]), "int64", False),
    (np.random.default_rng(0).poisson(0.5, 4000), "int64", False)])
def test_standardised_targets_in_an_integer_type(values: Any, dtype: str, *, wrong: bool) -> None:
    calls = [call("mse", target=tensor(100, dtype=dtype, minimum=float(part.min()), maximum=float(part.max()), mean=float(part.mean()),
                                       std=float(part.std()))) for part in np.split(values, 40)]
    found = verdict(LabelDtype, seen(loss_calls=calls, task="regression"))
    assert hasattr(found, "remedy") is wrong
