"""Wine cultivars: dropout network whose predictions are averaged over many stochastic passes."""
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold
from torch import nn


class Committee(nn.Module):
    def __init__(self, n_in, n_classes, width=48, rate=0.2):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, width), nn.ELU(), nn.Dropout(rate),
            nn.Linear(width, width), nn.ELU(), nn.Dropout(rate),
            nn.Linear(width, n_classes), nn.LogSoftmax(dim=1))

    def forward(self, x):
        return self.net(x)

    @torch.no_grad()
    def vote(self, x, passes=50):
        self.train()
        stack = torch.stack([self(x).exp() for _ in range(passes)])
        return stack.mean(0), stack.std(0).mean(1)


def fit(model, x, y, epochs=120, micro=16, every=2):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    opt.zero_grad()
    for epoch in range(epochs):
        model.train()
        chunks = torch.randperm(len(x)).split(micro)
        running = 0.0
        for step, idx in enumerate(chunks, start=1):
            loss = F.nll_loss(model(x[idx]), y[idx])
            (loss / every).backward()
            running += loss.item() / len(chunks)
            if step % every == 0 or step == len(chunks):
                opt.step()
                opt.zero_grad()
        if epoch % 40 == 39:
            print("  epoch %3d loss %.4f" % (epoch, running))
    return model


def main():
    torch.manual_seed(6)
    x, y = load_wine(return_X_y=True)
    accs, nlls = [], []
    splitter = StratifiedKFold(n_splits=4, shuffle=True, random_state=6)
    for fold, (tr, te) in enumerate(splitter.split(x, y)):
        mean, std = x[tr].mean(0), x[tr].std(0)
        x_tr = torch.tensor((x[tr] - mean) / std, dtype=torch.float32)
        x_te = torch.tensor((x[te] - mean) / std, dtype=torch.float32)
        y_tr, y_te = torch.tensor(y[tr]), torch.tensor(y[te])
        print("fold", fold)
        model = fit(Committee(x.shape[1], 3), x_tr, y_tr)
        prob, doubt = model.vote(x_te)
        accs.append((prob.argmax(1) == y_te).float().mean().item())
        nlls.append(F.nll_loss(torch.log(prob), y_te).item())
        print("  accuracy %.4f nll %.4f mean spread %.4f" % (accs[-1], nlls[-1], doubt.mean()))
    print("cv accuracy %.4f +- %.4f nll %.4f" % (np.mean(accs), np.std(accs), np.mean(nlls)))


if __name__ == "__main__":
    main()
