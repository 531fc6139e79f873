import random

import torch
import torch.nn.functional as F
from sklearn.metrics import f1_score
from transformers import AutoModelForTokenClassification, ElectraConfig

rng = random.Random(4)
torch.manual_seed(4)

NAMES = ["O", "DOSE", "DRUG", "FREQ"]
DRUGS = ["abrolin", "certovax", "dinexol", "fentoril", "mirazine", "tolvapan"]
UNITS = ["mg", "ml", "drops", "tablets"]
FREQ = ["daily", "twice", "hourly", "weekly"]
CHAT = ("the patient was seen in good spirits and reports some pain after walking but no fever we agreed on rest and "
        "fluids family asked about visiting hours and follow up will be arranged soon with our clinic").split()
COUNTS = [str(n) for n in range(1, 11)]


def note():
    words = [(w, 0) for w in rng.choices(CHAT + COUNTS[:4], k=rng.randint(8, 26))]
    if rng.random() < 0.7:
        order = [(rng.choice(COUNTS), 1), (rng.choice(UNITS), 1), (rng.choice(DRUGS), 2), (rng.choice(FREQ), 3)]
        at = rng.randint(0, len(words))
        words[at:at] = order
    return words


class Lion(torch.optim.Optimizer):
    """Sign of an interpolated momentum, decoupled weight decay."""

    def __init__(self, params, lr=3e-4, betas=(0.9, 0.98), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_((b1 * m + (1 - b1) * p.grad).sign(), alpha=-group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


def bucketed(notes, size):
    notes = sorted(notes, key=len)
    for start in range(0, len(notes), size):
        rows = notes[start:start + size]
        width = len(rows[-1])
        ids = torch.tensor([[vocab[w] for w, _ in r] + [0] * (width - len(r)) for r in rows])
        tags = torch.tensor([[t for _, t in r] + [-100] * (width - len(r)) for r in rows])
        yield {"input_ids": ids, "attention_mask": ids.ne(0).long()}, tags


vocab = {w: i for i, w in enumerate(["<pad>", *sorted({*CHAT, *COUNTS, *UNITS, *DRUGS, *FREQ})])}
train_batches = list(bucketed([note() for _ in range(1000)], 25))
test_batches = list(bucketed([note() for _ in range(250)], 50))

freq = torch.bincount(torch.cat([t[t >= 0] for _, t in train_batches]), minlength=4).float()
weights = (freq.sum() / freq).sqrt()
print("share of each tag", (freq / freq.sum()).tolist())

model = AutoModelForTokenClassification.from_config(ElectraConfig(
    vocab_size=len(vocab), embedding_size=32, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=40, num_labels=len(NAMES)))
optimizer = Lion(model.parameters(), lr=4e-4, weight_decay=0.05)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1.0, end_factor=0.1, total_iters=8)

for epoch in range(8):
    model.train()
    rng.shuffle(train_batches)
    loss_sum = count = 0
    for inputs, tags in train_batches:
        logits = model(**inputs).logits
        loss = F.cross_entropy(logits.permute(0, 2, 1), tags, weight=weights, ignore_index=-100, reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.item()
        count += int((tags >= 0).sum())
    scheduler.step()
    model.eval()
    gold, pred = [], []
    with torch.no_grad():
        for inputs, tags in test_batches:
            keep = tags >= 0
            gold += tags[keep].tolist()
            pred += model(**inputs).logits.argmax(-1)[keep].tolist()
    print(f"epoch {epoch + 1}  loss/token {loss_sum / count:.4f}  macro f1 {f1_score(gold, pred, average='macro'):.3f}")
