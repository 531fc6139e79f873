"""Intent classifier trained on crowd labels (a fifth of them wrong), checked on expert labels."""
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (ElectraConfig, ElectraForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

set_seed(23)
rng = np.random.default_rng(23)
K, LEN, VOC = 4, 16, 80
cue = {k: np.arange(4 + 5 * k, 9 + 5 * k) for k in range(K)}


class Utterances(Dataset):
    def __init__(self, n, noise):
        self.rows = []
        for _ in range(n):
            k = int(rng.choice(K, p=[0.4, 0.3, 0.18, 0.12]))
            n_tok = int(rng.integers(5, LEN - 2))
            body = rng.integers(24, VOC, n_tok)
            body[rng.choice(n_tok, 2, replace=False)] = rng.choice(cue[k], 2)
            seen = int(rng.integers(K)) if rng.random() < noise else k
            ids = [1, *body.tolist(), 2]
            self.rows.append((ids, seen))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"tokens": self.rows[i][0], "intent": self.rows[i][1]}


def collate(items):
    width = max(len(r["tokens"]) for r in items)
    ids = torch.zeros(len(items), width, dtype=torch.long)
    for i, r in enumerate(items):
        ids[i, :len(r["tokens"])] = torch.tensor(r["tokens"])
    return {"input_ids": ids, "attention_mask": (ids > 0).long(),
            "labels": torch.tensor([r["intent"] for r in items])}


def recalls(p):
    guess = p.predictions.argmax(-1)
    per = [float((guess[p.label_ids == k] == k).mean()) for k in range(K)]
    return {"accuracy": float((guess == p.label_ids).mean()), "balanced": float(np.mean(per))}


model = ElectraForSequenceClassification(ElectraConfig(
    vocab_size=VOC, embedding_size=64, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=LEN, num_labels=K))
crowd, expert = Utterances(2400, noise=0.25), Utterances(400, noise=0.0)

args = TrainingArguments(
    output_dir="noisy_intents_out", num_train_epochs=7, per_device_train_batch_size=16,
    gradient_accumulation_steps=2, per_device_eval_batch_size=100, learning_rate=1e-3,
    lr_scheduler_type="cosine", warmup_ratio=0.1, label_smoothing_factor=0.1,
    remove_unused_columns=False, eval_strategy="epoch", save_strategy="no", logging_steps=75,
    report_to=[], use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=crowd, eval_dataset=expert,
                  data_collator=collate, compute_metrics=recalls)
outcome = trainer.train()
res = trainer.evaluate()
print("train loss", round(outcome.training_loss, 4), "expert loss", round(res["eval_loss"], 4))
print("expert accuracy", round(res["eval_accuracy"], 4), "balanced", round(res["eval_balanced"], 4),
      "majority share", round(float(np.mean([r[1] == 0 for r in expert.rows])), 3))
