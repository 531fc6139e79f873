# SimSiam on simulated spectra: two noisy views of one sample should get the same code.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
grid = torch.linspace(0, 1, 100)
K = 10
peaks = torch.rand(K, 3) * 0.8 + 0.1
heights = torch.rand(K, 3) + 0.5


def spectra(n):
    y = torch.randint(0, K, (n,))
    centre = peaks[y] + 0.02 * torch.randn(n, 3)
    h = heights[y] * (1 + 0.15 * torch.randn(n, 3))
    x = (h[:, :, None] * torch.exp(-((grid - centre[:, :, None]) / 0.03) ** 2)).sum(1)
    return x + 0.3 * torch.randn(n, 100), y


def view(x):
    scale = 0.7 + 0.6 * torch.rand(len(x), 1)
    keep = (torch.rand(len(x), 20) > 0.2).float().repeat_interleave(5, dim=1)
    return x * scale * keep + 0.05 * torch.randn_like(x)


def mlp(i, h, o, last_bn):
    layers = [nn.Linear(i, h, bias=False), nn.BatchNorm1d(h), nn.ReLU(), nn.Linear(h, o)]
    return nn.Sequential(*layers, *([nn.BatchNorm1d(o, affine=False)] if last_bn else []))


encoder = mlp(100, 128, 32, True)
predictor = mlp(32, 16, 32, False)


def D(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=-1).mean()


def knn_accuracy(k=10):
    encoder.eval()
    with torch.no_grad():
        bank, q = F.normalize(encoder(train_x), dim=1), F.normalize(encoder(test_x), dim=1)
    encoder.train()
    votes = train_y[(q @ bank.t()).topk(k, dim=1).indices]
    return (votes.mode(1).values == test_y).float().mean().item(), bank.std(0).mean().item()


train_x, train_y = spectra(3000)
test_x, test_y = spectra(600)
params = list(encoder.parameters()) + list(predictor.parameters())
optimizer = torch.optim.SGD(params, lr=0.05, momentum=0.9, weight_decay=1e-4)

print("before training: knn %.3f" % knn_accuracy()[0])
for epoch in range(1, 31):
    total = 0.0
    batches = torch.randperm(len(train_x)).split(100)
    for idx in batches:
        z1, z2 = encoder(view(train_x[idx])), encoder(view(train_x[idx]))
        p1, p2 = predictor(z1), predictor(z2)
        loss = 0.5 * D(p1, z2) + 0.5 * D(p2, z1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 0:
        acc, std = knn_accuracy()
        print(f"epoch {epoch:2d}  loss {total / len(batches):+.4f}  knn {acc:.3f}  std of codes {std:.3f}")
