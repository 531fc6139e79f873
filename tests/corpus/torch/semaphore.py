"""Next-signal model for a railway signal box.

The recordings are stored as one long tape; windows overlap by one token, inputs are tape[i:i+n] and targets are
tape[i+1:i+n+1].
"""
import argparse
import json
import math
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2Model, Trainer, TrainingArguments, set_seed

SIGNALS = ["CLEAR", "CAUTION", "DANGER", "SHUNT", "CALL_ON", "BLOCK", "RELEASE", "BELL1", "BELL2", "BELL3"]
ID = {s: i for i, s in enumerate(SIGNALS)}
# every kind of train brings its own sequence through the box
MOVEMENTS = {
    "express": "BELL1 BELL3 CLEAR CLEAR BLOCK DANGER RELEASE",
    "stopping": "BELL1 BELL1 CAUTION DANGER CLEAR BLOCK DANGER RELEASE",
    "freight": "BELL2 BELL3 CAUTION CAUTION BLOCK DANGER RELEASE",
    "shunting": "BELL2 SHUNT DANGER SHUNT DANGER RELEASE",
    "engine": "BELL3 CALL_ON BLOCK RELEASE",
}


@dataclass
class Settings:
    tape: int = 24000
    window: int = 32
    width: int = 64
    layers: int = 2
    heads: int = 4
    epochs: float = 6
    batch: int = 32
    lr: float = 2e-3
    seed: int = 31


class Windows(Dataset):
    def __init__(self, tape, window):
        self.tape, self.window = tape, window

    def __len__(self):
        return (len(self.tape) - 1) // self.window

    def __getitem__(self, i):
        lo = i * self.window
        piece = self.tape[lo:lo + self.window + 1]
        return {"tokens": piece[:-1], "targets": piece[1:]}


class SignalModel(nn.Module):
    """A GPT-2 body, with the output layer tied to the embedding by hand."""

    main_input_name = "tokens"

    def __init__(self, settings):
        super().__init__()
        self.body = GPT2Model(GPT2Config(
            vocab_size=len(SIGNALS), n_embd=settings.width, n_layer=settings.layers, n_head=settings.heads,
            n_positions=settings.window, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False))
        self.bias = nn.Parameter(torch.zeros(len(SIGNALS)))

    def forward(self, tokens, targets=None):
        hidden = self.body(tokens).last_hidden_state
        logits = hidden @ self.body.wte.weight.T + self.bias
        out = {"logits": logits}
        if targets is not None:
            out = {"loss": nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()), **out}
        return out


def record(settings, rng):
    tape = []
    kinds = list(MOVEMENTS)
    previous = "express"
    while len(tape) < settings.tape:
        # an express is followed by a stopping train most of the time
        weights = np.array([1, 6, 1, 1, 1] if previous == "express" else [3, 2, 2, 1, 1], float)
        previous = kinds[rng.choice(len(kinds), p=weights / weights.sum())]
        tape += [ID[s] for s in MOVEMENTS[previous].split()]
    return torch.tensor(tape[:settings.tape])


def next_signal_accuracy(p):
    guess, target = p.predictions, p.label_ids
    repeat = p.inputs
    return {"accuracy": float((guess == target).mean()), "repeat_baseline": float((repeat == target).mean())}


def forecast(model, history, steps):
    model.eval()
    ids = torch.tensor([[ID[s] for s in history]])
    with torch.no_grad():
        for _ in range(steps):
            ids = torch.cat([ids, model(ids)["logits"][:, -1:].argmax(-1)], 1)
    return [SIGNALS[i] for i in ids[0, len(history):]]


def main():
    parser = argparse.ArgumentParser()
    for name, value in asdict(Settings()).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    settings = Settings(**vars(parser.parse_args()))
    print(json.dumps(asdict(settings)))
    set_seed(settings.seed)
    rng = np.random.default_rng(settings.seed)
    tape = record(settings, rng)
    cut = int(len(tape) * 0.85)

    model = SignalModel(settings)
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            "out/semaphore", num_train_epochs=settings.epochs, learning_rate=settings.lr, warmup_steps=20,
            lr_scheduler_type="cosine", per_device_train_batch_size=settings.batch, per_device_eval_batch_size=56,
            label_names=["targets"], include_for_metrics=["inputs"], eval_strategy="epoch", logging_steps=20,
            save_strategy="no", report_to="none", use_cpu=True, seed=settings.seed),
        train_dataset=Windows(tape[:cut], settings.window), eval_dataset=Windows(tape[cut:], settings.window),
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
        compute_metrics=next_signal_accuracy)
    trainer.train()
    result = trainer.evaluate()
    print(f"loss {result['eval_loss']:.3f} (uniform {math.log(len(SIGNALS)):.3f})  accuracy "
          f"{result['eval_accuracy']:.3f}  repeating the last signal {result['eval_repeat_baseline']:.3f}")
    print("BELL2 SHUNT ->", " ".join(forecast(model, ["RELEASE", "BELL2", "SHUNT"], 4)))


if __name__ == "__main__":
    main()
