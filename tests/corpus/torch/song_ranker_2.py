import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(29)
torch.manual_seed(29)
ACCUM = 5
SAMPLES = 30


def sessions(n, n_items=20, n_feat=12):
    x = rng.normal(size=(n, n_items, n_feat)).astype("float32")
    utility = 1.2 * x[..., 0] + np.sin(2 * x[..., 1]) + 0.8 * x[..., 2] * x[..., 3]
    utility += rng.gumbel(0, 0.4, size=utility.shape)
    return torch.from_numpy(x), torch.from_numpy(utility.argmax(1))


class Scorer(nn.Module):
    def __init__(self, n_feat, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_feat, width), nn.ReLU(), nn.Dropout(0.15),
                                 nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.15), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def listwise(scores, clicked):
    return F.nll_loss(F.log_softmax(scores, dim=1), clicked, reduction="sum")


def session_stream(x, clicked, size, passes):
    for _ in range(passes):
        for idx in torch.randperm(len(x)).split(size):
            yield x[idx], clicked[idx]


@torch.no_grad()
def sampled_probabilities(model, x):
    model.train()
    draws = torch.stack([model(x).softmax(1) for _ in range(SAMPLES)])
    return draws.mean(0), draws.std(0)


def reciprocal_rank(scores, clicked):
    order = scores.argsort(dim=1, descending=True)
    rank = (order == clicked[:, None]).float().argmax(1) + 1
    return (1.0 / rank).mean().item()


x, clicked = sessions(3000)
tx, tc = sessions(800)
model = Scorer(x.shape[-1])
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
seen, running = 0, 0.0
for step, (xb, cb) in enumerate(session_stream(x, clicked, size=10, passes=10), start=1):
    loss = listwise(model(xb), cb)
    loss.backward()
    seen += len(xb)
    running += loss.item()
    if step % ACCUM == 0:
        for p in model.parameters():
            p.grad /= seen
        opt.step()
        opt.zero_grad(set_to_none=True)
        seen = 0
    if step % 600 == 0:
        print(f"step {step:4d}  loss per session {running / 6000:.3f}")
        running = 0.0

prob, spread = sampled_probabilities(model, tx)
again, _ = sampled_probabilities(model, tx)
print(f"test mrr {reciprocal_rank(prob, tc):.3f}  random mrr {np.mean(1 / np.arange(1, 21)):.3f}")
print(f"test log loss {F.nll_loss(prob.log(), tc).item():.3f}  uniform {np.log(20):.3f}")
print(f"mean predictive spread {spread.max(1).values.mean():.3f}  repeat difference {(prob - again).abs().max():.3f}")
