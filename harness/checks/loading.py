"""What a script loads: datasets, metrics, checkpoints, weights, saved models."""

from __future__ import annotations

import difflib
import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.drift import table
from harness.checks.observation import Observation
from harness.checks.training_facts import ExceptionFacts

_DATASET_METHODS = {"map", "filter", "shuffle", "select", "train_test_split", "column_names", "features_names", "with_format", "set_format",
                    "remove_columns", "rename_column", "to_tf_dataset", "keys", "items", "num_rows", "sort", "cast_column"}
_NO_METRIC = (r"cannot import name '(?P<name>load_metric)'", r"has no attribute '(?P<name>load_metric)'", (r"name '(?P<name>load_metric)' "
                                                                                                          r"is not defined"))
_NOT_THERE = (
    r"Module '(?P<name>[^']+)' doesn't exist on the Hugging Face Hub either", r"Couldn't reach '(?P<name>[^']+)' on the Hub",
    r"Dataset '(?P<name>[^']+)' doesn't exist on the Hub", r"Couldn't find any data file at (?P<name>\S+?)\.?(?:\s|$)",
    r"Couldn't find (?:a dataset script|file) at (?P<name>\S+)", r"Unable to find '(?P<name>[^']+)'",
    r"The directory at (?P<name>\S+) doesn't contain any data files",
)
_CHECKPOINT = (
    r"(?P<name>\S+) is not a local folder and is not a valid model identifier", r"[Cc]an't load \w+ for '(?P<name>[^']+)'",
    r"(?P<name>\S+) does not appear to have a file named (?P<file>\S+?)\.?(?:\s|$)", r"Repo id must .*?: '(?P<name>[^']+)'",
    r"Unrecognized model in (?P<name>\S+?)\. Should have a `model_type`", (r"Error no file named .* found in directory "
                                                                          r"(?P<name>\S+?)\.?(?:\s|$)"),
    r"We couldn't connect to 'https://huggingface\.co'", r"Incorrect path_or_model_id: '(?P<name>[^']+)'",
)
_CHOICES = (r"BuilderConfig '(?P<name>[^']+)' not found\. Available: (?P<known>\[[^\]]*\])", (r"Unknown split \"(?P<name>[^\"]+)\"\. "
                                                                                             r"Should be one of "
            r"(?P<known>\[[^\]]*\])"), (r"(?P<name>Config name) is missing\.\s*Please pick one among the available configs: "
                                      r"(?P<known>\[[^\]]*\])"))
_SCRIPT = (r"Dataset scripts are no longer supported, but found (?P<name>\S+)",)
_WEIGHTS_ONLY = (r"Weights only load failed",)
_CUSTOM = (
    r"Could not locate (?P<kind>function|class) '(?P<name>[^']+)'\. Make sure custom",
    r"Unknown (?P<kind>[\w ]+): '?(?P<name>[\w>]+)'?\. +(?:Please ensure|Make sure)",
)
_GONE = (r"No such file or directory: '(?:[^']*[/\\])?(?P<name>pytorch_model\.bin|tf_model\.h5)'",)
_FORMAT = (r"File format not supported: filepath=(?P<name>\S+)\. Keras 3 only supports",)
_STATE = (r"Error\(s\) in loading state_dict for (?P<name>\w+)",)
_METRIC_AS_DATA = (r"'(?P<kind>\w+)' object has no attribute '(?P<name>\w+)'", r"'(?P<kind>\w+)' object is not subscriptable")
_LITERAL = re.compile(r"(?:from_pretrained|load_dataset|evaluate\.load|load_metric|load|pipeline)\(\s*[\"']([^\"']+)[\"']")


def _known_metrics() -> tuple[str, ...]:
    """Patterns for the classes of the metrics in the table."""
    names = [name.split("_") for name in table()["known"]["metrics"]]
    kinds = "|".join(dict.fromkeys(spelling for parts in names for spelling in ("".join(parts).upper(), "".join(map(str.title, parts)))))
    methods = "|".join(sorted(_DATASET_METHODS))
    return tuple(pattern.replace(r"(?P<kind>\w+)", f"(?P<kind>{kinds})").replace(r"(?P<name>\w+)", f"(?P<name>{methods})")
                 for pattern in _METRIC_AS_DATA)


class LoadingCall(Check):
    """A loading call is wrong or gone: a metric loaded as a dataset, a removed function, a misspelt name.

    Sources: datasets 3 and 4 release notes (load_metric and dataset scripts removed); transformers docs, Auto Classes; torch 2.6 notes.
    """

    code: ClassVar[str] = "A702"
    stage: ClassVar[Stage] = "setup"
    messages: ClassVar[tuple[str, ...]] = (
        *_NO_METRIC, *_known_metrics(), *_CHOICES, *_SCRIPT, *_NOT_THERE, *_CHECKPOINT, *_WEIGHTS_ONLY, *_STATE, *_CUSTOM,
        *_GONE, *_FORMAT)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what a loading call raised, and from names that are known."""
        for judge in (self._restored, self._metric, self._metric_as_data, self._choice, self._name, self._weights, self._saved):
            finding = judge(seen)
            if finding:
                return finding
        if seen.exception is None and not seen.steps:
            raise NotJudged("nothing was loaded yet")
        return None

    def _restored(self, seen: Observation) -> Finding | None:
        """Weights that are put back, and are not."""
        back = seen.restored
        if back is None or back.how == "redrawn":
            return None
        if back.how == "itself" and back.by:
            return Finding(
                message=f"What is kept as the best weights is the list of the model's own variables (`{back.by}`), which go on moving: to "
                        "put them back changes nothing.",
                remedy="Keep their values: `best = model.get_weights()`, and `model.set_weights(best)` puts them back.",
                site=back.site, evidence=[])
        if back.how == "itself":
            return Finding(
                message=f"The {back.weights} tensors that are put back are the model's own: `state_dict()` gives references, which have "
                        "moved with every step since.",
                remedy="Keep a copy of the tensors, `best = copy.deepcopy(model.state_dict())`: `dict(...)` and `.copy()` copy names only.",
                site=back.site, evidence=[])
        if back.by:
            count = f"{back.weights} " if back.weights else ""
            names = [f"{what}: {', '.join(given)}" for what, given in (("saved", back.given), ("asked for", back.wanted)) if given]
            return Finding(
                message=f"`{back.by}` puts back none of the model's {count}tensors: nothing in the file has their names and "
                        "shapes, and what is missing is passed over in silence.",
                remedy="Ask for the parts under the names that they were saved under, and have missing ones told: "
                       "`status.assert_existing_objects_matched()` of a checkpoint, `load_weights(path)` without an option that skips.",
                site=back.site, evidence=names)
        return Finding(
            message=f"`load_state_dict(..., strict=False)` has put back none of the model's {back.weights} tensors: no name fits, and "
                    "without `strict` nobody says so.",
            remedy="Hand it the dictionary of the weights themselves (`checkpoint[\"model\"]`), with the model's own names, and leave "
                   "`strict` on.",
            site=back.site, evidence=[f"given: {', '.join(back.given)}", f"wanted: {', '.join(back.wanted)}"])

    def _metric(self, seen: Observation) -> Finding | None:
        hit = raised.find(seen, _NO_METRIC)
        if not hit:
            return None
        literal = _literal(hit[0])
        arguments = f"\"{literal}\"" if literal else "\"accuracy\""
        return Finding(message="`load_metric` is gone: datasets removed it in version 3, and metrics live in the evaluate library.",
                       remedy=f"`import evaluate` and `metric = evaluate.load({arguments})`.", site=hit[0].site,
                       evidence=[raised.quote(hit[0])])

    def _metric_as_data(self, seen: Observation) -> Finding | None:
        hit = raised.find(seen, _METRIC_AS_DATA, types=("AttributeError", "TypeError"))
        if not hit:
            return None
        kind, name = hit[1]["kind"], hit[1].groupdict().get("name")
        metrics = {metric.replace("_", "") for metric in table()["known"]["metrics"]}
        if kind.lower() not in metrics or (name is not None and name not in _DATASET_METHODS):
            return None
        return Finding(message=f"`{kind}` is a metric, and is used as a dataset here: it was loaded with `evaluate.load`.",
                       remedy="Load the data with `from datasets import load_dataset` and `load_dataset(...)`; `evaluate.load` gives "
                              "metrics.",
                       site=hit[0].site, evidence=[raised.quote(hit[0])])

    def _choice(self, seen: Observation) -> Finding | None:
        hit = raised.find(seen, _CHOICES)
        if not hit:
            return None
        known = re.findall(r"'([^']+)'", hit[1]["known"])
        close = difflib.get_close_matches(hit[1]["name"], known, n=1, cutoff=0.4)
        named = close[0] if close else (known[0] if known else "...")
        return Finding(message=f"The dataset has no `{hit[1]['name']}`; it has {raised.listing(known)}.",
                       remedy=f"Ask for one that is there, for example `\"{named}\"`.", site=hit[0].site,
                       evidence=[raised.quote(hit[0], 300)])

    def _name(self, seen: Observation) -> Finding | None:
        hit = raised.find(seen, _SCRIPT)
        if hit:
            return Finding(message=f"The dataset is a Python script ({hit[1]['name']}), and datasets 4 and later run none.",
                           remedy="Load its data files, `load_dataset(\"json\", data_files=...)`, or the same dataset in Parquet from the "
                                  "hub.",
                           site=hit[0].site, evidence=[raised.quote(hit[0])])
        for patterns, kind in ((_NOT_THERE, "dataset"), (_CHECKPOINT, "checkpoint")):
            hit = raised.find(seen, patterns)
            if hit:
                return self._unknown(seen, hit[0], _loaded(hit[0], hit[1].groupdict().get("name")), kind, hit[1])
        return None

    @staticmethod
    def _unknown(seen: Observation, error: ExceptionFacts, name: str | None, kind: str, match: re.Match[str]) -> Finding:
        known = table()["known"]
        metric_call = raised.has_frame(error, r"/evaluate/") or "evaluate.load" in (error.site.source if error.site else "")
        kind = "metric" if metric_call and kind == "dataset" else kind
        names: list[str] = known[{"dataset": "datasets", "metric": "metrics", "checkpoint": "checkpoints"}[kind]]
        evidence = [raised.quote(error, 300)]
        shown = f" `{name}`" if name else ""
        offline = re.search(r"couldn't connect|Couldn't reach|OfflineMode", error.message) is not None
        if kind == "metric" and name in known["datasets"] and name not in names:
            return Finding(message=f"`{name}` is a dataset, and `evaluate.load` gives metrics.",
                           remedy=f"`from datasets import load_dataset` and `load_dataset(\"{name}\")`.", site=error.site,
                           evidence=evidence)
        if kind == "dataset" and name in known["metrics"] and name not in names:
            return Finding(message=f"`{name}` is a metric, and `load_dataset` gives datasets.",
                           remedy=f"`import evaluate` and `evaluate.load(\"{name}\")`.", site=error.site, evidence=evidence)
        if "Unrecognized model" in match[0] or "does not appear to have" in match[0] or "Error no file named" in match[0]:
            what = "weights" if "Error no file named" in match[0] else "config.json with its `model_type`"
            return Finding(message=f"The folder{shown} holds no {what}: it is not a saved model.",
                           remedy="Give the folder that `save_pretrained` wrote (with config.json and model.safetensors), such as "
                                  "`output/checkpoint-500`, not the one above it.", site=error.site, evidence=evidence)
        if name is None:
            return Finding(message=f"The {kind} is neither in the local cache nor can the hub be reached.",
                           remedy="Check its name, and give a local folder or download it once while online.", site=error.site,
                           evidence=evidence)
        local = name.startswith((".", "/", "~")) or name.count("/") > 1 or re.search(r"\.(csv|json|jsonl|txt|parquet)$", name)
        close = [] if local or name in names else difflib.get_close_matches(name, names, n=1, cutoff=0.75)
        if close:
            return Finding(message=f"There is no {kind}{shown}; the closest known name is `{close[0]}`.",
                           remedy=f"Write `\"{close[0]}\"`.", site=error.site, evidence=evidence)
        if local:
            return Finding(message=f"There is nothing at{shown}, which is read as a path from the folder the script runs in.",
                           remedy="Mend the path (print `Path(...).resolve()`), or run the script from the folder it "
                                  "expects.", site=error.site,
                           evidence=evidence)
        why = "is not in the local cache, and the hub cannot be reached" if offline else "cannot be found as a folder or on the hub"
        return Finding(message=f"The {kind}{shown} {why}.",
                       remedy="Check the spelling; then download it once while online, or give the path of a local folder.",
                       site=error.site,
                       evidence=evidence)

    def _weights(self, seen: Observation) -> Finding | None:
        hit = raised.find(seen, _WEIGHTS_ONLY)
        if hit:
            return Finding(message="`torch.load` reads weights only since torch 2.6, and this file holds more (a whole model or other "
                                   "objects).",
                           remedy="Save and load the weights, `torch.save(model.state_dict(), path)` and "
                                  "`model.load_state_dict(torch.load(path))`; "
                                  "for a file that you trust, `torch.load(path, weights_only=False)`.", site=hit[0].site,
                           evidence=[raised.quote(hit[0])])
        hit = raised.find(seen, _STATE)
        if hit:
            return Finding(message=f"The saved weights are not those of this `{hit[1]['name']}`.",
                           remedy="Build the model with the settings it was saved with (same layers, sizes and number of classes); remove "
                                  "a "
                                  "`module.` prefix that DataParallel left on the names.", site=hit[0].site,
                           evidence=[*[line.strip() for line in raised.core(hit[0].message).splitlines()[:4]]])
        return None


    def _saved(self, seen: Observation) -> Finding | None:
        """A file of weights that has another name today, and a saved Keras model with functions or classes of the script's own."""
        hit = raised.find(seen, _GONE)
        if hit:
            return Finding(message=f"There is no `{hit[1]['name']}`: transformers has written `model.safetensors` since version 4.35.",
                           remedy="Load what was saved the way it was saved, `AutoModel....from_pretrained(folder)`; or read the file "
                                  "itself, `safetensors.torch.load_file(folder + \"/model.safetensors\")`.",
                           site=hit[0].site, evidence=[raised.quote(hit[0], 300)])
        hit = raised.find(seen, _FORMAT)
        if hit and hit[0].site is not None and re.search(r"load_model|load_weights", hit[0].site.source):
            return Finding(message="The file that is loaded is none of Keras's own formats: an exported folder (`model.export`, "
                                   "TensorFlow's SavedModel) serves answers, and is no model to load.",
                           remedy="Save it as a model, `model.save(\"model.keras\")`, and load that; an exported folder is called with "
                                  "`keras.layers.TFSMLayer(folder, call_endpoint=\"serve\")`.",
                           site=hit[0].site, evidence=[raised.quote(hit[0], 200)])
        hit = raised.find(seen, _CUSTOM)
        if hit is None or hit[0].site is None or not re.search(r"load_model|model_from_|from_config|clone_model", hit[0].site.source):
            return None  # a misspelt name that `compile` was given
        name = hit[1]["name"].rpartition(">")[2]
        return Finding(message=f"The saved model uses `{name}`, which is the script's own and no part of Keras: the file holds its name "
                               "only.",
                       remedy=f"Hand it over, `load_model(path, custom_objects={{\"{name}\": {name}}})`, or register it where it is "
                              "defined, `@keras.saving.register_keras_serializable()`.",
                       site=hit[0].site, evidence=[raised.quote(hit[0], 200)])


def _literal(error: ExceptionFacts) -> str | None:
    match = _LITERAL.search(error.site.source) if error.site else None
    return match[1] if match else None


def _loaded(error: ExceptionFacts, named: str | None) -> str | None:
    """What was to be loaded: as the message says, as the call was given it, or as it is written on the user's line."""
    given = next((error.called_with[key] for key in ("pretrained_model_name_or_path", "path", "path_or_repo_id", "repo_id") if
                  key in error.called_with), None)
    return reading.first_line(named or given or _literal(error) or "", 120) or None
