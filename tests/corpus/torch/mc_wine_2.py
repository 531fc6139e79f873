import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class WineNet(nn.Module):
    def __init__(self, n_in, n_out, width=256, rate=0.5):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, width), nn.ReLU(), nn.Dropout(rate),
            nn.Linear(width, width), nn.ReLU(), nn.Dropout(rate),
            nn.Linear(width, n_out),
        )

    def forward(self, x):
        return self.net(x)


class Sampler:
    def __init__(self, draws=50, epochs=60, lr=1e-3):
        self.draws = draws
        self.epochs = epochs
        self.lr = lr

    def fit(self, x, y):
        self.scaler = StandardScaler().fit(x)
        self.model = WineNet(x.shape[1], len(np.unique(y)))
        xt = torch.tensor(self.scaler.transform(x), dtype=torch.float32)
        yt = torch.tensor(y)
        opt = torch.optim.Adam(self.model.parameters(), lr=self.lr)
        criterion = nn.NLLLoss()
        for epoch in range(self.epochs):
            for idx in torch.randperm(len(xt)).split(32):
                opt.zero_grad()
                loss = criterion(torch.log_softmax(self.model(xt[idx]), dim=1), yt[idx])
                loss.backward()
                opt.step()
            if epoch % 15 == 0:
                print(f"epoch {epoch} loss {loss.item():.4f}")
        return self

    def predict_proba(self, x):
        xt = torch.tensor(self.scaler.transform(x), dtype=torch.float32)
        self.model.train()
        with torch.no_grad():
            p = torch.stack([self.model(xt).softmax(1) for _ in range(self.draws)])
        return p.mean(0).numpy(), p.std(0).numpy()


def main():
    torch.manual_seed(6)
    data = load_wine()
    xa, xb, ya, yb = train_test_split(data.data, data.target, test_size=0.3, stratify=data.target, random_state=2)
    sampler = Sampler().fit(xa, ya)
    p, spread = sampler.predict_proba(xb)
    guess = p.argmax(1)
    loss = -np.log(p[np.arange(len(yb)), yb] + 1e-12).mean()
    strange = xb[:, np.random.default_rng(0).permutation(xb.shape[1])]
    _, far = sampler.predict_proba(strange)
    print(f"accuracy {np.mean(guess == yb):.3f} log loss {loss:.3f}")
    print(f"mean spread, usual wines {spread.mean():.3f}, shuffled columns {far.mean():.3f}")


if __name__ == "__main__":
    main()
