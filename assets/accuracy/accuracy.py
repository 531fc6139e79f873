"""Accuracy as a local metric: ``evaluate.load("assets/accuracy")`` needs no network."""

import datasets
import evaluate
import numpy

_DESCRIPTION = "The share of predictions that equal their reference."

_INPUTS = """
Args:
    predictions (list of int): predicted class ids, int32[rows].
    references (list of int): true class ids, int32[rows].
Returns:
    accuracy (float): between 0 and 1.
Examples:
    >>> evaluate.load("assets/accuracy").compute(predictions=[0, 1, 2, 0], references=[0, 1, 1, 0])
    {'accuracy': 0.75}
"""


class Accuracy(evaluate.Metric):
    """Share of equal class ids."""

    def _info(self):
        features = datasets.Features(
            {"predictions": datasets.Value("int32"), "references": datasets.Value("int32")}
        )
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation="", inputs_description=_INPUTS, features=features
        )

    def _compute(self, predictions, references):
        return {"accuracy": float(numpy.mean(numpy.equal(predictions, references)))}
