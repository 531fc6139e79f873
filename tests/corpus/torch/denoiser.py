import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class AE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 48), nn.ELU(), nn.Linear(48, 12))
        self.dec = nn.Sequential(nn.ELU(), nn.Linear(12, 48), nn.ELU(), nn.Linear(48, 64), nn.Sigmoid())

    def forward(self, x):
        return self.dec(self.enc(x))


def train(model, x, epochs=10, batch=64):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    mse = nn.MSELoss()
    for e in range(epochs):
        for b in x[torch.randperm(len(x))].split(batch):
            noisy = b + 0.2 * torch.randn_like(b)
            loss = mse(model(noisy), b) * 100  # percent
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(e, loss.item())


if __name__ == "__main__":
    torch.manual_seed(4)
    data = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    train(AE(), data)
