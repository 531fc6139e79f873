"""Inputs and labels that were seen to part on their way to the model: two sources, a collator or a `map` that moves one of them."""

from __future__ import annotations

import math

from harness.checks import other_scale, raised, reading, sourcing
from harness.checks.base import Finding
from harness.checks.data_facts import ApartFacts, AugmentationFacts, CollationFacts, LengthFacts, MirrorFacts, MixedFacts
from harness.checks.evaluation_facts import HandedFacts, RelationFacts, ScaleFacts
from harness.checks.observation import Observation
from harness.checks.table_facts import GluedFacts
from harness.checks.tensor_facts import Site

_ASTRAY, _MOSTLY = 0.2, 0.5
_PAIRS = 4  # of points that are named
# Of the variance of mixed rows: what exchanged shares explain at least, and how many times what the shares themselves do.
_EXPLAINED, _BETTER = 0.02, 1.5
_LEAST_DRAWS, _LEAST_BATCHES = 3, 1
_FAINTER = 0.99  # of a deviation: mixtures of two rows vary less than rows do
# A regression that correlates so with its rows has learnt them; of fewer others than this a correlation says little.
_BY_HEART, _RELATED_ROWS = 0.3, 500
# Share of rows with the same answer: a model that has learnt its rows by heart leans far to one side, too.
ONE_ANSWER = 0.95


def finding(seen: Observation) -> Finding | None:
    """What parts inputs from their labels, where that was seen; None where nothing was."""
    if seen.glued is not None:
        return _glued(seen.glued)
    if seen.apart is not None and seen.apart.steps and not seen.apart.same:
        return _apart(seen.apart)
    if seen.collation is not None and seen.collation.astray > _ASTRAY * seen.collation.rows:
        return _collated(seen, seen.collation)
    ragged = [batch.lengths for batch in seen.batches if batch.lengths is not None]
    if sum(facts.apart for facts in ragged) > _ASTRAY * sum(facts.rows for facts in ragged):
        return _of_other_lengths(seen, ragged)
    pieced, astray = (sum(getattr(batch, name) for batch in seen.batches) for name in ("pieced_rows", "pieced_astray"))
    if astray > max(_LEAST_DRAWS, _MOSTLY * pieced):
        return _on_pieces(seen, pieced, astray)
    framed = [batch.slipped for batch in seen.batches if batch.slipped is not None]
    if sum(framed) > max(_LEAST_BATCHES, _MOSTLY * len(framed)):
        return _slipped(seen, sum(framed))
    if seen.augmentation is not None and seen.augmentation.apart > max(_LEAST_DRAWS, _ASTRAY * seen.augmentation.compared):
        return _drawn_apart(seen, seen.augmentation)
    if seen.mixed_rows is not None and seen.mixed_rows.exchanged > max(_EXPLAINED, _BETTER * seen.mixed_rows.told):
        return _exchanged(seen, seen.mixed_rows)
    if (place := seen.sites.get("blended")) is not None and (scale := seen.evaluation.scale) is not None and _fainter(scale):
        return _blended(place, scale)
    if seen.mirrored is not None:
        return _mirrored(seen, seen.mirrored)
    if seen.mixed is not None and not reading.script_learns(seen):
        return Finding(
            message=f"`{seen.mixed.function}`, which `map` calls with many rows at once, mixes them up: with the same rows in another "
                    "order it makes other rows.",
            remedy="Flatten and regroup every column in one order, row by row, and look at a few rows of the result as text "
                   "(`tokenizer.decode(...)`) beside their labels.",
            site=seen.mixed, evidence=["Given rows in one order and in the reverse, it makes two different sets of rows.",
                                       "The script's losses have not fallen."])
    return None


def _glued(found: GluedFacts) -> Finding:
    """Columns of one thing beside those of another."""
    name = found.name
    told = (f"`{found.column}` stands in the order of its own table, beside columns in the order of the `{name}` that "
            "`reset_index(drop=True)` has dropped")
    return Finding(
        message=f"Two tables are put side by side whose rows come in two orders: at {found.moved} of {found.rows} places the `{name}` that "
                "was dropped from the one is not that of the other, and each row is made of two of them.",
        remedy=f'Join by the key and not by the place: `merge(..., on="{name}")`, or `left.join(right.set_index("{name}"))`; `groupby` '
               "sorts by it.",
        site=found.site, evidence=[told])


def _fainter(scale: ScaleFacts) -> bool:
    """Whether rows vary less in training than in any batch of the evaluation, as mixtures do."""
    return scale.std < min(_FAINTER * scale.held_std, scale.held_stds[0])


def _blended(place: Site, scale: ScaleFacts) -> Finding:
    """Mixup of the inputs alone."""
    return Finding(
        message="Each row is mixed with another one of its batch, and its target is not: half of what the model is shown belongs to a row "
                "whose target it is not told.",
        remedy="Mix both by the same share and order, `target = w * onehot + (1 - w) * onehot[order]`, or mix the losses: "
               "`w * loss(output, y) + (1 - w) * loss(output, y[order])`.",
        site=place,
        evidence=["the order by which rows are mixed is used for nothing else",
                  f"deviation of the numbers in training: {scale.std:.3g}; in the evaluation: {scale.held_std:.3g}"])


def knows(relation: RelationFacts) -> bool:
    """Whether more of a model's classes are right than of as many given at random. One that was trained on evener labels than those of the
    evaluation is wrong more often than the commonest label would be, and may know much."""
    even = relation.by_chance
    return even is not None and relation.held > even + 3 * math.sqrt(even * (1 - even) / relation.rows)


def unrelated(seen: Observation) -> Finding | None:
    """A model that has learnt its rows, and whose answers for others have nothing to do with what is wanted of them."""
    relation = seen.evaluation.relation
    if relation is None or reading.several_models(seen) or relation.rows < _RELATED_ROWS or seen.evaluation.in_training_mode:
        return None
    scale = seen.evaluation.scale
    if scale is not None and other_scale.differs(scale, relation):
        return None  # of numbers that it has never met a model knows nothing
    noise = math.sqrt((relation.majority * (1 - relation.majority) if relation.classes else 1.0) / relation.rows)
    chance = relation.majority + 2 * noise
    if relation.trained < relation.trained_majority + _BY_HEART:
        return None
    if seen.evaluation.handed is not None and relation.held < relation.trained - _BY_HEART:
        return _handed(seen.evaluation.handed, relation)
    if (relation.held if relation.classes else abs(relation.held)) > chance:
        return None
    if knows(relation):
        return None
    if relation.classes and relation.answered > ONE_ANSWER:
        return None  # nearly one answer for all: running statistics that have not settled, or a collapse, but no other rows' labels
    if relation.classes:
        how = (f"it is right on {100 * relation.held:.0f} % of {relation.rows} rows of the evaluation, of which "
               f"{100 * relation.majority:.0f} % have the commonest label, and on {100 * relation.trained:.0f} % of those that it was "
               "trained on.")
    else:
        how = (f"its answers for {relation.rows} rows of the evaluation correlate with their targets by {relation.held:.2f} (chance: up to "
               f"{chance:.2f}), and for those that it was trained on by {relation.trained:.2f}.")
    return Finding(
        message=f"What the model learns of its rows says nothing of others: {how}",
        remedy="Read some rows beside their labels. Most often one column was sorted, shuffled or filtered and the others were not: apply "
               "the same order to all of them, or keep them in one table until the batch is made.",
        site=sourcing.apart(seen) or reading.place(seen, "getitem.targets", "getitem.labels", "loader", "fit"),
        evidence=[f"rows compared: {relation.trained_rows} that were trained on, {relation.rows} others", *sourcing.orders(seen)])


def _handed(handed: HandedFacts, relation: RelationFacts) -> Finding:
    trained, held = (", ".join(f"`{name}` gets {part}" for name, part in ways.items()) for ways in (handed.trained, handed.held))
    return Finding(
        message=f"The model gets the parts of a batch as other arguments in the training than in the evaluation: there {trained}; "
                f"here {held}.",
        remedy="Unpack a batch in the order in which the dataset gives its parts, at each place; a dictionary, `batch[\"user\"]`, or "
               "keywords, `model(user=user, item=item)`, keep them from changing places.",
        site=handed.site, evidence=[(f"parts by name, or by number from 0; rows compared: {relation.trained_rows} trained on, "
                                    f"{relation.rows} others, of which the model knows little")])


def _apart(apart: ApartFacts) -> Finding:
    """What two sources that are shuffled each for itself lead to."""
    if apart.answered:
        return Finding(
            message="The targets are answers that a model gave for other rows: they were collected in one order, and are paired with "
                    "inputs in another.",
            remedy="Collect them over a loader that does not shuffle (`DataLoader(dataset, shuffle=False)`), or keep each answer together "
                   "with the row it belongs to.",
            site=apart.inputs, evidence=[(f"of {apart.rows} rows of a batch whose target is a known answer, {apart.same_rows} stand beside "
                                          "the input that it was given for")])
    evidence = [f"steps in which both delivered the same rows: {apart.same} of {apart.steps}"] if apart.example else []
    if apart.example is not None:
        evidence.append("first rows of a step: inputs {}, targets {}".format(*(", ".join(map(str, rows)) for rows in apart.example)))
    return Finding(
        message="Inputs and targets come from two sources, each shuffled for itself, so that no input meets its own target.",
        remedy="Put both into one dataset before anything is shuffled (`TensorDataset(inputs, targets)` and one loader; in tf.data "
               "`Dataset.zip((inputs, targets)).shuffle(...)`): then whole rows move.",
        site=apart.targets or apart.inputs, evidence=evidence)


def _drawn_apart(seen: Observation, drawn: AugmentationFacts) -> Finding:
    """What a random motion does that is drawn for the picture and not, or once more, for what is wanted of it."""
    evidence = [f"rows asked for again: {drawn.compared}; picture and target moved differently: {drawn.apart}"]
    if drawn.example is not None:
        number, picture, target = drawn.example
        evidence.append(f"row {number}, from one draw to the next: its picture {picture}, its target {target}")
    return Finding(
        message="The picture and the target of a row are moved differently: a random crop, flip or turn is drawn for one and not for the "
                "other, so that their pixels do not belong together.",
        remedy="Draw once and apply it to both: `if random.random() < 0.5: image, mask = image.flip(-1), mask.flip(-1)`; for a crop, one "
               "`top, left` for both.",
        site=reading.place(seen, "getitem.drawn", "getitem", "loader"), evidence=evidence)


def _mirrored(seen: Observation, found: MirrorFacts) -> Finding:
    """Pictures that are moved at random, and what is wanted of them is not."""
    site = reading.place(seen, "moved", "getitem.drawn", "getitem", "loader", "fit")
    if found.layer:
        first, second = found.classes
        told = (f"{found.rows} pictures of class {first} that a baseline tells, each {found.how}: it takes {found.astray} of them for "
                f"class {second}, and those of class {second} for {first}")
        return Finding(
            message=f"The model's own augmentation makes one class of another: a picture of class {first}, {found.how}, is one of class "
                    f"{second}, and keeps its label.",
            remedy="Leave out what changes the class of a picture (`RandomFlip` for digits, letters, arrows, left and right), or change "
                   "the label with it.",
            site=site, evidence=[told])
    if found.classes:
        first, second = found.classes
        return Finding(
            message=f"An augmentation makes one class of another: a row of class {first}, {found.how}, is one of class {second}, and keeps "
                    f"its label. So are {found.astray} of {found.rows} training rows of the two.",
            remedy="Leave out what changes the class of a row (no mirroring of digits, letters, arrows, left and right), or change the "
                   "label with it.",
            site=site, evidence=[f"what is wanted: `{found.name}`", (
                f"a baseline of the evaluation's rows takes {found.astray} training rows of these classes for the other one (there "
                f"{found.usual:.0%} of them), and {found.healed} of these for their own once they are {found.how}")])
    if found.crossed:
        one, other = found.crossed
        return Finding(
            message=f"{100 * found.astray / found.rows:.0f} % of the training boxes have their corners the wrong way round: number "
                    f"{one + 1} is larger than number {other + 1}, which it never is in the evaluation. Each corner was {found.how} for "
                    "itself, so that the left one is the right one now.",
            remedy="Exchange them as well: `x0, x1 = width - x1, width - x0`; upside down, `y0, y1 = height - y1, height - y0`.",
            site=site, evidence=[f"`{found.name}`: {found.astray} of {found.rows} rows"])
    if found.pairs:
        pairs = ", ".join(f"{one} and {other}" for one, other in found.pairs[:_PAIRS])
        return Finding(
            message=f"{100 * found.astray / found.rows:.0f} % of the training pictures are mirrored with their points, and the points keep "
                    f"their numbers: what is left is named right then ({pairs} are each other's mirror image).",
            remedy="Exchange them as well, after the flip: `points = points[[1, 0, 2, ...]]`, by a list that names each point's mirror "
                   "image.",
            site=site, evidence=[
                f"three points turn the other way round in {found.astray} of {found.rows} training rows than in the others",
                f"{found.healed} of these fit what a baseline of the others says of the picture, once the two are exchanged",
                f"what is wanted: `{found.name}`"])
    fits = (f"A baseline that has learnt from the evaluation's rows does not fit {found.astray} of {found.rows} training rows (there "
            f"{100 * found.usual:.0f} % of those that it was not fitted on): {found.healed} of these fit once they are {found.how}")
    if found.series:
        return Finding(
            message=f"{100 * found.astray / found.rows:.0f} % of the training rows do not belong to what is wanted of them, and do once "
                    f"they are {found.how}: an augmentation makes one class of another, and the label stays as it was.",
            remedy="Leave out what changes what a row stands for (a sign, or a direction in time, that tells classes apart), or "
                   "exchange the labels with it.",
            site=site, evidence=[fits, f"what is wanted: `{found.name}`"])
    return Finding(
        message=f"{100 * found.astray / found.rows:.0f} % of the training pictures do not belong to what is wanted of them, and do once "
                f"they are {found.how}: a random motion is drawn for the picture, and what is wanted of it (class, box, mask) stays as "
                "it was.",
        remedy="Move both by one draw: `if flip: image, mask = image.flip(-1), mask.flip(-1)`, of a box `cx = 1 - cx` or `x0, x1 = width - "
               "x1, width - x0`; where a class has another one for its mirror image, exchange them or do not mirror.",
        site=site, evidence=[fits, f"what is wanted: `{found.name}`"])


def _of_other_lengths(seen: Observation, ragged: list[LengthFacts]) -> Finding:
    """Two parts of a batch that have their lengths in two orders."""
    rows, apart = sum(facts.rows for facts in ragged), sum(facts.apart for facts in ragged)
    first = next(facts for facts in ragged if facts.apart)
    names = [f"`{name}`" if not name.isdigit() else f"part {int(name) + 1}" for name in first.parts]
    return Finding(
        message=f"The rows of a batch and what belongs to them come in two orders: {names[0]} and {names[1]} have the same lengths, but "
                f"{100 * apart / rows:.0f} % of the rows are of another length in one than in the other.",
        remedy="Whatever reorders one part has to reorder all of them: `order = lengths.argsort(descending=True)`, then `tokens[order]`, "
               "`labels[order]` and `lengths[order]` alike. `pack_padded_sequence(..., enforce_sorted=False)` needs no order at all.",
        site=sourcing.apart(seen) or reading.place(seen, "collator", "getitem", "loader", "fit"),
        evidence=[f"rows compared: {rows}; of another length: {apart}",
                  "lengths of the first rows: " + "; ".join(f"{name} {', '.join(map(str, lengths))}"
                                                             for name, lengths in zip(names, first.example, strict=True)),
                  *sourcing.orders(seen)])


def _on_pieces(seen: Observation, rows: int, astray: int) -> Finding:
    """Labels of words that are laid on pieces of words."""
    return Finding(
        message="Labels are made for words and laid on pieces of words, one after the other: behind the first word that is cut into "
                f"pieces each label stands on another word's piece (in {astray} of {rows} rows with such words).",
        remedy="Ask the tokenizer which word a piece is of: `words = encoded.word_ids(i)`, then the label of `words[k]` for the first "
               "piece of each word and -100 for all others.",
        site=reading.place(seen, "collator.labels", "getitem.labels", "map.labels") or raised.made_by(seen, *raised.LABELS)
        or reading.place(seen, "labels.filled") or sourcing.line(seen, "labels", "made", "taken") or reading.place(seen, "loader", "fit"),
        evidence=[f"rows in which as many tokens have a label as there are words, but not those that begin one: {astray}"])


def _exchanged(seen: Observation, mixed: MixedFacts) -> Finding:
    """Mixup whose labels have each other's shares."""
    return Finding(
        message="Rows are mixed with others, and their labels have the shares the wrong way round: what is wanted most of a mixed row is "
                "the class of the row that it holds least of.",
        remedy="Give a row and its label the same share: `x = lam * x + (1 - lam) * x[order]` and `lam * loss(out, y) + (1 - lam) * "
               "loss(out, y[order])`.",
        site=reading.place(seen, "loss", "fit"),
        evidence=[(f"of the variance of {mixed.rows} mixed rows, their classes' means explain {mixed.told:.1%} by the shares of their "
                   f"labels, and {mixed.exchanged:.1%} by these exchanged")])


def _slipped(seen: Observation, batches: int) -> Finding:
    """Labels of words in rows that begin with a token of no word."""
    return Finding(
        message="Each label stands one token before the one that it belongs to: the rows begin with a token that is of no word, and their "
                "labels do not leave it out.",
        remedy="Give the tokens that frame a row a label that the loss leaves out, `labels = [-100] + labels + [-100]`, and the metric "
               "the same places.",
        site=reading.place(seen, "getitem.labels", "map.labels", "labels.framed") or sourcing.line(seen, "labels", "made", "taken")
        or reading.place(seen, "collator.labels", "loader", "fit"),
        evidence=[("batches in which every row begins with the same token and has a label there that varies, and labels follow from the "
                   f"tokens behind theirs more often than from their own: {batches}")])


def _collated(seen: Observation, collation: CollationFacts) -> Finding:
    """What a collator does that moves rows without their labels."""
    evidence = [f"rows that were compared before and after the collator: {collation.rows}; beside another row's label: {collation.astray}"]
    if collation.scattered:
        evidence.append(f"rows of a batch that hold parts of several rows of the dataset: {collation.scattered}")
    return Finding(
        message=f"The collator mixes rows up: {100 * collation.astray / collation.rows:.0f} % of the rows that it returns stand beside a "
                "label that is not theirs.",
        remedy="Whatever reorders rows has to reorder their labels with them (`order = ...; inputs, labels = inputs[order], "
               "labels[order]`), and what was laid out row by row is reshaped back with the rows first: `.view(rows, choices, -1)`.",
        site=reading.place(seen, "collator.labels", "collator", "loader"), evidence=evidence)
