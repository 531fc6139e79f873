# strain at mid-span from traffic and weather, with an uncertainty from dropout samples (Gal & Ghahramani)
import torch
import torch.nn as nn

torch.manual_seed(12)


def readings(n):
    trucks = torch.rand(n) * 10
    temp = torch.randn(n) * 8 + 12
    wind = torch.rand(n) * 20
    strain = 4 * trucks + 0.05 * (temp - 12) ** 2 + 0.03 * wind ** 2 + 2 * torch.sin(trucks * 1.5)
    return torch.stack([trucks, temp, wind], 1), strain + torch.randn(n) * 1.5


x, y = readings(3000)
x_new, y_new = readings(600)
mu, sd = x.mean(0), x.std(0)
x, x_new = (x - mu) / sd, (x_new - mu) / sd
y_mu, y_sd = y.mean(), y.std()

net = nn.Sequential(nn.Linear(3, 96), nn.ReLU(), nn.Dropout(0.1),
                    nn.Linear(96, 96), nn.ReLU(), nn.Dropout(0.1), nn.Linear(96, 1))
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-5)


@torch.no_grad()
def sample_predictions(inputs, passes=50):
    net.train()
    draws = torch.stack([net(inputs).squeeze(1) for _ in range(passes)]) * y_sd + y_mu
    return draws.mean(0), draws.std(0)


for epoch in range(30):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(x)).split(50):
        loss = nn.functional.huber_loss(net(x[idx]).squeeze(1), (y[idx] - y_mu) / y_sd)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 5 == 4:
        mean, spread = sample_predictions(x_new)
        rmse = (mean - y_new).pow(2).mean().sqrt()
        inside = ((mean - y_new).abs() < 2 * (spread ** 2 + 1.5 ** 2).sqrt()).float().mean()
        print(f"epoch {epoch + 1:2d} loss {total / len(x):.4f} rmse {rmse:.3f} "
              f"(target std {y_new.std():.2f}) within 2 sigma {inside:.3f}")
