"""Adapt a pretrained encoder to a new dialect with hand-made low-rank adapters (accelerate loop)."""
import os
import random
from dataclasses import dataclass

os.environ["USE_TF"] = "0"

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader
from transformers import DistilBertConfig, DistilBertForSequenceClassification

random.seed(8)
torch.manual_seed(8)
PAD, CLS, N_WORDS = 0, 1, 60


@dataclass
class LoraSpec:
    rank: int = 8
    alpha: int = 16
    targets: tuple = ("q_lin", "k_lin", "v_lin", "out_lin", "lin1", "lin2")


class LoraLinear(nn.Module):
    """y = W x + (alpha / r) * B A x, W frozen."""

    def __init__(self, base, spec):
        super().__init__()
        self.base = base
        self.scale = spec.alpha / spec.rank
        self.lora_a = nn.Parameter(torch.randn(spec.rank, base.in_features) * 0.05)
        self.lora_b = torch.zeros(base.out_features, spec.rank, requires_grad=True)

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.lora_a.t() @ self.lora_b.t())


def inject(model, spec):
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear) and name in spec.targets:
                setattr(module, name, LoraLinear(child, spec))
    for name, param in model.named_parameters():
        param.requires_grad = "lora_" in name or "classifier" in name
    return model


def sentences(n, dialect, rng):
    """The verdict hangs on whether the first marker word comes before the second one; the dialect uses others."""
    first, second = ((5, 6) if dialect == 0 else (41, 42))
    rows, labels = [], []
    for _ in range(n):
        length = rng.randint(4, 8)
        words = [rng.randint(10, 40) for _ in range(length)]
        i, j = sorted(rng.sample(range(length), 2))
        label = rng.randint(0, 1)
        words[i], words[j] = (first, second) if label else (second, first)
        rows.append([CLS] + words)
        labels.append(label)
    return list(zip(rows, labels))


def collate(batch):
    longest = max(len(r) for r, _ in batch)
    ids = torch.tensor([r + [PAD] * (longest - len(r)) for r, _ in batch])
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": torch.tensor([y for _, y in batch])}


def evaluate(accelerator, model, loader):
    model.eval()
    hits = total = 0
    for batch in loader:
        with torch.no_grad():
            guess = model(**batch).logits.argmax(-1)
        guess, gold = accelerator.gather_for_metrics((guess, batch["labels"]))
        hits += (guess == gold).sum().item()
        total += len(gold)
    return hits / total


def fit(accelerator, model, train, valid, lr, epochs, tag):
    params = [p for p in model.parameters() if p.requires_grad]
    print(f"[{tag}] trainable {sum(p.numel() for p in params)} of {sum(p.numel() for p in model.parameters())}")
    loaders = [DataLoader(train, batch_size=20, shuffle=True, collate_fn=collate),
               DataLoader(valid, batch_size=64, collate_fn=collate)]
    model, opt, train_dl, valid_dl = accelerator.prepare(model, torch.optim.AdamW(params, lr=lr), *loaders)
    for epoch in range(epochs):
        model.train()
        running = 0.0
        for batch in train_dl:
            loss = model(**batch).loss
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(params, 1.0)
            opt.step()
            opt.zero_grad()
            running += loss.item()
        print(f"[{tag}] epoch {epoch} loss {running / len(train_dl):.3f} acc {evaluate(accelerator, model, valid_dl):.3f}")
    return accelerator.unwrap_model(model)


def main():
    rng = random.Random(8)
    accelerator = Accelerator(cpu=True)
    config = DistilBertConfig(vocab_size=N_WORDS, dim=48, n_heads=4, n_layers=2, hidden_dim=96,
                              max_position_embeddings=32, dropout=0.0, attention_dropout=0.0,
                              seq_classif_dropout=0.0, num_labels=2)
    model = DistilBertForSequenceClassification(config)
    model = fit(accelerator, model, sentences(1200, 0, rng), sentences(200, 0, rng), 1.5e-3, 4, "standard")
    print("trained on the standard language; now the dialect")
    model = inject(model, LoraSpec())
    fit(accelerator, model, sentences(800, 1, rng), sentences(300, 1, rng), 3e-3, 4, "dialect")


if __name__ == "__main__":
    main()
