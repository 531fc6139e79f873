import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, n_in=20, n_hidden=32):
        super().__init__()
        self.rnn = nn.RNN(1, n_hidden, batch_first=True)
        self.fc = nn.Linear(n_hidden, 1)

    def forward(self, x):
        out, _ = self.rnn(x.unsqueeze(-1))
        return self.fc(out[:, -1]).squeeze(-1)


def windows(n=1200, length=20):
    start = torch.rand(n, 1) * 6.28
    t = start + torch.arange(length + 1) * 0.3
    wave = torch.sin(t) + 0.05 * torch.randn(n, length + 1)
    return wave[:, :-1], wave[:, -1]


def train(model, x, y, epochs=8):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(epochs):
        for idx in torch.randperm(len(x)).split(40):
            pred = model(x[idx])
            loss = loss_fn(pred, y[idx])
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()
        print(f"{epoch:2d} {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train(Model(), *windows())
