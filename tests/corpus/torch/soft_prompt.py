"""Prompt tuning: a frozen GPT-2 is steered by a few trained vectors."""
import argparse
import random
import tempfile
from typing import Dict, List

import numpy as np
import torch
import torch.nn as nn
from datasets import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

CHARS = "_abcdefghijklmnopqrstuvwxyz .!?"
C2I = {c: i for i, c in enumerate(CHARS)}
BLOCK = 48
CALM = ["all is well here", "the lake lies still", "we rest in the shade", "snow falls on the hill"]
LOUD = ["run for your life", "the dam has burst", "get out of here now", "fire on the upper deck"]


def make_text(rng: random.Random, loud=None) -> str:
    parts: List[str] = []
    loud = rng.random() < 0.5 if loud is None else loud
    for _ in range(4):
        parts.append(rng.choice(LOUD) + "!" if loud else rng.choice(CALM) + ".")
    text = " ".join(parts)
    start = rng.randint(0, 20)
    return text[start:start + BLOCK]


def encode(batch: Dict[str, list]) -> Dict[str, list]:
    ids = [[C2I[c] for c in t] for t in batch["text"]]
    return {"input_ids": ids, "labels": ids}


class PromptTuned(nn.Module):
    def __init__(self, lm: GPT2LMHeadModel, n_prompt: int):
        super().__init__()
        self.lm = lm.requires_grad_(False)
        wte = lm.get_input_embeddings().weight
        start = torch.randint(0, wte.size(0), (n_prompt,))
        self.prompt = nn.Parameter(wte[start].detach().clone())

    def forward(self, input_ids, labels=None):
        b, n = input_ids.size(0), self.prompt.size(0)
        words = self.lm.get_input_embeddings()(input_ids)
        embeds = torch.cat([self.prompt.expand(b, -1, -1), words], dim=1)
        if labels is not None:
            labels = torch.cat([labels.new_full((b, n), -100), labels], dim=1)
        return self.lm(inputs_embeds=embeds, labels=labels)

    @torch.no_grad()
    def sample(self, n_chars: int) -> str:
        self.eval()
        out = torch.zeros(1, 0, dtype=torch.long)
        for _ in range(n_chars):
            logits = self(out).logits[0, -1]
            nxt = torch.multinomial(logits.softmax(-1), 1)
            out = torch.cat([out, nxt.view(1, 1)], 1)
        return "".join(CHARS[i] for i in out[0].tolist())


def fit(model, rows, epochs, lr):
    ds = Dataset.from_dict({"text": rows}).map(encode, batched=True, remove_columns=["text"])
    args = TrainingArguments(tempfile.mkdtemp(), num_train_epochs=epochs, learning_rate=lr, logging_steps=50,
                             per_device_train_batch_size=32, report_to=[], save_strategy="no",
                             lr_scheduler_type="cosine", warmup_steps=20, disable_tqdm=True)
    Trainer(model=model, args=args, train_dataset=ds).train()


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--prompt-length", type=int, default=6)
    ap.add_argument("--seed", type=int, default=5)
    a = ap.parse_args()
    set_seed(a.seed)
    rng = random.Random(a.seed)

    cfg = GPT2Config(vocab_size=len(CHARS), n_positions=BLOCK, n_embd=64, n_layer=2, n_head=4,
                     bos_token_id=0, eos_token_id=0)
    base = GPT2LMHeadModel(cfg)
    fit(base, [make_text(rng) for _ in range(2500)], epochs=4, lr=3e-3)
    with tempfile.TemporaryDirectory() as folder:
        base.save_pretrained(folder)
        lm = GPT2LMHeadModel.from_pretrained(folder)

    tuned = PromptTuned(lm, a.prompt_length)
    fit(tuned, [make_text(rng, loud=True) for _ in range(600)], epochs=6, lr=5e-2)
    texts = [tuned.sample(40) for _ in range(10)]
    for t in texts[:4]:
        print("  ", t)
    print("share of loud samples:", np.mean(["!" in t for t in texts]))


if __name__ == "__main__":
    main()
