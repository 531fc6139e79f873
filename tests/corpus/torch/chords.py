"""Pretrain a small masked model on chord sequences, then a linear probe for the key on the fixed body."""
import numpy as np
import torch
from datasets import Dataset
from transformers import (BertConfig, BertForMaskedLM, BertModel, Trainer, TrainingArguments, set_seed)

set_seed(6)
rng = np.random.default_rng(6)
PAD, MASK, BASE, LEN = 0, 1, 2, 16   # 24 chords: 12 major, 12 minor
MAJOR = [(0, 0), (2, 1), (4, 1), (5, 0), (7, 0), (9, 1)]
NEXT = np.array([[1, 2, 1, 4, 4, 3], [1, 1, 1, 2, 6, 1], [1, 1, 1, 3, 1, 4],
                 [3, 2, 1, 1, 5, 1], [7, 1, 1, 1, 1, 2], [1, 3, 1, 4, 2, 1]], float)
NEXT /= NEXT.sum(1, keepdims=True)


def song():
    key, deg, seq = int(rng.integers(12)), int(rng.choice([0, 3, 5])), []
    for _ in range(LEN):
        step, minor = MAJOR[deg]
        seq.append(BASE + (key + step) % 12 + 12 * minor)
        deg = rng.choice(6, p=NEXT[deg])
    return {"input_ids": seq, "labels": key}


songs = Dataset.from_list([song() for _ in range(2600)])


def mlm_collate(rows):
    ids = torch.tensor([r["input_ids"] for r in rows])
    hit = torch.rand(ids.shape) < 0.2
    return {"input_ids": ids.masked_fill(hit, MASK), "labels": ids.masked_fill(~hit, -100)}


base = dict(report_to="none", save_strategy="no", use_cpu=True, disable_tqdm=True, per_device_train_batch_size=32)
config = BertConfig(vocab_size=26, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                    max_position_embeddings=LEN)
mlm = BertForMaskedLM(config)
Trainer(mlm, TrainingArguments("out_chords", num_train_epochs=10, learning_rate=2e-3, logging_steps=125, **base),
        train_dataset=songs.select(range(2000)), data_collator=mlm_collate).train()


class KeyProbe(torch.nn.Module):
    def __init__(self, body: BertModel):
        super().__init__()
        self.body = body.requires_grad_(False)
        self.key = torch.nn.Linear(64, 12)

    def forward(self, input_ids, labels=None):
        with torch.no_grad():
            h = self.body.eval()(input_ids).last_hidden_state.mean(1)
        logits = self.key(h)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


probe = Trainer(KeyProbe(mlm.bert), TrainingArguments("out_chords", num_train_epochs=12, learning_rate=0.05, optim="sgd",
                                                      logging_steps=30, **base),
                train_dataset=songs.select(range(2000, 2300)), eval_dataset=songs.select(range(2300, 2600)),
                compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())})
probe.train()
print("key found:", probe.evaluate()["eval_accuracy"], "(guessing: 0.083)")
