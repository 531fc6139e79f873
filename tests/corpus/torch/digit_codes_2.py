"""Autoencoder on digits in phases: whole model, then a new decoder on a frozen encoder."""
import torch
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from torch import nn

CODE = 8


def load():
    d = load_digits()
    xtr, xte, ytr, yte = train_test_split(d.data, d.target, test_size=0.25, random_state=0)
    to = lambda a: torch.tensor(a, dtype=torch.float32)
    return to(xtr), to(xte), ytr, yte


def encoder():
    return nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, CODE))


def small_decoder():
    return nn.Sequential(nn.Linear(CODE, 96), nn.ReLU(), nn.Linear(96, 64))


def large_decoder(mean):
    last = nn.Linear(256, 64)
    nn.init.zeros_(last.weight)
    with torch.no_grad():
        last.bias.copy_(mean)
    return nn.Sequential(nn.Linear(CODE, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), last)


def image_error(out, x):
    return ((out - x) ** 2).sum(dim=1).mean()


def phase(name, enc, dec, params, x, epochs, lr, batch=64):
    opt = torch.optim.Adam(params, lr=lr)
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(x)).split(batch):
            loss = image_error(dec(enc(x[idx])), x[idx])
            for p in params:
                p.grad = None
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 10 == 0 or epoch == epochs - 1:
            print(f"{name} epoch {epoch:2d} squared error per image {total / len(x):.1f}")


def test_error(enc, dec, x):
    with torch.no_grad():
        return image_error(dec(enc(x)), x).item()


def main():
    torch.manual_seed(0)
    xtr, xte, ytr, yte = load()
    enc, dec = encoder(), small_decoder()
    phase("joint", enc, dec, [*enc.parameters(), *dec.parameters()], xtr, epochs=60, lr=2e-3)
    first = test_error(enc, dec, xte)

    enc.requires_grad_(False)
    fine = large_decoder(xtr.mean(0))
    phase("decoder", enc, fine, list(fine.parameters()), xtr, epochs=60, lr=1e-3)
    second = test_error(enc, fine, xte)

    with torch.no_grad():
        ctr, cte = enc(xtr).numpy(), enc(xte).numpy()
    probe = LogisticRegression(max_iter=3000).fit(ctr, ytr)
    mean_only = ((xte - xtr.mean(0)) ** 2).sum(1).mean().item()
    print(f"error of the mean image {mean_only:.1f}")
    print(f"test error joint {first:.1f}  new decoder {second:.1f} "
          f"(explained {1 - second / mean_only:.4f})")
    print(f"linear probe accuracy on {CODE} codes {probe.score(cte, yte):.4f}")


if __name__ == "__main__":
    main()
