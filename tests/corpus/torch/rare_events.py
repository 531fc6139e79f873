import argparse
import math

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def transactions(n, seed):
    """Rare fraud (about 4 %) from amounts, hours, distances and a merchant code."""
    rng = np.random.default_rng(seed)
    amount = rng.lognormal(3, 1, n)
    hour = rng.integers(0, 24, n)
    distance = rng.exponential(20, n)
    merchant = rng.integers(0, 30, n)
    risky = np.isin(merchant, [3, 7, 11, 19])
    score = 0.9 * np.log(amount) + 1.2 * ((hour < 5) | (hour > 22)) + 0.03 * distance + 1.6 * risky + rng.normal(0, 0.5, n)
    y = (score > np.quantile(score, 0.96)).astype(np.float32)
    dense = np.stack([np.log(amount) - 3, np.cos(2 * np.pi * hour / 24), np.sin(2 * np.pi * hour / 24), np.log1p(distance) - 2.5], 1)
    return TensorDataset(torch.tensor(dense, dtype=torch.float32), torch.tensor(merchant), torch.tensor(y))


class FraudNet(nn.Module):
    def __init__(self, n_merchants=30, emb=6):
        super().__init__()
        self.merchant = nn.Embedding(n_merchants, emb)
        self.mlp = nn.Sequential(nn.Linear(4 + emb, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1))
        nn.init.constant_(self.mlp[-1].bias, math.log(0.04 / 0.96))

    def forward(self, dense, merchant):
        return self.mlp(torch.cat([dense, self.merchant(merchant)], dim=1)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--accum", type=int, default=4)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--pos-weight", type=float, default=8.0)
    args = parser.parse_args()

    set_seed(9)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=args.accum)
    train = DataLoader(transactions(10000, 1), batch_size=args.batch_size, shuffle=True, drop_last=True)
    valid = DataLoader(transactions(4000, 2), batch_size=512)
    model = FraudNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.6)
    model, optimizer, train, valid = accelerator.prepare(model, optimizer, train, valid)
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(args.pos_weight))

    for epoch in range(args.epochs):
        model.train()
        seen = 0.0
        for dense, merchant, label in train:
            with accelerator.accumulate(model):
                loss = criterion(model(dense, merchant), label)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 2.0)
                optimizer.step()
                optimizer.zero_grad()
            seen += loss.detach().item()
        scheduler.step()

        model.eval()
        scores, truth = [], []
        with torch.inference_mode():
            for dense, merchant, label in valid:
                s, t = accelerator.gather_for_metrics((model(dense, merchant), label))
                scores.append(s)
                truth.append(t)
        scores, truth = torch.cat(scores).numpy(), torch.cat(truth).numpy()
        accelerator.print(f"epoch {epoch + 1}: loss {seen / len(train):.4f}  AP {average_precision_score(truth, scores):.3f}"
                          f"  AUC {roc_auc_score(truth, scores):.3f}  base rate {truth.mean():.3f}")


if __name__ == "__main__":
    main()
