"""
Dual encoder for product search. Query and title share one encoder, the loss is in-batch contrastive with one
mined hard negative per query and a learned temperature. No class labels anywhere.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import DistilBertConfig, DistilBertModel, Trainer, TrainingArguments, set_seed

BRANDS, KINDS, COLOURS, SIZES = 20, 25, 12, 6
PAD = 0
OFF_B, OFF_K, OFF_C, OFF_S = 1, 1 + 2 * BRANDS, 1 + 2 * (BRANDS + KINDS), 1 + 2 * (BRANDS + KINDS + COLOURS)
NOISE = OFF_S + 2 * SIZES
VOCAB = NOISE + 30
LEN = 10


def words(p, style, rng, extra):
    """style 0 = title vocabulary, 1 = how shoppers say it (other word for the same thing)."""
    b, k, c, s = p
    toks = [OFF_B + 2 * b + style, OFF_K + 2 * k + style, OFF_C + 2 * c + style, OFF_S + 2 * s + style]
    toks = [t for t in toks if rng.random() > (0.15 if style else 0.0)] + rng.integers(NOISE, VOCAB, extra).tolist()
    toks = rng.permutation(toks)[:LEN]
    return toks.tolist() + [PAD] * (LEN - len(toks))


def neighbour(p, rng):
    q = list(p)
    f = rng.integers(4)
    size = (BRANDS, KINDS, COLOURS, SIZES)[f]
    q[f] = (q[f] + rng.integers(1, size)) % size
    return q


class Clicks(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = []
        for _ in range(n):
            p = [int(rng.integers(m)) for m in (BRANDS, KINDS, COLOURS, SIZES)]
            self.rows.append({"query": torch.tensor(words(p, 1, rng, int(rng.integers(0, 3)))),
                              "title": torch.tensor(words(p, 0, rng, int(rng.integers(1, 5)))),
                              "hard": torch.tensor(words(neighbour(p, rng), 0, rng, int(rng.integers(1, 5))))})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class DualEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = DistilBertModel(DistilBertConfig(
            vocab_size=VOCAB, dim=64, n_layers=1, n_heads=4, hidden_dim=128, max_position_embeddings=LEN,
            dropout=0.0, attention_dropout=0.0, initializer_range=0.1))
        self.body.embeddings.position_embeddings.weight.data.zero_()
        self.body.embeddings.position_embeddings.weight.requires_grad_(False)   # word order carries nothing here
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def encode(self, ids):
        mask = (ids != PAD).long()
        h = self.body(input_ids=ids, attention_mask=mask).last_hidden_state
        h = (h * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        return F.normalize(h, dim=-1)

    def forward(self, query, title, hard):
        q, t, n = self.encode(torch.cat([query, title, hard])).chunk(3)
        scale = self.log_scale.exp().clamp(max=50)
        logits = scale * q @ torch.cat([t, n]).T
        target = torch.arange(len(q))
        loss = F.cross_entropy(logits, target) + 0.3 * F.cross_entropy(scale * t @ q.T, target)
        return {"loss": loss}


@torch.no_grad()
def recall(model, ds, k):
    model.eval()
    q = model.encode(torch.stack([r["query"] for r in ds.rows]))
    t = model.encode(torch.stack([r["title"] for r in ds.rows]))
    rank = (q @ t.T).topk(k, dim=1).indices
    return (rank == torch.arange(len(q))[:, None]).any(1).float().mean().item()


if __name__ == "__main__":
    set_seed(6)
    train_ds, test_ds = Clicks(6000, 0), Clicks(500, 1)
    model = DualEncoder()
    print(f"before training: recall@1 {recall(model, test_ds, 1):.3f}")
    args = TrainingArguments(output_dir="out/search", num_train_epochs=4, per_device_train_batch_size=64,
                             learning_rate=3e-3, lr_scheduler_type="cosine", warmup_steps=20, weight_decay=0.0,
                             dataloader_drop_last=True, remove_unused_columns=False, logging_steps=40,
                             save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=train_ds)
    trainer.train()
    print(f"scale {model.log_scale.exp().item():.1f}")
    print(f"held-out recall@1 {recall(model, test_ds, 1):.3f}  recall@5 {recall(model, test_ds, 5):.3f} (chance 0.002)")
