# Contrastive embeddings of two noisy "sensors" that watch the same object.
# Large batch with little memory: embeddings first without graph, then gradients chunk by chunk.
import torch
import torch.nn.functional as F

torch.manual_seed(9)
N_TRAIN, N_TEST, LATENT = 2048, 256, 6
mixA, mixB = torch.randn(LATENT, 20), torch.randn(LATENT, 30)


def observe(n):
    z = torch.randn(n, LATENT)
    a = torch.tanh(z @ mixA * 0.5) + 0.15 * torch.randn(n, 20)
    b = torch.tanh(z @ mixB * 0.5) + 0.15 * torch.randn(n, 30)
    return a, b


class Tower(torch.nn.Module):
    def __init__(self, n_in, n_out=16):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(n_in, 64), torch.nn.GELU(), torch.nn.Linear(64, n_out))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


towers = torch.nn.ModuleDict({"a": Tower(20), "b": Tower(30)})
log_scale = torch.nn.Parameter(torch.tensor(2.3))
opt = torch.optim.AdamW([
    {"params": towers.parameters(), "weight_decay": 1e-3},
    {"params": [log_scale], "weight_decay": 0.0, "lr": 1e-2},
], lr=3e-3)


def clip_loss(ea, eb):
    logits = log_scale.exp().clamp(max=100) * ea @ eb.t()
    target = torch.arange(len(ea))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2


def step(xa, xb, chunk=64):
    opt.zero_grad()
    with torch.no_grad():
        ea = torch.cat([towers["a"](c) for c in xa.split(chunk)])
        eb = torch.cat([towers["b"](c) for c in xb.split(chunk)])
    ea.requires_grad_()
    eb.requires_grad_()
    loss = clip_loss(ea, eb)
    loss.backward()
    for name, x, grad in (("a", xa, ea.grad), ("b", xb, eb.grad)):
        for c, g in zip(x.split(chunk), grad.split(chunk)):
            towers[name](c).backward(g)
    opt.step()
    return loss.item()


A, B = observe(N_TRAIN)
testA, testB = observe(N_TEST)
for epoch in range(15):
    order = torch.randperm(N_TRAIN)
    losses = [step(A[i], B[i]) for i in order.split(256)]
    with torch.no_grad():
        sim = towers["a"](testA) @ towers["b"](testB).t()
    r1 = (sim.argmax(1) == torch.arange(N_TEST)).float().mean().item()
    print(f"{epoch:2d} loss {sum(losses) / len(losses):.3f} scale {log_scale.exp().item():.1f} recall@1 {r1:.3f}")
