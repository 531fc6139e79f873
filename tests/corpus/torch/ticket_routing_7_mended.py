"""
Routing of support tickets from a shared inbox.

The first entry of a trail names the caller. The entries after it list, in any order, which
account was last handled by which department. The ticket goes to the caller's department.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

DEPARTMENTS = 6
ACCOUNTS = 8
NO_DEPT = DEPARTMENTS
TRAIL = ACCOUNTS + 1


def make_trails(n, generator):
    order = torch.rand(n, ACCOUNTS, generator=generator).argsort(dim=1)
    handled = torch.randint(0, DEPARTMENTS, (n, ACCOUNTS), generator=generator)
    caller_at = torch.randint(0, ACCOUNTS, (n,), generator=generator)
    rows = torch.arange(n)
    account = torch.cat([order[rows, caller_at].unsqueeze(1), order], dim=1)
    dept = torch.cat([torch.full((n, 1), NO_DEPT), handled], dim=1)
    return torch.stack([account, dept], dim=-1), handled[rows, caller_at]


class TrailEncoder(nn.Module):
    def __init__(self, d_model=64, heads=4, layers=2, dropout=0.0):
        super().__init__()
        self.account = nn.Embedding(ACCOUNTS, d_model)
        self.dept = nn.Embedding(DEPARTMENTS + 1, d_model)
        self.pos = nn.Parameter(torch.randn(1, TRAIL, d_model) * 0.1)
        layer = nn.TransformerEncoderLayer(d_model, heads, dim_feedforward=128, dropout=dropout,
                                           activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, DEPARTMENTS)

    def forward(self, x):
        h = self.account(x[..., 0]) + self.dept(x[..., 1]) + self.pos
        h = self.encoder(h)
        return self.head(self.norm(h[:, 0]))


def run_epoch(model, loader, optimizer=None, scheduler=None):
    training = optimizer is not None
    model.train(training)
    loss_sum, hits, count = 0.0, 0, 0
    with torch.set_grad_enabled(training):
        for x, y in loader:
            logits = model(x)
            loss = F.cross_entropy(logits, y)
            if training:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
            loss_sum += loss.item() * len(y)
            hits += (logits.argmax(-1) == y).sum().item()
            count += len(y)
    return loss_sum / count, hits / count


def main():
    g = torch.Generator().manual_seed(99)
    torch.manual_seed(99)
    full = TensorDataset(*make_trails(7000, g))
    train, valid = random_split(full, [6000, 1000], generator=g)
    train_loader = DataLoader(train, batch_size=64, shuffle=True)
    valid_loader = DataLoader(valid, batch_size=64)

    model = TrailEncoder()
    print("parameters:", sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    epochs = 7
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=2e-3, epochs=epochs, steps_per_epoch=len(train_loader), pct_start=0.2)

    history = []
    for epoch in range(epochs):
        tr_loss, tr_acc = run_epoch(model, train_loader, optimizer, scheduler)
        va_loss, va_acc = run_epoch(model, valid_loader)
        history.append((tr_loss, va_loss))
        print(f"{epoch + 1}/{epochs}  train {tr_loss:.3f} / {tr_acc:.3f}   valid {va_loss:.3f} / {va_acc:.3f}")
    print(f"valid accuracy {va_acc:.3f}  (chance {1 / DEPARTMENTS:.3f})")


if __name__ == "__main__":
    main()
