"""Shapes, dtypes and devices inside the model."""

from __future__ import annotations

import re
from typing import ClassVar, NamedTuple

from harness.catalog.schema import Stage
from harness.checks import devices, raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.training_facts import ExceptionFacts

_TORCH_SHAPES = (
    r"mat1 and mat2 shapes cannot be multiplied \((?P<rows>\d+)x(?P<got>\d+) and (?P<wants>\d+)x(?P<out>\d+)\)",
    r"expected input\[(?P<input>[\d, ]+)\] to have (?P<wants>\d+) channels, but got (?P<got>\d+) channels",
    r"Expected hidden(?:\[\d\])? size \((?P<wants>[\d, ]+)\), got [\[(](?P<got>[\d, ]+)[\])]",
    r"input\.size\(-1\) must be equal to input_size\. Expected (?P<wants>\d+), got (?P<got>\d+)",
    r"running_mean should contain (?P<got>\d+) elements not (?P<wants>\d+)",
    r"was expecting embedding dimension of (?P<wants>\d+), but got (?P<got>\d+)",
    r"Given normalized_shape=\[(?P<wants>[\d, ]+)\], expected input with shape .*, but got input of ?size ?\[(?P<got>[\d, ]+)\]",
    r"Expected \dD \(unbatched\) or \dD \(batched\) input to \w+, but got input of size: \[(?P<got>[\d, ]*)\]",
    r"[Ee]xpected .*\d+D .*(?:input|tensor).*(?:got|but) ",
    r"shape '\[(?P<wants>[-\d, ]+)\]' is invalid for input of size (?P<got>\d+)",
    r"view size is not compatible with input tensor's size and stride",
    r"size of tensor a \((?P<got>\d+)\) must match the size of tensor b \((?P<wants>\d+)\)",
    r"expanded size of the tensor \((?P<got>\d+)\) must match the existing size \((?P<wants>\d+)\)",
    r"Sizes of tensors must match except in dimension \d+\. Expected size (?P<wants>\d+) but got size (?P<got>\d+)",
    r"Expected size for first two dimensions of batch2 tensor to be: \[(?P<wants>[\d, ]+)\] but got: \[(?P<got>[\d, ]+)\]",
    r"Input image size \((?P<got>[\d*]+)\) doesn't match model \((?P<wants>[\d*]+)\)",
    r"too many indices for tensor of dimension (?P<got>\d)", r"not enough values to unpack \(expected (?P<wants>\d), got (?P<got>\d)\)",
    r"too many values to unpack \(expected (?P<wants>\d)(?:, got (?P<got>\d))?\)",
    r"The shape of the \w+ \w*mask\w*", r"Kernel size can't be greater than actual input size", r"Output size is too small",
)
_DTYPES = (r"mat1 and mat2 must have the same dtype, but got (?P<got>\w+) and (?P<wants>\w+)",
           r"Input type \((?P<got>[\w. ]+)\) and (?:bias|weight) type \((?P<wants>[\w. ]+)\) should be the same",
           r"expected (?:m1 and m2 to have the same dtype|scalar type (?P<wants>\w+) but found (?P<got>\w+))",
           r"argument #1 'indices' to have one of the following scalar types: (?P<wants>Long), Int; but got torch\.(?P<got>\w+)Tensor")
_ONE_ROW = (r"Expected more than 1 value per channel when training, got input size torch\.Size\((?P<got>\[[\d, ]+\])\)",)
_KERAS_SHAPES = (
    r"expected axis (?P<axis>-?\d+) of input shape to have value (?P<wants>\d+), but received input with shape (?P<got>\([^)]*\))",
    r"is incompatible with the layer: expected (?P<wants>\w+=[^,]+(?:, [\d)None]+)*), found (?P<got>\w+=[^\n]*)",
    r"Invalid input shape for input .*Expected shape (?P<wants>\([^)]*\)), but input has incompatible shape (?P<got>\([^)]*\))",
    r"Dimensions must be equal, but are (?P<got>\d+) and (?P<wants>\d+)", (r"Matrix size-incompatible: In\[0\]: (?P<got>\S+), In\[1\]: "
                                                                          r"(?P<wants>\S+)"),
    r"[Ii]ncompatible shapes: (?P<got>\[[\d,]+\]) vs\. (?P<wants>\[[\d,]+\])", r"total size of (?:the tensor|new array) must be unchanged",
    r"requires inputs with matching shapes except for the concatenation axis",
    r"Cannot reshape a tensor with", r"Computed output size would be zero or negative", r"One of the dimensions in the output is <= 0",
    r"Negative dimension size caused by",
    r"Inputs have incompatible shapes",
)
_KERAS_LOSS = r"keras/(src/)?(losses|trainers/compile_utils|engine/compile_utils|metrics)|SparseSoftmax|hf_compute_loss"


class _Mend(NamedTuple):
    """What is wrong and what mends it; `in_layer`: a layer of another size, on the line that builds it."""

    message: str
    remedy: str
    in_layer: bool = False


class ShapeInside(Check):
    """A tensor does not fit the layer that it is given to: its shape, its dtype or its device.

    Source: PyTorch docs, "Shape" sections of torch.nn; Keras docs, `input_spec`.
    """

    code: ClassVar[str] = "F103"
    stage: ClassVar[Stage] = "forward"
    requires: ClassVar[tuple[str, ...]] = ("D101", "D102", "B101", "B103", "E512", "F101", "F102", "L203", "L210")
    messages: ClassVar[tuple[str, ...]] = (*_ONE_ROW, *_DTYPES, *devices.MESSAGES, *_TORCH_SHAPES, *_KERAS_SHAPES)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from exceptions raised inside a forward pass, before any loss; from one about devices wherever it was raised."""
        apart = raised.find(seen, devices.MESSAGES)
        if apart is not None and apart[0].during == "script":
            message, remedy = devices.mend(*apart)
            error = apart[0]
            return Finding(message=message, remedy=remedy, site=error.called or error.site, evidence=_evidence(error), stage=error.stage)
        for patterns, describe in ((_ONE_ROW, _one_row), (_DTYPES, _dtype), (_TORCH_SHAPES, _shape), (_KERAS_SHAPES, _keras)):
            hit = raised.find(seen, patterns, forward=patterns is not _KERAS_SHAPES)
            if hit is None:
                continue
            error, match = hit
            if error.stage in {"loss", "backward", "step", "evaluation"} or raised.has_frame(error, _KERAS_LOSS):
                continue
            message, remedy, in_layer = describe(match)
            evidence = _evidence(error)
            short = _shorter_batch(seen, error)
            if short is not None:
                evidence.append(short)
                remedy = ("Take the number of rows from the input, `x.size(0)`, wherever it is written as a number, or leave out the "
                          "shorter batch: `DataLoader(..., drop_last=True)`.")
            site = error.site
            if describe in {_shape, _keras} and (site is None or site.function not in {"forward", "call"}):
                # Layers put together without a forward() of the script's own: they are mended where they are built.
                site = (reading.place(seen, "layer") if error.during == "script" else None) or reading.place(seen, "model") or site
            if in_layer and _in_order(error) and error.during == "script":
                site = reading.place(seen, "layer") or site
            if describe is _one_row and short is not None:
                site = reading.place(seen, "loader") or site
                remedy = f"{describe(match).remedy} Or choose a batch size that leaves no row over."
            if site is not error.site and error.site is not None:
                evidence.append(f"raised at line {error.site.line}: {error.site.source}")
            return Finding(message=message, remedy=remedy, site=site, evidence=evidence)
        if seen.exception is None and not seen.batches and not seen.steps:
            raise NotJudged("no forward pass was seen")
        return None


def _evidence(error: ExceptionFacts) -> list[str]:
    evidence = [raised.quote(error)]
    if error.module:
        shapes = ", ".join(f"{item.dtype}{list(item.shape)}" for item in error.module_inputs)
        evidence.append(f"the layer is {error.module}" + (f", its input {shapes}" if shapes else ""))
    return evidence


def _in_order(error: ExceptionFacts) -> bool:
    """Whether the input has the axes that such a layer is used with: rows of features, or images and series with their channels second."""
    axes = {"Linear": 2, "Conv1d": 3, "Conv2d": 4, "Conv3d": 5}
    layer = re.search(r"\b(Linear|Conv[123]d)\(", error.module)
    return layer is not None and any(len(given.shape) == axes[layer[1]] for given in error.module_inputs[:1])


def _shorter_batch(seen: Observation, error: ExceptionFacts) -> str | None:
    """That this was the last, shorter batch of a pass over the data, where earlier ones were trained on and the sizes say so."""
    loader = next((loader for loader in seen.loaders if loader.role == "train" and loader.batch_size and loader.rows), None)
    if loader is None or loader.batch_size is None or loader.rows is None or not seen.steps:
        return None
    rest = loader.rows % loader.batch_size
    sizes = {int(number) for number in re.findall(r"\d+", error.message)}
    if not rest or loader.batch_size not in sizes or not any(size and size % rest == 0 for size in sizes - {loader.batch_size}):
        return None
    return f"Batches of {loader.batch_size} rows went through; the last of a pass over {loader.rows} rows has {rest}."


def _shape(match: re.Match[str]) -> _Mend:
    text, groups = match[0], match.groupdict()
    wants, got = groups.get("wants"), groups.get("got")
    if "mat1 and mat2" in text:
        return _Mend(f"A linear layer takes {wants} features, and {got} arrive (a batch of {groups['rows']} rows).",
                     f"Make the layer as wide as its input, `nn.Linear({got}, {groups['out']})` in place of `nn.Linear({wants}, "
                     f"{groups['out']})`, or bring the input to {wants} features (`x.flatten(1)` keeps the batch axis).", in_layer=True)
    if "channels" in text:
        sizes = [int(part) for part in groups["input"].split(",")]
        if len(sizes) == 4 and sizes[-1] == int(wants or 0):
            return _Mend(f"A convolution takes {wants} channels on axis 1, and the images have theirs on the last axis.",
                         "Bring the channels to the front: `images = images.permute(0, 3, 1, 2)`.")
        return _Mend(f"A convolution takes {wants} channels, and {got} arrive (input {sizes}).",
                     f"Build the layer for them, `nn.Conv2d({got}, ...)`, or change the images, for example "
                     f"`transforms.Grayscale({wants})`.", in_layer=True)
    if "is invalid for input" in text:
        return _Mend(f"A view to [{wants}] does not divide a tensor of {got} elements.",
                     "Keep the batch axis and let the rest follow: `x.flatten(1)`.")
    if "stride" in text:
        return _Mend("A view is asked of a tensor that is not contiguous (after a transpose or permute).",
                     "Use `x.reshape(...)`, which copies.")
    if "Input image size" in text:
        return _Mend(f"The model was built for images of {wants}, and they are {got}.",
                     f"Resize them in the transform, `transforms.Resize(({(wants or '').replace('*', ', ')}))`, or load with the model's "
                     "processor.")
    if "to unpack" in text:
        many = "fewer" if "not enough" in text else "more"
        return _Mend(f"The model takes its input apart into {wants} axes, and the tensor that arrives has {many}.",
                     "Print the input's shape: it should be (rows, length) for token ids. Tokenizing row by row with `return_tensors` adds "
                     "an axis to each row; leave it out, the collator makes the tensors.")
    if wants and got:
        return _Mend(f"Sizes do not fit inside the model: {wants} is wanted, and {got} arrives.",
                     "Print the shapes on that line and make the layer fit its input (`in_features`, `input_size` or `num_features` = "
                     f"{got}), or reshape the input to {wants}.", in_layer=True)
    return _Mend("The shape of a tensor does not fit the operation it is given to.",
                 "Print `x.shape` before that line; most often the batch or channel axis is missing: `x.unsqueeze(0)` or `x.unsqueeze(1)`.")


def _dtype(match: re.Match[str]) -> _Mend:
    got, wants = match.groupdict().get("got"), match.groupdict().get("wants")
    if "indices" in match[0]:
        return _Mend(f"An embedding looks up whole numbers, and {got} numbers arrive.", "Convert the ids: `ids = ids.long()`.")
    cast = "x = x.float()" if (wants or "Float").lower() == "float" else f"x = x.to({wants})"
    return _Mend(f"The input's numbers are {got or 'of another type'}, the layer's weights are {wants or 'float'}.",
                 f"Convert the input once, where it is made: `{cast}` (NumPy's default is float64: `array.astype(\"float32\")`; scale "
                 "images to [0, 1]).")


def _one_row(match: re.Match[str]) -> _Mend:
    return _Mend(f"Batch normalisation got a batch of one row ({match['got']}), of which no variance can be taken.",
                 "Leave out the last, shorter batch: `DataLoader(..., drop_last=True)`.")


def _keras(match: re.Match[str]) -> _Mend:
    groups = match.groupdict()
    wants, got = groups.get("wants"), groups.get("got")
    if "zero or negative" in match[0] or "<= 0" in match[0] or "Negative dimension" in match[0]:
        return _Mend("The images have shrunk to nothing before this layer.",
                     "Use `padding=\"same\"`, a smaller kernel or one pooling layer less, or larger images.")
    if wants and got:
        axis = f" on axis {groups['axis']}" if groups.get("axis") else ""
        return _Mend(f"A layer was built for {wants}{axis}, and {got.strip()} arrives.",
                     "Make the input fit: set `keras.Input(shape=...)` to the shape of one row, add the missing axis (`x[..., None]`), or "
                     f"flatten (`layers.Flatten()`) before a dense layer that wants {wants}.")
    return _Mend("Tensors whose shapes do not fit are combined inside the model.", "Print `model.summary()` and make the two shapes equal.")
