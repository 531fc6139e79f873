"""T5 from scratch: "the 17 of march 1998" -> "1998-03-17"."""
import random
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
from torch.optim.lr_scheduler import LambdaLR
from transformers import (T5Config, T5ForConditionalGeneration, Trainer,
                          TrainingArguments, set_seed)

MONTHS = ("january february march april may june july august september "
          "october november december").split()
PAD, EOS = 0, 1
WORDS = ["<pad>", "</s>"] + list("0123456789-") + ["the", "of", "on"] + MONTHS
IDS = {w: i for i, w in enumerate(WORDS)}


@dataclass
class Schedule:
    peak: float
    warmup: int
    total: int

    def __call__(self, step: int) -> float:
        if step < self.warmup:
            return self.peak * (step + 1) / self.warmup
        return self.peak * max(0.02, (self.total - step) / (self.total - self.warmup))


def make_date():
    d, m, y = random.randint(1, 28), random.randint(1, 12), random.randint(1950, 2029)
    lead = random.choice(["the", "on"])
    src = [lead, *str(d), "of", MONTHS[m - 1], *str(y)]
    tgt = f"{y}-{m:02d}-{d:02d}"
    return {"src": [IDS[w] for w in src] + [EOS], "tgt": [IDS[c] for c in tgt] + [EOS], "text": tgt}


def collate(rows):
    width = max(len(r["src"]) for r in rows)
    src = torch.tensor([r["src"] + [PAD] * (width - len(r["src"])) for r in rows])
    return {"input_ids": src, "attention_mask": src.ne(PAD).long(),
            "labels": torch.tensor([r["tgt"] for r in rows])}


def exact_match(model, rows):
    model.eval()
    batch = collate(rows)
    out = model.generate(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=12)
    texts = ["".join(WORDS[t] for t in row if t > EOS) for row in out.tolist()]
    for r, t in list(zip(rows, texts))[:3]:
        print(f"  {' '.join(WORDS[i] for i in r['src'][:-1])} -> {t}")
    return np.mean([r["text"] == t for r, t in zip(rows, texts)])


def main():
    set_seed(21)
    train, test = [make_date() for _ in range(4000)], [make_date() for _ in range(200)]
    model = T5ForConditionalGeneration(T5Config(
        vocab_size=len(WORDS), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.0,
        pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=PAD))
    epochs, bs, lr = 8, 64, 3e-3
    args = TrainingArguments(tempfile.mkdtemp(), num_train_epochs=epochs, per_device_train_batch_size=bs,
                             learning_rate=lr, logging_steps=63, remove_unused_columns=False, report_to=[],
                             save_strategy="no", disable_tqdm=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    steps = epochs * (len(train) // bs + 1)
    scheduler = LambdaLR(optimizer, Schedule(lr, warmup=40, total=steps))
    trainer = Trainer(model=model, args=args, train_dataset=train, data_collator=collate,
                      optimizers=(optimizer, scheduler))
    trainer.train()
    print(f"exact match: {exact_match(model, test):.3f}")


if __name__ == "__main__":
    main()
