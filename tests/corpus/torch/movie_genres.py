#!/usr/bin/env python
"""Multi-label genre prediction from plot keywords (binary bag of words)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset

GENRES = ["horror", "romance", "western", "scifi", "musical", "war", "noir", "sports"]
BASE_RATE = np.array([0.10, 0.16, 0.04, 0.08, 0.05, 0.06, 0.04, 0.05])


def fake_catalogue(n, n_keywords, rng):
    genres = (rng.random((n, len(GENRES))) < BASE_RATE).astype(np.float32)
    # each genre makes 12 keywords likely, a keyword can belong to more than one genre
    affinity = np.zeros((len(GENRES), n_keywords))
    for g in range(len(GENRES)):
        affinity[g, rng.choice(n_keywords, 12, replace=False)] = 2.8
    logit = -3.6 + genres @ affinity
    keywords = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.float32)
    return keywords, genres


class Catalogue(Dataset):
    def __init__(self, keywords, genres):
        self.keywords = keywords
        self.genres = genres

    def __len__(self):
        return len(self.keywords)

    def __getitem__(self, i):
        return torch.from_numpy(self.keywords[i]), torch.from_numpy(self.genres[i])


def genre_weights(genres):
    """Genres are rare, so weight the positives by how often each one shows up."""
    positives = genres.sum(axis=0)
    negatives = len(genres) - positives
    return torch.tensor(positives / negatives, dtype=torch.float32)


def evaluate(model, loader):
    model.eval()
    probs, truth = [], []
    with torch.no_grad():
        for kw, g in loader:
            probs.append(torch.sigmoid(model(kw)))
            truth.append(g)
    pred = (torch.cat(probs) > 0.5).int().numpy()
    truth = torch.cat(truth).int().numpy()
    return {
        "macro_f1": f1_score(truth, pred, average="macro", zero_division=0),
        "label_acc": (pred == truth).mean(),
        "genres_per_movie": pred.sum(axis=1).mean(),
    }


def main(args):
    rng = np.random.default_rng(args.seed)
    torch.manual_seed(args.seed)
    kw, genres = fake_catalogue(args.n, 200, rng)
    kw_tr, kw_te, g_tr, g_te = train_test_split(kw, genres, test_size=0.25, random_state=args.seed)
    train_dl = DataLoader(Catalogue(kw_tr, g_tr), batch_size=args.batch, shuffle=True)
    test_dl = DataLoader(Catalogue(kw_te, g_te), batch_size=256)

    model = nn.Sequential(
        nn.Linear(kw.shape[1], 96),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(96, len(GENRES)),
    )
    criterion = nn.BCEWithLogitsLoss(pos_weight=genre_weights(g_tr))
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for x, y in train_dl:
            opt.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            opt.step()
            running += loss.item()
        m = evaluate(model, test_dl)
        print(f"epoch {epoch:02d} loss {running / len(train_dl):.4f} " + " ".join(f"{k} {v:.3f}" for k, v in m.items()))


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--n", type=int, default=6000)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--seed", type=int, default=4)
    main(ap.parse_args())
