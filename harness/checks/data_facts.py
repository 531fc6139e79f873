"""What a script's data looked like: batches, loaders, collators, and sources that come apart."""

from __future__ import annotations

from typing import Any, Literal

from harness.checks.tensor_facts import Facts, Site, TensorFacts


class LayoutFacts(Facts):
    """Images or series whose rows have the shape `after`, cut out of numbers that lie as rows of shape `before`: neighbours in space or
    time differ `rougher` times as much as they do there."""

    before: list[int]
    after: list[int]
    rougher: float


class LengthFacts(Facts):
    """Two parts of a batch that are padded at their rows' ends, or the lengths of such a part, and have the same lengths: of `rows` rows so
    many are of another length in one than in the other (`apart`). `example`: lengths of the first rows, in each."""

    parts: tuple[str, str]
    rows: int
    apart: int
    example: tuple[list[int], list[int]]


class LeakFacts(Facts):
    """Inputs `part` that were held against the target of each of `rows` rows: the numbers of the `columns`, of `features`, that give it
    exactly (in a `window`, those of the step that lies `back` before its last one). `example`: what the first rows hold there, and their
    targets."""

    part: str
    rows: int
    window: bool
    features: int
    columns: list[int] = []
    back: int = 0
    example: list[tuple[float, float]] = []


class BytesFacts(Facts):
    """Bytes that `reads` calls have read as whole numbers of one dtype, where as those of another, neighbours differ `rougher` times
    less: dtypes as numpy writes them, `>i2`."""

    read_as: str
    written_as: str
    rougher: float
    reads: int
    site: Site | None = None


class FillFacts(Facts):
    """An id that fills rows up: `share` of all ids of a batch, at the ends of `rows` of its rows, whose fillings have so many `lengths`;
    `half`: two and more of it end most rows; `inside`: it stands elsewhere, too."""

    share: float
    rows: int
    lengths: int
    half: bool = False
    inside: bool = False


class BatchFacts(Facts):
    """One batch as the model (or the loop) got it. `labels` are the rows' label values where they are whole numbers, one a row.

    `texts`: rows decoded by the tokenizer that was found in the script (at most 4). `padding_masked`: every padding token is masked out,
    None where that cannot be told. `fill`: where no tokenizer told of it, where the padding id of the model's configuration stands.
    `unknown_share`: share of unknown tokens among the non-special ones. Where a row has several labels, `label_positions` are not left out
    (-100), and `one_label` is the one that all of these are. `ends`: attended tokens that end a text, behind a token with a label, where
    padding is the same token; so many of them are `ends_left_out`. `layout`: of images or series that do not lie as their axes say.
    `lengths`: of parts whose rows are filled up to one length. `leak`: whether the target of each row stands in its inputs. `moved`: by how
    many rows it lies off from a batch before it that shares the others with it; 0 if none does, None for the first. `pieced_rows`: rows
    with a label for each word, some of which are cut into pieces; in `pieced_astray` the labels are laid on the pieces one after the other,
    and not on the first piece of each word. `filled_labels`: of tokens that the attention mask hides, how many have a label, where all have
    the same one (`filled_label`) and tokens in sight have it too; out of `token_labels`. `echoed`: the labels are the ids themselves, those
    of the padding too, each asked for from the place before it. `slipped`: whether the labels of tokens stand one place before theirs, on
    a first token that is of no word too; None where rows do not begin with such a token. `unhidden`: tokens that are asked for where most
    others are not (-100), as a masked language model is, if each of them stands in the inputs at that very place. `copied`: of tokens, most
    of which are asked for, the share that stands there. `filled_targets`: of an encoder-decoder's labels, the share that fills rows up.
    """

    columns: dict[str, TensorFacts] = {}
    labels: list[Any] | None = None
    texts: list[str] = []
    has_padding: bool | None = None
    fill: FillFacts | None = None
    has_attention_mask: bool | None = None
    padding_masked: bool | None = None
    unknown_share: float | None = None
    longest: int | None = None
    inputs_key: str | None = None
    label_positions: int = 0
    one_label: int | None = None
    ends: int = 0
    ends_left_out: int = 0
    layout: LayoutFacts | None = None
    lengths: LengthFacts | None = None
    leak: LeakFacts | None = None
    moved: int | None = None
    pieced_rows: int = 0
    pieced_astray: int = 0
    filled_labels: int = 0
    filled_label: int | None = None
    token_labels: int = 0
    echoed: bool = False
    slipped: bool | None = None
    unhidden: int = 0
    copied: float = 0.0
    filled_targets: float = 0.0


class VocabularyFacts(Facts):
    """A tokenizer beside the vocabulary of a checkpoint: of its `tokens` so many are `shared`, and so many have the `same` id. `example`:
    tokens with their ids here and there; `site`: where the tokenizer is made."""

    checkpoint: str
    tokens: int
    shared: int
    same: int
    example: list[tuple[str, int, int]] = []
    site: Site | None = None


class ApartFacts(Facts):
    """Inputs and targets that come from two sources: in `same` of `steps` steps these delivered the same rows.

    `answered`: the targets are answers that a model gave before; of `rows` of them, `same_rows` stand beside the input they were given for.
    `example`: numbers of the first rows of a step, in each source; `inputs`, `targets`: where the sources are made.
    """

    steps: int = 0
    same: int = 0
    answered: bool = False
    rows: int = 0
    same_rows: int = 0
    example: tuple[list[int], list[int]] | None = None
    inputs: Site | None = None
    targets: Site | None = None


class CollationFacts(Facts):
    """Rows before and after a collator, compared by their numbers. Of `rows`, so many stand beside a label that is not theirs (`astray`);
    of these so many hold what belongs to several rows (`scattered`).
    """

    rows: int = 0
    astray: int = 0
    scattered: int = 0


class AugmentationFacts(Facts):
    """Rows of two pictures, the second wanted for the first, asked for again and again: of `compared` pairs of draws so many in which the
    two were moved differently (`apart`). `example`: the number of a row, and how its picture and its target were moved.
    """

    compared: int = 0
    apart: int = 0
    example: tuple[int, str, str] | None = None


class MirrorFacts(Facts):
    """Of so many training `rows`, those that do not fit what a baseline has learnt from the evaluation's (`astray`; there it is a share of
    `usual`), and of these the ones that do once the picture is "mirrored", say (`how`, `healed`). `name`: the column that is wanted.

    `crossed`: two numbers of a box, the first of which is the smaller one in every row of the evaluation, and the larger one in those.
    `pairs`: points that are each other's mirror image, and change places there. `layer`: the model's own layers move pictures so, and of
    the rows of the first of two `classes`, moved, so many are taken for the other. `series`: rows of steps, and no pictures.
    """

    how: str
    name: str
    rows: int
    astray: int
    healed: int
    usual: float = 0.0
    layer: bool = False
    classes: list[int] = []
    crossed: list[int] = []
    pairs: list[list[int]] = []
    series: bool = False


class ResizedFacts(Facts):
    """Borders between fields of two classes in label maps, of so many `rows`. Where the two numbers differ by more than 1: that meet
    (`direct`), and that have pixels of a number `between` theirs in the middle (which, and how often). `near`: that meet, and differ by 1.
    `outside`: with pixels of any other number in the middle. `site`: where the script resizes them."""

    rows: int
    direct: int
    near: int
    outside: int
    between: list[tuple[int, int]] = []
    site: Site | None = None


class MixedFacts(Facts):
    """Of so many `rows`, each mixed of two, the part of their variance that the means of their classes explain by the shares of their
    labels (`told`), and by these shares `exchanged`."""

    rows: int
    told: float
    exchanged: float


class OneHotFacts(Facts):
    """The `ids` of which a script has TensorFlow make one-hot rows of this depth, those of them that lie `beyond` it, and their ends."""

    depth: int
    ids: int = 0
    beyond: int = 0
    lowest: int = 0
    highest: int = 0
    site: Site | None = None


class RedrawnFacts(Facts):
    """Two readings of each of some `rows` of a dataset: the distance (root of the mean square) between two readings of the `same` row, and
    of one and the `other` next to it. `site`: where what changes them is built, or where a row is made."""

    rows: int
    same: float
    other: float
    site: Site | None = None


class SourceFacts(Facts):
    """A line that labels or inputs went through on their way to the loss. `kind`: made (computed there), converted (another type or shape),
    taken (a part, or merely handed on), reordered (rows in another order since, `by` this index).
    """

    site: Site
    kind: str
    by: str = ""


class EmptiedFacts(Facts):
    """Of a table's so many `columns` the one that tells most of the target in training (`told`, 0 to 1: its rank correlation with numbers,
    or the share of its ranks' deviation that lies between classes; `next`: the same of the second one). In `rows` rows of evaluations it
    has one and the same value. `name`: where the script's tables say it."""

    column: int
    columns: int
    told: float
    next: float
    rows: int
    name: str | None = None


class FilePairFacts(Facts):
    """Files of two `folders` that were read one after the other, `pairs` of them, of which so many are `apart` by their names. `example`:
    two such names."""

    folders: tuple[str, str]
    pairs: int
    apart: int
    example: tuple[str, str] | None = None


class OneRowFacts(Facts):
    """The first `steps` of a training, in each of which all rows that the model was given were one and the same, `rows` of them in the
    first; in these steps it was of so many `kinds`."""

    rows: int
    steps: int = 0
    kinds: int = 0


class TransitionFacts(Facts):
    """The last `rows` of a memory of transitions: in `same` of them one array stands for a state and for the next one. `site`: where they
    are kept."""

    rows: int
    same: int
    site: Site | None = None


class OverwrittenFacts(Facts):
    """A dataset whose `attribute` changes with each reading of a row: `share` of the values of some `rows` after so many `readings`."""

    attribute: str
    rows: int
    readings: int
    share: float


class ReaderFacts(Facts):
    """Several `readers` of one stream, in its first pass: `rows` that came, of so many `kinds`; parts of these that came from more than one
    reader (`shared`), and of the rows that came from the same one `again`."""

    readers: int
    rows: int
    kinds: int
    shared: float
    again: float
    site: Site | None = None


class CachedFacts(Facts):
    """A cache behind a function of `map` that draws: `changed` of the `rows` that it was asked for several times come out otherwise each
    time. `site`: of the cache, `drawn`: where the function is mapped."""

    rows: int
    changed: int
    site: Site | None = None
    drawn: Site | None = None


class GroupedFacts(Facts):
    """A random split of `rows` rows, of which `held_rows` are held out, beside a column `name` that says whose each row is: so many
    `groups`, all rows of each with one of so many `labels`. `shared`: part of the rows held out whose group has rows in the training."""

    name: str
    groups: int
    rows: int
    held_rows: int
    shared: float
    labels: int
    site: Site | None = None


class EatenFacts(Facts):
    """A table of ids that the script wrote into while it trained: `rows` (`of` so many) have changed, and the `share` of its numbers that
    are this `value` was `before` that."""

    name: str
    value: int
    share: float
    before: float
    rows: int
    of: int


class SeriesFacts(Facts):
    """Windows of `length` steps, each `rate` rows apart, that Keras cuts out of a series: the target of one is in a `column` of it (of so
    many), `offset` rows behind its first. `site`: where they are cut."""

    column: int
    columns: int
    length: int
    rate: int
    offset: int
    site: Site | None = None


class SameOrderFacts(Facts):
    """A sampler that draws an order for each pass of a training (`rows` of them), and drew the same one in all `passes`. `by_epoch`: it
    draws by an epoch that it is told. `seed`: where the script sets a generator back between the passes."""

    sampler: str
    rows: int
    passes: int
    by_epoch: bool
    site: Site | None = None
    seed: Site | None = None


class LoaderFacts(Facts):
    """A loader or dataset that was iterated. `role` is train or eval. `shuffled`: whether its order is random, None where unknown;
    `replaces`: whether one pass may draw a row more than once; `buffer`: how many rows of a `tf.data` pipeline are shuffled at a time.

    `label_counts` over what was seen or the whole dataset when that is cheap; `label_runs`: share of neighbouring rows, in the order they
    came, that have the same label, measured over `ordered_rows` rows. `columns`: of the dataset underneath;
    `dropped_columns`: those that the framework removes; `missed`: those of them that a function of the script's own asks for by their
    name: `forward`, in what it takes as `**` anything else, or `missed_by`, a method of its Trainer or its collator;
    `numbers`: those that have one number or class a row. `objects`: shape of an
    array of Python's objects, of two axes or more, among the inputs. `empty_passes`: that gave no batch, after others that did.
    `readers`: of a stream that several read. `cached`: what `tf.data` keeps of rows that were drawn. `weighed`: how many
    weights rows are drawn by, where these are fewer than the rows. `whole`: the rows of the dataset, of which it may give a part.
    """

    role: Literal["train", "eval"] = "train"
    kind: str = ""
    dataset_kind: str = ""
    batch_size: int | None = None
    batches: int | None = None
    rows: int | None = None
    shuffled: bool | None = None
    replaces: bool = False
    buffer: int | None = None
    collator: str | None = None
    columns: list[str] = []
    dropped_columns: list[str] = []
    missed: list[str] = []
    missed_by: str = ""
    numbers: list[str] = []
    label_column: str | None = None
    label_names: list[str] = []
    label_counts: dict[str, int] = {}
    label_runs: float | None = None
    ordered_rows: int | None = None
    site: Site | None = None
    same_as_train: bool | None = None
    objects: list[int] | None = None
    empty_passes: int = 0
    readers: ReaderFacts | None = None
    cached: CachedFacts | None = None
    weighed: int | None = None
    whole: int | None = None
