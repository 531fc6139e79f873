# %% Part-of-speech style tagger on a small artificial language
# Words are ambiguous: many forms can carry two tags, the neighbours decide.
import math
import random

import numpy as np
import torch
import torch.nn as nn

SEED = 21
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

# %% data
N_TAGS, N_WORDS, LENGTH = 8, 120, 20
rng = np.random.default_rng(SEED)
trans = rng.dirichlet(np.full(N_TAGS, 0.25), size=N_TAGS)
emit = np.zeros((N_TAGS, N_WORDS))
for w in range(N_WORDS):
    tags = rng.choice(N_TAGS, size=2, replace=False)
    emit[tags, w] = rng.uniform(0.5, 1.5, size=2)
emit /= emit.sum(1, keepdims=True)


def sample_sentences(n):
    tags = np.zeros((n, LENGTH), dtype=np.int64)
    words = np.zeros((n, LENGTH), dtype=np.int64)
    for s in range(n):
        t = rng.integers(N_TAGS)
        for k in range(LENGTH):
            tags[s, k] = t
            words[s, k] = rng.choice(N_WORDS, p=emit[t])
            t = rng.choice(N_TAGS, p=trans[t])
    return torch.from_numpy(words), torch.from_numpy(tags)


train_w, train_t = sample_sentences(1600)
dev_w, dev_t = sample_sentences(300)

counts = torch.zeros(N_WORDS, N_TAGS)
counts.index_put_((train_w.flatten(), train_t.flatten()), torch.ones(train_w.numel()), accumulate=True)
baseline = (counts.argmax(1)[dev_w] == dev_t).float().mean().item()
print(f"most frequent tag per word: {baseline:.3f}")


# %% model
class Tagger(nn.Module):
    def __init__(self, d_model=64):
        super().__init__()
        self.d_model = d_model
        self.word = nn.Embedding(N_WORDS, d_model)
        self.place = nn.Embedding(LENGTH, d_model)
        layer = nn.TransformerEncoderLayer(d_model, 4, 128, dropout=0.1, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(d_model, N_TAGS)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def forward(self, w):
        pos = torch.arange(w.size(1), device=w.device)
        return self.out(self.body(self.word(w) * math.sqrt(self.d_model) + self.place(pos) * 4))


model = Tagger()

# %% optimisation ("Attention is all you need" settings, shorter warmup)
WARMUP = 150


def noam(step, d_model=64, factor=0.5):
    step = max(step, 1)
    return factor * d_model ** -0.5 * min(step ** -0.5, step * WARMUP ** -1.5)


optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=noam)
criterion = nn.CrossEntropyLoss()


def dev_accuracy():
    model.eval()
    with torch.no_grad():
        return (model(dev_w).argmax(-1) == dev_t).float().mean().item()


# %% train
BATCH, EPOCHS = 32, 10
for epoch in range(1, EPOCHS + 1):
    model.train()
    order = torch.randperm(len(train_w))
    losses = []
    for idx in order.split(BATCH):
        logits = model(train_w[idx])
        loss = criterion(logits.reshape(-1, N_TAGS), train_t[idx].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    print(f"epoch {epoch:2d} | loss {np.mean(losses):.4f} | dev acc {dev_accuracy():.3f}")

# %%
print(f"final dev accuracy {dev_accuracy():.3f} (most frequent tag {baseline:.3f})")
