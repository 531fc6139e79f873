"""Distilling a frozen teacher into a narrow student with a Trainer subclass.

Only 15 % of the training texts carry a label (-100 elsewhere); the rest is taught by the
teacher's soft predictions at temperature 3.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainingArguments,
                          set_seed)

set_seed(3)
VOCAB, LEN, CLASSES = 200, 16, 4
rng = np.random.default_rng(3)
WORLD = rng.dirichlet(np.full(VOCAB - 2, 0.25), size=CLASSES)
WORLD = 0.5 * WORLD + 0.5 * WORLD.mean(0)


class Texts(Dataset):
    def __init__(self, n, labelled=1.0):
        self.rows = []
        for _ in range(n):
            y = int(rng.integers(CLASSES))
            k = int(rng.integers(8, LEN))
            ids = np.zeros(LEN, dtype=np.int64)
            ids[0] = 1
            ids[1:k] = rng.choice(VOCAB - 2, size=k - 1, p=WORLD[y]) + 2
            shown = y if rng.random() < labelled else -100
            self.rows.append((ids, (ids > 0).astype(np.int64), shown))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, mask, y = self.rows[i]
        return {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask), "labels": y}


class BagTeacher(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.out = nn.Linear(dim, CLASSES)

    def forward(self, input_ids, attention_mask):
        m = attention_mask.unsqueeze(-1).float()
        return self.out((self.emb(input_ids) * m).sum(1) / m.sum(1))


def train_teacher(ds):
    teacher = BagTeacher()
    opt = torch.optim.Adam(teacher.parameters(), lr=1e-2)
    for _ in range(5):
        for b in DataLoader(ds, batch_size=64, shuffle=True):
            loss = F.cross_entropy(teacher(b["input_ids"], b["attention_mask"]), b["labels"])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return teacher.eval().requires_grad_(False)


class DistillTrainer(Trainer):
    def __init__(self, *args, teacher, temperature=3.0, soft_weight=0.8, **kw):
        super().__init__(*args, **kw)
        self.teacher, self.t, self.alpha = teacher, temperature, soft_weight
        self.model_accepts_loss_kwargs = False     # we return a plain mean per micro batch

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        with torch.no_grad():
            guide = self.teacher(inputs["input_ids"], inputs["attention_mask"])
        soft = F.kl_div(F.log_softmax(out.logits / self.t, -1), F.log_softmax(guide / self.t, -1),
                        reduction="batchmean", log_target=True) * self.t ** 2
        known = (labels != -100).sum()
        hard = F.cross_entropy(out.logits, labels, ignore_index=-100, reduction="sum") / known.clamp(min=1)
        loss = self.alpha * soft + (1 - self.alpha) * hard
        return (loss, out) if return_outputs else loss


def metrics(p):
    logits = p.predictions[0] if isinstance(p.predictions, tuple) else p.predictions
    return {"accuracy": float((logits.argmax(-1) == p.label_ids).mean())}


teacher = train_teacher(Texts(4000))
train_ds, test_ds = Texts(1600, labelled=0.15), Texts(500)
batch = next(iter(DataLoader(test_ds, batch_size=len(test_ds))))
teacher_acc = (teacher(batch["input_ids"], batch["attention_mask"]).argmax(1) == batch["labels"]).float().mean()
print(f"teacher accuracy {teacher_acc:.3f}")

student = BertForSequenceClassification(BertConfig(
    vocab_size=VOCAB, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
    max_position_embeddings=LEN, num_labels=CLASSES, hidden_dropout_prob=0.05))
trainer = DistillTrainer(
    model=student, teacher=teacher, train_dataset=train_ds, eval_dataset=test_ds, compute_metrics=metrics,
    args=TrainingArguments(
        output_dir="out/distill", num_train_epochs=6, per_device_train_batch_size=16,
        gradient_accumulation_steps=2, per_device_eval_batch_size=128, learning_rate=5e-3,
        lr_scheduler_type="cosine", warmup_ratio=0.1, label_names=["labels"], eval_strategy="epoch",
        logging_strategy="epoch", save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=True))
trainer.train()
print(f"student test accuracy {trainer.evaluate()['eval_accuracy']:.3f} (chance {1 / CLASSES:.2f})")
