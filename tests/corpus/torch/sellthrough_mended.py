import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(17)
torch.manual_seed(17)


def build_ledger(n):
    df = pd.DataFrame({
        "stock": rng.integers(20, 400, size=n),
        "discount": rng.choice([0.0, 0.1, 0.2, 0.3, 0.5], size=n),
        "page_rank": rng.uniform(0, 1, size=n),
        "category": rng.integers(0, 6, size=n),
        "weekday": rng.integers(0, 7, size=n),
        "rating": rng.normal(4.0, 0.4, size=n),
    })
    appeal = np.array([-0.8, -0.3, 0.0, 0.2, 0.5, 0.9])[df["category"]]
    z = -0.6 + appeal + 3.0 * df["discount"] - 1.5 * df["page_rank"] + 0.8 * (df["rating"] - 4.0)
    z = z + 0.5 * (df["weekday"] >= 5) + rng.normal(0, 0.25, size=n)
    share = 1 / (1 + np.exp(-z))
    df["sold"] = rng.binomial(df["stock"], share)
    df["sell_through"] = df["sold"] / df["stock"]
    return df


NUMERIC = ["stock", "discount", "page_rank", "rating"]


def batches(df, stats, size, shuffle):
    mean, std = stats
    rows = np.arange(len(df))
    if shuffle:
        rng.shuffle(rows)
    numeric = ((df[NUMERIC] - mean) / std).to_numpy("float32")
    codes = df[["category", "weekday"]].to_numpy()
    target = np.asarray(df["sell_through"].to_numpy(), dtype=np.float32)
    for lo in range(0, len(rows), size):
        take = rows[lo:lo + size]
        yield (torch.from_numpy(numeric[take]), torch.from_numpy(codes[take]),
               torch.from_numpy(target[take]).float())


class SellThroughNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.category = nn.Embedding(6, 4)
        self.weekday = nn.Embedding(7, 4)
        self.mlp = nn.Sequential(nn.Linear(len(NUMERIC) + 8, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(),
                                 nn.Linear(32, 1))

    def forward(self, numeric, codes):
        z = torch.cat([numeric, self.category(codes[:, 0]), self.weekday(codes[:, 1])], dim=1)
        return torch.sigmoid(self.mlp(z)).squeeze(1)


def run_validation(model, df, stats):
    model.eval()
    total, preds = 0.0, []
    with torch.no_grad():
        for numeric, codes, target in batches(df, stats, 256, shuffle=False):
            p = model(numeric, codes)
            total += nn.functional.l1_loss(p, target, reduction="sum").item()
            preds.append(p)
    return total / len(df), torch.cat(preds).numpy()


train_df, valid_df = build_ledger(6000), build_ledger(1500)
stats = train_df[NUMERIC].mean(), train_df[NUMERIC].std()
model = SellThroughNet()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
best, patience = float("inf"), 4
for epoch in range(20):
    model.train()
    seen = 0.0
    for numeric, codes, target in batches(train_df, stats, 64, shuffle=True):
        loss = nn.functional.mse_loss(model(numeric, codes), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += loss.item() * len(target)
    mae, _ = run_validation(model, valid_df, stats)
    print(f"epoch {epoch:2d}  train mse {seen / len(train_df):.4f}  valid mae {mae:.4f}")
    if mae < best - 1e-4:
        best, patience = mae, 4
    else:
        patience -= 1
        if patience == 0:
            break

_, share = run_validation(model, valid_df, stats)
expected = share * valid_df["stock"]
naive = train_df["sell_through"].mean() * valid_df["stock"]
print(f"units sold {valid_df['sold'].sum()}  units forecast {expected.sum():.0f}")
print(f"units mae: model {np.abs(expected - valid_df['sold']).mean():.1f}  "
      f"average rate {np.abs(naive - valid_df['sold']).mean():.1f}")
