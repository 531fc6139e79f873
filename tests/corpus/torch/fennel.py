import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(6)
raw = load_digits()
pix = torch.tensor(raw.images, dtype=torch.float32).unsqueeze(1) / 16
lab = torch.tensor(raw.target)

low = lab < 5
source_x, source_y = pix[low], lab[low]
rest_x, rest_y = pix[~low], lab[~low] - 5
few = 200
shot_x, shot_y, query_x, query_y = rest_x[:few], rest_y[:few], rest_x[few:], rest_y[few:]

backbone = nn.Sequential(
    nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
)


def stage(name, head, params, x, y, lr, epochs, batch):
    opt = torch.optim.Adam(params, lr=lr)
    for e in range(epochs):
        acc_loss = 0.0
        for idx in torch.randperm(len(x)).split(batch):
            loss = F.cross_entropy(head(backbone(x[idx])), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            acc_loss += loss.item() * len(idx)
        print(f"{name} {e + 1}: {acc_loss / len(x):.4f}")


first = nn.Linear(48 * 4, 5)
backbone.train()
stage("digits 0-4", first, [*backbone.parameters(), *first.parameters()], source_x, source_y, 2e-3, 6, 32)

for p in backbone.parameters():
    p.requires_grad_(False)
backbone.eval()

second = nn.Linear(48 * 4, 5)
stage("digits 5-9", second, second.parameters(), shot_x, shot_y, 1e-2, 12, 20)

second.eval()
with torch.no_grad():
    hit = (second(backbone(query_x)).argmax(1) == query_y).float().mean()
print(f"accuracy on {len(query_y)} unseen images of digits 5-9: {hit:.3f}")
