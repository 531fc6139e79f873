"""The ids of a tokenizer beside those of the vocabulary that a checkpoint was trained with."""

from __future__ import annotations

import functools
import json
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.checks.data_facts import VocabularyFacts
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import Place, kept

_KEPT, _SHOWN = 20, 4
_SPARE = 1024  # rows that a table may have beyond its tokens, to be of a round size


class Vocabularies:
    """Hooks the tokenizers of transformers: where they are made, and which are called."""

    def __init__(self, session: WatchSession, known: list[Any]) -> None:
        self._session, self._known = session, known
        self._made: weakref.WeakKeyDictionary[Any, tuple[Place, ...]] = weakref.WeakKeyDictionary()
        self._called: list[Any] = []

    def attach(self) -> None:
        self._session.when_imported("transformers.tokenization_utils_base", self._hook)

    def _hook(self, module: Any) -> None:
        self._session.patches.replace(module.PreTrainedTokenizerBase, "__init__", self._wrap_init)
        self._session.patches.replace(module.PreTrainedTokenizerBase, "__call__", self._wrap_call)

    def _wrap_init(self, original: Any) -> Any:
        session = self._session

        def __init__(tokenizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(tokenizer, *args, **kwargs)
            if session.active:
                session.site("tokenizer")
                self._known.append(tokenizer)
                self._made[tokenizer] = session.sites.stack()

        return __init__

    def _wrap_call(self, original: Any) -> Any:
        session, sites = self._session, self._session.observation.sites

        @functools.wraps(original)
        def __call__(tokenizer: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if session.active and "untruncated" not in sites and not kwargs.get("truncation"):
                session.safely("a tokenizer's call", session.site, "untruncated")
            if session.active and len(self._called) < _KEPT and not any(tokenizer is other for other in self._called):
                self._called.append(tokenizer)
            return original(tokenizer, *args, **kwargs)

        return __call__

    def measure(self, models: Iterable[Any]) -> VocabularyFacts | None:
        """The tokenizer whose ids are not the checkpoint's; None where one of those that were called fits, or the checkpoint has none.

        `models`: those that are trained; an embedding that was given another size is taken to be made for its tokenizer.
        """
        named = next((part for model in models for part in model.modules() if getattr(part, "name_or_path", "")
                      and getattr(getattr(part, "config", None), "vocab_size", None)), None)
        known = vocabulary(str(named.name_or_path)) if named is not None and self._called else {}
        if named is None or not 0 < len(known) <= named.config.vocab_size <= len(known) + _SPARE:
            return None
        found = None
        for tokenizer in self._called:
            own = tokenizer.get_vocab()
            same = sum(known.get(token) == number for token, number in own.items())
            example = [(token, number, known[token]) for token, number in own.items() if known.get(token, number) != number]
            facts = VocabularyFacts(checkpoint=str(named.name_or_path), tokens=len(own), same=same, example=example[-_SHOWN:],
                                    shared=sum(token in known for token in own), site=kept(self._made.get(tokenizer, ())))
            if 2 * same >= min(len(own), len(known)):
                return None
            found = found or facts
        return found


@functools.lru_cache(maxsize=4)
def vocabulary(checkpoint: str) -> dict[str, int]:
    """The ids by token that stand beside a checkpoint's weights, in a folder or in the hub's cache; empty where there are none."""
    for name, read in (("tokenizer.json", _of_json), ("vocab.txt", _of_text), ("vocab.json", json.loads)):
        path = _file(checkpoint, name)
        if path is not None:
            found: dict[str, int] = read(path.read_text(encoding="utf-8"))
            return found
    return {}


def _file(checkpoint: str, name: str) -> Path | None:
    if (Path(checkpoint) / name).is_file():
        return Path(checkpoint) / name
    if Path(checkpoint).exists():
        return None
    from transformers.utils import cached_file

    try:
        cached = cached_file(checkpoint, name, local_files_only=True)
    except OSError:
        return None
    return Path(cached) if cached else None


def _of_json(text: str) -> dict[str, int]:
    made = json.loads(text)
    tokens = made["model"]["vocab"]
    found = dict(tokens) if isinstance(tokens, dict) else {token: number for number, (token, *_) in enumerate(tokens)}
    return found | {one["content"]: one["id"] for one in made.get("added_tokens", [])}


def _of_text(text: str) -> dict[str, int]:
    return {token: number for number, token in enumerate(text.splitlines())}
