import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(14)


def machine_windows(n):
    y = (torch.rand(n) < 0.06).float()
    t = torch.linspace(0, 6.28, 40)
    phase = torch.rand(n, 1) * 6.28
    x = torch.sin(3 * t + phase) + 0.3 * torch.randn(n, 40)
    burst = torch.sin(12 * t + phase) * torch.rand(n, 1).add(0.6)
    return (x + y[:, None] * burst).unsqueeze(1), y


def focal_loss(logits, target, gamma=2.0, alpha=0.8):
    bce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    p_t = torch.exp(-bce)
    weight = alpha * target + (1 - alpha) * (1 - target)
    return (weight * (1 - p_t) ** gamma * bce).mean()


class AlarmNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 16, 7, padding=3), nn.GroupNorm(4, 16), nn.ReLU(),
                                  nn.Conv1d(16, 16, 5, padding=2), nn.GroupNorm(4, 16), nn.ReLU())
        self.head = nn.Linear(16, 1)
        nn.init.constant_(self.head.bias, -2.7)

    def forward(self, x):
        return self.head(self.conv(x).amax(-1)).squeeze(1)


train_loader = DataLoader(TensorDataset(*machine_windows(3000)), batch_size=25, shuffle=True)
x_test, y_test = machine_windows(1000)
model = AlarmNet()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.5)
accumulate = 4
optimizer.zero_grad()
for epoch in range(10):
    total = 0.0
    for step, (x, y) in enumerate(train_loader):
        loss = focal_loss(model(x), y) / accumulate
        loss.backward()
        total += loss.item() * accumulate
        if (step + 1) % accumulate == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        scores = model(x_test)
    model.train()
    print(f"epoch {epoch} loss {total / len(train_loader):.4f} AP {average_precision_score(y_test, scores):.3f} "
          f"bal.acc {balanced_accuracy_score(y_test, scores > 0):.3f}")
