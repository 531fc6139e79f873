"""The record of metrics: what they were given, and what they said; part of an `EvaluationFacts`."""

from __future__ import annotations

from typing import Literal

from harness.checks.tensor_facts import Facts, Site, TensorFacts


class RightFacts(Facts):
    """What a metric says (`values`) of scores of this `shape` whose largest is the label at each of so many `places`, of which so many of
    the `classes` are `present`; and what it says of the same with the labels in another order, `shuffled`.
    Without `classes`: of answers that are the numbers that are wanted. `site`: where it takes the classes from scores."""

    values: dict[str, float] = {}
    shuffled: dict[str, float] = {}
    classes: int = 0
    present: int = 0
    places: int = 0
    shape: list[int] = []
    site: Site | None = None


class MetricFacts(Facts):
    """One call of a metric: what it was given, what it said, and the counts behind it.

    `reshaped`: what the same function (of the script's, defined at `function`) says of predictions that have one axis of length one more
    (or less) than the references, brought to their shape. `predicted_counts`: how often each class was predicted.
    `training_mode`: the model was in training mode in this evaluation. `fractions`: the predictions are no whole numbers.
    `cuts`: the least and the largest threshold of a metric object that cuts probabilities; `raw`: what it is given are none.
    `works`: what the same function does not raise at where it raised: the `first` of several arrays, the `classes` of the largest scores,
    or the `first classes`. `pairs`: of a reference and the class that was predicted for it, how many rows; `shape`: of what the
    script compared last. `swapped`: the references are
    what a model has answered, and the predictions are not. `cut`: where a model answers yes and no with one number a row, the share of
    answers that are right if that is cut at one half, or at zero. `left_out`: of the references, the share that is -100; `longer`: what
    the same function says where every row has more of these at its end; `counted`: the line of it that compares. `exchanged`: what it says
    of the same arrays, of which there are several, with two in each other's place; `arrays`: the shapes of both, first of the one that was
    taken. `right`: what it says of a model that is always right.
    """

    name: str = ""
    predictions: TensorFacts | None = None
    references: TensorFacts | None = None
    values: dict[str, float] = {}
    reshaped: dict[str, float] = {}
    function: Site | None = None
    predicted_counts: dict[str, int] = {}
    reference_counts: dict[str, int] = {}
    pairs: list[tuple[int, int, int]] = []
    shape: list[int] = []
    fractions: bool | None = None
    cuts: tuple[float, float] | None = None
    raw: bool | None = None
    works: Literal["first", "classes", "first classes"] | None = None
    swapped: bool = False
    cut: float | None = None
    left_out: float = 0.0
    longer: dict[str, float] = {}
    counted: Site | None = None
    exchanged: dict[str, float] = {}
    arrays: list[list[int]] = []
    right: RightFacts | None = None
    site: Site | None = None


class BatchScoreFacts(Facts):
    """A score, `name`, of each batch of an evaluation by itself: the `mean` of so many `calls`, and what the same function says of all
    `rows` at once (`whole`)."""

    name: str
    calls: int
    rows: int
    mean: float
    whole: float
    site: Site | None = None


class RankFacts(Facts):
    """A metric that ranks, `name`, was given `rows` answers, a model's `own` or others. `areas`: where these have two values and are cut
    from a model's scores, the area under the ROC curve by them, and by the scores."""

    name: str
    rows: int
    own: bool = False
    areas: tuple[float, float] | None = None
    site: Site | None = None


class DecisionFacts(Facts):
    """How an evaluation turned a model's outputs into answers by hand: `round`, or `compare` with a threshold; or `pairs`, where every one
    of `values` outputs was compared with each of as many references; or `equal`, where they were asked to be equal to whole numbers.
    `scores`: the outputs of Keras' evaluation steps, whatever becomes of them.

    `values`: how many, from `minimum` to `maximum`; `lost`: above 0 and at most 0.5; `odd`: would be rounded to neither 0 nor
    1; `broken`: is no whole number.
    """

    how: str
    threshold: float | None = None
    values: int = 0
    minimum: float = 0.0
    maximum: float = 0.0
    lost: int = 0
    odd: int = 0
    broken: int = 0
    site: Site | None = None
