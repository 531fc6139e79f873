"""Quillwort species from spore measurements: three restarts, keep the best one."""
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(42)
n_species, n_features = 5, 12
centres = torch.randn(n_species, n_features) * 1.1
y = torch.randint(0, n_species, (1600,))
x = centres[y] + torch.randn(1600, n_features) * 0.9
x[:, :4] = x[:, :4] * x[:, 4:5].tanh()
x = (x - x.mean(0)) / x.std(0)

train_dl = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=40, shuffle=True)
x_val, y_val = x[1200:], y[1200:]


def make_model():
    return nn.Sequential(
        nn.Linear(n_features, 48), nn.GELU(), nn.Dropout(0.1),
        nn.Linear(48, 48), nn.GELU(), nn.Linear(48, n_species),
    )


model = make_model()
optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
best_acc, best_state = 0.0, None
for restart in range(3):
    torch.manual_seed(restart)
    model = make_model()
    for epoch in range(12):
        model.train()
        epoch_loss = 0.0
        for xb, yb in train_dl:
            optimizer.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() * len(xb)
        model.eval()
        with torch.no_grad():
            acc = (model(x_val).argmax(1) == y_val).float().mean().item()
        if acc > best_acc:
            best_acc, best_state = acc, copy.deepcopy(model.state_dict())
    print(f"restart {restart}: loss {epoch_loss / 1200:.4f}, val acc {acc:.3f}")

final = make_model()
final.load_state_dict(best_state)
print(f"best val acc {best_acc:.3f}")
