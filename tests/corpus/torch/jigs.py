import random

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(0)
rng = random.Random(0)
NOTES = ["<s>", "|", ":|"] + list("CDEFGAB") + [n + "'" for n in "cdefgab"]
ID = {n: i for i, n in enumerate(NOTES)}
SCALE = NOTES[3:]


def tune(bars=8):
    out, start = ["<s>"], rng.randint(0, 9)
    for bar in range(bars):
        step = rng.choice([1, 2])
        root = (start + 3 * bar) % 10
        out += [SCALE[(root + step * k) % len(SCALE)] for k in (0, 1, 2, 1, 0, 1)]
        out.append(":|" if bar == bars - 1 else "|")
    return [ID[n] for n in out]


class Tunes(torch.utils.data.Dataset):
    def __init__(self, n):
        self.rows = [tune() for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids = torch.tensor(self.rows[i])
        return {"input_ids": ids, "labels": ids.clone()}


def keep_best(logits, labels):
    return logits.argmax(dim=-1)


def compute_metrics(p):
    preds, labels = p.predictions, p.label_ids
    return {"note_accuracy": float((preds == labels).mean())}


model = GPT2LMHeadModel(GPT2Config(vocab_size=len(NOTES), n_positions=64, n_embd=64, n_layer=2, n_head=4, embd_pdrop=0.0,
                                   bos_token_id=0, eos_token_id=2))
args = TrainingArguments("out/jigs", learning_rate=3e-3, num_train_epochs=8, per_device_train_batch_size=32,
                         eval_strategy="epoch", logging_steps=25, save_strategy="no", report_to="none",
                         disable_tqdm=True)
trainer = Trainer(model, args, train_dataset=Tunes(800), eval_dataset=Tunes(100), compute_metrics=compute_metrics,
                  preprocess_logits_for_metrics=keep_best)
trainer.train()
print(trainer.evaluate())
