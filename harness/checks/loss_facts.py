"""What a script's losses were given, and what they said."""

from __future__ import annotations

from typing import Any, Literal

from harness.checks.tensor_facts import Facts, Site, TensorFacts


class StrayFacts(Facts):
    """A loss that is computed with a graph and never goes backward, and how many weights of the optimizer it alone would reach. `number`:
    the line that makes it, or the one that goes backward, takes the number out of a tensor."""

    name: str
    weights: int
    number: bool = False
    site: Site | None = None


class NegatedFacts(Facts):
    """A loss function whose value enters what is differentiated with a minus: by which `factors` (of the mean over rows), step by step.
    `by_hand`: it is written out, and known by its value."""

    name: str
    factors: list[float] = []
    by_hand: bool = False
    site: Site | None = None


class PolicyFacts(Facts):
    """A loss made of log-probabilities of actions, and of what these were worth by the script's own `name`: the cosine of its derivative by
    the first with the second, step by step. Near -1 steps make good actions likelier, near 1 they make them rarer. `attached`: the cosine
    of its derivative by what actions were worth with the log-probabilities, both without what goes along with the worth itself; 0 where
    that has no gradient. Near 1 or -1 a step changes what actions are said to be worth so that the likely ones gain."""

    name: str
    along: list[float] = []
    attached: list[float] = []
    site: Site | None = None


class EntropyFacts(Facts):
    """The entropy of a policy in a loss: its derivative by that, step by step. Above 0 the entropy is made small."""

    derivatives: list[float] = []
    site: Site | None = None


class OwnRatioFacts(Facts):
    """A ratio in a loss, float[...] of so many `values`, that was 1 at every place in each of the first `steps` steps, though both of its
    sides have a graph. `site`: where it is taken."""

    values: int
    steps: int = 0
    site: Site | None = None


class BootstrapFacts(Facts):
    """Two answers of one model in a loss, whose derivative by the one is minus a discount times that by the other, in each of so many
    `rows` or else zero: the `discounts`, step by step."""

    rows: int
    discounts: list[float] = []
    site: Site | None = None


class SpreadFacts(Facts):
    """A draw, mean + noise * spread, whose spread is exp(`drawn` * x), or x itself where that is None, and a divergence to whose mind
    exp(`told` * x) is the variance. `site`: of the draw."""

    drawn: float | None
    told: float
    site: Site | None = None


class CreditFacts(Facts):
    """A loop over `rewards`, from the first to the last, that keeps a discounted sum of them at each step."""

    rewards: str
    site: Site | None = None


class QuantileFacts(Facts):
    """The levels that a loss of quantiles pulls to (`learnt`), answer by answer: each one minus the level that the script names."""

    meant: list[float]
    learnt: list[float]
    site: Site | None = None


class OverlapFacts(Facts):
    """A loss that divides a sum of scores times targets by a sum of these scores, which a layer gave without an activation."""

    site: Site | None = None


class WholeBestFacts(Facts):
    """A target that adds to each of so many `rows` of `reward` the largest of all values that a model gave the whole batch."""

    rows: int
    reward: str
    site: Site | None = None


class EndingFacts(Facts):
    """Marks of 0 and 1, one for each of the `rows` whose `reward` a later value is added to, which the function that gets both never reads:
    their `name`, and how many were 1 (`marked`) in so many `steps`. `sums`: discounted sums of the rewards go on over those ends."""

    name: str
    reward: str
    rows: int
    steps: int = 0
    marked: int = 0
    sums: bool = False
    site: Site | None = None


class PulledFacts(Facts):
    """Pairs of embeddings that a loss pulls together (`pulled`) and pushes apart (`pushed`), in the first steps. `early`: of each of these
    how often a pair that is pushed apart is farther apart than one that is pulled together, by the embeddings and by measures of the
    inputs; `late`: of later ones, by the embeddings. Steps in which all pairs are pulled, or all pushed, say nothing."""

    pulled: int = 0
    pushed: int = 0
    early: list[list[float]] = []
    late: list[float] = []
    site: Site | None = None


class LikenessFacts(Facts):
    """A softmax along likenesses of `rows` rows with each other, of which each row's with itself is the largest: in so many `steps`, with
    the `shares` of the softmax that fall on rows themselves."""

    rows: int
    steps: int = 0
    shares: list[float] = []
    site: Site | None = None


class BlankFacts(Facts):
    """Calls of a CTC loss: its `blank`, how many of the `rows` of targets `held` it, and the classes that stood in none of them. `sums`: of
    PyTorch's, call by call, what the exponentials of its first argument came to over the classes, a median; 1 for log-probabilities.
    `named`: where the name has its value that is handed on as the blank."""

    blank: int
    calls: int = 0
    rows: int = 0
    held: int = 0
    unused: list[int] | None = None
    sums: list[float] = []
    named: Site | None = None
    site: Site | None = None


class FlattenedFacts(Facts):
    """Answers for `rows` sequences of this `length`, and targets, both laid out in one row. `turned`: the answers come time first. Which
    share of the labels a token tells (by the commonest label of each in other batches) in the order of the answers, `own`, and in the
    `other`; `commonest`: the share of the commonest label. `site`: the loss."""

    rows: int
    length: int
    turned: bool
    own: float
    other: float
    commonest: float
    site: Site | None = None


class UnaddedFacts(Facts):
    """Losses that layers of Keras bring with them (regularizers, `add_loss`), and that no step asks for: how many, what they come to after
    the training, and the `kinds` of the regularizers."""

    losses: int
    total: float
    kinds: list[str] = []


class ClippedFacts(Facts):
    """Numbers that the script clips to between a little more than 0 and 1, on the way to a loss: which share of them lay `outside` 0 to 1,
    call by call, and how far. `unread`: it does so in a graph, where its numbers are not known."""

    outside: list[float] = []
    lowest: float = 0.0
    highest: float = 1.0
    unread: bool = False
    site: Site | None = None


class LossCall(Facts):
    """One call of a loss function during training.

    `name` is normalised: cross_entropy, nll, bce, bce_with_logits, mse, l1, hinge, kl, sparse_categorical, categorical, model (the
    model's own) or other.
    `asked`: how often each class is wanted, by the first step's target of any shape. `filler`: the id that fills up rows of ids which a
    model was given then, and stands nowhere else in them.
    `activation`: which the input came out of (Keras in `fit`), `linear` where none. `from_logits` as given or by default (Keras).
    `by_name`: it was named by a string. `softmaxed_in_model`: the input is itself the output of a softmax/sigmoid.
    `weighted`: class weights; `smoothing`: label smoothing. `row_losses`: of single rows, where they could be had. `lined_up`: Keras brings
    output and target to as many axes before it calls a function that was given as a loss. `swapped`: it was given the model's output as
    target, and the target as output (Keras; here they are put right). `signs`: its targets are to be -1 and 1. `log_target`: as given to
    PyTorch's divergence.
    `cosines`: the bound of an input that is made of
    nothing but products of rows of length one, times a number. `cut_from`: the shape that its input had before it was cut into one with
    the same axes in another order.
    """

    name: str
    inputs: TensorFacts | None = None
    target: TensorFacts | None = None
    value: float | None = None
    reduction: str | None = None
    from_logits: bool | None = None
    by_name: bool = False
    softmaxed_in_model: bool | None = None
    activation: str | None = None
    weighted: bool = False
    lined_up: bool = False
    cosines: float | None = None
    cut_from: list[int] | None = None
    swapped: bool = False
    signs: bool = False
    log_target: bool | None = None
    smoothing: float = 0.0
    ignore_index: int | None = None
    row_losses: list[float] = []
    row_labels: list[Any] = []
    asked: dict[str, int] = {}
    filler: int | None = None
    site: Site | None = None
    step: int = 0

    @property
    def takes_class_ids(self) -> bool:
        """Whether its target is one class id a row, and not a distribution, a number or whatever a model's own loss takes."""
        return self.name in {"cross_entropy", "nll", "sparse_categorical"}


class CosineFacts(Facts):
    """Logits of a softmax that are products of rows of length one, within this `bound`, among so many `classes` where that is known."""

    bound: float
    classes: int | None = None
    site: Site | None = None


class PairedFacts(Facts):
    """Losses of single rows, of the shape `losses`, that were multiplied by weights of the shape `weights`: broadcasting made a product for
    every pair of rows. Without `of_losses`: other numbers of rows, in these two shapes, of whose table the loss takes the mean, such as
    returns and the values of their states."""

    losses: list[int]
    weights: list[int]
    of_losses: bool = True
    site: Site | None = None


class MaskedMeanFacts(Facts):
    """Numbers of this `shape` that multiply a loss of one number; `zeros`: how many of them are 0, as a share."""

    shape: list[int]
    zeros: float
    site: Site | None = None


class UnweighedFacts(Facts):
    """Weights of rows that came with the batches, in this range, made of `class_weight` or not, and did not change what went backward.
    `site`: where the step calls its loss."""

    by_class: bool
    smallest: float
    largest: float
    site: Site | None = None


class WeightFacts(Facts):
    """What a loss multiplies its classes by (`class`), or the positives of each of its outputs (`positive`), and how often each of them
    came among `rows` targets. `measured`: by how strongly the loss pulls at rows of each class, where the script weighs them itself."""

    kind: Literal["class", "positive"]
    weights: list[float]
    counts: list[int] = []
    rows: int = 0
    measured: bool = False


class DivergenceFacts(Facts):
    """A step of a variational autoencoder.

    `weight`: how much a latent number weighs beside a reconstructed one, 1 in the evidence lower bound; `value` of the divergence as it
    enters the loss; `reconstruction`: the loss of that term, `constant`: of the best answer that is the same for every row; `rows` of the
    batch, `numbers` a row.
    """

    step: int
    weight: float
    value: float
    reconstruction: float
    constant: float
    rows: int = 0
    numbers: int = 0


class TemperedFacts(Facts):
    """A loss that holds the answers of one model against those of another, such as a teacher: of each call that was looked at, by what the
    answers of both were divided before their softmax was taken, (output, target). `softened`: the same of the output alone, by its graph,
    whatever the target is. `read`: off the graph of all steps, once. `site`: the call."""

    temperatures: list[tuple[float, float]] = []
    softened: list[float] = []
    read: bool = False
    site: Site | None = None
