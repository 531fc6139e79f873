"""Teacher -> student distillation of a row classifier (accelerate): frozen teacher, soft targets, two losses."""
import copy
import os

os.environ["USE_TF"] = "0"

import numpy as np
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from datasets import Dataset
from torch.utils.data import DataLoader
from transformers import RobertaConfig, RobertaForSequenceClassification

CONF = {
    "vocab": 50, "classes": 6, "temperature": 3.0, "alpha": 0.9,
    "teacher": dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128),
    "student": dict(hidden_size=48, num_hidden_layers=1, num_attention_heads=2, intermediate_size=96),
}
PAD, BOS = 1, 0


def make(n, rng):
    """Class = which family of words is the most frequent one in the row."""
    rows = {"input_ids": [], "attention_mask": [], "labels": []}
    for _ in range(n):
        label = int(rng.integers(CONF["classes"]))
        length = int(rng.integers(8, 15))
        own = rng.integers(4 + 5 * label, 9 + 5 * label, 4)
        rest = rng.integers(4, CONF["vocab"], length - 4)
        words = rng.permutation(np.concatenate([own, rest])).tolist()
        gap = 14 - length
        rows["input_ids"].append([BOS] + words + [PAD] * gap)
        rows["attention_mask"].append([1] * (1 + length) + [0] * gap)
        rows["labels"].append(label)
    return Dataset.from_dict(rows).with_format("torch")


def build(kind):
    return RobertaForSequenceClassification(RobertaConfig(
        vocab_size=CONF["vocab"], max_position_embeddings=20, pad_token_id=PAD, bos_token_id=BOS, eos_token_id=2,
        type_vocab_size=1, num_labels=CONF["classes"], **CONF[kind],
    ))


def evaluate(acc, model, loader):
    was = model.training
    model.eval()
    ok = []
    with torch.inference_mode():
        for batch in loader:
            out = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
            guess, gold = acc.gather_for_metrics((out.argmax(-1), batch["labels"]))
            ok.append((guess == gold).float())
    model.train(was)
    return torch.cat(ok).mean().item()


def hard_loss(model, batch):
    return model(**batch).loss


class Distil:
    def __init__(self, teacher):
        self.teacher = copy.deepcopy(teacher).eval().requires_grad_(False)

    def __call__(self, student, batch):
        inputs = {k: v for k, v in batch.items() if k != "labels"}
        t = CONF["temperature"]
        logits = student(**inputs).logits
        soft = self.teacher(**inputs).logits
        kl = F.kl_div((logits / t).log_softmax(-1), (soft / t).softmax(-1), reduction="batchmean") * t * t
        ce = F.cross_entropy(logits, batch["labels"], label_smoothing=0.1)
        return CONF["alpha"] * kl + (1 - CONF["alpha"]) * ce


def train(acc, model, loss_fn, train_dl, valid_dl, lr, epochs, tag):
    decay = [p for n, p in model.named_parameters() if p.ndim > 1]
    plain = [p for n, p in model.named_parameters() if p.ndim <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}], lr=lr)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 20))
    model, opt, sched = acc.prepare(model, opt, sched)
    for epoch in range(epochs):
        model.train()
        seen = 0.0
        for batch in train_dl:
            with acc.accumulate(model):
                loss = loss_fn(model, batch)
                acc.backward(loss)
                if acc.sync_gradients:
                    acc.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                sched.step()
                opt.zero_grad()
            seen += loss.item()
        acc.print(f"[{tag}] epoch {epoch} loss {seen / len(train_dl):.3f} acc {evaluate(acc, model, valid_dl):.3f}")
    return acc.unwrap_model(model)


def main():
    set_seed(12)
    rng = np.random.default_rng(12)
    acc = Accelerator(cpu=True, gradient_accumulation_steps=2)
    train_dl = DataLoader(make(1600, rng), batch_size=16, shuffle=True)
    valid_dl = DataLoader(make(400, rng), batch_size=100)
    train_dl, valid_dl = acc.prepare(train_dl, valid_dl)
    teacher = train(acc, build("teacher"), hard_loss, train_dl, valid_dl, 2e-3, 3, "teacher")
    train(acc, build("student"), Distil(teacher), train_dl, valid_dl, 4e-3, 7, "student")


if __name__ == "__main__":
    main()
