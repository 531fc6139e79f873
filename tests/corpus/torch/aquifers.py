import random
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(3)

layers = {"clay": -0.8, "sand": 0.9, "gravel": 1.4, "silt": -0.3, "chalk": 0.6, "granite": -1.5}
filler = ["dry", "wet", "grey", "brown", "thin", "thick", "loose", "mixed"]
words = ["[PAD]", "[CLS]"] + list(layers) + filler
word2id = {w: i for i, w in enumerate(words)}


def make_log():
    n = random.randint(4, 10)
    log = [random.choice(list(layers)) if random.random() < 0.6 else random.choice(filler) for _ in range(n)]
    depth = sum(layers.get(w, 0.0) for w in log)
    return log, depth / 1.8 + random.gauss(0, 0.05)


class WellLogs(Dataset):
    def __init__(self, n, max_len=12):
        self.rows = [make_log() for _ in range(n)]
        self.max_len = max_len

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        log, depth = self.rows[i]
        ids = [word2id["[CLS]"]] + [word2id[w] for w in log]
        mask = [1] * len(ids) + [0] * (self.max_len - len(ids))
        ids = ids + [0] * (self.max_len - len(ids))
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask),
                "labels": torch.tensor(depth, dtype=torch.float)}


class HuberTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = F.smooth_l1_loss(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss


def compute_metrics(p):
    pred = p.predictions.reshape(-1)
    mae = np.abs(pred - p.label_ids).mean()
    r2 = 1 - ((pred - p.label_ids) ** 2).sum() / ((p.label_ids - p.label_ids.mean()) ** 2).sum()
    return {"mae": float(mae), "r2": float(r2)}


model = BertForSequenceClassification(BertConfig(
    vocab_size=len(words), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, max_position_embeddings=16, num_labels=1))

with tempfile.TemporaryDirectory() as out:
    args = TrainingArguments(output_dir=out, num_train_epochs=8, per_device_train_batch_size=32,
                             per_device_eval_batch_size=64, learning_rate=2e-3, eval_strategy="epoch",
                             logging_steps=50, save_strategy="no", report_to="none", disable_tqdm=True)
    trainer = HuberTrainer(model=model, args=args, train_dataset=WellLogs(1600), eval_dataset=WellLogs(300),
                           compute_metrics=compute_metrics)
    trainer.train()
    print(trainer.evaluate())
