"""Recommend library books with a denoising autoencoder over each reader's loan vector."""
import logging
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger(__name__)

N_BOOKS, N_TASTES = 300, 20


def simulate_loans(n_readers, rng, tastes, popularity):
    """Each reader mixes two or three tastes and borrows 12 to 30 books."""
    loans = np.zeros((n_readers, N_BOOKS), dtype=np.float32)
    for u in range(n_readers):
        k = rng.choice(N_TASTES, rng.integers(2, 4), replace=False)
        p = rng.dirichlet(np.ones(len(k)) * 2) @ tastes[k]
        p = 0.85 * p + 0.15 * popularity
        loans[u, rng.choice(N_BOOKS, rng.integers(12, 31), replace=False, p=p / p.sum())] = 1
    return loans


def hide(loans, rng, share=0.3):
    """Split every row into the loans that are shown and those that must be guessed."""
    shown = loans.copy()
    for row in shown:
        items = np.flatnonzero(row)
        row[rng.choice(items, max(1, int(share * len(items))), replace=False)] = 0
    return torch.from_numpy(shown), torch.from_numpy(loans - shown)


class LoanAutoencoder(nn.Module):
    def __init__(self, hidden=256, drop=0.5):
        super().__init__()
        self.drop = nn.Dropout(drop)
        self.encoder = nn.Sequential(nn.Linear(N_BOOKS, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.decoder = nn.Linear(hidden, N_BOOKS)

    def forward(self, loans):
        x = F.normalize(loans, dim=1)
        return self.decoder(self.encoder(self.drop(x)))


def multinomial_loss(logits, loans):
    return -(F.log_softmax(logits, dim=1) * loans).sum(1).mean()


def recall(scores, shown, hidden, k=20):
    scores = scores.masked_fill(shown > 0, -math.inf)
    top = torch.zeros_like(scores).scatter_(1, scores.topk(k, dim=1).indices, 1.0)
    return ((top * hidden).sum(1) / hidden.sum(1).clamp(max=k)).mean().item()


def evaluate(model, shown, hidden):
    model.eval()
    with torch.no_grad():
        logits = model(shown)
    return multinomial_loss(logits, hidden).item(), recall(logits, shown, hidden)


class Fitter:
    def __init__(self, model, loans, valid, epochs=40, batch=100, lr=1e-3):
        self.model, self.loans, self.valid = model, torch.from_numpy(loans), valid
        self.epochs, self.batch = epochs, batch
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def one_epoch(self):
        total = 0.0
        for idx in torch.randperm(len(self.loans)).split(self.batch):
            rows = self.loans[idx]
            loss = multinomial_loss(self.model(rows), rows)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item() * len(idx)
        return total / len(self.loans)

    def fit(self):
        self.model.train()
        for epoch in range(1, self.epochs + 1):
            train_loss = self.one_epoch()
            val_loss, val_recall = evaluate(self.model, *self.valid)
            if epoch == 1 or epoch % 10 == 0:
                log.info("epoch %3d  train %.3f  valid %.3f  valid recall@20 %.3f", epoch, train_loss, val_loss, val_recall)


def main():
    torch.manual_seed(17)
    rng = np.random.default_rng(17)
    tastes = rng.dirichlet(np.full(N_BOOKS, 0.08), N_TASTES)
    popularity = rng.dirichlet(np.full(N_BOOKS, 0.5))
    train = simulate_loans(2500, rng, tastes, popularity)
    valid = hide(simulate_loans(400, rng, tastes, popularity), rng)
    test = hide(simulate_loans(1000, rng, tastes, popularity), rng)

    model = LoanAutoencoder()
    Fitter(model, train, valid).fit()

    loss, score = evaluate(model, *test)
    counts = torch.from_numpy(train.sum(0)).expand(len(test[0]), -1)
    log.info("test loss %.3f  test recall@20 %.3f  (most borrowed books %.3f)", loss, score, recall(counts, *test))


if __name__ == "__main__":
    main()
