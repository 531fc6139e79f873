"""A batch as facts: its columns, its labels, and its texts where a tokenizer is at hand."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import BatchFacts, LayoutFacts
from harness.checks.tensor_facts import TensorFacts
from harness.frameworks.watch import fills, layouts, leaks, lengths, pieces, slipped, stored, tensors, written
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_TOKENIZERS = ("Tokenizer", "BertWordPieceTokenizer", "ByteLevelBPETokenizer", "BertTokenizer", "BertTokenizerFast",
               "PreTrainedTokenizerFast")
LABELS = ("labels", "label", "label_ids", "targets", "target", "y", "target_values")
IGNORED = -100
_TEXTS, _PIECED = 4, 32
_HIDDEN = 0.5  # of the tokens, that are asked for at most
_THE_SAME = 0.9
_COLUMNS = 24


def columns_of(batch: Any) -> dict[str, Any]:
    """The parts of a batch by name; positions as names where it is a sequence, `0` where it is one tensor."""
    if isinstance(batch, Mapping) or (hasattr(batch, "keys") and hasattr(batch, "__getitem__")):
        return {str(key): batch[key] for key in list(batch.keys())[:_COLUMNS]}
    if isinstance(batch, list | tuple):
        found: dict[str, Any] = {}
        for number, part in enumerate(batch[:_COLUMNS]):
            if isinstance(part, Mapping):
                found |= {str(key): value for key, value in part.items()}
            else:
                found[str(number)] = part
        return found
    return {"0": batch}


def labels_in(batch: Any, target: str | None = None) -> Any:
    """The labels of a batch: under one of their usual names, or `target`, the part that losses were seen to be given, or the last of at
    least two parts. None where there are none."""
    columns = columns_of(batch)
    for name in (*LABELS, target):
        if name is not None and name in columns:
            return columns[name]
    if isinstance(batch, list | tuple) and len(batch) > 1 and tensors.is_tensor(batch[-1]):
        return batch[-1]
    return None


def named(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What a model is called with, by the names of its `forward`'s parameters."""
    try:
        names = [name for name in inspect.signature(module.forward).parameters if name != "self"]
    except (TypeError, ValueError):
        names = []
    names += [str(number) for number in range(len(names), len(args))]
    found: dict[str, Any] = {}
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        if isinstance(value, Mapping):
            found |= {str(key): item for key, item in value.items()}
        elif value is not None:
            found[name] = value
    return found


def facts(batch: Any, tokenizers: list[Any], target: str | None = None, *, config: Any = None) -> BatchFacts:
    """Facts of a batch, whose labels are its part `target` where they have no name; decoded with the first of the tokenizers whose
    vocabulary the ids fit. `config`: of the model that is given it, if it has one."""
    columns = columns_of(batch)
    seen = BatchFacts(filled_targets=_filled_targets(columns.get("labels"), config))
    for name, value in columns.items():
        fact = tensors.facts(value)
        if fact is None and isinstance(value, list | tuple):
            fact = TensorFacts(shape=(len(value),), dtype=f"list of {type(value[0]).__name__}" if value else "list")
        if fact is not None:
            seen.columns[name] = fact
    labels = labels_in(batch, target)
    if labels is not None:
        seen.labels = tensors.whole_labels(labels)
        _wide_labels(seen, tensors.array(labels))
        seen.leak = leaks.measure(columns, labels)
    seen.inputs_key = inputs_key(columns, labels)
    seen.layout, seen.lengths = layout_of(columns, seen.inputs_key), lengths.measure(columns)
    seen.has_attention_mask = "attention_mask" in columns if "input_ids" in columns else None
    ids = columns.get("input_ids")
    data = tensors.array(ids) if ids is not None else None
    if data is not None and data.ndim == 2:
        seen.longest = int(data.shape[1])
        seen.slipped = _slipped(data, tensors.array(columns.get("attention_mask")), tensors.array(labels))
        seen.unhidden, seen.copied = _unhidden(data, tensors.array(labels)), _copied(data, tensors.array(labels))
        _labels_of_padding(seen, data, tensors.array(columns.get("attention_mask")), tensors.array(labels))
        tokenizer = next((found for found in reversed(tokenizers) if data.size and int(data.max()) < len(found)), None)
        if tokenizer is not None:
            _read_texts(seen, data, columns.get("attention_mask"), tokenizer)
            wanted = tensors.array(labels)
            _ends(seen, data, tensors.array(columns.get("attention_mask")), wanted, tokenizer)
            if wanted is not None and wanted.shape == data.shape and wanted.dtype.kind in "iu":
                rows = [tokenizer.convert_ids_to_tokens([int(number) for number in row if number >= 0]) for row in data[:_PIECED]]
                found = pieces.astray(rows, wanted != IGNORED, set(tokenizer.all_special_tokens))
                seen.pieced_rows, seen.pieced_astray = found
    return seen


def layout_of(columns: dict[str, Any], name: str | None) -> LayoutFacts | None:
    """How the images or series in a column lie, where that is not as their axes say; else None."""
    images = tensors.array(columns[name]) if name is not None else None
    return layouts.facts(images) if images is not None else None


def _slipped(ids: np.ndarray[Any, Any], mask: Any, labels: Any) -> bool | None:
    return slipped.before(ids, mask, labels) if labels is not None and labels.dtype.kind in "iu" else None


def _labels_of_padding(seen: BatchFacts, ids: np.ndarray[Any, Any], mask: Any, labels: Any) -> None:
    """Labels of tokens that fill rows up, where these are asked for like any other.

    A language model's are its own ids, each asked for from the place before it; to end a text with what fills it up is no fault of those.
    """
    if mask is None or labels is None or not mask.shape == labels.shape == ids.shape or labels.dtype.kind not in "iu":
        return
    counted, hidden = labels != IGNORED, mask == 0
    shown = counted & ~hidden
    if not shown.any():
        return
    own = (labels == ids)[shown].mean() >= _THE_SAME
    if own:
        filled = hidden & counted
        if len(np.unique(labels[filled])) <= 1 and (labels == ids)[filled].all():
            seen.token_labels, seen.filled_labels, seen.echoed = int(counted[:, 1:].sum()), int(filled[:, 1:].sum()), True
            seen.filled_label = int(labels[filled][0]) if filled.any() else None
        return
    seen.token_labels = int(counted.sum())
    found = np.unique(labels[hidden & counted])
    # A label that nothing but padding has is a class of its own, and may be left out by hand.
    if len(found) == 1 and (labels[shown] == found[0]).any():
        seen.filled_labels, seen.filled_label = int((hidden & counted).sum()), int(found[0])


def _unhidden(ids: np.ndarray[Any, Any], labels: Any) -> int:
    """How many tokens are asked for, if all of them stand there, in the same place, and most of the others are not asked for."""
    if labels is None or labels.shape != ids.shape or labels.dtype.kind not in "iu":
        return 0
    asked = labels != IGNORED
    return int(asked.sum()) if 0 < asked.mean() < _HIDDEN and (ids == labels)[asked].all() else 0


def _copied(ids: np.ndarray[Any, Any], labels: Any) -> float:
    """Of the tokens that are asked for, the share that stands in the same place of the inputs, if few are not asked for."""
    if labels is None or labels.shape != ids.shape or labels.dtype.kind not in "iu":
        return 0.0
    asked = labels != IGNORED
    return float((ids == labels)[asked].mean()) if asked.mean() > _HIDDEN else 0.0


def _ends(seen: BatchFacts, ids: np.ndarray[Any, Any], mask: Any, labels: Any, tokenizer: Any) -> None:
    """Ends of texts, of a tokenizer that pads with the same token, and whether the loss leaves them out as if they were padding."""
    end = getattr(tokenizer, "eos_token_id", None)
    if end is None or tokenizer.pad_token_id != end or mask is None or labels is None or not mask.shape == labels.shape == ids.shape:
        return
    labelled = labels != IGNORED
    if not labelled.any() or (labels == ids)[labelled].mean() < _THE_SAME:
        return  # tags of tokens, say, and no language model's
    ended = (ids == end)[:, 1:] & (mask != 0)[:, 1:] & labelled[:, :-1]
    seen.ends, seen.ends_left_out = int(ended.sum()), int((ended & (labels[:, 1:] == IGNORED)).sum())


def _wide_labels(seen: BatchFacts, labels: Any) -> None:
    """Labels of which a row has several, as tokens have."""
    if labels is not None and labels.ndim > 1 and labels.shape[1] > 1 and labels.dtype.kind in "iu":
        counted = labels[labels != IGNORED]
        seen.label_positions = int(counted.size)
        seen.one_label = int(counted.flat[0]) if counted.size and (counted == counted.flat[0]).all() else None


def as_called(seen: BatchFacts, given: dict[str, Any], tokenizers: list[Any], config: Any = None) -> None:
    """Complete the facts of a batch by what a model was called with, `given` by name: whether padding is masked is decided there.

    `config`: the model's, which may know the padding's id where no tokenizer does.
    """
    if not tensors.is_tensor(given.get("input_ids")):
        return
    called = facts(given, tokenizers)
    seen.filled_targets = _filled_targets(given.get("labels"), config)
    seen.has_attention_mask, seen.has_padding, seen.padding_masked = called.has_attention_mask, called.has_padding, called.padding_masked
    seen.texts, seen.unknown_share, seen.longest = seen.texts or called.texts, called.unknown_share, called.longest
    if fill(seen, given, config):
        seen.has_attention_mask = given.get("attention_mask") is not None


def _filled_targets(given: Any, config: Any) -> float:
    """Of the labels of an encoder-decoder, int[rows, length] without any that is left out, the share at the ends of rows that has the id
    of the padding."""
    pad, end = getattr(config, "pad_token_id", None), getattr(config, "eos_token_id", None)
    labels = tensors.array(given)
    if labels is None or labels.ndim != 2 or labels.dtype.kind not in "iu" or not labels.size or pad is None or pad == end:
        return 0.0
    if not getattr(config, "is_encoder_decoder", False) or (labels == IGNORED).any():
        return 0.0
    lengths = labels.shape[1] - np.argmax((labels != pad)[:, ::-1], axis=1)
    return float(1 - lengths.mean() / labels.shape[1]) if (labels != pad).any(1).all() else 0.0


def fill(seen: BatchFacts, given: dict[str, Any], config: Any) -> bool:
    """Note where the padding id stands that a model's configuration knows, if no tokenizer told of it; whether there is such an id."""
    pad, ids = getattr(config, "pad_token_id", None), tensors.array(given.get("input_ids"))
    if seen.has_padding is not None or not isinstance(pad, int) or ids is None or ids.ndim != 2 or ids.dtype.kind not in "iu":
        return False
    seen.fill = fills.measure(ids, pad)
    return True


def inputs_key(columns: dict[str, Any], labels: Any) -> str | None:
    """The part of a batch that a model works on: under one of the usual names, else the first tensor that is not the labels."""
    for name in ("input_ids", "pixel_values", "input_values", "input_features"):
        if name in columns:
            return name
    return next((name for name, value in columns.items() if value is not labels and tensors.is_tensor(value)), None)


def _read_texts(seen: BatchFacts, ids: np.ndarray[Any, Any], mask: Any, tokenizer: Any) -> None:
    # What is no id at all (-100 as filler, say) has no text, and tokenizers raise at it.
    seen.texts = [str(tokenizer.decode([number for number in row if number >= 0], skip_special_tokens=False))[:400]
                  for row in ids[:_TEXTS].tolist()]
    pad, unknown = tokenizer.pad_token_id, getattr(tokenizer, "unk_token_id", None)
    special = {number for number in tokenizer.all_special_ids if number != unknown}
    plain = ~np.isin(ids, list(special))
    if unknown is not None and plain.any():
        seen.unknown_share = float((ids[plain] == unknown).mean())
    if pad is None or pad == getattr(tokenizer, "eos_token_id", None):
        return
    padding = ids == pad
    seen.has_padding = bool(padding.any())
    shown = tensors.array(mask) if mask is not None else None
    if shown is not None and shown.shape == ids.shape:
        seen.padding_masked = bool((shown[padding] == 0).all())


def places(session: WatchSession, **functions: Any) -> None:
    """Where functions of the script's own that make batches are written, and (`NAME.labels`, `NAME.mask`) where in them these are made."""
    padded = site(written.assigned("pad_token", session.script, session.sites))
    if padded is not None:
        session.site("pad_token", padded)
    session.noted("labels.filled", stored.filled("labels", session.script, session.sites))
    tokenizers = (written.built(kind, session.script, session.sites) for kind in _TOKENIZERS)
    tokenizer = next((place for place in tokenizers if place is not None), None)
    if tokenizer is not None:
        session.site("vocabulary", site(tokenizer))
    session.noted("sampler", written.built("WeightedRandomSampler", session.script, session.sites))
    session.noted("labels.framed", written.framed(session.script))
    for name, made in functions.items():
        code = _code_of(made)
        if code is not None and session.sites.is_own(code.co_filename):
            place = code.co_filename, code.co_firstlineno, code.co_name
            session.site(name, site(place))
            kept = written.keyed("labels", session.script)  # by what a row was made of beforehand
            labels = written.column(code, LABELS, session.sites)
            session.site(f"{name}.labels", site(labels or kept or place))
            session.noted(f"{name}.filler", written.filler(labels))
            session.noted(f"{name}.mask", written.column(code, ("attention_mask",), session.sites))
            session.noted(f"{name}.decoder", written.column(code, ("decoder_input_ids",), session.sites, first=True))
        elif code is not None and not hasattr(made, "__code__"):
            kind = type(getattr(made, "data_collator", made)).__name__
            session.site(f"{name}.made", site(written.built(kind, session.script, session.sites)))


def _code_of(made: Any) -> Any:
    """The code of a function, or of an object that is called as one; behind a Trainer's wrapper the collator's own. None for others."""
    made = getattr(made, "data_collator", made)
    function = made if hasattr(made, "__code__") else type(made).__call__ if callable(made) else None
    return getattr(function, "__code__", None)
