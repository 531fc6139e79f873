import copy
from collections import OrderedDict
import torch
import torch.nn as nn
import torch.nn.functional as F

g = torch.Generator().manual_seed(14)
torch.manual_seed(14)
N_CLASS, SIDE = 5, 12

prototypes = F.interpolate(torch.randn(N_CLASS, 1, 4, 4, generator=g), size=SIDE, mode="bilinear")


def images(n, mix, gain, offset):
    """Each clinic has its own mix of findings and its own scanner (gain, offset)."""
    y = torch.multinomial(mix, n, replacement=True, generator=g)
    x = prototypes[y] + 2.2 * torch.randn(n, 1, SIDE, SIDE, generator=g)
    return gain * x + offset, y


class Clinic:
    def __init__(self, i):
        mix = torch.distributions.Dirichlet(torch.full((N_CLASS,), 0.6)).sample() + 0.02
        self.mix = mix / mix.sum()
        gain, offset = float(0.5 + 1.5 * torch.rand(1, generator=g)), float(torch.randn(1, generator=g))
        n = int(torch.randint(120, 500, (1,), generator=g))
        self.x, self.y = images(n, self.mix, gain, offset)
        self.xt, self.yt = images(300, torch.ones(N_CLASS) / N_CLASS, gain, offset)
        self.norm_state = None          # normalisation layers never leave the house

    def __len__(self):
        return len(self.y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scan_norm = nn.BatchNorm2d(1)
        self.c1, self.c2 = nn.Conv2d(1, 12, 3, padding=1), nn.Conv2d(12, 24, 3, padding=1)
        self.g1, self.g2 = nn.GroupNorm(3, 12), nn.GroupNorm(4, 24)
        self.head = nn.Linear(24 * 9, N_CLASS)

    def forward(self, x):
        x = self.scan_norm(x)
        x = F.max_pool2d(F.relu(self.g1(self.c1(x))), 2)
        x = F.max_pool2d(F.relu(self.g2(self.c2(x))), 2)
        return self.head(x.flatten(1))


def local(k):
    return k.startswith("scan_norm")


def install(net, shared, clinic):
    net.load_state_dict(shared, strict=False)
    if clinic.norm_state is not None:
        net.load_state_dict(clinic.norm_state, strict=False)
    else:
        net.scan_norm.reset_parameters()


def train_at(clinic, shared, lr, epochs=2, prox=0.01):
    net = Net()
    install(net, shared, clinic)
    anchor = {n: p.detach().clone() for n, p in net.named_parameters() if not local(n)}
    # a new optimizer each visit: momentum of another round means nothing here
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    net.train()
    for _ in range(epochs):
        for idx in torch.randperm(len(clinic)).split(32):
            if len(idx) < 8:
                continue
            loss = F.cross_entropy(net(clinic.x[idx]), clinic.y[idx])
            loss = loss + prox / 2 * sum((p - anchor[n]).pow(2).sum() for n, p in net.named_parameters() if n in anchor)
            opt.zero_grad()
            loss.backward()
            opt.step()
    full = net.state_dict()
    clinic.norm_state = {k: v.clone() for k, v in full.items() if local(k)}
    return OrderedDict((k, v.clone()) for k, v in full.items() if not local(k)), len(clinic)


@torch.no_grad()
def evaluate(shared, clinics):
    net, acc = Net(), []
    for c in clinics:
        if c.norm_state is None:
            continue
        install(net, shared, c)
        net.eval()
        acc.append((net(c.xt).argmax(1) == c.yt).float().mean().item())
    return sum(acc) / max(1, len(acc)), min(acc) if acc else 0.0


clinics = [Clinic(i) for i in range(12)]
print("rows per clinic", [len(c) for c in clinics])
shared = OrderedDict((k, v.clone()) for k, v in Net().state_dict().items() if not local(k))
for rnd in range(25):
    chosen = torch.randperm(12, generator=g)[:6].tolist()
    lr = 0.03 * 0.96 ** rnd
    updates = [train_at(clinics[i], shared, lr) for i in chosen]
    total = sum(n for _, n in updates)
    shared = OrderedDict((k, sum(u[k] * (n / total) for u, n in updates)) for k in shared)
    if rnd % 4 == 0:
        print("round %2d  mean accuracy %.3f  worst clinic %.3f" % ((rnd,) + evaluate(shared, clinics)))
print("final mean accuracy %.3f, worst clinic %.3f" % evaluate(shared, clinics))
