"""Reading an exception: what it really says, where it was raised, what was in the batch. No check lives here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.checks import reading
from harness.checks.data_facts import BatchFacts, LoaderFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.checks.training_facts import ExceptionFacts

LABELS = ("labels", "label", "label_ids", "target", "targets", "y", "class", "sentiment", "category", "gold", "score", "tags", "ner_tags")
# What a model of the transformers library calls its main input, by modality.
INPUTS = ("input_ids", "inputs_embeds", "pixel_values", "input_features", "input_values")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_NAMED = re.compile(r"^\s*(?:[\w.]+\.)?\w*(?:Error|Exception|Warning)\d*: ", re.MULTILINE)
_GRAPH_FRAMES = re.compile(r'^\s*File "[^"]*", line \d+, in \S+\s*$\n?', re.MULTILINE)
_GRAPH_HEADS = re.compile(r"^(Graph execution error:|Detected at node .*|<stack traces unavailable>)\s*$\n?", re.MULTILINE)
_ARGUMENTS = re.compile(r"^\s*(?:Call arguments|Arguments) received by ", re.MULTILINE)
_CALLING = re.compile(r"^\s*Exception encountered when calling [^\n]*\n", re.MULTILINE)
_NODE = re.compile(r"^\s*\[\[\{\{(?:node|function_node) .*$|\{\{function_node [^}]*\}\}\s*", re.MULTILINE)
# Frames of a model's forward pass; Keras strips its own frames, and leaves those of its input checks.
_FORWARD = (r"/torch/nn/modules/module\.py:_call_impl$|/keras/src/(layers|models|ops)/|/tf_keras/src/layers"
            r"|/tf_keras/src/engine/(input_spec|base_layer)|/transformers/models/|/keras/src/backend/\w+/(nn|numpy|core)\.py:")
_CALLED = re.compile(r"Exception encountered when calling |Detected at node \S*/|of layer \"?'?[\w./-]+\"?'? is incompatible")


def core(message: str) -> str:
    """What an exception says, without the tracebacks, wrappers and argument lists that frameworks put around it."""
    text = _COLOUR.sub("", message)
    if "Original Traceback" in text or "in user code:" in text or "Traceback (most recent call last)" in text:
        starts = list(_NAMED.finditer(text))
        text = text[starts[-1].end():] if starts else text
    text = _GRAPH_HEADS.sub("", _GRAPH_FRAMES.sub("", text))
    text = _CALLING.sub("", text, count=1)
    arguments = _ARGUMENTS.search(text)
    text = text[: arguments.start()] if arguments else text
    return _NODE.sub("", text).strip()


def quote(error: ExceptionFacts, limit: int = 200) -> str:
    """Class and first line of what it says."""
    return f"{error.type}: {reading.first_line(core(error.message), limit)}"


def find(seen: Observation, patterns: Iterable[str], *, stages: Sequence[str] = (), forward: bool = False,
         types: Sequence[str] = ()) -> tuple[ExceptionFacts, re.Match[str]] | None:
    """The first exception that says one of `patterns`, with the match.

    `stages`: it must have been raised in one of these; `forward`: inside a model's forward pass; `types`: its class or a base.
    """
    for error in reading.raised(seen):
        if types and not {error.type, *error.bases} & set(types):
            continue
        if stages and error.stage not in stages:
            continue
        if forward and not in_forward(error):
            continue
        text = core(error.message)
        for pattern in patterns:
            match = re.search(pattern, text)
            if match:
                return error, match
    return None


def in_forward(error: ExceptionFacts) -> bool:
    """Whether it was raised inside a model's forward pass, before any loss."""
    if error.stage not in {"forward", "setup"}:
        return False
    return error.stage == "forward" or has_frame(error, _FORWARD) or _CALLED.search(_COLOUR.sub("", error.message)) is not None


def has_frame(error: ExceptionFacts, pattern: str) -> bool:
    """Whether a frame, written `path:function`, matches."""
    return any(re.search(pattern, f"{path}:{function}") for path, _, function in error.frames)


def innermost(error: ExceptionFacts) -> str:
    """The innermost frame as `path:function`, empty where there is none."""
    return f"{error.frames[-1][0]}:{error.frames[-1][2]}" if error.frames else ""


def train_loader(seen: Observation) -> LoaderFacts | None:
    """The first loader that training read from."""
    return next((loader for loader in seen.loaders if loader.role == "train"), None)


def made_by(seen: Observation, *columns: str | None) -> Site | None:
    """The script's own function that made the first of these columns that was made by one."""
    return next((seen.made[name] for name in columns if name in seen.made), None)


def built_by(seen: Observation, *columns: str | None) -> Site | None:
    """The line that made the dataset which the first of these columns came with."""
    return next((seen.built[name] for name in columns if name in seen.built), None)


def last_batch(seen: Observation, error: ExceptionFacts | None = None) -> BatchFacts | None:
    """The batch that was in work when it was raised: of the evaluation where it came out of that, else the latest of training."""
    batches = seen.eval_batches if error is not None and error.stage == "evaluation" else seen.batches
    return batches[-1] if batches else None


def column_names(seen: Observation) -> list[str]:
    """Every column name that is known of the batches and of the datasets under the loaders."""
    found = [name for loader in seen.loaders for name in loader.columns]
    found += [name for batch in (*seen.batches, *seen.eval_batches) for name in batch.columns]
    return list(dict.fromkeys(found))


def listing(names: Iterable[str], limit: int = 8) -> str:
    """`a`, `b` and `c`, at most `limit` of them."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > limit:
        return ", ".join(quoted[:limit]) + f" and {len(quoted) - limit} more"
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted)


def site_of(seen: Observation, error: ExceptionFacts, loader: LoaderFacts | None = None) -> Site | None:
    """The user's line that the error came out of.

    Where a library ran by itself from there (`trainer.train()`, `for batch in loader:`), the line that handed it the data is more use, if
    it is known.
    """
    ran = error.site is not None and re.search(r"\.(train|fit|evaluate|predict)\(|^(async )?for .* in |\bnext\(", error.site.source)
    if error.site is None or ran:
        made = reading.place(seen, "collator.made") if has_frame(error, r"data_collator\.py") else None
        if made is not None:
            return made
        handed = loader.site if loader is not None and loader.site is not None else reading.place(seen, "trainer")
        if handed is not None:
            return handed
    return error.site or reading.place(seen, "fit", "model")


def of_objects(seen: Observation) -> bool:
    """Whether an input is one table of Python's objects, and no column of rows that differ in length."""
    return any(loader.objects is not None for loader in seen.loaders)
