"""Tensors on different devices: which one lies elsewhere, and what moves it. No check lives here."""

from __future__ import annotations

import re

from harness.checks.training_facts import ExceptionFacts

MESSAGES = (
    # The first also names the tensor: "but got weight is on cpu, different from other tensors on cuda:0 (when checking ...)".
    (r"Expected all tensors to be on the same device(?:, but got (?P<name>\w+) is on (?P<is>[\w:]+), different from other tensors on "
     r"(?P<others>[\w:]+)|, but found at least two devices, (?P<one>[\w:]+) and (?P<two>[\w:]+))?"),
    r"Tensor on device (?P<is>[\w:]+) is not on the expected device (?P<others>[\w:]+)",
    r"is not on the expected device",
    r"loss must be on the original device: (?P<others>[\w:]+) but device in use is (?P<is>[\w:]+)",
    r"indices should be either on (?:cpu|CPU) or on the same device as the indexed tensor \((?P<indexed>[\w:]+)\)",
)
_WEIGHTED = "Weights that a loss holds move with it: `criterion = nn.CrossEntropyLoss(weight=weights).to(device)`"
_TARGET = "Bring the target along: `target = target.to(logits.device)`; one made on that spot takes `device=logits.device`"
_TABLE = ("Keep such a table where the batch is: `table = table.to(labels.device)` before the line, or `register_buffer` in the module, "
          "which moves with `model.to(device)`.")
_MODEL = ("Move both: `model.to(device)` before the optimizer is made, and `inputs = inputs.to(device)` for every batch; tensors made "
          "inside forward() take `device=x.device`.")
_INPUTS = ("Bring them to where the model is, on this line or before it: `inputs = inputs.to(next(model.parameters()).device)`; a trainer "
           "moves the model, and the batches of its own loader alone.")
_ANSWERED = ("Compute the loss of the model's own output and of what lies beside it, without a way through NumPy or `torch.tensor(...)`: "
             "such a number lies on the CPU, and has no gradient either.")
_ELSEWHERE = ("Bring both sides to one device right before this line: a copy of the model (`copy.deepcopy`, an average of its weights) is "
              "made after `model.to(device)`, and what is compared or kept outside of the model is read by `.cpu()`.")


def mend(error: ExceptionFacts, match: re.Match[str]) -> tuple[str, str]:
    """What is wrong and what mends it, for an exception that matched one of `MESSAGES`."""
    said = {name: value for name, value in match.groupdict().items() if value}
    if "loss must be" in match[0]:
        return f"The loss that the Trainer is given lies on {said['is']}, the model on {said['others']}.", _ANSWERED
    if error.called is not None:
        return "The model is called with inputs that lie on another device than its weights.", _INPUTS
    if "indexed" in said:
        return f"A tensor on {said['indexed']} is indexed by one on another device.", _TABLE
    if error.stage == "loss":
        return _of_loss(said)
    if error.stage == "forward":
        return f"The model and its input are on different devices{_between(said)}.", _MODEL
    return f"Tensors on different devices are combined{_between(said)}.", _ELSEWHERE


def _of_loss(said: dict[str, str]) -> tuple[str, str]:
    what, remedy = {"weight": ("weights of the loss lie", f"{_WEIGHTED}; in a function, `weight=weights.to(logits.device)`."),
                    "target": ("target lies", f"{_TARGET}.")}.get(said.get("name", ""),
                                                                  ("tensors of the loss lie", f"{_TARGET}. {_WEIGHTED}."))
    where = f" on {said['is']}, the other tensors on {said['others']}" if "name" in said else f" on different devices{_between(said)}"
    return f"The {what}{where}.", remedy


def _between(said: dict[str, str]) -> str:
    pair = [said[name] for name in ("is", "others", "one", "two") if name in said]
    return f" ({pair[0]} and {pair[1]})" if len(pair) == 2 else ""
