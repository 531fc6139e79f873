"""AutoGraph, and functions of ours that stand around a script's own in what TensorFlow traces."""

from __future__ import annotations

import sys
from typing import Any

_GENERATED = "__autograph_generated_file"


def as_called(original: Any) -> Any:
    """`original` as the caller of the function that asks would have run it: converted if that caller is itself made by AutoGraph.

    For wrappers that are marked `do_not_convert`. tf_keras calls a model's step from code that is not converted, and so leaves the step
    as it is, except with `jit_compile=True`; Keras 3 never converts it.
    """
    import tensorflow as tf
    from tensorflow.python.autograph.core import ag_ctx

    frame = sys._getframe(2)
    while frame.f_back is not None and "/autograph/" in frame.f_code.co_filename.replace("\\", "/"):
        frame = frame.f_back
    if _GENERATED not in frame.f_code.co_filename:
        return original
    return tf.__internal__.autograph.tf_convert(original, ag_ctx.ControlStatusCtx(status=ag_ctx.Status.ENABLED))
