# Vowel recognition from synthetic formant spectra.
# The first layer is a fixed random Fourier map; only the read-out is fitted, with full-batch L-BFGS.
import numpy as np
import torch
from torch import nn

torch.manual_seed(9)
torch.set_default_dtype(torch.float64)

VOWELS = {"i": (280, 2250), "e": (400, 2050), "E": (550, 1800), "a": (750, 1300), "o": (450, 850), "u": (310, 800)}


def speakers(n, seed):
    g = np.random.default_rng(seed)
    names = list(VOWELS)
    y = g.integers(0, len(names), n)
    tract = g.normal(1.0, 0.10, n)                            # vocal tract length
    grid = np.linspace(100, 3500, 32)
    X = np.empty((n, 32))
    for i in range(n):
        f1, f2 = np.array(VOWELS[names[y[i]]]) * tract[i] * g.normal(1, 0.04, 2)
        bw = g.uniform(80, 160)
        env = 1 / (1 + ((grid - f1) / bw) ** 2) + g.uniform(0.4, 0.9) / (1 + ((grid - f2) / (1.5 * bw)) ** 2)
        X[i] = np.log(env + 0.02) - grid / 2500 * g.uniform(0.5, 1.2) + g.normal(0, 0.12, 32)
    return torch.from_numpy(X), torch.from_numpy(y)


class FourierMap(nn.Module):
    """cos(Wx + b) with W and b drawn once; kept as buffers so that they follow state_dict and .to()."""

    def __init__(self, d_in, d_out, length_scale):
        super().__init__()
        self.register_buffer("W", torch.randn(d_out, d_in) / length_scale)
        self.register_buffer("b", 2 * torch.pi * torch.rand(d_out))
        self.gain = (2.0 / d_out) ** 0.5

    def forward(self, x):
        return self.gain * torch.cos(x @ self.W.T + self.b)


class Reader(nn.Module):
    def __init__(self, d_in, n_out, width=600, length_scale=7.0):
        super().__init__()
        self.map = FourierMap(d_in, width, length_scale)
        self.read = nn.Linear(width, n_out)
        nn.init.zeros_(self.read.weight)
        nn.init.zeros_(self.read.bias)

    def forward(self, x):
        return self.read(self.map(x))


X, y = speakers(1800, 0)
Xv, yv = speakers(600, 1)
Xt, yt = speakers(1500, 2)
mu, sd = X.mean(0), X.std(0)
X, Xv, Xt = [(a - mu) / sd for a in (X, Xv, Xt)]


def fit(decay):
    torch.manual_seed(9)
    net = Reader(32, len(VOWELS))
    opt = torch.optim.LBFGS(net.read.parameters(), lr=1.0, max_iter=20, history_size=20, line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        nll = nn.functional.cross_entropy(net(X), y)
        total = nll + decay * net.read.weight.pow(2).sum()
        total.backward()
        return total

    for outer in range(6):
        value = opt.step(closure)
        if outer in (0, 5):
            print(f"  decay {decay:g}  outer {outer}  objective {value.item():.4f}")
    return net


def accuracy(net, a, b):
    with torch.no_grad():
        return (net(a).argmax(1) == b).double().mean().item()


candidates = {}
for decay in (1e-2, 1e-3, 1e-4, 1e-5):
    net = fit(decay)
    candidates[decay] = (accuracy(net, Xv, yv), net)
    print(f"decay {decay:g}: train {accuracy(net, X, y):.3f} valid {candidates[decay][0]:.3f}")

best = max(candidates, key=lambda d: candidates[d][0])
net = candidates[best][1]
base = torch.bincount(yt).max().item() / len(yt)
centroids = torch.stack([X[y == k].mean(0) for k in range(len(VOWELS))])
nearest = (torch.cdist(Xt, centroids).argmin(1) == yt).double().mean().item()
print(f"chosen decay {best:g}: test accuracy {accuracy(net, Xt, yt):.3f}  nearest centroid {nearest:.3f}  largest class {base:.3f}")
