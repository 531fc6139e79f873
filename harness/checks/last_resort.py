"""Any other exception: what raised it, where, and what that stage was doing."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.drift import table
from harness.checks.observation import Observation
from harness.checks.training_facts import ExceptionFacts

_DOING: dict[str, str] = {
    "setup": "the script was being set up: imports, models, arguments", "data": "the data was being read or tokenized",
    "batch": "rows were being put into a batch", "forward": "a batch was going through the model", "loss": "the loss was being computed",
    "backward": "gradients were being computed", "step": "the optimizer was changing the weights", "evaluation": "the model was being "
                                                                                                                 "evaluated",
    "resources": "memory or a device was asked for",
}
_ENDINGS = {"SystemExit", "KeyboardInterrupt", "GeneratorExit", "Enough"}
# Not caused by a training that was cut short while it was watched.
_INDEPENDENT = {"NameError", "ImportError", "ModuleNotFoundError", "UnboundLocalError", "SyntaxError"}
# What it says, and what to do: plain mistakes that need no more evidence than their message.
_HINTS: tuple[tuple[str, str], ...] = (
    (r"grad can be implicitly created only for scalar outputs", "Reduce the loss to one number before: `loss.mean().backward()`."),
    (r"training requires a train_dataset", "Pass `train_dataset=` to the Trainer."),
    (r"didn't pass an `eval_dataset`|evaluation requires an eval_dataset", ("Pass `eval_dataset=` to the Trainer, or set "
                                                                           "`eval_strategy=\"no\"`.")),
    (r"must call `compile\(\)`|must compile your model", "Call `model.compile(optimizer=..., loss=...)` before `fit`."),
    (r"[Uu]sing a symbolic `?tf\.Tensor`? as a Python `?bool`? is not allowed",
     ("A graph is built before there is a value to ask: write `tf.where(condition, a, b)` or `tf.cond(...)`, or compile with "
     "`run_eagerly=True`.")),
    (r"Data cardinality is ambiguous", "Give as many labels as rows: both must come out of the same split."),
    (r"missing the required \"forward\" function", "Name the method `forward` (spelt exactly so, indented inside the class)."),
    (r"cannot assign module before Module\.__init__", "Call `super().__init__()` first in the model's `__init__`."),
    (r"takes (?:from )?\d+ (?:to \d+ )?positional arguments? but \d+ w", ("Compare the call with the definition: one of them has an "
                                                                         "argument too many.")),
    (r"missing \d+ required (?:positional|keyword-only) argument", "Pass the argument that it names, or give it a default."),
    (r"name '(\w+)' is not defined", "Define or import it before this line; check its spelling."),
    (r"No space left on device", "Free some space, or point `output_dir` and `HF_HOME` to another disk."),
    (r"Couldn't reach|couldn't connect|Connection|Max retries", ("Check the network; work offline with local folders and "
                                                                "`HF_HUB_OFFLINE=1`.")),
    (r"is not JSON serializable", "Convert it first: `float(value)`, `array.tolist()`."),
    (r"[Cc]an't convert cuda|can't convert .*device type tensor to numpy", "Bring it to the CPU first: `tensor.detach().cpu().numpy()`."),
    (r"Can't call numpy\(\) on Tensor that requires grad", "Cut it off the graph for reading: `tensor.detach().numpy()`."),
    (r"only (?:length-1|size-1|0-dimensional) arrays can be converted|only one element tensors can be converted",
     "Reduce it to one number first, `.mean()` or an index, or keep the array."),
    (r"An attempt has been made to start a new process", ("Put the script's body under `if __name__ == \"__main__\":`; loader workers "
                                                         "import it.")),
    (r"DataLoader worker .* exited unexpectedly|DataLoader worker .* is killed by signal", (
        "Set `num_workers=0` to see the real error; each worker holds a copy of what the dataset keeps in memory, and shared memory may be "
        "short.")),
)


class AnotherException(Check):
    """The script raises an exception that no other check explains.

    The last resort: it quotes the innermost line of the user's own, the stage and the message, and claims no more than those say.
    """

    code: ClassVar[str] = "A799"
    stage: ClassVar[Stage] = "setup"
    requires: ClassVar[tuple[str, ...]] = (
        "A701", "A702", "A703", "D101", "D102", "B101", "B103", "F101", "F102", "F103", "L201", "L202", "L203", "L206", "L209", "L210",
        "G301", "G302", "G303", "G304", "G308", "G309", "S405", "E501", "R601")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the script's own exception; never from a probe's."""
        error = seen.exception
        if error is None or error.type in _ENDINGS or "SystemExit" in error.bases:
            if error is None and seen.stopped == "exception":
                raise NotJudged("the exception was not recorded")
            return None
        if error.during == "probe":
            raise NotJudged("a probe failed, which says little about the script")
        probe = seen.probes.evaluation_error or {}
        before = (probe.get("type"), probe.get("message")) == (error.type, error.message)  # it came before any training, too
        if any("cut short before this exception" in line for line in seen.warnings) and error.type not in _INDEPENDENT and not before:
            raise NotJudged(f"{error.type} was raised after the watched training had been cut short, which may be its cause")
        believed = reading.raised(seen)[0]
        site = believed.site or error.site
        evidence = [raised.quote(believed, 400)]
        if site is not None and site.source:
            evidence.append(f"line {site.line}, in {site.function}: {site.source}")
        if believed.frames and (site is None or believed.frames[-1][0] != site.file):
            path, line, function = believed.frames[-1]
            evidence.append(f"raised in {'/'.join(path.replace(chr(92), '/').split('/')[-3:])}:{line}, {function}()")
        if believed.module:
            shapes = ", ".join(f"{item.dtype}{list(item.shape)}" for item in believed.module_inputs)
            evidence.append(f"inside {believed.module}" + (f", given {shapes}" if shapes else ""))
        late = believed is error and believed.stage == "setup" and len(seen.steps) > 0
        doing = f"After {len(seen.steps)} training steps or more" if late else f"While {_DOING.get(believed.stage, believed.stage)}"
        return Finding(message=f"{doing}, {raised.quote(believed, 160)}.".replace("..", "."),
                       remedy=_remedy(believed), site=site, evidence=[*evidence, *reading.caveat(seen)],
                       stage=seen.reached if late else believed.stage)


def _remedy(error: ExceptionFacts) -> str:
    text = raised.core(error.message)
    module = re.search(r"No module named '([\w.]+)'", text)
    if module:
        name = module[1].split(".")[0]
        return f"Install the package: `pip install {table()['packages'].get(name, name)}` (or mend the name of the import)."
    backend = re.search(r"requires the (\w+) library but it was not found", text)
    if backend:
        return f"Install {backend[1]}, or use the class for the framework that is there."
    path = re.search(r"No such file or directory: '([^']+)'", text)
    if path:
        return f"Mend the path `{path[1]}`: it is read from the folder that the script runs in."
    key = re.match(r"^['\"]?([^'\"]*)['\"]?$", text) if error.type == "KeyError" else None
    if key:
        return f"Print the keys that are there before this line: `{key[1]}` is not one of them."
    attribute = re.search(r"'(\w+)' object has no attribute '(\w+)'", text)
    if attribute:
        return f"Give the {attribute[1]} an attribute `{attribute[2]}` before this line, or check the name; `dir(...)` lists what it has."
    for pattern, hint in _HINTS:
        if re.search(pattern, text):
            return hint
    where = f"line {error.site.line}" if error.site else "the script's last line that ran"
    return f"Look at what {where} is given: print the types and shapes of its arguments right before it."
