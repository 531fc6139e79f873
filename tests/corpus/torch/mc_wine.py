"""Wine cultivar with Monte Carlo dropout, entropy reported per sample."""
import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold
from torch import nn

PASSES = 40


class BayesishMLP(nn.Module):
    def __init__(self, n_in, n_out, p=0.3):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_in, 64), nn.ReLU(), nn.Dropout(p),
            nn.Linear(64, 64), nn.ReLU(), nn.Dropout(p),
            nn.Linear(64, n_out),
        )

    def forward(self, x):
        return self.layers(x)


def fit(model, x, y, epochs=80):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    ce = nn.CrossEntropyLoss()
    model.train()
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(16):
            opt.zero_grad()
            loss = ce(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
    return loss.item()


def predict(model, x):
    model.train()
    with torch.no_grad():
        samples = torch.stack([model(x).softmax(-1) for _ in range(PASSES)])
    probs = samples.mean(0)
    entropy = -(probs * probs.clamp_min(1e-9).log()).sum(-1)
    return probs, entropy


def nll(probs, y):
    return -probs[torch.arange(len(y)), y].log().mean().item()


def main():
    torch.manual_seed(0)
    x, y = load_wine(return_X_y=True)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    accs, nlls, ents = [], [], []
    for k, (tr, te) in enumerate(folds.split(x, y)):
        mu, sd = x[tr].mean(0), x[tr].std(0)
        xt = torch.tensor((x - mu) / sd, dtype=torch.float32)
        yt = torch.tensor(y)
        model = BayesishMLP(x.shape[1], 3)
        fit(model, xt[tr], yt[tr])
        probs, entropy = predict(model, xt[te])
        accs.append((probs.argmax(1) == yt[te]).float().mean().item())
        nlls.append(nll(probs, yt[te]))
        ents.append(entropy.mean().item())
        print(f"fold {k} accuracy {accs[-1]:.3f} nll {nlls[-1]:.3f} entropy {ents[-1]:.3f}")
    print(f"mean accuracy {np.mean(accs):.4f}, nll {np.mean(nlls):.4f}, entropy {np.mean(ents):.4f}")


if __name__ == "__main__":
    main()
