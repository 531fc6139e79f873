"""Waders on the mudflats: dropout network, averaged over 40 stochastic passes at test time."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
BIRDS = ["dunlin", "knot", "redshank", "curlew"]
means = torch.tensor([[18.0, 3.2, 48], [24, 3.3, 140], [28, 4.1, 120], [55, 12.5, 800]])
stds = torch.tensor([[1.5, 0.3, 6], [1.5, 0.3, 15], [1.8, 0.4, 15], [4, 1.2, 90]])
y = torch.randint(0, 4, (1600,))
x = means[y] + 1.4 * stds[y] * torch.randn(1600, 3)
x = torch.cat([x, torch.randn(1600, 3)], dim=1)
x = (x - x[:1200].mean(0)) / x[:1200].std(0)
loader = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=48, shuffle=True)
x_test, y_test = x[1200:], y[1200:]

net = nn.Sequential(
    nn.Linear(6, 64), nn.ReLU(), nn.Dropout(0.3),
    nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.3),
    nn.Linear(64, 4),
)
opt = torch.optim.Adamax(net.parameters(), lr=5e-3)
nll = nn.CrossEntropyLoss()


@torch.no_grad()
def mc_predict(x, passes=40):
    net.train()
    probs = torch.stack([net(x).softmax(-1) for _ in range(passes)])
    mean = probs.mean(0)
    entropy = -(mean * mean.clamp_min(1e-9).log()).sum(-1)
    return mean, entropy


for epoch in range(1, 16):
    net.train()
    total = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = nll(net(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
    if epoch % 3 == 0:
        mean, entropy = mc_predict(x_test)
        right = mean.argmax(1) == y_test
        print(f"epoch {epoch:2d}  loss {total / 1200:.3f}  acc {right.float().mean():.3f}  "
              f"entropy right {entropy[right].mean():.3f} wrong {entropy[~right].mean():.3f}")
sure = entropy < entropy.median()
print(f"accuracy on the surer half: {right[sure].float().mean():.3f}")
