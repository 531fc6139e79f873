"""Where a script writes what a model's configuration or a collator is told, and where it makes a dataset that is streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.sites import Place, keywords, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_FILLER, _LEFT_OUT = "label_pad_token_id", -100  # what a collator of transformers fills labels up with, and its default
_WIDTHS, _WIDE = ("initializer_range", "init_std"), 0.2  # ten times what models of transformers are drawn by
_TOLD = ("vocab_size", "max_position_embeddings", "n_positions", "num_labels", "type_vocab_size")


class Configs:
    """Hooks the constructors of transformers' configurations, models and collators, and of iterable datasets."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._told: dict[str, Place] = {}
        self._places: dict[int, Place | None] = {}  # where configurations were made, by the number of each

    def attach(self) -> None:
        """Hook them once the script imports them."""
        patches = self._session.patches
        self._session.when_imported("transformers.configuration_utils",
                                    lambda module: patches.replace(module.PretrainedConfig, "__init__", self._wrap_config))
        self._session.when_imported("transformers.modeling_utils",
                                    lambda module: patches.replace(module.PreTrainedModel, "__init__", self._wrap_model))
        self._session.when_imported("transformers.modeling_tf_utils",
                                    lambda module: patches.replace(module.TFPreTrainedModel, "__init__", self._wrap_model))
        self._session.when_imported("transformers.data.data_collator", self._hook_collators)
        self._session.when_imported("datasets.iterable_dataset",
                                    lambda module: patches.replace(module.IterableDataset, "__init__", self._wrap_stream))

    def _wrap_config(self, original: Any) -> Any:
        session = self._session

        def __init__(config: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            if session.active:
                session.safely("a configuration", self._made, session.sites.place(skip=config))
            original(config, *args, **kwargs)
            if session.active:
                self._places[id(config)] = session.safely("a configuration", session.sites.place, config)

        return __init__

    def _wrap_model(self, original: Any) -> Any:
        session = self._session

        def __init__(model: Any, config: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            wide = next((name for name in _WIDTHS if (getattr(config, name, None) or 0) > _WIDE), None) if session.active else None
            if wide is not None:  # some kinds of configuration take their own arguments only after the base class is done with them
                place = self._places.get(id(config))
                session.noted("weights_drawn", keywords(place).get(wide, place))
            original(model, config, *args, **kwargs)

        return __init__

    def _hook_collators(self, module: Any) -> None:
        for made in vars(module).values():
            if isinstance(made, type) and hasattr(made, _FILLER) and "__init__" in vars(made):
                self._session.patches.replace(made, "__init__", self._wrap_collator)

    def _wrap_collator(self, original: Any) -> Any:
        session = self._session

        def __init__(collator: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(collator, *args, **kwargs)
            if session.active and getattr(collator, _FILLER) != _LEFT_OUT:
                place = session.safely("a collator", session.sites.place, collator)
                session.noted("collator.filler", keywords(place).get(_FILLER, place))

        return __init__

    def _made(self, place: Place | None) -> None:
        for name, where in keywords(place).items():
            if name not in _TOLD:
                continue
            if self._told.setdefault(name, where) == where:
                self._session.site(f"config.{name}", site(where))
            else:
                self._session.observation.sites.pop(f"config.{name}", None)  # of two models it is not known which is meant

    def _wrap_stream(self, original: Any) -> Any:
        session = self._session

        def __init__(stream: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            if session.active and "stream" not in session.observation.sites:
                session.safely("a stream", session.site, "stream")
            original(stream, *args, **kwargs)

        return __init__
