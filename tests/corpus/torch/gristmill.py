"""Predict flour yield and ash content from mill settings; accelerate loop with a Lookahead wrapper."""
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Lookahead:
    """k fast steps forward, one step back (Zhang et al. 2019)."""

    def __init__(self, optimizer, params, k=5, alpha=0.5):
        self.optimizer, self.k, self.alpha, self.count = optimizer, k, alpha, 0
        self.fast = list(params)
        self.slow = [p.detach().clone() for p in self.fast]

    @torch.no_grad()
    def after_step(self):
        self.count += 1
        if self.count % self.k:
            return
        for slow, fast in zip(self.slow, self.fast):
            slow += self.alpha * (fast.data - slow)
            fast.data.copy_(slow)


class MillNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.flour = nn.Linear(64, 1)
        self.ash = nn.Linear(64, 1)

    def forward(self, x):
        h = self.body(x)
        return torch.cat([self.flour(h), self.ash(h)], dim=1)


def settings(n):
    x = torch.rand(n, 6) * 2 - 1
    gap, speed, moisture, feed, hardness, stones = x.T
    flour = torch.sin(2 * gap) * speed + 0.8 * moisture**2 - 0.5 * feed * hardness
    ash = torch.exp(-gap) * 0.5 + 0.6 * torch.relu(speed - moisture) + 0.3 * stones
    y = torch.stack([flour, ash], 1)
    y = (y - y.mean(0)) / y.std(0)
    return TensorDataset(x, y + 0.1 * torch.randn_like(y))


set_seed(9)
accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
train_set, test_set = random_split(settings(4000), [3200, 800])
train_dl = DataLoader(train_set, batch_size=32, shuffle=True)
test_dl = DataLoader(test_set, batch_size=200)
model = MillNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model, optimizer, train_dl, test_dl = accelerator.prepare(model, optimizer, train_dl, test_dl)
ahead = Lookahead(optimizer, accelerator.unwrap_model(model).parameters())

for epoch in range(15):
    model.train()
    total = 0.0
    for x, y in train_dl:
        with accelerator.accumulate(model):
            loss = nn.functional.smooth_l1_loss(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            if accelerator.sync_gradients:
                ahead.after_step()
            optimizer.zero_grad()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        pairs = [accelerator.gather_for_metrics((model(x), y)) for x, y in test_dl]
    pred, true = (torch.cat(t) for t in zip(*pairs))
    r2 = 1 - ((pred - true) ** 2).sum(0) / ((true - true.mean(0)) ** 2).sum(0)
    if epoch % 3 == 2:
        accelerator.print(f"epoch {epoch + 1:2d}  loss {total / len(train_dl):.4f}  R2 flour {r2[0]:.3f} ash {r2[1]:.3f}")
