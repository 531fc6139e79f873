"""Random, never-trained convolution kernels followed by a trained linear read-out."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(9)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 8 - 1
target = torch.tensor(digits.target)
order = torch.randperm(len(target))
images, target = images[order], target[order]
n_train = 1300

kernels = nn.Sequential(nn.Conv2d(1, 200, 5, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten())
for p in kernels.parameters():
    p.requires_grad_(False)
kernels.eval()

with torch.no_grad():
    feats = kernels(images)
    centre, spread = feats[:n_train].mean(0), feats[:n_train].std(0) + 1e-3
    feats = (feats - centre) / spread

readout = nn.Linear(feats.shape[1], 10)
nn.init.zeros_(readout.weight)
nn.init.zeros_(readout.bias)
frozen = sum(p.numel() for p in kernels.parameters())
free = sum(p.numel() for p in readout.parameters())
print(f"{frozen} fixed and {free} trained parameters, {feats.shape[1]} features")

opt = torch.optim.SGD(readout.parameters(), lr=0.5, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 0.01 + 0.1 / (1 + s / 20))
log_prob = nn.LogSoftmax(dim=1)
nll = nn.NLLLoss(reduction="none")

x_train, y_train = feats[:n_train], target[:n_train]
x_test, y_test = feats[n_train:], target[n_train:]
for step in range(150):
    readout.zero_grad(set_to_none=False)
    weight = torch.rand(n_train) < 0.8
    each = nll(log_prob(readout(x_train)), y_train)
    loss = (each * weight).sum() / weight.sum()
    loss.backward()
    opt.step()
    sched.step()
    if step % 25 == 0 or step == 149:
        with torch.no_grad():
            acc = (readout(x_test).argmax(1) == y_test).float().mean()
        print(f"step {step:3d}  loss {loss.item():.4f}  lr {sched.get_last_lr()[0]:.4f}  test acc {acc:.4f}")
