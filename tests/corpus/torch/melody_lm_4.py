"""Small GPT-2 over melodies in note tokens, trained with Trainer."""
import math
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (GPT2Config, GPT2LMHeadModel, HfArgumentParser, Trainer, TrainingArguments, set_seed)

BOS, EOS, PAD = 0, 1, 2
FIRST_NOTE = 3
N_NOTES = 24
SCALE = [0, 2, 4, 5, 7, 9, 11]


@dataclass
class Args:
    n_train: int = field(default=900)
    n_eval: int = field(default=150)
    max_len: int = field(default=40)
    epochs: int = field(default=9)
    lr: float = field(default=3e-3)


def make_melody(rng, max_len):
    root = int(rng.integers(0, 5))
    degrees = [root + 12 * o + s for o in (0, 1) for s in SCALE if root + 12 * o + s < N_NOTES]
    pos = int(rng.integers(2, len(degrees) - 2))
    step = int(rng.choice([-1, 1]))
    motif = [int(rng.choice([1, 1, 2, -1])) for _ in range(4)]
    notes = []
    for i in range(int(rng.integers(20, max_len - 2))):
        notes.append(FIRST_NOTE + degrees[pos])
        pos += step * motif[i % 4]
        if pos < 0 or pos >= len(degrees):
            step = -step
            pos = min(max(pos, 0), len(degrees) - 1)
    return [BOS] + notes + [EOS]


class Melodies(Dataset):
    def __init__(self, n, max_len, seed):
        rng = np.random.default_rng(seed)
        self.items = [make_melody(rng, max_len) for _ in range(n)]
        self.max_len = max_len

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        ids = self.items[i]
        gap = self.max_len - len(ids)
        return {
            "input_ids": torch.tensor(ids + [PAD] * gap),
            "attention_mask": torch.tensor([1] * len(ids) + [0] * gap),
            "labels": torch.tensor(ids[1:] + [-100] * (gap + 1)),
        }


@torch.no_grad()
def continuation_accuracy(model, data, start=12):
    """Share of notes guessed right when the model is fed the true melody so far."""
    model.eval()
    right = total = 0
    for ids in data.items:
        logits = model(torch.tensor([ids])).logits[0]
        guess = logits[start:-1].argmax(-1)
        true = torch.tensor(ids[start + 1:])
        right += (guess == true).sum().item()
        total += len(true)
    return right / total


def main():
    (args,) = HfArgumentParser(Args).parse_args_into_dataclasses()
    set_seed(17)
    train = Melodies(args.n_train, args.max_len, seed=1)
    evals = Melodies(args.n_eval, args.max_len, seed=2)

    config = GPT2Config(
        vocab_size=FIRST_NOTE + N_NOTES, n_positions=args.max_len, n_embd=64, n_layer=2, n_head=4,
        bos_token_id=BOS, eos_token_id=EOS, pad_token_id=PAD,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )
    model = GPT2LMHeadModel(config)
    targs = TrainingArguments(
        output_dir="out/melody", num_train_epochs=args.epochs, learning_rate=args.lr,
        per_device_train_batch_size=32, per_device_eval_batch_size=64, warmup_ratio=0.1,
        lr_scheduler_type="cosine", eval_strategy="epoch", logging_steps=28, save_strategy="no",
        report_to=[], use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=targs, train_dataset=train, eval_dataset=evals)
    trainer.train()
    loss = trainer.evaluate()["eval_loss"]
    print(f"eval loss {loss:.3f} perplexity {math.exp(loss):.2f}")
    acc = continuation_accuracy(trainer.model, evals)
    flat = np.concatenate([m[1:] for m in evals.items])
    print(f"held-out next-note accuracy {acc:.3f} (commonest note {np.bincount(flat).max() / len(flat):.3f})")


if __name__ == "__main__":
    main()
