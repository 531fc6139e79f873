"""Files that a watched script writes: a training that was cut short must not overwrite what a whole one has saved.

What `torch.save` is to put under a name goes to a scratch folder, and `torch.load` of that name reads it from there. A Trainer's
`output_dir` is a scratch folder while it is watched. `torch.compile` gives the model back as it is: compiling would cost more than all
steps that are watched, and hides the calls.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher


class Files:
    """Wraps `torch.save`, `torch.load` and `torch.compile`."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._saved: dict[str, str] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def attach(self) -> None:
        patches, torch = self._watch.session.patches, self._watch.torch
        patches.replace(torch, "save", self._wrap_save)
        patches.replace(torch, "load", self._wrap_load)
        patches.replace(torch, "compile", self._wrap_compile)
        patches.replace(torch.nn.Module, "compile", self._wrap_compile_module)

    def scratch(self, name: str) -> str:
        """A path in the scratch folder, which is removed with this watch, or at the latest when Python ends."""
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="watched-", ignore_cleanup_errors=True)
        return str(Path(self._folder.name) / f"{len(self._saved)}-{Path(name).name}")

    def _wrap_save(self, original: Any) -> Any:
        def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
            if self._watch.session.active and isinstance(f, str | os.PathLike):
                key = os.path.abspath(os.fspath(f))
                self._saved[key] = f = self._saved.get(key) or self.scratch(key)
            return original(obj, f, *args, **kwargs)

        return save

    def _wrap_load(self, original: Any) -> Any:
        def load(f: Any, *args: Any, **kwargs: Any) -> Any:
            if self._watch.session.active and isinstance(f, str | os.PathLike):
                f = self._saved.get(os.path.abspath(os.fspath(f)), f)
            return original(f, *args, **kwargs)

        return load

    def _wrap_compile(self, original: Any) -> Any:
        def compile(model: Any = None, **kwargs: Any) -> Any:  # noqa: A001
            if not self._watch.session.active:
                return original(model, **kwargs)
            return model if model is not None else lambda function: function

        return compile

    def _wrap_compile_module(self, original: Any) -> Any:
        def compile(module: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A001
            return None if self._watch.session.active else original(module, *args, **kwargs)

        return compile
