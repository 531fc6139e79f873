import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression


def corrupt(x, share, gen):
    keep = torch.rand(x.shape, generator=gen) > share
    return x * keep


class Denoiser(nn.Module):
    def __init__(self, code=32):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(code * 4, 64))
        nn.init.xavier_uniform_(self.weight)
        self.bias_in = nn.Parameter(torch.zeros(code * 4))
        self.bias_out = nn.Parameter(torch.zeros(64))
        self.squeeze = nn.Linear(code * 4, code)
        self.expand = nn.Linear(code, code * 4)

    def encode(self, x):
        return self.squeeze(torch.relu(x @ self.weight.t() + self.bias_in))

    def forward(self, x):
        h = torch.relu(self.expand(self.encode(x)))
        return h @ self.weight + self.bias_out


def main():
    torch.manual_seed(4)
    gen = torch.Generator().manual_seed(4)
    raw, label = load_digits(return_X_y=True)
    pixels = torch.tensor(raw / 16.0, dtype=torch.float32)
    order = torch.randperm(len(pixels))
    train, test = pixels[order[:1300]], pixels[order[1300:]]
    model = Denoiser()
    opt = torch.optim.Adadelta(model.parameters(), lr=1.0)
    loss_fn = nn.BCEWithLogitsLoss(reduction="none")
    patience, best, best_state = 8, float("inf"), None
    fixed = corrupt(test, 0.5, torch.Generator().manual_seed(0))
    valid, valid_in = test[:200], fixed[:200]
    left = patience
    for epoch in range(80):
        for idx in torch.randperm(len(train)).split(64):
            clean = train[idx]
            loss = loss_fn(model(corrupt(clean, 0.5, gen)), clean).sum(1).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            v = loss_fn(model(valid_in), valid).sum(1).mean().item()
        if v < best:
            best, left = v, patience
            best_state = {k: t.clone() for k, t in model.state_dict().items()}
        else:
            left -= 1
        if epoch % 10 == 0:
            print(f"epoch {epoch} train {loss.item():.3f} valid {v:.3f}")
        if left == 0:
            break
    model.load_state_dict(best_state)
    with torch.no_grad():
        fill = torch.sigmoid(model(fixed[200:]))
        mse = (fill - test[200:]).pow(2).mean().item()
        flat = (train.mean(0) - test[200:]).pow(2).mean().item()
        codes = model.encode(pixels).numpy()
    y = np.asarray(label)[order.numpy()]
    codes = codes[order.numpy()]
    probe = LogisticRegression(max_iter=300).fit(codes[:1300], y[:1300])
    print(f"restoration MSE {mse:.4f} (mean image {flat:.4f})")
    print(f"probe accuracy on codes {probe.score(codes[1500:], y[1500:]):.3f}")


if __name__ == "__main__":
    main()
