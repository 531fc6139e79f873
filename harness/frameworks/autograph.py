"""AutoGraph, and functions of ours that stand around a script's own in what TensorFlow traces."""

from __future__ import annotations

import sys
from typing import Any

GENERATED = "__autograph_generated_file"


def call(original: Any, *args: Any, **kwargs: Any) -> Any:
    """`original`, called as the caller of the function that asks would have called it; that function is marked `do_not_convert`.

    Code that AutoGraph made converts what it calls. Other code does not, but layers further in look up whether they are to convert
    themselves, which the mark has switched off. tf_keras calls a model's step from code that is not converted, except with
    `jit_compile=True`; Keras 3 never converts it.
    """
    import tensorflow as tf
    from tensorflow.python.autograph.core import ag_ctx

    frame = sys._getframe(2)
    while frame.f_back is not None and "/autograph/" in frame.f_code.co_filename.replace("\\", "/"):
        frame = frame.f_back
    if GENERATED in frame.f_code.co_filename:
        converted = tf.__internal__.autograph.tf_convert(original, ag_ctx.ControlStatusCtx(status=ag_ctx.Status.ENABLED))
        return converted(*args, **kwargs)
    marked = ag_ctx._control_ctx()[-2:-1]  # the innermost is the mark's own
    with ag_ctx.ControlStatusCtx(status=marked[0].status if marked else ag_ctx.Status.UNSPECIFIED):
        return original(*args, **kwargs)
