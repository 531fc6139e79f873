"""Domain-adversarial training: features must tell the disease, not the scanner they come from."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


def clinic(n, scanner):
    y = torch.randint(0, 2, (n,))
    x = torch.randn(n, 12)
    x[:, 0] += 2.0 * (2 * y - 1)
    if scanner == 0:
        x[:, 1] += 2.5 * (2 * y - 1)      # artefact seen with scanner 0 only
    else:
        x[:, 1] -= 1.0
        x[:, 2:5] += 1.5
    return x, y


src_x, src_y = clinic(2000, 0)
tgt_x, _ = clinic(2000, 1)
test_x, test_y = clinic(1000, 1)

encoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8), nn.ReLU())
disease = nn.Linear(8, 2)
scanner = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
params = [*encoder.parameters(), *disease.parameters(), *scanner.parameters()]
opt = torch.optim.Adam(params, lr=1e-3)
where = torch.cat([torch.zeros(64), torch.ones(64)]).long()

EPOCHS = 30
for epoch in range(EPOCHS):
    strength = 0.5 * epoch / EPOCHS
    p, q = torch.randperm(2000), torch.randperm(2000)
    for a, b in zip(p.split(64), q.split(64)):
        if len(a) < 64:
            break
        z = encoder(torch.cat([src_x[a], tgt_x[b]]))
        loss_y = F.cross_entropy(disease(z[:64]), src_y[a])
        loss_d = F.cross_entropy(scanner(Reverse.apply(z, strength)), where)
        opt.zero_grad()
        (loss_y + loss_d).backward()
        opt.step()
    if epoch % 5 == 4:
        with torch.no_grad():
            acc = (disease(encoder(test_x)).argmax(1) == test_y).float().mean().item()
        print(f"epoch {epoch + 1:2d}  disease {loss_y.item():.3f}  scanner {loss_d.item():.3f}  other-scanner acc {acc:.3f}")
