"""Label maps that were resized as pictures are: between two classes there stands a third, whose number lies between theirs.

The numbers of classes have no order, so where a field of class 4 ends at the ground, 0, there is no reason for a line of 2s along the
border. An interpolation puts it there, at every border, and whatever the two classes are.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.data_facts import ResizedFacts
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import site

_ROWS, _SIDE, _MOST = 256, 8, 256
_WIDEST = 2  # of a line between two fields, in pixels
_RESIZING = ("resize", "interpolate", "zoom", "resize_with_pad", "smart_resize", "rotate", "affine", "warpAffine", "Resize", "rescale",
             "thumbnail", "map_coordinates", "grid_sample", "warp", "affine_transform", "resize_images")
_WANTED = ("mask", "label", "seg", "target", "annot", "truth", "class")

Array = np.ndarray[Any, Any]


class LabelMaps:
    """Told of the columns of batches that are trained on; counts borders in the first rows of them."""

    def __init__(self) -> None:
        self._rows = self._direct = self._outside = self._near = 0
        self._between: Counter[int] = Counter()

    def trained(self, columns: Mapping[str, Any]) -> None:
        """A training step is given these, by name. The first of several is what goes into the model."""
        for value in [*columns.values()][len(columns) > 1:] if self._rows < _ROWS else ():
            maps = _label_maps(value)
            if maps is not None:
                self._rows += len(maps)
                self._count(maps)
                self._count(maps.transpose(0, 2, 1))

    def _count(self, maps: Array) -> None:
        """Borders along the last axis, of fields at least two pixels wide on either side."""
        for width in range(_WIDEST + 1):
            length = maps.shape[2] - width - 3
            if length <= 0:
                return
            left, right = maps[:, :, 1:1 + length], maps[:, :, 2 + width:2 + width + length]
            border = (left == maps[:, :, :length]) & (right == maps[:, :, 3 + width:3 + width + length]) & (left != right)
            low, high = np.minimum(left, right), np.maximum(left, right)
            apart = border & (high - low > 1)
            if not width:
                self._direct += int(apart.sum())
                self._near += int((border & (high - low == 1)).sum())
                continue
            line = np.stack([maps[:, :, 2 + place:2 + place + length] for place in range(width)])
            between = apart & ((line > low) & (line < high)).all(0)
            outside = border & ((line < low) | (line > high)).all(0)
            self._between.update(line[0][between].tolist())
            self._outside += int(outside.sum())

    def facts(self, script: Path) -> ResizedFacts | None:
        """What was counted; None where no label maps came."""
        if not self._rows:
            return None
        return ResizedFacts(rows=self._rows, direct=self._direct, near=self._near, outside=self._outside,
                            between=self._between.most_common(8), site=site(_resized(script)))


def _label_maps(value: Any) -> Array | None:
    """`int[rows, height, width]` of at least three classes, as it comes or with a last or second axis of one."""
    shape = tuple(getattr(value, "shape", ()))
    if len(shape) not in (3, 4) or (len(shape) == 4 and 1 not in (shape[1], shape[3])):
        return None
    came = tensors.array(value)
    if came is None:
        return None
    came = came if came.ndim == 3 else came[..., 0] if came.shape[3] == 1 else came[:, 0]
    if min(came.shape[1:]) < _SIDE or came.dtype.kind not in "iuf":
        return None
    first: Array = came[:_ROWS].astype(np.float64)
    if not np.isfinite(first).all() or (first != np.round(first)).any() or float(np.abs(first).max()) > _MOST:
        return None
    return first.astype(np.int64) if len(np.unique(first)) > 2 else None


def _resized(script: Path) -> tuple[str, int, str] | None:
    """Where something that is called like labels is resized, and not by its nearest neighbours; or what comes of it is called so."""
    tree = parsed.tree(str(script))
    kept = {id(node.value): node.targets for node in ast.walk(tree) if isinstance(node, ast.Assign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in _RESIZING:
            parts = [*node.args, *(word.value for word in node.keywords), node.func, *kept.get(id(node), [])]
            text = " ".join(ast.unparse(part) for part in parts).lower()
            if any(word in text for word in _WANTED) and "nearest" not in text and "order=0" not in ast.unparse(node).lower():
                return str(script), node.lineno, ""
    return None
