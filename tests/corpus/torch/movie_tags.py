# Tag suggestions for movie plots. Every film may carry any number of the 6 tags
# (also none). Plots are bag-of-words counts.
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score

SEED = 21
torch.manual_seed(SEED)

counts, tags = make_multilabel_classification(
    n_samples=2400, n_features=80, n_classes=6, n_labels=2,
    length=60, allow_unlabeled=True, random_state=SEED,
)
words = np.log1p(counts).astype("float32")
tags = tags.astype("float32")
print("tags per film:", tags.sum(1).mean().round(2), " films without tag:", int((tags.sum(1) == 0).sum()))

n_train = 1900
train_x, train_y = torch.tensor(words[:n_train]), torch.tensor(tags[:n_train])
valid_x, valid_y = torch.tensor(words[n_train:]), torch.tensor(tags[n_train:])


class Tagger(nn.Module):
    def __init__(self, vocab, n_tags, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(vocab, width), nn.ReLU(), nn.Dropout(0.2))
        self.out = nn.Linear(width, n_tags)

    def forward(self, x):
        return self.out(self.body(x))

    @torch.no_grad()
    def suggest(self, x, threshold=0.5):
        return (torch.sigmoid(self(x)) > threshold).float()


tagger = Tagger(words.shape[1], tags.shape[1])
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.AdamW(tagger.parameters(), lr=2e-3)

for epoch in range(1, 26):
    tagger.train()
    epoch_loss = 0.0
    for idx in torch.randperm(n_train).split(64):
        out = tagger(train_x[idx])
        loss = loss_fn(out, train_y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        epoch_loss += loss.item() * len(idx)
    if epoch % 5 == 0:
        tagger.eval()
        guess = tagger.suggest(valid_x)
        micro = f1_score(valid_y.numpy(), guess.numpy(), average="micro", zero_division=0)
        exact = (guess == valid_y).all(dim=1).float().mean().item()
        print(f"epoch {epoch:2d}  loss {epoch_loss / n_train:.4f}  micro-F1 {micro:.3f}  "
              f"exact {exact:.3f}  tags/film {guess.sum(1).mean().item():.2f}")
